package api

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/api/requests"

	"basalt/api/body"
)

// edge serves one handler behind the chain that all requests of the API go through.
func edge(t *testing.T, patience time.Duration, log io.Writer, handler echo.HandlerFunc) *httptest.Server {
	t.Helper()
	settings := Defaults()
	settings.WriteTimeout = patience
	s := &Server{settings: &settings, log: zerolog.New(log), metrics: newMetrics(), requests: requests.New(), ids: newRequestIDs()}
	e := echo.New()
	e.HTTPErrorHandler = s.answerError
	e.Use(s.observe, s.recover)
	e.Any("/*", handler, cors(nil), boundBodies(body.NewLimits(1<<20, 1<<20)), newCompressor().middleware)
	server := httptest.NewUnstartedServer(e)
	server.Config = s.http(e)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// get asks without the client's own decompression.
func get(t *testing.T, server *httptest.Server, method string, headers ...string) (*http.Response, []byte, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

func unzip(t *testing.T, packed []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestLargeAnswersAreCompressedForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	large, small := strings.Repeat(`{"a":1},`, 4000), "[]"
	for _, test := range []struct {
		name, method, accept, body string
		compressed                 bool
	}{
		{"gzip", "GET", "gzip", large, true},
		{"as browsers ask", "GET", "gzip, deflate, br, zstd", large, true},
		{"in upper case, not first", "GET", "br;q=0.5, GZIP ;q=0.8", large, true},
		{"nothing", "GET", "", large, false},
		{"another", "GET", "br", large, false},
		{"one that has it in its name", "GET", "xgzip, notgzip", large, false},
		{"gzip forbidden", "GET", "gzip;q=0, br", large, false},
		{"gzip forbidden with more digits", "GET", "br, gzip; q=0.000", large, false},
		{"a small answer", "GET", "gzip", small, false},
		{"HEAD", "HEAD", "gzip", large, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := edge(t, time.Second, io.Discard, func(c echo.Context) error {
				if c.Request().Method == http.MethodHead {
					return c.NoContent(http.StatusOK)
				}
				c.Response().Header().Set("Content-Length", "64000")
				if len(test.body) < 64 {
					c.Response().Header().Set("Content-Length", "2")
				} else {
					c.Response().Header().Set("Content-Length", "32000")
				}
				return c.Blob(http.StatusOK, "application/json", []byte(test.body))
			})
			headers := []string{"X-None: 1"}
			if test.accept != "" {
				headers = []string{"Accept-Encoding: " + test.accept}
			}
			response, body, err := get(t, server, test.method, headers...)
			if err != nil {
				t.Fatal(err)
			}
			if got := response.Header.Get("Content-Encoding") == "gzip"; got != test.compressed {
				t.Fatalf("compressed: %v", got)
			}
			if vary := response.Header.Values("Vary"); len(vary) != 1 || vary[0] != "Accept-Encoding" {
				t.Errorf("Vary %v", vary)
			}
			if test.compressed {
				if response.Header.Get("Content-Length") == "32000" || len(body) > 3000 {
					t.Errorf("%d bytes of length %s", len(body), response.Header.Get("Content-Length"))
				}
				body = unzip(t, body)
			}
			if test.method == "GET" && string(body) != test.body {
				t.Errorf("%d bytes, want %d", len(body), len(test.body))
			}
		})
	}
}

func TestStatusesWithoutABodyPassTheCompression(t *testing.T) {
	t.Parallel()
	for _, status := range []int{204, 304, 201, 412} {
		server := edge(t, time.Second, io.Discard, func(c echo.Context) error { return c.NoContent(status) })
		response, body, err := get(t, server, "GET", "Accept-Encoding: gzip")
		if err != nil || response.StatusCode != status || len(body) != 0 || response.Header.Get("Content-Encoding") != "" {
			t.Errorf("%d: %v %v", status, response, err)
		}
	}
}

func TestStreamsComeThroughTheCompressionPieceByPiece(t *testing.T) {
	t.Parallel()
	proceed := make(chan struct{})
	piece := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	server := edge(t, 5*time.Second, io.Discard, func(c echo.Context) error {
		if _, err := c.Response().Write(piece); err != nil {
			return err
		}
		if err := http.NewResponseController(c.Response()).Flush(); err != nil {
			return err
		}
		<-proceed
		_, err := c.Response().Write(piece)
		return err
	})
	request, err := http.NewRequest("GET", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request) // decompresses by itself
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	first := make([]byte, 16)
	if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != "0123456789abcdef" {
		t.Fatalf("before the end: %q %v", first, err)
	}
	close(proceed)
	rest, err := io.ReadAll(response.Body)
	if err != nil || len(rest)+16 != 2*len(piece) || !response.Uncompressed {
		t.Fatalf("%d bytes, %v, compressed %v", len(rest), err, response.Uncompressed)
	}
}

// safeBuffer takes a log.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestBrokenStreamsDoNotLookComplete(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("0123456789abcdef"), 8192)
	for _, test := range []struct {
		name  string
		after func() error
		log   string
	}{
		{"by an abort", func() error { panic(http.ErrAbortHandler) }, `"status":499`},
		{"by a panic", func() error { panic("secretless reason") }, "panic in a request"},
	} {
		for _, encoding := range []string{"gzip", "identity"} {
			t.Run(test.name+" as "+encoding, func(t *testing.T) {
				log := &safeBuffer{}
				server := edge(t, time.Second, log, func(c echo.Context) error {
					if _, err := c.Response().Write(large); err != nil {
						return err
					}
					return test.after()
				})
				response, body, err := get(t, server, "GET", "Accept-Encoding: "+encoding)
				if err == nil {
					t.Errorf("looks complete: %d bytes", len(body))
				}
				if encoding == "gzip" && response != nil {
					reader, openErr := gzip.NewReader(bytes.NewReader(body))
					if openErr == nil {
						if _, readErr := io.ReadAll(reader); readErr == nil {
							t.Error("what came is a whole gzip file")
						}
					}
				}
				if !strings.Contains(log.String(), test.log) {
					t.Errorf("the log lacks %s: %s", test.log, log)
				}
			})
		}
	}
}

