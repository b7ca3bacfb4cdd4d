package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"basalt/api/bench/load"
)

// The requests of a virtual user, in their order.
const (
	create = "create"
	update = "update"
	remove = "delete"
)

var operations = []string{create, update, remove}

// entry is a row of bench_entry.
type entry struct {
	ID     int64     `json:"id"`
	Run    uuid.UUID `json:"run"`
	Body   string    `json:"body"`
	Amount int       `json:"amount"`
}

// writer is one virtual user.
type writer struct {
	name   string // in the rows' texts
	header string
	made   int // rows so far

	row     entry  // what the table should have; its id is 0 while there is none
	asked   string // the operation that was sent last
	settled bool   // and has succeeded
	check   func(body []byte) error
}

// newWriters makes virtual users of one run.
func newWriters(t *Target, run uuid.UUID, n int) []writer {
	writers := make([]writer, n)
	header := t.headers() + "Content-Type: application/json\r\nPrefer: return=representation\r\n"
	for i := range writers {
		w := &writers[i]
		*w = writer{name: fmt.Sprint("user ", i), header: header, row: entry{Run: run}, settled: true}
		w.check = w.answered
	}
	return writers
}

// next prepares the request that follows. After one that has failed nobody knows what became of the row: it is given up
// for a new one, and found by the count of rows if it is still there.
func (w *writer) next(q *load.Request) {
	switch {
	case w.asked == create && w.settled:
		w.asked = update
	case w.asked == update && w.settled:
		w.asked = remove
	default:
		w.asked, w.row.ID = create, 0
	}
	w.settled = false
	q.Operation, q.Header, q.Check = w.asked, w.header, w.check
	switch w.asked {
	case create:
		w.made++
		w.row.Amount, w.row.Body = w.made, w.name+", row "+strconv.Itoa(w.made)
		q.Method, q.Path, q.Want = http.MethodPost, "/rest/v1/bench_entry", http.StatusCreated
		q.Body = fmt.Appendf(q.Body[:0], `{"run": %q, "body": %q, "amount": %d}`, w.row.Run, w.row.Body, w.row.Amount)
	case update:
		w.row.Amount += 1_000_000
		q.Method, q.Path, q.Want = http.MethodPatch, w.path(), http.StatusOK
		q.Body = fmt.Appendf(q.Body[:0], `{"amount": %d}`, w.row.Amount)
	case remove:
		q.Method, q.Path, q.Want, q.Body = http.MethodDelete, w.path(), http.StatusOK, q.Body[:0]
	}
}

func (w *writer) path() string {
	return "/rest/v1/bench_entry?id=eq." + strconv.FormatInt(w.row.ID, 10)
}

// answered compares the row that came back with the one that was written.
func (w *writer) answered(body []byte) error {
	var rows []entry
	if err := json.Unmarshal(body, &rows); err != nil {
		return err
	}
	if len(rows) != 1 {
		return fmt.Errorf("%s: %d rows instead of one: %.200s", w.asked, len(rows), body)
	}
	if w.asked == create && rows[0].ID > 0 {
		w.row.ID = rows[0].ID
	}
	if rows[0] != w.row {
		return fmt.Errorf("%s: %+v instead of %+v", w.asked, rows[0], w.row)
	}
	if w.asked == remove {
		w.row.ID = 0
	}
	w.settled = true
	return nil
}
