package api_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"basalt/api"
	"basalt/api/apitest"
)

const (
	rows = 200_000
	// some are as few rows as still stream.
	some = 30_000
)

// large are 200,000 rows that nobody had to store, and a view of them that fails near its end.
const large = `
create view large as select g as id, 'name number ' || g as name, g / 7.0 as amount from (select generate_series(1, 200000) g) s;
create view medium as select * from large limit 30000;
create view failing as select id, name, 1 / (id - 40000) as inverse from large;
create view endless as select g as id, repeat(md5(g::text), 32) as noise from (select generate_series(1, 100000000) g) s;
create table stored (id int primary key, name text);
` + things

func unlimited(s *api.Settings) { s.MaxRows = 0 }

// ask sends a request and gives the answer with its body still to come.
func ask(t *testing.T, s *apitest.Server, method, path string, headers ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/rest/v1/"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(client.CloseIdleConnections)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestLargeAnswersStream(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, large, unlimited)
	t.Run("as JSON, all of it", func(t *testing.T) {
		response := ask(t, s, "GET", "large?order=id")
		if response.StatusCode != 200 || response.ContentLength != -1 || len(response.TransferEncoding) != 1 || response.Header.Get("Content-Range") != "*/*" {
			t.Errorf("%d, length %d, %v, %v", response.StatusCode, response.ContentLength, response.TransferEncoding, response.Header)
		}
		scanner := bufio.NewScanner(response.Body)
		n, last := 0, ""
		for scanner.Scan() {
			last = scanner.Text()
			if n++; !strings.Contains(last, fmt.Sprintf(`{"id":%d,"name":"name number %d","amount":`, n, n)) {
				t.Fatalf("row %d is %s", n, last)
			}
		}
		if scanner.Err() != nil || n != rows || !strings.HasSuffix(last, "}]") {
			t.Errorf("%d rows, %v", n, scanner.Err())
		}
	})
	for _, test := range []struct {
		name, path, prefer, accept string
		status                     int
		contentRange               string
		lines                      int
	}{
		{"with its total", "medium", "count=exact", "application/json", 200, "0-29999/30000", some},
		{"a part with its total", "medium?limit=25000&offset=10", "count=exact", "application/json", 206, "10-25009/30000", 25000},
		{"the last part with its total", "medium?limit=29000&offset=2000", "count=exact", "application/json", 206, "2000-29999/30000", 28000},
		{"as CSV", "medium?select=id,name,again:name", "", "text/csv", 200, "*/*", some + 1},
		{"one object a line", "medium", "", "application/x-ndjson", 200, "*/*", some},
	} {
		t.Run(test.name, func(t *testing.T) {
			response := ask(t, s, "GET", test.path, "Prefer: "+test.prefer, "Accept: "+test.accept)
			scanner := bufio.NewScanner(response.Body)
			n := 0
			for scanner.Scan() {
				n++
			}
			if scanner.Err() != nil || response.StatusCode != test.status || response.Header.Get("Content-Range") != test.contentRange || n != test.lines {
				t.Errorf("%d, %s, %d lines, %v", response.StatusCode, response.Header.Get("Content-Range"), n, scanner.Err())
			}
		})
	}
	t.Run("compressed", func(t *testing.T) {
		response := ask(t, s, "GET", "medium", "Accept-Encoding: gzip")
		reader, err := gzip.NewReader(response.Body)
		if err != nil || response.Header.Get("Content-Encoding") != "gzip" || response.Header.Get("Vary") != "Accept, Prefer, Range" && len(response.Header.Values("Vary")) != 2 {
			t.Fatalf("%v %v", err, response.Header)
		}
		scanner := bufio.NewScanner(reader)
		n := 0
		for scanner.Scan() {
			n++
		}
		if scanner.Err() != nil || n != some {
			t.Errorf("%d rows, %v", n, scanner.Err())
		}
	})
	t.Run("not for HEAD", func(t *testing.T) {
		response := ask(t, s, "HEAD", "medium", "Prefer: count=exact")
		body, err := io.ReadAll(response.Body)
		if err != nil || len(body) != 0 || response.StatusCode != 200 || response.Header.Get("Content-Range") != "0-29999/30000" || response.Header.Get("Content-Length") != "" {
			t.Errorf("%d bytes, %v, %d %v", len(body), err, response.StatusCode, response.Header)
		}
	})
	t.Run("and not into one object", func(t *testing.T) {
		answer := s.Do(t, "GET", "/rest/v1/medium", "", "Accept: application/vnd.pgrst.object+json")
		if answer.Status != 406 || !strings.Contains(answer.Body, "The result contains 30000 rows") {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
}

func TestStreamsBeginEarlyAndTakeLittleMemory(t *testing.T) {
	// Not parallel: the memory is that of the process.
	s := apitest.Start(t, large, unlimited)
	response := ask(t, s, "GET", "endless")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	// The whole would be more than a hundred gigabytes: what comes at all comes before the end.
	n, err := io.CopyN(io.Discard, response.Body, 64<<20)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	runtime.ReadMemStats(&after)
	if after.HeapInuse > before.HeapInuse+32<<20 {
		t.Errorf("the heap grew from %d to %d", before.HeapInuse, after.HeapInuse)
	}
	response.Body.Close()
	idle(t, s)
}

// idle waits until nothing runs for the server in PostgreSQL, and all its connections are free.
func idle(t *testing.T, s *apitest.Server) {
	t.Helper()
	apitest.Until(t, "PostgreSQL is idle", func() bool {
		var busy int
		err := s.Database.Pool.QueryRow(t.Context(), `
			select count(*)
			from pg_stat_activity
			where datname = current_database()
			  and application_name like 'basalt%'
			  and (state <> 'idle' or xact_start is not null)
			  and pid <> pg_backend_pid()`).Scan(&busy)
		return err == nil && busy == 0 && metric(t, s, "basalt_pool_connections_in_use") == "0"
	})
}

func TestErrorsInTheMiddleOfAStreamBreakTheConnection(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, large, unlimited)
	for _, headers := range [][]string{{"Accept: application/json"}, {"Accept: text/csv"}, {"Accept: application/x-ndjson"}, {"Accept-Encoding: gzip"}, {"Prefer: handling=lenient"}} {
		response := ask(t, s, "GET", "failing", headers...)
		body, err := io.ReadAll(response.Body)
		if response.StatusCode != 200 || err == nil || len(body) == 0 {
			t.Errorf("%v: %d, %d bytes, %v", headers, response.StatusCode, len(body), err)
		}
	}
	// An error before the first byte has left still has its own answer.
	for path, status := range map[string]int{"failing?id=gte.40000&order=id": 400, "failing?id=eq.40000": 400} {
		if answer := s.Do(t, "GET", "/rest/v1/"+path, ""); answer.Status != status || !strings.Contains(answer.Body, "22012") || answer.Header.Get("Content-Range") != "" {
			t.Errorf("%s: %d %s %v", path, answer.Status, answer.Body, answer.Header)
		}
	}
	idle(t, s)
	if answer := s.Do(t, "GET", "/rest/v1/thing?select=id", ""); answer.Body != `[{"id":1}]` {
		t.Errorf("afterwards: %d %s", answer.Status, answer.Body)
	}
}

func TestAnswersOfWritesAndFunctionsAreHeldBackWithinBounds(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, large, func(s *api.Settings) { s.MaxRows, s.AnswerMemory = 0, 1<<20 })
	body := "id,name\n"
	for i := range 1000 {
		body += fmt.Sprintf("%d,%s\n", i, strings.Repeat("x", 2000))
	}
	answer := s.Do(t, "POST", "/rest/v1/stored", body, "Prefer: return=representation", "Content-Type: text/csv")
	if answer.Status != 413 || !strings.Contains(answer.Body, "54000") {
		t.Errorf("a write: %d %.200s", answer.Status, answer.Body)
	}
	answer = s.Do(t, "POST", "/rest/v1/rpc/wide", `{"n":2000000}`)
	if answer.Status != 413 {
		t.Errorf("a function: %d %.200s", answer.Status, answer.Body)
	}
	if answer = s.Do(t, "POST", "/rest/v1/rpc/wide", `{"n":1000000}`); answer.Status != 200 || len(answer.Body) != 1_000_002 {
		t.Errorf("a function within bounds: %d, %d bytes", answer.Status, len(answer.Body))
	}
	idle(t, s)
}

func TestClientsThatDoNotReadLoseTheirQuery(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, large, func(s *api.Settings) { s.MaxRows, s.WriteTimeout, s.PoolSize = 0, 300*time.Millisecond, 4 })
	for range 4 {
		conn := dial(t, s)
		fmt.Fprintf(conn, "GET /rest/v1/endless HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	apitest.Until(t, "they hold the pool", func() bool { return metric(t, s, "basalt_pool_connections_in_use") == "4" })
	idle(t, s)
	if answer := s.Do(t, "GET", "/rest/v1/thing?select=id", ""); answer.Body != `[{"id":1}]` {
		t.Errorf("afterwards: %d %s", answer.Status, answer.Body)
	}
}

func TestClientsThatReadSlowlyAreServed(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, large, func(s *api.Settings) {
		// A stream that takes longer than any single wait.
		s.MaxRows, s.WriteTimeout, s.ReadTimeout = 0, 500*time.Millisecond, 500*time.Millisecond
	})
	response := ask(t, s, "GET", "large?order=id")
	total, start := 0, time.Now()
	buffer := make([]byte, 256<<10)
	for {
		n, err := io.ReadFull(response.Body, buffer)
		total += n
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && n < len(buffer) && buffer[max(n-1, 0)] == ']' {
			break
		}
		if err != nil {
			t.Fatalf("after %d bytes and %s: %v", total, time.Since(start), err)
		}
		time.Sleep(20 * time.Millisecond) // the client's own slowness, not a wait for anything
	}
	if total < 10<<20 {
		t.Errorf("%d bytes", total)
	}
}

func TestClientsThatLeaveTakeTheirQueryWithThem(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, large, func(s *api.Settings) { s.MaxRows = 0 })
	running := func() int {
		var n int
		err := s.Database.Pool.QueryRow(t.Context(), `
			select count(*)
			from pg_stat_activity
			where datname = current_database()
			  and application_name = 'basalt'
			  and state = 'active'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for name, request := range map[string]string{
		"a call":   "POST /rest/v1/rpc/wait HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{\"seconds\":300}",
		"a read":   "GET /rest/v1/rpc/wait?seconds=300 HTTP/1.1\r\nHost: x\r\n\r\n",
		"a stream": "GET /rest/v1/endless HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		conn := dial(t, s)
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		apitest.Until(t, name+" runs", func() bool { return running() == 1 })
		conn.Close()
		left := time.Now()
		apitest.Until(t, name+" is cancelled", func() bool { return running() == 0 })
		if took := time.Since(left); took > 30*time.Second {
			t.Errorf("%s ran for %s without anybody", name, took)
		}
	}
	// Many that leave at any moment leave nothing behind.
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond/2)
			defer cancel()
			request, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"/rest/v1/large?limit=3000&order=name", nil)
			if response, err := http.DefaultClient.Do(request); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
	group.Wait()
	idle(t, s)
	if strings.Contains(s.Log.String(), `"level":"error"`) {
		t.Errorf("clients that leave are errors in the log: %s", s.Log.String())
	}
}

func TestSlowSendersAreCut(t *testing.T) {
	// Not parallel: the memory is that of the process.
	s := apitest.Start(t, things, func(s *api.Settings) { s.ReadTimeout = 1500 * time.Millisecond })
	const each = 250
	var before, during runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	conns := make([]net.Conn, 0, 2*each)
	for range each {
		slowHeader, slowBody := dial(t, s), dial(t, s)
		fmt.Fprintf(slowHeader, "GET /rest/v1/thing HTTP/1.1\r\nHost: x\r\nX-A: ")
		fmt.Fprintf(slowBody, "POST /rest/v1/thing HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50000000\r\n\r\n{")
		conns = append(conns, slowHeader, slowBody)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { // one byte now and then
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				for _, conn := range conns {
					_, _ = io.WriteString(conn, "a")
				}
			}
		}
	}()
	runtime.ReadMemStats(&during)
	if grown := int64(during.HeapInuse+during.StackInuse) - int64(before.HeapInuse+before.StackInuse); grown > 2*each*(128<<10) {
		t.Errorf("%d connections take %d bytes", 2*each, grown)
	}
	if answer := s.Do(t, "GET", "/rest/v1/thing?select=id", ""); answer.Body != `[{"id":1}]` {
		t.Errorf("a good client beside them: %d %s", answer.Status, answer.Body)
	}
	deadline := time.Now().Add(time.Minute)
	for i, conn := range conns {
		if err := conn.SetReadDeadline(deadline); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatalf("connection %d is still open: %q", i, answer)
		}
		if i%2 == 1 && len(answer) > 0 && !strings.HasPrefix(string(answer), "HTTP/1.1 408") {
			t.Fatalf("a slow body is answered %q", answer)
		}
	}
}

func TestFullPoolsRefuseInTime(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, func(s *api.Settings) { s.PoolSize, s.PoolWait, s.PoolTimeout = 2, 4, 300*time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			request, _ := http.NewRequestWithContext(ctx, "GET", s.URL+"/rest/v1/rpc/wait?seconds=300", nil)
			if response, err := http.DefaultClient.Do(request); err == nil {
				response.Body.Close()
			}
		})
	}
	apitest.Until(t, "the pool is full", func() bool { return metric(t, s, "basalt_pool_connections_in_use") == "2" })
	statuses := make(chan *apitest.Answer, 40)
	for range 40 {
		group.Go(func() {
			var answer *apitest.Answer // stays nil when the request itself fails, which ends this goroutine
			defer func() { statuses <- answer }()
			answer = s.Do(t, "GET", "/rest/v1/thing", "")
		})
	}
	for range 40 {
		answer := <-statuses
		if answer == nil || answer.Status != 504 || !strings.Contains(answer.Body, "PGRST003") || answer.Header.Get("Retry-After") == "" {
			t.Errorf("%+v", answer)
		}
	}
	for _, path := range []string{"/health/ready", "/metrics", "/auth/v1/health"} {
		if answer := s.Do(t, "GET", path, ""); answer.Status != 200 {
			t.Errorf("%s: %d", path, answer.Status)
		}
	}
	cancel()
	group.Wait()
	apitest.Until(t, "the pool serves again", func() bool { return s.Do(t, "GET", "/rest/v1/thing", "").Status == 200 })
}
