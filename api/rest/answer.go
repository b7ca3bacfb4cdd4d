package rest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/plan"
	"basalt/query/sql"
	"basalt/store"
)

// streamAfter is how much of a read's answer is held back before its first byte leaves. Up to here Content-Range
// is exact and an error still gets its own answer; beyond it memory stays constant.
const streamAfter = 1 << 20

// keepBuffer is the largest buffer that is kept for another answer: what streamAfter may grow to.
const keepBuffer = 2 * streamAfter

// answer is one answer in the making: it takes the rows of the main statement and writes them as they come.
type answer struct {
	h         *Handler
	c         echo.Context
	planner   *planner
	statement *compiled
	request   *query.Request
	format    format

	params   [3][][]byte // of the count, the estimate and the statement itself
	encoder  *pgjson.Encoder
	buffer   []byte
	pooled   *[]byte // what buffer came from, between Begin and release
	rows     int64   // rows given or affected
	inserted int64   // of an upsert, rows that were not there before
	keys     []string
	streamed bool
	total    counter
	estimate estimate
	settings responseSettings
	list     []store.Step
}

func (a *answer) reset(h *Handler, c echo.Context, p *planner, statement *compiled, request *query.Request, f format) {
	params, list := a.params, a.list[:0]
	*a = answer{h: h, c: c, planner: p, statement: statement, request: request, format: f, params: params, list: list}
	a.total.rows, a.estimate.rows = -1, -1
}

// release drops what must not be kept until the next request.
func (a *answer) release() {
	if a.pooled != nil && cap(a.buffer) <= keepBuffer {
		*a.pooled = a.buffer
		a.h.buffers.Put(a.pooled)
	}
	a.buffer, a.pooled = nil, nil
	for i := range a.params {
		clear(a.params[i][:cap(a.params[i])])
	}
	clear(a.list[:cap(a.list)])
	a.c, a.request, a.statement, a.planner = nil, nil, nil, nil
}

// steps are the statements of the flight: the count before the rows, so that it is known when they begin to
// leave; what functions decided about the response behind them.
func (a *answer) steps(c *catalog.Catalog) ([]store.Step, error) {
	for i, step := range [...]store.Step{
		{Statement: a.statement.Count, Sink: &a.total},
		{Statement: a.statement.Plan, Sink: &a.estimate},
		{Statement: a.statement.Statement, Sink: a},
	} {
		if step.Statement == nil {
			continue
		}
		var err error
		if a.params[i], err = step.Statement.Bind(a.params[i][:0], a.request); err != nil {
			return nil, err
		}
		step.Params = a.params[i]
		a.list = append(a.list, step)
	}
	if c.SetsResponse {
		a.list = append(a.list, store.Step{Statement: responseStatement, Sink: &a.settings})
	}
	return a.list, nil
}

// check is what must hold before the transaction may commit; nil when nothing can forbid it.
func (a *answer) check() func() error {
	strict := a.request.Prefer.Handling == query.HandlingStrict && a.request.Prefer.MaxAffected >= 0
	put := a.request.Action == query.Put
	if a.request.Action == query.Read || (!a.singular() && !strict && !put && !a.mayOverflow()) {
		return nil
	}
	return func() error {
		if put && a.rows != 1 {
			return plan.PutMismatch() // the statement lets no row through but the one that the filters name
		}
		if strict && a.rows > a.request.Prefer.MaxAffected {
			e := failure(http.StatusBadRequest, "PGRST124", "Query result exceeds max-affected preference constraint")
			e.Details = text(fmt.Sprintf("The query affects %d rows", a.rows))
			return e
		}
		return a.checkSingular()
	}
}

// mayOverflow says that a write's answer may become larger than what is held back: then its transaction must not have
// committed yet.
func (a *answer) mayOverflow() bool {
	if a.request.Returning != query.ReturnRows || a.statement.ReadOnly || a.statement.Single || a.statement.Void {
		return false
	}
	return a.request.Action != query.Insert || a.request.Payload.Rows > 1
}

// singular says that exactly one row must come.
func (a *answer) singular() bool {
	return a.format.media == mediaObject && a.request.Returning == query.ReturnRows && !a.statement.Single
}

func (a *answer) checkSingular() error {
	if a.singular() && a.rows != 1 {
		e := failure(http.StatusNotAcceptable, "PGRST116", "Cannot coerce the result to a single JSON object")
		e.Details = text(fmt.Sprintf("The result contains %d rows", a.rows))
		return e
	}
	return nil
}

