package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/query"
	"basalt/store"
)

// together is a number of operations that stand or fall together: they run in one transaction, in as few exchanges
// with PostgreSQL as their references allow.
type together struct {
	handler    *Handler
	context    echo.Context // of the request that they came with
	principal  *auth.Principal
	planner    *Planner
	operations []*operation
	rollback   bool   // of a batch: nothing is kept
	applied    string // of a batch: the preferences that were heeded
	once       *once  // nil without an Idempotency-Key
	batch      bool
	wanted     place // what references lead to, below the index of the operation

	held   int64 // bytes of answers
	values map[string]json.RawMessage
	answer recorder // to the whole
	worked bool
}

// run carries out the operations. Their answer is complete when it returns nil.
func (t *together) run() error {
	ctx := t.context.Request().Context()
	if patience := t.handler.options.TransactionTimeout; patience > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, patience)
		defer stop()
	}
	defer t.release()
	err := t.plan(ctx)
	var claim *claimError
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &claim) && t.context.Request().Context().Err() == nil {
		return failure(http.StatusInternalServerError, "57014", "The transaction took longer than the server lets it")
	}
	return err
}

// plan carries out the operations, planned anew as long as the catalog turns out to be outdated.
func (t *together) plan(ctx context.Context) error {
	for plans := 1; ; plans++ {
		err := t.attempt(ctx)
		if err == nil || plans == mostPlans {
			return err
		}
		next := t.handler.replanner(ctx, t.planner, plans, err, t.requests()...)
		if next == nil {
			return err
		}
		t.planner = next
	}
}

// requests are those that were prepared.
func (t *together) requests() []*query.Request {
	var list []*query.Request
	for _, o := range t.operations {
		if o.answer != nil && o.answer.request != nil {
			list = append(list, o.answer.request)
		}
	}
	return list
}

func (t *together) attempt(ctx context.Context) error {
	options := store.Transaction{ReadOnly: t.once == nil}
	flights := t.once != nil
	for _, o := range t.operations {
		if err := t.prepare(o, nil); err != nil {
			return o.about(err)
		}
		if o.answer.statement.Nothing {
			continue
		}
		flights = true
		session := &o.flight.Session
		options.ReadOnly = options.ReadOnly && session.ReadOnly
		options.Rollback = o.flight.Rollback
		if options.Isolation != "serializable" && session.Isolation != "" {
			options.Isolation = session.Isolation
		}
	}
	if t.batch {
		options.Rollback = t.rollback
	}
	t.worked = false
	if !flights { // there is nothing to ask PostgreSQL
		if err := t.finishAll(t.operations); err != nil {
			return err
		}
		return t.finishAnswer()
	}
	return t.handler.db.Transact(ctx, options, t.work)
}

// work is what happens within the transaction. It may be run twice.
func (t *together) work(tx *store.Tx) error {
	t.restart()
	e := exchange{together: t}
	if t.once != nil {
		e.add(nil, t.once.claim())
	}
	for _, o := range t.operations {
		if e.needs(o) {
			if err := e.send(tx.Run); err != nil {
				return err
			}
		}
		if o.hasReferences() {
			if err := t.resolve(o); err != nil {
				return o.about(err)
			}
		}
		e.add(o, &o.flight)
	}
	if t.once == nil {
		if err := e.send(tx.Commit); err != nil {
			return err
		}
		return t.finishAnswer()
	}
	// What is deferred to the commit runs before the server's own flight, and sees what the last operation has left.
	e.add(nil, &store.Flight{Continues: true, Steps: []store.Step{{Statement: deferredStatement}}})
	if err := e.send(tx.Run); err != nil {
		return err
	}
	if err := t.finishAnswer(); err != nil {
		return err
	}
	kept, err := t.once.keep(&t.answer)
	if err != nil {
		return err
	}
	err = tx.Commit(kept)
	var failed *store.FlightError
	if errors.As(err, &failed) {
		return &claimError{failed.Err}
	}
	return err
}

// send sends an answer to the whole.
func (t *together) send(answer *recorder) error {
	response := t.context.Response()
	t.handler.clock(t.context).tell(response.Header(), lapTransaction)
	return answer.send(response)
}

// restart forgets what a transaction before has brought.
func (t *together) restart() {
	t.held, t.values, t.answer = 0, nil, recorder{}
	if t.worked {
		for _, o := range t.operations {
			if !o.hasReferences() {
				o.restart()
			}
		}
	}
	t.worked = true
}

// resolve prepares an operation anew, with the values that its references lead to.
func (t *together) resolve(o *operation) error {
	missing, size := "", 0
	look := func(reference string) {
		if t.values[reference] == nil {
			missing = reference
		}
		size += len(t.values[reference])
	}
	for i := range o.marks {
		look(o.marks[i].reference.text)
	}
	o.places.eachLeaf(look)
	if missing != "" {
		return absent(missing)
	}
	// A large value that many references lead to becomes many copies of it.
	if err := t.hold(size); err != nil {
		return err
	}
	return t.prepare(o, t.values)
}

// exchange is what is sent to PostgreSQL next.
type exchange struct {
	*together
	flights []*store.Flight
	owners  []*operation // of the flights, nil for the server's own
	pending []*operation // all operations since the last exchange
}

func (e *exchange) add(o *operation, f *store.Flight) {
	if o != nil {
		e.pending = append(e.pending, o)
		if o.answer.statement.Nothing {
			return
		}
	}
	e.flights = append(e.flights, f)
	e.owners = append(e.owners, o)
}

// needs says that an operation refers to one whose answer is not there.
func (e *exchange) needs(o *operation) bool {
	for _, other := range e.pending {
		if o.dependsOn(other) {
			return true
		}
	}
	return false
}

// send sends the flights and takes the answers of their operations.
func (e *exchange) send(run func(...*store.Flight) error) error {
	if err := run(e.flights...); err != nil {
		var failed *store.FlightError
		if !errors.As(err, &failed) {
			return err
		}
		switch o := e.owners[failed.Flight]; {
		case o != nil:
			return o.about(o.answer.refusal(failed.Err))
		case e.flights[failed.Flight].Continues:
			return failed.Err
		}
		return &claimError{failed.Err}
	}
	if err := e.finishAll(e.pending); err != nil {
		return err
	}
	e.flights, e.owners, e.pending = nil, nil, nil
	return nil
}

// finishAll finishes the answers of operations and takes from them what others refer to.
func (t *together) finishAll(operations []*operation) error {
	for _, o := range operations {
		if !o.finished {
			if err := t.finish(o); err != nil {
				return o.about(err)
			}
		}
		t.take(o)
	}
	return nil
}

// release gives back what all operations have borrowed.
func (t *together) release() {
	for _, o := range t.operations {
		t.handler.putBack(o)
	}
}
