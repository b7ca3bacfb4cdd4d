package api

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/labstack/echo/v4"
)

// compressFrom is the smallest answer worth compressing, in bytes: below it the transfer saved is less than the
// work on both sides.
const compressFrom = 8 << 10

// compressor compresses large answers for clients that take gzip.
type compressor struct{ writers sync.Pool }

func newCompressor() *compressor {
	return &compressor{writers: sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is valid
		return w
	}}}
}

func (z *compressor) middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		response := c.Response()
		response.Before(func() { response.Header().Add("Vary", "Accept-Encoding") })
		if c.Request().Method == http.MethodHead || !takesGzip(c.Request().Header["Accept-Encoding"]) {
			return next(c)
		}
		w := &compressedWriter{ResponseWriter: response.Writer, pool: &z.writers}
		response.Writer = w
		// Not deferred: after a panic an answer is not complete and must not be ended as if it were.
		err := next(c)
		response.Writer = w.ResponseWriter
		w.close()
		return err
	}
}

// takesGzip says whether a client accepts gzip (RFC 9110 §12.5.3).
func takesGzip(accepted []string) bool {
	if len(accepted) == 1 && strings.HasPrefix(accepted[0], "gzip,") {
		return true // as nearly all clients write it
	}
	for _, coding := range strings.Split(strings.Join(accepted, ","), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, values, err := mime.ParseMediaType("x/x;" + parameters)
		if err != nil {
			return false
		}
		quality, rated := values["q"]
		rating, err := strconv.ParseFloat(quality, 64)
		return !rated || err == nil && rating > 0
	}
	return false
}

// compressedWriter decides at the first write whether to compress: the rest layer writes an answer in one piece or
// streams pieces that are larger than compressFrom.
type compressedWriter struct {
	http.ResponseWriter
	pool    *sync.Pool
	gzip    *gzip.Writer
	status  int
	decided bool
}

func (w *compressedWriter) WriteHeader(status int) {
	// Held back until the first write tells how large the answer is.
	if w.status == 0 {
		w.status = status
	}
}

func (w *compressedWriter) Write(p []byte) (int, error) {
	if !w.decided {
		w.decide(len(p))
	}
	if w.gzip != nil {
		return w.gzip.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

func (w *compressedWriter) decide(size int) {
	w.decided = true
	header := w.Header()
	if size >= compressFrom && header.Get("Content-Encoding") == "" {
		header.Set("Content-Encoding", "gzip")
		header.Del("Content-Length")
		w.gzip = w.pool.Get().(*gzip.Writer)
		w.gzip.Reset(w.ResponseWriter)
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.ResponseWriter.WriteHeader(w.status)
}

// FlushError sends what was written so far, for http.ResponseController.
func (w *compressedWriter) FlushError() error {
	if !w.decided {
		w.decide(0)
	}
	if w.gzip != nil {
		if err := w.gzip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap gives http.ResponseController the writer below.
func (w *compressedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *compressedWriter) close() {
	if !w.decided && w.status != 0 {
		w.decided = true
		w.ResponseWriter.WriteHeader(w.status)
	}
	if w.gzip != nil {
		_ = w.gzip.Close() // a broken connection has been reported by Write
		w.gzip.Reset(io.Discard)
		w.pool.Put(w.gzip)
		w.gzip = nil
	}
}
