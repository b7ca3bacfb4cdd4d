package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"basalt/query"
	"basalt/store"
)

// operation is a request whose answer waits for the end of a transaction that it may share with others.
type operation struct {
	index  int // in its batch
	method string
	path   string // decoded
	raw    string // the query string, with marks in the place of references
	header http.Header
	body   []byte
	marks  []mark
	places *place // of the references in the body; nil when there are none

	query    *query.Query
	answer   *answer
	recorder *recorder
	flight   store.Flight
	finished bool
}

// dependsOn says whether an operation needs the answer to another.
func (o *operation) dependsOn(other *operation) bool {
	for i := range o.marks {
		if o.marks[i].from == other.index {
			return true
		}
	}
	found := false
	o.places.eachLeaf(func(leaf string) {
		found = found || strings.HasPrefix(leaf, "$/"+strconv.Itoa(other.index)+"/")
	})
	return found
}

func (o *operation) hasReferences() bool { return len(o.marks) > 0 || o.places != nil }

// request makes the HTTP request that the operation stands for. Values, which are looked up by the text of a
// reference, are nil while they are not known.
func (o *operation) request(outer *http.Request, values map[string]json.RawMessage) (*http.Request, error) {
	body := o.body
	if o.places != nil {
		value := nullJSON
		if values != nil {
			value = func(leaf string) json.RawMessage { return values[leaf] }
		}
		var err error
		if body, err = o.places.put(nil, o.body, value); err != nil {
			return nil, misplaced(err)
		}
	}
	r := outer.WithContext(outer.Context())
	r.Method = o.method
	r.URL = &url.URL{Path: o.path, RawQuery: o.raw}
	r.Header = o.header
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return r, nil
}

// prepare reads and compiles an operation. Without values for its references it only sees whether that can be done.
func (t *together) prepare(o *operation, values map[string]json.RawMessage) error {
	h := t.handler
	h.putBack(o)
	r, err := o.request(t.context.Request(), values)
	if err != nil {
		return err
	}
	o.recorder = &recorder{header: http.Header{}}
	o.query = h.queries.Get().(*query.Query)
	request, formats, err := h.readRequest(r, o.path, t.planner.catalog, o.query)
	if err != nil {
		return err
	}
	if t.batch {
		request.Prefer.Transaction = query.TransactionUnset // it is the batch's to say
	}
	if err := setMarks(request.Query, o.marks, values); err != nil {
		return err
	}
	if err := h.permit(request, t.principal, t.planner.catalog); err != nil {
		return err
	}
	statement, f, err := h.resolve(r, t.planner, request, formats)
	if err != nil {
		return err
	}
	if f.plan != nil {
		return notAcceptable(strings.Join(r.Header["Accept"], ", ")) // a plan is of one request and writes nothing
	}
	o.answer = h.answers.Get().(*answer)
	c := t.context.Echo().NewContext(r, o.recorder)
	a := o.answer
	a.reset(h, c, t.planner, statement, request, f)
	a.held = &t.held
	if statement.Nothing {
		return nil
	}
	o.flight = h.flight(r, t.planner, o.path, statement, request, t.principal)
	if o.flight.Steps, err = a.steps(t.planner.catalog); err != nil {
		return err
	}
	if a.mayRefuse() {
		o.flight.Check = func() error { return t.finish(o) }
	}
	return nil
}

// mayRefuse says that an answer may turn out to be an error when all rows are there. Until then the transaction must
// not commit. Even a single row may be one more than what is held back.
func (a *answer) mayRefuse() bool {
	shown := a.request.Returning == query.ReturnRows && !a.statement.Void
	return shown || a.check() != nil || a.planner.catalog.SetsResponse
}

// checkHeld refuses answers that together are larger than what is held back.
func (a *answer) checkHeld() error {
	if *a.held+int64(len(a.buffer)) <= a.h.options.AnswerMemory {
		return nil
	}
	return tooMuchHeld()
}

func tooMuchHeld() *Error {
	e := failure(http.StatusRequestEntityTooLarge, "54000", "The answers are larger than the server holds back until a transaction has ended")
	e.Hint = text("Ask for fewer rows or columns, or use Prefer: return=minimal")
	return e
}

// finish writes the answer into the recorder, in a batch as it stands in the answer to the whole.
func (t *together) finish(o *operation) error {
	if err := o.finish(); err != nil || !t.batch {
		return err
	}
	return o.recorder.toJSON(t.hold)
}

// hold counts bytes that are held beside the answers.
func (t *together) hold(bytes int) error {
	if t.held += int64(bytes); t.held > t.handler.options.AnswerMemory {
		return tooMuchHeld()
	}
	return nil
}

func (o *operation) finish() error {
	a := o.answer
	if check := a.check(); check != nil && !a.statement.Nothing {
		if err := check(); err != nil {
			return err
		}
	}
	o.finished = true
	answer := a.finish
	if a.statement.Nothing {
		answer = a.finishEmpty
	}
	if err := answer(); err != nil {
		return err
	}
	if len(o.marks) > 0 { // addresses with marks in them lead nowhere
		o.recorder.header.Del("Content-Location")
		o.recorder.header.Del("Link")
	}
	return nil
}

// restart forgets what an operation was given by a transaction that does not count.
func (o *operation) restart() {
	o.finished = false
	o.recorder.header, o.recorder.status, o.recorder.body = http.Header{}, 0, nil
	o.answer.c.SetResponse(echo.NewResponse(o.recorder, o.answer.c.Echo()))
	for i := range o.flight.Steps {
		if sink, ok := o.flight.Steps[i].Sink.(store.Restarter); ok {
			sink.Restart()
		}
	}
}

// putBack gives back what an operation has borrowed.
func (h *Handler) putBack(o *operation) {
	if o.answer != nil {
		o.answer.release()
		h.answers.Put(o.answer)
		o.answer = nil
	}
	if o.query != nil {
		h.queries.Put(o.query)
		o.query = nil
	}
	o.flight, o.finished = store.Flight{}, false
}

// operationError says which operation an error is about.
type operationError struct {
	operation *operation
	err       error
}

func (e *operationError) Error() string {
	return "operation " + strconv.Itoa(e.operation.index) + ": " + e.err.Error()
}

func (e *operationError) Unwrap() error { return e.err }

// about names the operation that an error is about, unless it is named already.
func (o *operation) about(err error) error {
	var named *operationError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return &operationError{o, err}
}
