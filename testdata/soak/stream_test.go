//go:build linux

package soak_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/store/storetest"
)

const streamSchema = `
create table readings (
  id bigint,
  sensor text,
  value float8,
  at timestamptz
);
create function all_readings() returns setof readings language sql stable as $$
  select *
  from readings
$$;
`

// TestAnswersOfAnyLengthTakeConstantMemory: the rows of a large table leave as they come, whatever they are written
// as; the first ones long before the last, and no faster than the client takes them.
func TestAnswersOfAnyLengthTakeConstantMemory(t *testing.T) {
	const most = 64 << 20
	rows := times(300_000, 5_000_000)
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL, flags: []string{"--max-rows", "0"}}
	p := serve(t, s)
	database.Exec(t, streamSchema)
	conn := connect(t, database.URL)
	if _, err := conn.Exec(t.Context(), `
		insert into readings
		select g, 'sensor number ' || g % 1000, g / 7.0, timestamptz '2026-01-01' + g * interval '1 second'
		from generate_series(1, $1::int) g`, rows); err != nil {
		t.Fatal(err)
	}
	c := newCaller(p.url(), readKeys(t, s).service, "")
	c.http.Timeout = 0
	awaitTable(t, c, "readings")
	c.must(t, http.StatusOK, "GET", "/rest/v1/readings?limit=1000", "")
	idle := memory(t, p.cmd.Process.Pid)

	for _, test := range []struct {
		name, method, path, body, accept string
		compressed                       bool
		more                             int // lines that are no rows
	}{
		{name: "a JSON array", method: "GET", path: "readings", accept: "application/json"},
		{name: "one object a line", method: "GET", path: "readings", accept: "application/x-ndjson"},
		{name: "CSV", method: "GET", path: "readings", accept: "text/csv", more: 1},
		{name: "a compressed array", method: "GET", path: "readings", accept: "application/json", compressed: true},
		{name: "the rows of a function", method: "GET", path: "rpc/all_readings", accept: "application/json"},
		{name: "the rows of a function that promises not to write", method: "POST", path: "rpc/all_readings", body: "{}", accept: "application/x-ndjson"},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, p.url()+"/rest/v1/"+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("apikey", c.apikey)
			request.Header.Set("Authorization", "Bearer "+c.apikey)
			request.Header.Set("Accept", test.accept)
			request.Header.Set("Content-Type", "application/json")
			if test.compressed {
				request.Header.Set("Accept-Encoding", "gzip")
			}
			began := time.Now()
			response, err := c.http.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body := bufio.NewReader(response.Body)
			if _, err := body.Peek(1); err != nil || response.StatusCode != http.StatusOK || response.ContentLength != -1 {
				t.Fatalf("%d, %d bytes, %v", response.StatusCode, response.ContentLength, err)
			}
			inTime(t, "first byte", time.Since(began), 100*time.Millisecond)
			if !test.compressed || all() {
				// The client reads no further, so PostgreSQL must wait: nothing in between takes what it has.
				eventually(t, "PostgreSQL waits for the client", func() bool { return waitsForClient(t, conn) })
			}
			var text io.Reader = body
			if test.compressed {
				if text, err = gzip.NewReader(body); err != nil {
					t.Fatal(err)
				}
			}
			lines, largest := 0, 0
			for scanner := bufio.NewScanner(text); ; lines++ {
				if lines%10_000 == 0 {
					largest = max(largest, memory(t, p.cmd.Process.Pid))
				}
				if !scanner.Scan() {
					if err := scanner.Err(); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
			took := time.Since(began)
			t.Logf("%d rows in %s; at most %.1f MiB above the %.1f MiB before (bar 64)", lines-test.more, took.Round(time.Millisecond),
				float64(largest-idle)/(1<<20), float64(idle)/(1<<20))
			if lines-test.more != rows {
				t.Errorf("%d rows instead of %d", lines-test.more, rows)
			}
			if !raced && largest-idle > most {
				t.Errorf("memory grew by %d bytes", largest-idle)
			}
		})
	}
}

// waitsForClient says that a statement of Basalt's has rows that are not taken from it.
func waitsForClient(t *testing.T, conn *pgx.Conn) bool {
	t.Helper()
	var waiting bool
	if err := conn.QueryRow(t.Context(), `
		select exists (
		  select
		  from pg_stat_activity
		  where datname = current_database()
		    and application_name = 'basalt'
		    and state = 'active'
		    and wait_event = 'ClientWrite'
		)`).Scan(&waiting); err != nil {
		t.Fatal(err)
	}
	return waiting
}

// TestACutAnswerIsNeverTakenForAWholeOne: when the rest cannot come, the transfer itself is broken off.
func TestACutAnswerIsNeverTakenForAWholeOne(t *testing.T) {
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL, flags: []string{"--max-rows", "0"}}
	p := serve(t, s)
	database.Exec(t, `
		create view large as
		select g as id, md5(g::text) || md5((g + 1)::text) || md5((g + 2)::text) as name
		from (select generate_series(1, 300000) g) s;
		create view failing as
		select id, name, 1 / (id - 60000) as inverse
		from large;`)
	c := newCaller(p.url(), readKeys(t, s).service, "")
	awaitTable(t, c, "failing")
	conn := connect(t, database.URL)
	signal := func(function string) func() {
		return func() {
			eventually(t, "the statement waits for the client", func() bool { return waitsForClient(t, conn) })
			if _, err := conn.Exec(t.Context(), `
				select `+function+`(pid)
				from pg_stat_activity
				where datname = current_database()
				  and application_name = 'basalt'
				  and state = 'active'`); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name, path string
		meanwhile  func()
	}{
		{"a statement that fails near its end", "failing", func() {}},
		{"a statement that is cancelled", "large", signal("pg_cancel_backend")},
		{"a connection to PostgreSQL that is lost", "large", signal("pg_terminate_backend")},
	} {
		for _, header := range []string{"Accept: application/json", "Accept: application/x-ndjson", "Accept: text/csv", "Accept-Encoding: gzip"} {
			t.Run(test.name+" with "+header, func(t *testing.T) {
				raw, err := net.Dial("tcp", strings.TrimPrefix(p.url(), "http://"))
				if err != nil {
					t.Fatal(err)
				}
				defer raw.Close()
				if err := raw.SetDeadline(time.Now().Add(stuck)); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(raw, "GET /rest/v1/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s\r\n\r\n", test.path, c.apikey, header)
				reader := bufio.NewReader(raw)
				if line, err := reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 200") {
					t.Fatalf("%q, %v", line, err)
				}
				test.meanwhile()
				rest, err := io.ReadAll(reader) // ends only because the server closes the connection
				if len(rest) < 10_000 {
					t.Fatalf("%d bytes, %v", len(rest), err)
				}
				if !strings.Contains(string(rest[:1000]), "Transfer-Encoding: chunked") || strings.HasSuffix(string(rest), "0\r\n\r\n") {
					t.Errorf("the answer looks complete: %q … %q", rest[:300], rest[len(rest)-20:])
				}
			})
		}
	}
	c.must(t, http.StatusOK, "GET", "/rest/v1/large?limit=1", "")
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
}
