package rest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"

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

// eagerAfter is the same for one object a line: who asks for that takes each line as it comes, and does not look at
// Content-Range.
const eagerAfter = 32 << 10

// keepBuffer is the largest buffer that is kept for another answer: what streamAfter may grow to.
const keepBuffer = 2 * streamAfter

// answer is one answer in the making: it takes the rows of the main statement and writes them as they come.
type answer struct {
	h         *Handler
	c         echo.Context
	planner   *Planner
	statement *compiled
	request   *query.Request
	format    format

	params   [3][][]byte // of the count, the estimate and the statement itself
	encoder  *pgjson.Encoder
	buffer   []byte
	pooled   *[]byte  // what buffer came from, between Begin and release
	rows     int64    // rows given or affected
	inserted int64    // of an upsert, rows that were not there before
	updated  int64    // of an upsert, rows that were there
	keys     []string // conditions on the key of the first row, for Location
	streamed bool     // rows left, or for HEAD were dropped, before the last had come
	total    counter
	estimate estimate
	page     page
	settings responseSettings
	list     []store.Step
	// held counts the bytes of all answers that are held back together; nil for an answer of its own.
	held *int64
}

func (a *answer) reset(h *Handler, c echo.Context, p *Planner, statement *compiled, request *query.Request, f format) {
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
	a.c, a.request, a.statement, a.planner, a.held = nil, nil, nil, nil, nil
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
	guard := a.statement.Guard
	one := a.singular() && !(guard.One && a.statement.ShowsEach)
	affected := a.request.Prefer.LimitsAffected(a.request.Action) && !guard.MaxAffected
	if a.request.Action == query.Read || !one && !affected && !a.mayOverflow() {
		return nil
	}
	return a.checkShown
}

// checkShown refuses a number of rows that has not been refused by the statement itself.
func (a *answer) checkShown() error {
	if !a.statement.Guard.MaxAffected {
		if err := a.checkAffected(); err != nil {
			return err
		}
	}
	return a.checkSingular()
}

// checkAffected refuses more rows than are preferred.
func (a *answer) checkAffected() error {
	if !a.request.Prefer.LimitsAffected(a.request.Action) || a.rows <= a.request.Prefer.MaxAffected {
		return nil
	}
	e := failure(http.StatusBadRequest, "PGRST124", "Query result exceeds max-affected preference constraint")
	e.Details = text(fmt.Sprintf("The query affects %d rows", a.rows))
	return e
}

// refusal turns the error of a statement that has counted its rows itself into the refusal that it stands for.
func (a *answer) refusal(err error) error {
	if (a.statement.Guard == plan.Guard{}) {
		return err
	}
	rows, ok := sql.Miscounted(err)
	if !ok {
		return err
	}
	if a.request.Action == query.Put {
		return plan.PutMismatch() // the statement lets no row through but the one that the filters name
	}
	a.rows = rows
	return cmp.Or(a.checkAffected(), a.checkSingular(), err)
}

// mayOverflow says that a write's answer may become larger than what is held back: then its transaction must not have
// committed yet.
func (a *answer) mayOverflow() bool {
	if a.request.Returning != query.ReturnRows || a.statement.ReadOnly || a.statement.Single || a.statement.Void {
		return false
	}
	if a.format.through != nil {
		return true // nobody knows what a handler makes of a row
	}
	return !a.statement.AtMostOne && !a.statement.Guard.One
}

