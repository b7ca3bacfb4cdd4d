package admin

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// lines is an answer of one JSON value a line, whose status is sent with the first. Of it no more is held than a batch.
type lines struct {
	c          echo.Context
	begun      bool
	buffer     []byte
	inRows     bool
	batchBegan time.Time
}

func newLines(c echo.Context) *lines { return &lines{c: c} }

// line adds a line.
func (l *lines) line(value any) {
	text := bytes.NewBuffer(l.buffer)
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // these values always marshal
	l.buffer = text.Bytes()
}

// raw adds a line with one member, whose value is JSON.
func (l *lines) raw(name string, value []byte) {
	text := bytes.NewBuffer(append(l.buffer, `{"`+name+`":`...))
	_ = json.Compact(text, value) // PostgreSQL has written it
	text.WriteString("}\n")
	l.buffer = text.Bytes()
}

// send sends what was added.
func (l *lines) send() error {
	response := l.c.Response()
	if !l.begun {
		l.begun = true
		header := response.Header()
		header.Set("Content-Type", "application/x-ndjson; charset=utf-8")
		header.Set("Cache-Control", "no-store")
		header.Set("X-Accel-Buffering", "no") // of proxies that would hold lines back
		response.WriteHeader(http.StatusOK)
	}
	_, err := response.Write(l.buffer)
	l.buffer = l.buffer[:0]
	if err == nil {
		response.Flush()
	}
	return err
}
