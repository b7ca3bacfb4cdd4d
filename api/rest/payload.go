package rest

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"

	"basalt/api/body"
	"basalt/query"
)

// hasPayload says whether a request's body is read.
func hasPayload(action query.Action, method string) bool {
	switch action {
	case query.Insert, query.Update, query.Put:
		return true
	case query.Call:
		return method == http.MethodPost
	}
	return false
}

// readPayload reads a request's body as its Content-Type says.
func readPayload(r *http.Request, request *query.Request) (*query.Payload, error) {
	kind := "application/json"
	if header := r.Header.Get("Content-Type"); header != "" && header != kind {
		parsed, _, err := mime.ParseMediaType(header)
		if err != nil {
			return nil, unsupportedBody(header)
		}
		kind = parsed
	}
	if err := checkCoding(r); err != nil {
		return nil, err
	}
	body, err := readAll(r)
	if err != nil {
		return nil, err
	}
	var payload *query.Payload
	switch {
	case isJSON(kind):
		if len(body) == 0 && request.Action == query.Call {
			body = []byte("{}")
		}
		payload, err = query.ReadJSON(body, query.JSONOptions{
			Columns: request.Query.Columns, Any: request.Action == query.Call,
			Ragged: request.Query.HasColumns || request.Prefer.Missing == query.MissingDefault,
		})
	case kind == "text/csv":
		payload, err = query.ReadCSV(body)
	case kind == "application/x-www-form-urlencoded" && request.Action == query.Call:
		return nil, request.Query.AddArguments(string(body))
	case kind == "application/x-www-form-urlencoded":
		payload, err = query.ReadForm(body)
	case request.Action == query.Call && slices.Contains([]string{"text/plain", "text/xml", "application/octet-stream"}, kind):
		payload = &query.Payload{Format: query.Opaque, Single: true, Rows: 1, Raw: body, MediaType: kind}
	default:
		return nil, unsupportedBody(kind)
	}
	return payload, err
}

// isJSON says that bodies of a media type are JSON (RFC 6839 §3.1).
func isJSON(kind string) bool { return kind == "application/json" || strings.HasSuffix(kind, "+json") }

// checkCoding refuses a body that is compressed.
func checkCoding(r *http.Request) error {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		e := failure(http.StatusUnsupportedMediaType, "PGRST102", "Content-Encoding not acceptable: "+coding)
		return e.header("Accept-Encoding", "identity") // RFC 9110 §15.5.16
	}
	return nil
}

func unsupportedBody(kind string) error {
	return failure(http.StatusBadRequest, "PGRST102", "Content-Type not acceptable: "+kind)
}

// readAll reads a body into a buffer that grows as it comes, up to the length announced.
func readAll(r *http.Request) ([]byte, error) {
	const first = 16 << 10
	announced := int(r.ContentLength)
	body := make([]byte, 0, first)
	if announced >= 0 {
		body = make([]byte, 0, min(announced, first))
	}
	for announced < 0 || len(body) < announced {
		if len(body) == cap(body) {
			size := 2 * max(cap(body), first)
			if announced >= 0 {
				size = min(size, announced)
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF && (announced < 0 || len(body) == announced) {
			return body, nil
		}
		if err != nil {
			return nil, bodyError(err)
		}
	}
	return body, nil
}

func bodyError(err error) error {
	var tooLarge *http.MaxBytesError
	var busy *body.BusyError
	if errors.As(err, &tooLarge) || errors.As(err, &busy) {
		return err
	}
	e := failure(http.StatusBadRequest, "PGRST102", "The request body ended before it was complete")
	if errors.Is(err, os.ErrDeadlineExceeded) {
		e = failure(http.StatusRequestTimeout, "PGRST102", "The request body did not come in time")
	}
	e.Cause = fmt.Errorf("read body: %w", err)
	return e
}
