package rest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"basalt/query/sql"
	"basalt/store"
)

// counter takes the one row of a count.
type counter struct{ rows int64 }

// Begin implements store.Sink.
func (c *counter) Begin(store.Columns) error { return nil }

// Row implements store.Sink. The count is a binary bigint.
func (c *counter) Row(values [][]byte) error {
	c.rows = 0
	for _, b := range values[0] {
		c.rows = c.rows<<8 | int64(b)
	}
	return nil
}

// End implements store.Sink.
func (c *counter) End(int64) error { return nil }

// estimate takes the planner's estimate out of EXPLAIN (format json).
type estimate struct{ rows int64 }

// Begin implements store.Sink.
func (e *estimate) Begin(store.Columns) error { return nil }

// Row implements store.Sink.
func (e *estimate) Row(values [][]byte) error {
	var explained []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(values[0], &explained); err != nil {
		return err
	}
	if len(explained) > 0 {
		e.rows = int64(explained[0].Plan.Rows)
	}
	return nil
}

// End implements store.Sink.
func (e *estimate) End(int64) error { return nil }

// responseStatement asks what functions decided about the response.
var responseStatement = &sql.Statement{SQL: `select
  current_setting('response.headers', true),
  current_setting('response.status', true)`}

// responseSettings takes what functions decided about the response: headers, a JSON array of objects with one key
// each, and a status.
type responseSettings struct{ headers, status []byte }

// Begin implements store.Sink.
func (s *responseSettings) Begin(store.Columns) error { return nil }

// Row implements store.Sink.
func (s *responseSettings) Row(values [][]byte) error {
	s.headers = append(s.headers[:0], values[0]...)
	s.status = append(s.status[:0], values[1]...)
	return nil
}

// End implements store.Sink.
func (s *responseSettings) End(int64) error { return nil }

// apply sets the headers and the status that were decided.
func (s *responseSettings) apply(header http.Header, status *int) error {
	if len(s.headers) > 0 {
		var list []map[string]string
		if err := json.Unmarshal(s.headers, &list); err != nil {
			return failure(http.StatusInternalServerError, "PGRST111", "response.headers guc must be a JSON array composed of objects with a single key and a string value")
		}
		replaced := map[string]bool{}
		for _, one := range list {
			if len(one) != 1 {
				return failure(http.StatusInternalServerError, "PGRST111", "response.headers guc must be a JSON array composed of objects with a single key and a string value")
			}
			for name, value := range one {
				name = http.CanonicalHeaderKey(name)
				if replaced[name] {
					header.Add(name, headerText(value))
				} else {
					header.Set(name, headerText(value))
					replaced[name] = true
				}
			}
		}
	}
	if len(s.status) > 0 {
		code, err := strconv.Atoi(string(s.status))
		if err != nil || code < 200 || code > 599 {
			return failure(http.StatusInternalServerError, "PGRST112", "response.status guc must be a valid status code")
		}
		*status = code
	}
	return nil
}
