package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func get(_, _ int, r *Request) { r.Method, r.Path = "GET", "/" }

func TestAClosedLoadSendsOneRequestPerCallerAtATime(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		_, _ = io.WriteString(w, "body")
	}))
	defer server.Close()
	result, err := Closed(t.Context(), Options{URL: server.URL, Callers: 3, For: time.Minute, Count: 20}, get)
	if err != nil {
		t.Fatal(err)
	}
	if result.Requests != 60 || result.Errors != 0 || result.Statuses[200] != 60 || result.Bytes != 240 {
		t.Errorf("%+v", result)
	}
	if most.Load() > 3 {
		t.Errorf("%d requests at once", most.Load())
	}
	if result.Percentile(0.5) <= 0 || result.Percentile(0.5) > result.Percentile(1) || result.PerSecond() <= 0 {
		t.Errorf("p50 %v, most %v, %v a second", result.Percentile(0.5), result.Percentile(1), result.PerSecond())
	}
}

func TestAClosedLoadGoesOnUntilEachCallerHasEnoughAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(20 * time.Millisecond) }))
	defer server.Close()
	result, err := Closed(t.Context(), Options{URL: server.URL, Callers: 2, For: 10 * time.Millisecond, Least: 2}, get)
	if err != nil {
		t.Fatal(err)
	}
	if whole := 100 * time.Millisecond; result.Requests < 4 && result.Took < whole || result.Errors != 0 {
		t.Errorf("%d answers in %v, %d errors", result.Requests, result.Took, result.Errors)
	}
}

func TestFailuresAreCountedAndTold(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/full":
			w.Header().Set("Retry-After", "2")
			http.Error(w, "come again", http.StatusServiceUnavailable)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		default:
			_, _ = io.WriteString(w, "other")
		}
	}))
	defer server.Close()
	for _, e := range []struct {
		name    string
		request Request
		status  int
		told    string
		again   int
	}{
		{"a status that was not wanted", Request{Method: "GET", Path: "/full?key=secret"}, 503, "GET /full: status 503: come again", 1},
		{"an answer that is cut off", Request{Method: "GET", Path: "/cut"}, 200, "unexpected EOF", 0},
		{"a body that was not wanted", Request{Method: "GET", Path: "/", Check: func(body []byte) error {
			return fmt.Errorf("not %s", body)
		}}, 200, "GET /: not other", 0},
		{"another status of success", Request{Method: "GET", Path: "/", Want: 201}, 200, "status 200", 0},
	} {
		t.Run(e.name, func(t *testing.T) {
			result, err := Closed(t.Context(), Options{URL: server.URL, Callers: 1, For: time.Minute, Count: 1}, func(_, _ int, r *Request) { *r = e.request })
			if err != nil {
				t.Fatal(err)
			}
			if result.Errors != 1 || result.Statuses[e.status] != 1 || result.RetryAfter != e.again {
				t.Errorf("%+v", result)
			}
			if told := fmt.Sprint(result.FirstError); !strings.Contains(told, e.told) || strings.Contains(told, "secret") {
				t.Errorf("told: %s", told)
			}
		})
	}
}

func TestARefusalCostsNoConnection(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not now"))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	result, err := Closed(t.Context(), Options{URL: server.URL, Callers: 2, For: time.Minute, Count: 10}, func(_, _ int, r *Request) { r.Method, r.Path = "GET", "/" })
	if err != nil {
		t.Fatal(err)
	}
	if result.Errors != 20 || connections.Load() != 2 {
		t.Errorf("%d errors over %d connections instead of 20 over 2", result.Errors, connections.Load())
	}
}

func TestAServerThatIsAwayFailsRequestsNotTheLoad(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	result, err := Closed(t.Context(), Options{URL: server.URL, Callers: 2, For: time.Minute, Count: 2}, get)
	if err != nil || result.Errors != 4 || result.Statuses[0] != 4 || result.PerSecond() != 0 || result.Percentile(0.95) != 0 {
		t.Errorf("%+v %v", result, err)
	}
}

func TestBodiesArriveWhole(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen[r.Method+" "+r.URL.RawQuery+" "+r.Header.Get("X-Mark")+" "+string(body)]++
		mu.Unlock()
		w.WriteHeader(http.StatusCreated)
	}))
	defer server.Close()
	long := bytes.Repeat([]byte("x"), 100_000)
	_, err := Closed(t.Context(), Options{URL: server.URL, Callers: 1, For: time.Minute, Count: 2}, func(_, n int, r *Request) {
		*r = Request{Method: "POST", Path: fmt.Sprintf("/?n=%d", n), Header: "X-Mark: m\r\n", Body: long, Want: http.StatusCreated}
	})
	if err != nil || seen["POST n=0 m "+string(long)] != 1 || seen["POST n=1 m "+string(long)] != 1 {
		t.Errorf("%d kinds of request, %v", len(seen), err)
	}
}

func TestAnOpenLoadDoesNotWaitForAnswers(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var arrived atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived.Add(1)
		<-release
	}))
	defer server.Close()
	time.AfterFunc(300*time.Millisecond, func() { close(release) })
	result, err := Open(t.Context(), Options{URL: server.URL, Callers: 2, For: 200 * time.Millisecond}, 1000, get)
	if err != nil {
		t.Fatal(err)
	}
	if arrived.Load() != 2 || result.Offered <= 2 || result.Unsent != result.Offered-2 {
		t.Errorf("%d sent of %d offered, %d unsent", arrived.Load(), result.Offered, result.Unsent)
	}
	if result.Requests != 0 {
		t.Errorf("%d answers count that came after the end", result.Requests)
	}
}

func TestTurnsGoEveryWayAndStopAtAFailure(t *testing.T) {
	t.Parallel()
	var done [2][]int
	ways := []func(int) error{
		func(turn int) error { done[0] = append(done[0], turn); return nil },
		func(turn int) error { done[1] = append(done[1], turn); return nil },
	}
	results, err := Turns(t.Context(), 5, ways...)
	if err != nil || len(results) != 2 || results[1].Requests != 5 || fmt.Sprint(done) != "[[0 1 2 3 4] [0 1 2 3 4]]" {
		t.Errorf("%v %v %v", results, err, done)
	}
	broken := errors.New("broken")
	if _, err := Turns(t.Context(), 5, func(turn int) error {
		if turn == 2 {
			return broken
		}
		return nil
	}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestAddressesThatAreNoServersAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "127.0.0.1:8090", "ftp://127.0.0.1", "http://", "::", "http://127.0.0.1:8090/rest/v1"} {
		if _, err := Closed(t.Context(), Options{URL: address, Callers: 1}, get); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
}

func TestAnAnswerWithoutAnEndIsCutOff(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		line := []byte("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20))
		for err == nil {
			_, err = conn.Write(line)
			line = line[len(line)-1<<20:]
		}
	}()
	c := newClient(&url.URL{Scheme: "http", Host: listener.Addr().String()})
	defer c.close()
	if _, err := c.do(t.Context(), &Request{Method: "GET", Path: "/"}); !errors.Is(err, errTooLarge) {
		t.Errorf("the error is %v", err)
	}
}
