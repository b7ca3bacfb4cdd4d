package api

import (
	"net/http"
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
		w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
		return w
	}}}
}

func (z *compressor) middleware(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !strings.Contains(c.Request().Header.Get("Accept-Encoding"), "gzip") || c.Request().Method == http.MethodHead {
			return next(c)
		}
		response := c.Response()
		w := &compressedWriter{ResponseWriter: response.Writer, pool: &z.writers}
		response.Writer = w
		defer func() {
			response.Writer = w.ResponseWriter
			w.close()
		}()
		return next(c)
	}
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
	header.Add("Vary", "Accept-Encoding")
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

// Flush sends what was written so far.
func (w *compressedWriter) Flush() {
	if !w.decided {
		w.decide(0)
	}
	if w.gzip != nil {
		_ = w.gzip.Flush() // a broken connection shows at the next write
	}
	if flusher, ok := w.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
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
		w.pool.Put(w.gzip)
		w.gzip = nil
	}
}
