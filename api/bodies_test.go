package api_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// send posts a body of which the length is not known before.
func send(t *testing.T, s *apitest.Server, path string, body io.Reader) *apitest.Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Apikey", s.Keys.AnonKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return &apitest.Answer{Status: response.StatusCode, Header: response.Header, Body: string(text)}
}

func TestBodiesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, func(s *api.Settings) { s.BodyLimit, s.BodyMemory = 100<<10, 1<<20 })
	fits := `{"id":2,"name":"` + strings.Repeat("x", 100<<10-18) + `"}`
	if len(fits) != 100<<10 {
		t.Fatal(len(fits))
	}
	if answer := s.Do(t, "POST", "/rest/v1/thing", fits); answer.Status != 201 {
		t.Errorf("a body as large as it may be: %d %s", answer.Status, answer.Body)
	}
	for name, answer := range map[string]*apitest.Answer{
		"with its length":       s.Do(t, "POST", "/rest/v1/thing", fits+" "),
		"in chunks":             send(t, s, "/rest/v1/thing", io.MultiReader(strings.NewReader(fits), strings.NewReader(" "))),
		"far beyond, in chunks": send(t, s, "/rest/v1/thing", io.LimitReader(spaces{}, 220<<10)),
		"of a function":         s.Do(t, "POST", "/rest/v1/rpc/wide", fits+" "),
	} {
		var refusal struct{ Code, Message string }
		answer.JSON(t, &refusal)
		if answer.Status != 413 || refusal.Code != "PGRST102" || refusal.Message == "" {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	answer := s.Do(t, "POST", "/auth/v1/signup", fits+" ")
	if answer.Status != 413 || !strings.Contains(answer.Body, "request_entity_too_large") {
		t.Errorf("of accounts: %d %s", answer.Status, answer.Body)
	}
	head := "Host: x\r\nApikey: " + s.Keys.AnonKey + "\r\nContent-Type: application/json\r\n"
	for _, length := range []string{"1048576", "104857600000", "9223372036854775807"} {
		// Nothing of the body is sent: the answer must not wait for it.
		text := raw(t, s, "POST /rest/v1/thing HTTP/1.1\r\n"+head+"Content-Length: "+length+"\r\n\r\n")
		if !strings.HasPrefix(text, "HTTP/1.1 413") || !strings.Contains(text, "PGRST102") {
			t.Errorf("announced as %s: %s", length, text)
		}
		text = raw(t, s, "POST /rest/v1/thing HTTP/1.1\r\n"+head+"Expect: 100-continue\r\nContent-Length: "+length+"\r\n\r\n")
		if !strings.HasPrefix(text, "HTTP/1.1 413") {
			t.Errorf("asked before, as %s: %s", length, text)
		}
	}
	if answer := s.Do(t, "GET", "/rest/v1/thing?select=id&id=eq.1", ""); answer.Body != `[{"id":1}]` {
		t.Errorf("the server afterwards: %d %s", answer.Status, answer.Body)
	}
}

// spaces is an endless body.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestNoMemoryForBodies(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	s := apitest.Start(t, things, func(s *api.Settings) { s.BodyLimit, s.BodyMemory = size, size })
	// A client that has sent nearly all of a body and keeps the rest holds the memory, unless it came second: then the
	// next one does.
	var stalled []net.Conn
	stall := func() {
		conn := dial(t, s)
		stalled = append(stalled, conn)
		fmt.Fprintf(conn, "POST /rest/v1/thing HTTP/1.1\r\nHost: x\r\nApikey: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", s.Keys.AnonKey, size, strings.Repeat(" ", size-10))
	}
	large := `{"id":2,"name":"` + strings.Repeat("x", size/2) + `"}`
	var answer *apitest.Answer
	apitest.Until(t, "there is no memory left", func() bool {
		stall()
		answer = s.Do(t, "POST", "/rest/v1/thing", large)
		return answer.Status != 201 && answer.Status != 409
	})
	var refusal struct{ Code, Message string }
	answer.JSON(t, &refusal)
	if answer.Status != 503 || answer.Header.Get("Retry-After") == "" || refusal.Code == "" {
		t.Errorf("%d %v %s", answer.Status, answer.Header, answer.Body)
	}
	if answer = s.Do(t, "POST", "/auth/v1/signup", `{"email":"a@example.com","password":"`+strings.Repeat("x", size/2)+`"}`); answer.Status != 503 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("accounts: %d %s", answer.Status, answer.Body)
	}
	if answer = s.Do(t, "POST", "/rest/v1/thing", `{"id":5}`); answer.Status != 201 {
		t.Errorf("a small body: %d %s", answer.Status, answer.Body)
	}
	for _, conn := range stalled {
		conn.Close()
	}
	apitest.Until(t, "the memory is given back", func() bool {
		status := s.Do(t, "POST", "/rest/v1/thing", `{"id":3,"name":"`+strings.Repeat("x", size/2)+`"}`).Status
		return status == 201 || status == 409
	})
}

