package rest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"basalt/query/pgjson"
)

// recorder is a response that is kept until its transaction has committed.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	r.body = append(r.body, p...)
	return len(p), nil
}

// send writes what was recorded.
func (r *recorder) send(w http.ResponseWriter) error {
	header := w.Header()
	for name, values := range r.header {
		header[name] = values
	}
	w.WriteHeader(r.status)
	if len(r.body) == 0 {
		return nil
	}
	_, err := w.Write(r.body)
	return err
}

// appendItem writes the response as an element of a batch's answer.
func (r *recorder) appendItem(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"status":`...), int64(r.status), 10)
	dst = append(dst, `,"headers":`...)
	dst = appendHeaders(dst, r.header)
	dst = append(dst, `,"body":`...)
	return append(r.appendBody(dst), '}')
}

// appendHeaders writes headers as a JSON object with lower-case names, those of the transfer excepted.
func appendHeaders(dst []byte, header http.Header) []byte {
	dst = append(dst, '{')
	first := true
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name == "Content-Length" || name == "Vary" {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendValidString(dst, strings.ToLower(name))
		dst = append(dst, ':')
		dst = appendValidString(dst, strings.Join(header[name], ", "))
	}
	return append(dst, '}')
}

// appendBody writes the body as a JSON value: JSON as it is, bytes as base64 and other text as a string.
func (r *recorder) appendBody(dst []byte) []byte {
	if len(r.body) == 0 {
		return append(dst, "null"...)
	}
	kind, _, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	switch {
	case err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json")) && json.Valid(r.body):
		return append(dst, r.body...)
	case kind == "application/octet-stream":
		return pgjson.AppendString(dst, base64.StdEncoding.EncodeToString(r.body))
	}
	return appendValidString(dst, string(r.body))
}