// singular says that exactly one row must come or be written, shown or not.
func (a *answer) singular() bool {
	return a.format.media == mediaObject && !a.statement.Single
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
	a.buffer, a.rows, a.inserted, a.updated, a.keys = a.buffer[:0], 0, 0, 0, a.keys[:0]
	a.page = page{}
	encoder, err := a.statement.bind(a.planner, columns, &a.h.zones)
	if err != nil {
		return stale(err)
	}
	a.encoder = encoder
	if a.wrapped() {
		opening, _ := a.format.frame()
		a.buffer = append(a.buffer, opening...)
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
	array := a.format.media == mediaJSON && !a.statement.Single || a.format.media == mediaGeoJSON
	return array && !a.statement.Void && a.request.Returning == query.ReturnRows
}

// Row implements store.Sink.
func (a *answer) Row(values [][]byte) error {
	if a.statement.Page != nil && a.rows == a.request.Limit {
		return a.page.end(values)
	}
	a.rows++
	hidden := len(a.statement.Hidden)
	if err := a.takeHidden(values[:hidden]); err != nil {
		return err
	}
	if a.rows == 0 && a.format.media != mediaMade {
		return nil // it told alone what it tells beside rows
	}
	if a.request.Returning != query.ReturnRows || a.statement.Void || (a.singular() && a.rows > 1) {
		return nil
	}
	if a.held != nil && a.c.Request().Method == http.MethodHead {
		return nil // only counted: nobody will see the rows
	}
	if err := a.appendRow(values[hidden:]); err != nil {
		return stale(fmt.Errorf("write row %d as JSON: %w", a.rows, err))
	}
	return a.spill()
}

// spill sends what is held once there is much of it, or refuses to hold more.
func (a *answer) spill() error {
	if a.held != nil {
		return a.checkHeld()
	}
	held := len(a.buffer)
	switch {
	case held < eagerAfter:
		return nil
	case !a.streams():
		if int64(held) > a.h.options.AnswerMemory && !a.showsOne() {
			return a.tooLarge()
		}
		return nil
	case held < a.streamAfter():
		return nil
	case a.streamed:
		return a.flush()
	}
	a.streamed = true
	if a.c.Request().Method == http.MethodHead {
		return a.flush() // nothing leaves before the end, so that an error still gets its own answer
	}
	status := a.status()
	a.setHeaders(status)
	a.c.Response().WriteHeader(status)
	if err := a.flush(); err != nil {
		return err
	}
	// What compresses would keep the beginning to itself otherwise.
	return http.NewResponseController(a.c.Response().Writer).Flush()
}

// streams says that rows may leave before the transaction has ended: of what only reads, when nothing about the answer
// depends on the rows that are still to come, and there is more than one value.
func (a *answer) streams() bool {
	return a.reads() && !a.singular() && !a.statement.Single && a.statement.Page == nil && !a.request.Prefer.LimitsAffected(a.request.Action)
}

// showsOne says that a write has one row to show at most, whose commit rides in the same flight. It is answered
// whatever its size: it was done, and the row has come as a whole already.
func (a *answer) showsOne() bool {
	return a.request.Action != query.Read && a.request.Action != query.Call && !a.mayOverflow()
}

// reads says that the transaction is a read-only one.
func (a *answer) reads() bool { return a.statement.reads(a.request, a.c.Request().Method) }

// streamAfter is how much is held back before the first byte leaves. Where functions may have a say in status and
// headers, that is as much as may be held at all.
func (a *answer) streamAfter() int {
	switch {
	case a.planner.catalog.SetsResponse && !a.streamed:
		return max(int(a.h.options.AnswerMemory), eagerAfter)
	case a.format.media == mediaNDJSON:
		return eagerAfter
	}
	return streamAfter
}

func (a *answer) tooLarge() error {
	e := failure(http.StatusRequestEntityTooLarge, "54000", "The answer is larger than the server holds back until a transaction has ended")
	// The commit rides in the same flight, and may be done before the answer has grown too large.
	hint := "Ask for fewer rows or columns, or use Prefer: return=minimal"
	switch {
	case a.statement.Page != nil:
		hint = "Ask for smaller pages, with limit"
	case !a.reads() && !a.mayOverflow():
		hint = "What was asked for may have been done. " + hint
	}
	e.Hint = text(hint)
	return e
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
		_, closing := a.format.frame()
		a.buffer = append(a.buffer, closing...)
	}
	if a.held != nil {
		*a.held += int64(len(a.buffer))
	}
	return nil
}

// finish writes the answer of a flight that has committed.
func (a *answer) finish() error {
	if a.streamed && a.c.Request().Method != http.MethodHead {
		if len(a.settings.headers)+len(a.settings.status) > 0 {
			return errors.New("a function decided about an answer that has begun to leave")
		}
		return a.flush()
	}
	if err := a.checkSingular(); err != nil {
		return err
	}
	if a.request.Action == query.Put && a.statement.Nothing {
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
	a.setHeaders(status)
	if err := a.linkNext(); err != nil {
		return err
	}
	decided.apply(header)
	if decided.status != 0 {
		status = decided.status
	}
	return writeBody(a.c.Response(), a.c.Request().Method, status, a.buffer)
}

// finishEmpty answers a write that has nothing to write.
func (a *answer) finishEmpty() error {
	if a.wrapped() {
		opening, closing := a.format.frame()
		a.buffer = append(append(a.buffer, opening...), closing...)
	}
	return a.finish()
}