// Begin implements store.Sink.
func (a *answer) Begin(columns store.Columns) error {
	if a.statement.RowsAffected {
		return nil
	}
	if a.pooled == nil {
		a.pooled = a.h.buffers.Get().(*[]byte)
		a.buffer = *a.pooled
	}
	a.buffer, a.rows, a.inserted, a.keys = a.buffer[:0], 0, 0, a.keys[:0]
	encoder, err := a.statement.bind(a.planner, columns, &a.h.zones)
	if err != nil {
		return stale(err)
	}
	a.encoder = encoder
	if a.wrapped() {
		a.buffer = append(a.buffer, '[')
	}
	return nil
}

// stale names an error that comes of a type which the catalog does not know yet: another catalog may.
func stale(err error) error {
	var unknown *pgjson.UnknownTypeError
	if errors.As(err, &unknown) {
		return &store.StaleError{TypeOID: unknown.OID}
	}
	return err
}

// Restart implements store.Restarter: what was not sent can be made again.
func (a *answer) Restart() bool { return !a.streamed }

// wrapped says that the rows stand in a JSON array.
func (a *answer) wrapped() bool {
	return a.format.media == mediaJSON && !a.statement.Single && !a.statement.Void && a.request.Returning == query.ReturnRows
}

// Row implements store.Sink.
func (a *answer) Row(values [][]byte) error {
	a.rows++
	for i, hidden := range a.statement.Hidden {
		switch {
		case hidden.Kind == sql.InsertedColumn && len(values[i]) == 1 && values[i][0] == 1:
			a.inserted++
		case hidden.Kind == sql.KeyColumn && a.rows == 1:
			a.keys = append(a.keys, string(values[i]))
		case hidden.Kind == sql.TotalColumn && a.rows == 1:
			if err := a.total.Row(values[i : i+1]); err != nil {
				return err
			}
		}
	}
	values = values[len(a.statement.Hidden):]
	if a.request.Returning != query.ReturnRows || a.statement.Void || (a.singular() && a.rows > 1) {
		return nil
	}
	var err error
	switch {
	case a.format.media == mediaCSV:
		if a.rows == 1 {
			a.buffer = appendCSVHeader(a.buffer, a.statement.Layout)
		}
		a.buffer, err = a.encoder.AppendCSVRow(append(a.buffer, '\n'), values)
	case a.format.isBare():
		a.buffer = append(a.buffer, values[0]...)
	default:
		if a.rows > 1 && a.wrapped() {
			a.buffer = append(a.buffer, ',', '\n', ' ')
		}
		switch {
		case a.statement.Scalar && a.format.stripped:
			a.buffer, err = a.encoder.AppendValueStripped(a.buffer, 0, values[0])
		case a.statement.Scalar:
			a.buffer, err = a.encoder.AppendValue(a.buffer, 0, values[0])
		case a.format.stripped:
			a.buffer, err = a.encoder.AppendRowStripped(a.buffer, values)
		default:
			a.buffer, err = a.encoder.AppendRow(a.buffer, values)
		}
		if a.format.media == mediaNDJSON {
			a.buffer = append(a.buffer, '\n')
		}
	}
	if err != nil {
		return stale(fmt.Errorf("write row %d as JSON: %w", a.rows, err))
	}
	return a.spill()
}

// spill sends what is held once there is much of it. Only reads may: a write's answer waits for its commit.
func (a *answer) spill() error {
	if a.request.Action != query.Read || a.singular() || a.planner.catalog.SetsResponse {
		if int64(len(a.buffer)) > a.h.options.AnswerMemory {
			e := failure(http.StatusRequestEntityTooLarge, "54000", "The answer is larger than the server holds back until a transaction has ended")
			// The commit rides in the same flight, and may be done before the answer has grown too large.
			e.Hint = text("What was asked for may have been done. Ask for fewer rows or columns, or use Prefer: return=minimal")
			return e
		}
		return nil
	}
	if len(a.buffer) < streamAfter {
		return nil
	}
	if !a.streamed {
		a.streamed = true
		status := a.status()
		a.describe(status)
		a.c.Response().WriteHeader(status)
	}
	return a.flush()
}

func (a *answer) flush() error {
	if a.c.Request().Method == http.MethodHead {
		a.buffer = a.buffer[:0]
		return nil
	}
	_, err := a.c.Response().Write(a.buffer)
	a.buffer = a.buffer[:0]
	return err
}

