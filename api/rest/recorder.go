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
	"unicode/utf8"

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

// appendItem writes the response, whose body is JSON, as an element of a batch's answer.
func (r *recorder) appendItem(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"status":`...), int64(r.status), 10)
	dst = append(dst, `,"headers":`...)
	dst = appendHeaders(dst, r.header)
	dst = append(dst, `,"body":`...)
	return append(append(dst, r.json()...), '}')
}

// itemSize is how long about such an element is.
func (r *recorder) itemSize() int { return len(r.body) + 512 }

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

// json is a body that is JSON.
func (r *recorder) json() []byte {
	if len(r.body) == 0 {
		return []byte("null")
	}
	return r.body
}

// toJSON makes the body a JSON value: JSON as it is, bytes as base64 and other text as a string. What that adds is held
// first.
func (r *recorder) toJSON(hold func(bytes int) error) error {
	kind, _, err := mime.ParseMediaType(r.header.Get("Content-Type"))
	switch {
	case len(r.body) == 0 || err == nil && isJSON(kind) && json.Valid(r.body):
		return nil
	case kind == "application/octet-stream":
		if err := hold(base64.StdEncoding.EncodedLen(len(r.body)) - len(r.body)); err != nil {
			return err
		}
		r.body = pgjson.AppendString(nil, base64.StdEncoding.EncodeToString(r.body))
		return nil
	}
	if err := hold(escapes(r.body)); err != nil {
		return err
	}
	r.body = appendValidString(nil, string(r.body))
	return nil
}

// escapes is how many bytes a text has more at most when it is a JSON string.
func escapes(text []byte) int {
	added := 0
	for _, c := range text {
		switch {
		case c < ' ':
			added += len(`u0001`)
		case c == '"', c == '\\':
			added++
		}
	}
	if !utf8.Valid(text) {
		added += 2 * len(text) // each byte may become U+FFFD
	}
	return added
}
