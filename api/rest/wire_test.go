package rest_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"basalt/api/apitest"
)

// open lets the API's roles do what they want with everything in public, as projects do that rely on row-level
// security alone.
const open = `
grant all on all tables in schema public to anon, authenticated, service_role;
grant all on all sequences in schema public to anon, authenticated, service_role;`

// exchange is a request with what must come back.
type exchange struct {
	name    string
	method  string // GET when empty
	path    string // behind /rest/v1/
	headers []string
	body    string
	status  int
	// want is the body: JSON is compared as written but for white space, other text as it is. The word "any" stands
	// for whatever comes, the empty text for no body.
	want string
	// has are parts of the body.
	has []string
	// header are lines "Name: value" of the answer; "Name:" says that it must be absent, "Name: any" that it must not.
	header []string
	// decided says that a function chose the status, which is no refusal then.
	decided bool
}

// anything is the want of an exchange whose body is of no interest.
const anything = "any"

// run makes the exchanges one after another, as the anonymous role unless their headers say otherwise.
func run(t *testing.T, s *apitest.Server, exchanges []exchange) {
	t.Helper()
	for _, e := range exchanges {
		t.Run(e.name, func(t *testing.T) {
			method := e.method
			if method == "" {
				method = "GET"
			}
			answer := s.Do(t, method, "/rest/v1/"+strings.ReplaceAll(e.path, " ", "%20"), e.body, e.headers...)
			e.check(t, answer)
		})
	}
}

func (e *exchange) check(t *testing.T, answer *apitest.Answer) {
	t.Helper()
	if answer.Status != e.status {
		t.Errorf("status %d, want %d: %s", answer.Status, e.status, answer.Body)
	}
	switch {
	case e.want == anything || e.want == "" && e.has != nil:
	case e.want != "" && strings.ContainsAny(e.want[:1], `[{"`) && json.Valid([]byte(e.want)):
		if got := compact(answer.Body); got != compact(e.want) {
			t.Errorf("body  %s\nwant  %s", got, compact(e.want))
		}
	case answer.Body != e.want:
		t.Errorf("body  %q\nwant  %q", answer.Body, e.want)
	}
	for _, part := range e.has {
		if !strings.Contains(answer.Body, part) {
			t.Errorf("body without %q: %s", part, answer.Body)
		}
	}
	for _, line := range e.header {
		name, want, _ := strings.Cut(line, ":")
		got := strings.Join(answer.Header.Values(name), ", ")
		if want = strings.TrimSpace(want); want == anything && got != "" {
			continue
		} else if got != want {
			t.Errorf("header %s: %q, want %q", name, got, want)
		}
	}
	e.checkError(t, answer)
}

// checkError holds every refusal of the dialect to its shape: four keys, a type, a proxy status with the code.
func (e *exchange) checkError(t *testing.T, answer *apitest.Answer) {
	t.Helper()
	if e.decided || answer.Status < 300 || answer.Body == "" {
		return
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(answer.Body), &body); err != nil {
		t.Errorf("refusal %d is no JSON object: %s", answer.Status, answer.Body)
		return
	}
	keys := make([]string, 0, 4)
	for key := range body {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if !reflect.DeepEqual(keys, []string{"code", "details", "hint", "message"}) {
		t.Errorf("refusal has the keys %v", keys)
	}
	if got := answer.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("refusal has the type %q", got)
	}
	code, _ := body["code"].(string)
	if got := answer.Header.Get("Proxy-Status"); !strings.Contains(got, "PostgREST; error="+code) || !strings.Contains(got, "basalt; error="+code) {
		t.Errorf("refusal of code %s has the proxy status %q", code, got)
	}
}

// compact takes white space between JSON's tokens away; what is no JSON stays.
func compact(text string) string {
	var b strings.Builder
	quoted, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == ' ' || r == '\n' || r == '\t'):
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// refusal is the body of an error.
func refusal(code, message, details, hint string) string {
	text := func(s string) string {
		if s == "" {
			return "null"
		}
		quoted, err := json.Marshal(s)
		if err != nil {
			panic(err) // strings always marshal
		}
		return strings.ReplaceAll(string(quoted), `\u003e`, ">") // which answers have as it is
	}
	return `{"code":` + text(code) + `,"details":` + text(details) + `,"hint":` + text(hint) + `,"message":` + text(message) + `}`
}
