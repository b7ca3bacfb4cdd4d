package oracle_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	allEnv  = "BASALT_SOAK"
	seedEnv = "BASALT_ORACLE_SEED"
)

// elements are those of a JSON array.
func elements(t *testing.T, list string) []string {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(list), &raw); err != nil {
		t.Fatalf("%v: %s", err, list)
	}
	texts := make([]string, len(raw))
	for i := range raw {
		texts[i] = compact(string(raw[i]))
	}
	return texts
}

// compact takes out the white space that stands between the tokens of JSON; all else stays byte for byte.
func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// sorted brings every array into one order, for answers whose order is an accident.
func sorted(text string) string {
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		return sortedLines(text)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	result, err := sortedValue(decoder)
	if err != nil {
		return text
	}
	return result
}

// sortedLines brings the lines of CSV into one order, and the arrays in their cells.
func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	if records, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err == nil {
		lines = lines[:0]
		for _, cells := range records {
			for i, cell := range cells {
				if strings.HasPrefix(cell, "[") || strings.HasPrefix(cell, "{") {
					cells[i] = sorted(strings.ReplaceAll(cell, `\\`, `\`)) // as PostgreSQL writes records
				}
			}
			lines = append(lines, fmt.Sprintf("%q", cells))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func sortedValue(decoder *json.Decoder) (string, error) {
	token, err := decoder.Token()
	if err != nil {
		return "", err
	}
	delimiter, ok := token.(json.Delim)
	if !ok {
		return fmt.Sprintf("%T:%v", token, token), nil
	}
	var members []string
	for decoder.More() {
		key := ""
		if delimiter == '{' {
			if token, err = decoder.Token(); err != nil {
				return "", err
			}
			key = fmt.Sprintf("%q:", token)
		}
		value, err := sortedValue(decoder)
		if err != nil {
			return "", err
		}
		members = append(members, key+value)
	}
	if _, err := decoder.Token(); err != nil {
		return "", err
	}
	if delimiter == '[' {
		slices.Sort(members)
	}
	return fmt.Sprintf("%v%s", delimiter, strings.Join(members, ",")), nil
}

// arrayOfLines makes an array of JSON values that stand in a line each.
func arrayOfLines(text string) string {
	return compact("[" + strings.ReplaceAll(text, "\n", ",") + "]")
}

// byValue says that a value of a body, or the lack of a right to use it, may cause an error.
func byValue(code string) bool {
	return strings.HasPrefix(code, "22") || strings.HasPrefix(code, "23") || code == "21000" || code == "42501" || code == "42601"
}

// differs says in which way an answer is another than the one wanted, "" when it is the same.
func differs(r *request, got, want outcome) string {
	if got.code != "" || want.code != "" {
		switch {
		case r.faulty && (r.method != "GET" || r.call != nil) && byValue(want.code) && byValue(got.code):
			// A value of a body that its type refuses may be found before the right to use it is missed, before it is
			// known to be too long, and before or after the rows beside it are written.
		case r.faulty && r.call != nil && (want.code == "" || want.code == "PGRST116") && byValue(got.code):
			// Plain SQL does not look at an argument that the function makes no use of.
		case got.code == "42501" && (want.code == "PGRST116" || want.code == "" && strings.HasPrefix(want.ranges, "*/")) && (want.state == "" || r.call != nil):
			// Where PostgreSQL knows that there are no rows it does not look at the rights to what would be joined to
			// them; it may know it of plain SQL alone.
		case want.code == "42883" && got.code == "" && strings.HasPrefix(got.ranges, "*/"),
			got.code == "42883" && want.code == "" && strings.HasPrefix(want.ranges, "*/"):
			// That the elements of arrays cannot be compared is found when they are, which may not be needed.
		case got.code == "428C9" && r.missing && (want.code == "" || byValue(want.code)):
			// As in PostgREST a default is a value, which a generated column does not take even where it is its own.
		case strings.HasPrefix(want.code, "23") && (got.code == "PGRST124" || got.code == "PGRST116"):
			// That there are too many rows is found before constraints are checked at the statement's end.
		case r.count && (want.code == "42501" || got.code == "42501"):
			// There are two statements then, and the other one is refused first.
		case got.code != want.code:
			return "code"
		case want.status != 0 && got.status != want.status:
			return "status"
		case got.state != want.state && want.state != "":
			return "state"
		}
		return ""
	}
	gotBody, wantBody := compact(got.body), compact(want.body)
	if r.accept == "application/x-ndjson" {
		gotBody, wantBody = arrayOfLines(strings.TrimSuffix(got.body, "\n")), arrayOfLines(want.body)
	}
	if !want.ordered {
		gotBody, wantBody = sorted(gotBody), sorted(wantBody)
	}
	switch {
	case got.status != want.status:
		return "status"
	case got.ranges != want.ranges && (r.accept != "application/x-ndjson" || got.ranges != "*/*"): // it may not be known yet
		return "Content-Range"
	case gotBody != wantBody:
		return "body"
	case got.state != want.state && want.state != "":
		return "state"
	}
	return ""
}

// try makes a request in both ways.
func (w *world) try(t *testing.T, r *request) (what string, got, want outcome, script string) {
	t.Helper()
	want, script, ok := w.inSQL(t, r, false)
	if !ok {
		return "", got, want, script
	}
	if want.state == "" && r.method != "GET" && r.method != "HEAD" {
		want.state = w.state
	}
	got = w.overHTTP(t, r)
	what = differs(r, got, want)
	if what == "code" && want.code == "42501" {
		// Where PostgreSQL knows that there are no rows it does not look at the rights to what would be joined to them.
		// The answer must be that of somebody who has the rights.
		if allowed, _, _ := w.inSQL(t, r, true); differs(r, got, allowed) == "" {
			what = ""
		}
	}
	return what, got, want, script
}

// shrunk makes a request that fails smaller as long as it fails in the same way.
func (w *world) shrunk(t *testing.T, r *request, what string) *request {
	t.Helper()
	for tries := 0; tries < 150; {
		smaller := false
		for n := 0; tries < 150; n++ {
			candidate := r.without(n)
			if candidate == nil {
				break
			}
			tries++
			if again, _, _, _ := w.try(t, candidate); again == what {
				r, smaller = candidate, true
				break
			}
		}
		if !smaller {
			break
		}
	}
	return r
}

func (w *world) report(t *testing.T, name string, r *request, what string) {
	t.Helper()
	r = w.shrunk(t, r, what)
	again, got, want, script := w.try(t, r)
	if again == "" {
		again = what + ", but not each time"
	}
	sent := r.wire(w.name)
	curl := fmt.Sprintf("curl -i -X %s $URL%s", sent.method, shell(sent.path))
	headers := sent.headers
	if p := w.people[r.who]; p.header != "" {
		headers = append(headers, p.header)
	}
	for _, h := range headers {
		curl += " -H " + shell(h)
	}
	if sent.body != "" {
		curl += " -d " + shell(sent.body)
	}
	t.Errorf("%s: the %s differs for %s %s\n%s\n\n%s\n\ngot  %s %d %s\n%s\nwant %s %d %s\n%s%s", name, again, w.people[r.who].role, w.people[r.who].more, curl, script,
		got.code, got.status, got.ranges, got.body, want.code, want.status, want.ranges, want.body, stateDiff(got.state, want.state))
}

func stateDiff(got, want string) string {
	if got == want {
		return ""
	}
	var b strings.Builder
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			fmt.Fprintf(&b, "\n\ntables hold\n%s\ninstead of\n%s", g[i], w[i])
		}
	}
	return b.String()
}

func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func TestAnswersAreThoseOfPlainSQL(t *testing.T) {
	rounds, worlds, requests := 1, 8, 250
	seed := uint64(1)
	if os.Getenv(allEnv) != "" {
		rounds, seed = 50, uint64(time.Now().UnixNano())
	}
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedEnv, err)
		}
	}
	for round := range rounds {
		seed := seed + uint64(round)
		t.Run(fmt.Sprintf("%s=%d", seedEnv, seed), func(t *testing.T) {
			for i, w := range startWorlds(t, seed, worlds) {
				t.Run(fmt.Sprintf("world %d", i), func(t *testing.T) {
					t.Parallel()
					w.ask(t, seed, i, requests)
				})
			}
		})
	}
}

// ask makes random requests and compares.
func (w *world) ask(t *testing.T, seed uint64, number, requests int) {
	t.Helper()
	failed, errors, rows := 0, 0, 0
	codes := map[string]int{}
	for n := range requests {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(number)<<32|uint64(n)+1)), schema: w.schema}
		r := g.request()
		what, _, want, _ := w.try(t, r)
		if want.code != "" {
			errors++
			codes[want.code]++
		} else {
			rows += len(want.body)
		}
		if what != "" {
			w.report(t, fmt.Sprintf("request %d", n), r, what)
			if failed++; failed == 2 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d requests: %d errors %v, %d bytes", requests, errors, codes, rows)
	if errors == requests || rows == 0 {
		t.Errorf("the requests tell nothing: %d errors of %d, %d bytes", errors, requests, rows)
	}
}