func TestRequestLinesAndHeadersThatAreTooLong(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	many := func(n int, text string) string { return strings.Repeat(text, n) }
	for name, text := range map[string]string{
		"a URL of 64 KiB":    "GET /rest/v1/thing?id=eq." + many(64<<10, "1") + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"a header of 64 KiB": "GET /rest/v1/thing HTTP/1.1\r\nHost: x\r\nX-A: " + many(64<<10, "a") + "\r\n\r\n",
		"many headers":       "GET /rest/v1/thing HTTP/1.1\r\nHost: x\r\n" + many(1500, "X-Abcdefghij: klmnopqrstuvwxyz\r\n") + "\r\n",
		"many cookies":       "GET /rest/v1/thing HTTP/1.1\r\nHost: x\r\nCookie: " + many(20000, "a=b;") + "\r\n\r\n",
	} {
		answer := raw(t, s, text)
		if !strings.HasPrefix(answer, "HTTP/1.1 431") && !strings.HasPrefix(answer, "HTTP/1.1 414") {
			t.Errorf("%s: %.200s", name, answer)
		}
	}
	answer := raw(t, s, "GET /rest/v1/thing?select=id&id=eq.1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+many(1000, "X-A: b\r\n")+"\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("a thousand short headers: %.200s", answer)
	}
}

func TestRequestsBeyondAllMeasure(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things+`create table tree (id int primary key, up int references tree, a int[], j jsonb);`, nil)
	many := strings.Repeat
	memory := func() float64 {
		var bytes float64
		fmt.Sscan(metric(t, s, "process_resident_memory_bytes"), &bytes)
		return bytes
	}
	before := memory()
	for _, test := range []struct{ name, method, path, body string }{
		{"conditions in conditions", "GET", "tree?and=" + many("(and", 3000) + "(id.eq.1)" + many(")", 3000), ""},
		{"embeds in embeds", "GET", "tree?select=" + many("tree(", 3000) + "id" + many(")", 3000), ""},
		{"casts behind casts", "GET", "tree?select=id" + many("::int", 3000), ""},
		{"steps of a path", "GET", "tree?select=j" + many("->a", 6000), ""},
		{"JSON in JSON", "POST", "tree", many("[", 1_000_000)},
		{"JSON objects in JSON objects", "POST", "tree", many(`{"j":`, 200_000)},
		{"JSON in a value", "POST", "tree", `{"id":1,"j":` + many("[", 100_000) + many("]", 100_000) + `}`},
		{"a body of a hundred million bytes", "POST", "tree", many(" ", 100_000_000)},
		{"columns that do not exist", "POST", "tree", `{"` + many("a", 1_000_000) + `":1}`},
		{"arguments that do not exist", "POST", "rpc/wide", "{" + many(`"a":1,`, 100_000) + `"n":1,"b":2}`},
	} {
		answer := s.Do(t, test.method, "/rest/v1/"+test.path, test.body)
		if answer.Status < 300 || answer.Status >= 500 {
			t.Errorf("%s: %d %.300s", test.name, answer.Status, answer.Body)
		}
		if len(answer.Body) > 64<<10 {
			t.Errorf("%s: a refusal of %d bytes", test.name, len(answer.Body))
		}
	}
	elements := many("1,", 999_999) + "1"
	if answer := s.Do(t, "POST", "/rest/v1/tree", `{"id":1,"a":[`+elements+`]}`); answer.Status != 201 {
		t.Errorf("an array of a million elements: %d %.200s", answer.Status, answer.Body)
	}
	filters := many("id=gt.0&", 3000)
	if answer := s.Do(t, "GET", "/rest/v1/tree?select=id&"+filters, ""); answer.Status >= 500 {
		t.Errorf("thousands of filters: %d %.200s", answer.Status, answer.Body)
	}
	if answer := s.Do(t, "GET", "/rest/v1/thing?select=id&id=eq.1", ""); answer.Body != `[{"id":1}]` {
		t.Errorf("the server afterwards: %d %s", answer.Status, answer.Body)
	}
	if strings.Contains(s.Log.String(), "panic") {
		t.Error("something panicked")
	}
	if grown := memory() - before; grown > 1<<30 {
		t.Errorf("memory grew by %.0f bytes", grown)
	}
}
