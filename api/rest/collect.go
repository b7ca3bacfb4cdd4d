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
	c.rows = bigint(values[0])
	return nil
}

// bigint reads PostgreSQL's binary form.
func bigint(value []byte) (n int64) {
	for _, b := range value {
		n = n<<8 | int64(b)
	}
	return n
}

// End implements store.Sink.
func (c *counter) End(int64) error { return nil }

// Restart implements store.Restarter.
func (c *counter) Restart() bool {
	c.rows = -1
	return true
}

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

// Restart implements store.Restarter.
func (e *estimate) Restart() bool {
	e.rows = -1
	return true
}

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

// Restart implements store.Restarter.
func (s *responseSettings) Restart() bool {
	s.headers, s.status = s.headers[:0], s.status[:0]
	return true
}

// decision is what functions decided about the response.
type decision struct {
	headers []map[string]string
	status  int // 0 when nothing was said
}

// read makes sense of the settings.
func (s *responseSettings) read() (d decision, err error) {
	if len(s.headers) > 0 {
		wellFormed := json.Unmarshal(s.headers, &d.headers) == nil
		for _, one := range d.headers {
			wellFormed = wellFormed && len(one) == 1
		}
		if !wellFormed {
			return decision{}, failure(http.StatusInternalServerError, "PGRST111", "response.headers guc must be a JSON array composed of objects with a single key and a string value")
		}
	}
	if len(s.status) > 0 {
		d.status, err = strconv.Atoi(string(s.status))
		if err != nil || d.status < 200 || d.status > 599 {
			return decision{}, failure(http.StatusInternalServerError, "PGRST112", "response.status guc must be a valid status code")
		}
	}
	return d, nil
}

// apply sets the headers. They replace those of the server; several of one name stand beside each other.
func (d *decision) apply(header http.Header) {
	replaced := map[string]bool{}
	for _, one := range d.headers {
		for name, value := range one {
			name = http.CanonicalHeaderKey(name)
			if frames(name) {
				continue
			}
			if replaced[name] {
				header.Add(name, headerText(value))
			} else {
				header.Set(name, headerText(value))
				replaced[name] = true
			}
		}
	}
}