func TestPanicsAreAnsweredAndLogged(t *testing.T) {
	t.Parallel()
	log := &safeBuffer{}
	server := edge(t, time.Second, log, func(c echo.Context) error {
		var list []int
		_ = list[len(c.Request().Method)]
		return nil
	})
	for range 3 {
		response, body, err := get(t, server, "GET", "Accept-Encoding: gzip", "X-Request-Id: of-the-panic")
		if err != nil || response.StatusCode != 500 || string(body) != `{"code":500,"message":"internal error"}`+"\n" {
			t.Fatalf("%v %s %v", response, body, err)
		}
	}
	for _, want := range []string{"panic in a request", "index out of range", "compress_test.go", `"request_id":"of-the-panic"`, `"status":500`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestErrorsAreAnsweredWithoutTheirText(t *testing.T) {
	t.Parallel()
	log := &safeBuffer{}
	server := edge(t, time.Second, log, func(echo.Context) error { return errors.New("file /etc/inner: broken") })
	response, body, err := get(t, server, "GET")
	if err != nil || response.StatusCode != 500 || strings.Contains(string(body), "inner") || !strings.Contains(log.String(), "/etc/inner") {
		t.Errorf("%v %s %v, log %s", response, body, err, log)
	}
}

func TestClientsThatDoNotReadAreCut(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"identity", "gzip"} {
		failed := make(chan error, 1)
		noise := make([]byte, 1<<20)
		for i, x := 0, uint32(1); i < len(noise); i++ {
			x = x*1664525 + 1013904223
			noise[i] = byte(x >> 24)
		}
		server := edge(t, 200*time.Millisecond, io.Discard, func(c echo.Context) error {
			for {
				if _, err := c.Response().Write(noise); err != nil {
					failed <- err
					return nil
				}
			}
		})
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /x HTTP/1.1\r\nHost: x\r\nAccept-Encoding: "+encoding+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-failed:
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("%s: %v", encoding, err)
			}
		case <-time.After(time.Minute):
			t.Fatal("a client that does not read is served for ever")
		}
	}
}

func TestPatienceIsForEachPiece(t *testing.T) {
	t.Parallel()
	// A client that takes a piece now and then is served although the whole takes many times the patience.
	const patience, size = time.Second, 32 << 20
	server := edge(t, patience, io.Discard, func(c echo.Context) error {
		return c.Blob(http.StatusOK, "application/octet-stream", make([]byte, size))
	})
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /x HTTP/1.0\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	start, total := time.Now(), 0
	buffer := make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(conn, buffer)
		total += n
		if err != nil {
			break
		}
		time.Sleep(patience / 8) // the client's own slowness, not a wait for anything
	}
	if total < size || time.Since(start) < 2*patience {
		t.Errorf("%d of %d bytes in %s", total, size, time.Since(start))
	}
}
