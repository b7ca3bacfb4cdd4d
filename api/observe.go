package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"basalt/api/requests"
)

// observed is the context of a request with what is to be said of it at its end.
type observed struct {
	echo.Context
	writer patientWriter
	role   string
}

// NoteRole takes the database role that a request runs as.
func (o *observed) NoteRole(role string) { o.role = role }

// observe gives each request its identifier, bounds how long its answer may be stuck, measures, remembers and logs it.
func (s *Server) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(inner echo.Context) error {
		start := time.Now()
		c := &observed{Context: inner}
		response := c.Response()
		id := s.ids.of(c.Request().Header.Get("X-Request-Id"))
		response.Header().Set("X-Request-Id", id)
		s.trace(c.Request(), response.Header())
		if len(c.Request().TransferEncoding) > 0 {
			// net/http drops a Content-Length that stood beside it. Where the two disagree a proxy in front of us may
			// have read another end of the body: what it takes for the next request must not be served (RFC 9112 §6.1).
			response.Header().Set("Connection", "close")
		}
		c.writer = patientWriter{ResponseWriter: response.Writer, patience: s.settings.WriteTimeout}
		response.Writer = &c.writer
		broken := true
		defer func() {
			took := time.Since(start)
			status := response.Status
			if broken {
				status = statusBroken
			}
			ip := c.RealIP()
			s.metrics.observe(c, status, took)
			s.log.Info().Str("request_id", id).Str("method", c.Request().Method).Str("path", c.Request().URL.Path).
				Int("status", status).Int64("bytes", response.Size).Float64("duration_ms", float64(took.Microseconds())/1000).
				Str("ip", ip).Msg("request")
			s.remember(c, &requests.Request{
				At: start, Duration: took, Status: status, Bytes: response.Size, IP: ip, Role: c.role, RequestID: id,
			})
		}()
		if err := next(c); err != nil {
			c.Error(err)
		}
		broken = false
		return nil
	}
}

// statusBroken stands in log and metrics for an answer that was broken off after it had begun.
const statusBroken = 499

// remember keeps a request for the dashboard. What the dashboard itself asks, and who watches the server, would hide the
// app's requests: of those only what has failed is kept, and not what was refused.
func (s *Server) remember(c echo.Context, r *requests.Request) {
	r.Method, r.Path, r.Route = c.Request().Method, c.Request().URL.Path, c.Path()
	if r.Status >= 400 {
		r.Code = errorCode(c.Response().Header())
	}
	switch {
	case strings.HasPrefix(r.Route, restPrefix):
		r.Route = restPrefix
		if !strings.HasPrefix(r.Code, "PGRST") { // else the name may be one that the client has made up
			r.Route = restRoute(r.Path)
		}
	case r.Route == "", r.Route == "/*":
		r.Route = "unknown"
	case r.Route == "/", r.Route == "/metrics", strings.HasPrefix(r.Route, "/admin"), strings.HasPrefix(r.Route, "/health/"):
		if r.Status < 500 {
			return
		}
		r.Route, _, _ = strings.Cut(r.Route[1:], "/")
	}
	s.requests.Add(r)
}

// restRoute cuts a path of the REST API behind the relation or function.
func restRoute(path string) string {
	at := len(restPrefix) + 1
	if len(path) <= at {
		return restPrefix
	}
	if strings.HasPrefix(path[at:], "rpc/") {
		at += len("rpc/")
	}
	if end := strings.IndexByte(path[at:], '/'); end >= 0 {
		return path[:at+end]
	}
	return path
}

// errorCode is what the headers of an answer call its error: those of the REST API, then of accounts.
func errorCode(header http.Header) string {
	if _, code, found := strings.Cut(header.Get("Proxy-Status"), "error="); found {
		code, _, _ = strings.Cut(code, ",")
		return code
	}
	return header.Get("X-Sb-Error-Code")
}

// patientPiece is how much of an answer a client must take within its patience: so little that slow networks do.
const patientPiece = 64 << 10

// patientWriter cuts a client that does not take its answer: each piece of it moves the deadline.
type patientWriter struct {
	http.ResponseWriter
	patience time.Duration
}

func (w *patientWriter) Write(p []byte) (int, error) {
	written := 0
	for {
		if w.patience > 0 {
			// Not every writer has deadlines (tests); then there is none.
			_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.patience))
		}
		n, err := w.ResponseWriter.Write(p[:min(len(p), patientPiece)])
		written, p = written+n, p[n:]
		if err != nil || len(p) == 0 {
			return written, err
		}
	}
}

// Unwrap gives http.ResponseController the writer below.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