// End implements store.Sink.
func (a *answer) End(rows int64) error {
	if a.statement.RowsAffected {
		a.rows = rows
		return nil
	}
	if a.wrapped() {
		a.buffer = append(a.buffer, ']')
	}
	return nil
}

// finish writes the answer of a flight that has committed.
func (a *answer) finish() error {
	if a.streamed {
		return a.flush()
	}
	if err := a.checkSingular(); err != nil {
		return err
	}
	if a.request.Action == query.Put && a.rows == 0 {
		return plan.PutMismatch()
	}
	decided, err := a.settings.read()
	if err != nil {
		return err
	}
	header, status := a.c.Response().Header(), a.status()
	if status == http.StatusRequestedRangeNotSatisfiable {
		header.Set("Content-Range", "*/"+strconv.FormatInt(a.count(), 10))
		return query.OutOfBounds(a.request.Offset, a.count())
	}
	if a.statement.Single && a.rows == 0 && (a.format.media == mediaJSON || a.format.media == mediaObject) {
		a.buffer = append(a.buffer, "null"...)
	}
	a.describe(status)
	decided.apply(header)
	if decided.status != 0 {
		status = decided.status
	}
	if bodyless(status) || a.c.Request().Method == http.MethodHead {
		a.c.Response().WriteHeader(status)
		return nil
	}
	header.Set("Content-Length", strconv.Itoa(len(a.buffer)))
	a.c.Response().WriteHeader(status)
	return a.flush()
}

// finishEmpty answers a write that has nothing to write.
func (a *answer) finishEmpty() error {
	if a.wrapped() {
		a.buffer = append(a.buffer, "[]"...)
	}
	return a.finish()
}

// count is the total that the client asked for, -1 when it did not.
func (a *answer) count() int64 {
	switch a.request.Prefer.Count {
	case query.CountNone:
		return -1
	case query.CountPlanned:
		if a.statement.Plan != nil {
			return a.estimate.rows
		}
	case query.CountEstimated:
		// The exact count stops one beyond the maximum; from there on the planner's estimate counts.
		if a.statement.Plan != nil && a.total.rows > a.h.options.MaxRows {
			return max(a.estimate.rows, a.total.rows)
		}
	}
	switch {
	case a.total.rows >= 0:
		return a.total.rows
	case a.request.Action == query.Call && a.request.Offset > 0:
		return -1 // no row came that could have told the total
	}
	return a.rows
}

// shown is how many rows the answer holds, -1 when it has begun to leave and only its end will tell.
func (a *answer) shown() int64 {
	if !a.streamed {
		return a.rows
	}
	total := a.count()
	if total < 0 {
		return -1
	}
	left := max(total-a.request.Offset, 0)
	if a.request.Limit >= 0 {
		return min(left, a.request.Limit)
	}
	return left
}

// status is the answer's status before functions had their say.
func (a *answer) status() int {
	switch a.request.Action {
	case query.Read, query.Call:
		if a.statement.Void {
			return http.StatusNoContent
		}
		total := a.count()
		switch {
		case total < 0:
			return http.StatusOK
		case a.request.Offset > total:
			return http.StatusRequestedRangeNotSatisfiable
		case a.shown() < total && !a.statement.Single:
			return http.StatusPartialContent
		}
		return http.StatusOK
	case query.Insert:
		if a.request.Prefer.Resolution == query.MergeDuplicates && a.counted() && a.inserted == 0 && a.rows > 0 {
			return http.StatusOK
		}
		return http.StatusCreated
	case query.Put:
		switch {
		case a.request.Returning != query.ReturnRows:
			return http.StatusNoContent
		case a.inserted > 0:
			return http.StatusCreated
		}
		return http.StatusOK
	}
	if a.request.Returning == query.ReturnRows {
		return http.StatusOK
	}
	return http.StatusNoContent
}

// appendCSVHeader writes the names of the columns, quoted where they need it (RFC 4180 §2).
func appendCSVHeader(dst []byte, layout *pgjson.Layout) []byte {
	for i, column := range layout.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		if strings.ContainsAny(column.Name, ",\"\r\n") {
			dst = append(append(append(dst, '"'), strings.ReplaceAll(column.Name, `"`, `""`)...), '"')
		} else {
			dst = append(dst, column.Name...)
		}
	}
	return dst
}

// counted says that the statement tells which rows were inserted.
func (a *answer) counted() bool {
	for _, hidden := range a.statement.Hidden {
		if hidden.Kind == sql.InsertedColumn {
			return true
		}
	}
	return false
}
