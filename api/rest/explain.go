package rest

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/query"
	"basalt/query/sql"
	"basalt/store"
)

// explain answers with PostgreSQL's plan of a request's statement, as the request's role and under its settings.
// Nothing of what is carried out to measure it stays.
func (h *Handler) explain(c echo.Context, p *Planner, path string, statement *compiled, request *query.Request, f *format, principal *auth.Principal) error {
	lines := planLines{most: h.options.AnswerMemory}
	if statement.Nothing {
		if f.plan.options.JSON {
			lines.text = []byte("[]\n")
		}
		return h.writePlan(c, request, f, lines.text)
	}
	explaining := p.explaining(statement, request, f)
	params, err := explaining.Bind(nil, request)
	if err != nil {
		return err
	}
	flight := h.flight(c.Request(), p, path, statement, request, principal)
	flight.Steps = []store.Step{{Statement: explaining.Statement, Params: params, Sink: &lines}}
	flight.Rollback = !flight.Session.ReadOnly
	times := h.clock(c)
	times.lap(lapPlan)
	flight.Boarded = times.boarding()
	if err := h.db.Run(c.Request().Context(), &flight); err != nil {
		return (&answer{statement: statement, request: request, format: *f}).refusal(err)
	}
	times.lap(lapTransaction)
	return h.writePlan(c, request, f, lines.text)
}

// explaining finds or makes the statement that explains another.
func (p *Planner) explaining(statement *compiled, request *query.Request, f *format) *compiled {
	key := f.appendKey(make([]byte, 0, 512))
	key = request.AppendShape(key)
	if known := p.find(key); known != nil {
		return known
	}
	return p.remember(string(key), &compiled{
		Statement: sql.Explain(statement.Statement, f.plan.options), relation: statement.relation, routine: statement.routine,
	})
}

func (h *Handler) writePlan(c echo.Context, request *query.Request, f *format, body []byte) error {
	header := c.Response().Header()
	header.Set("Content-Type", f.plan.mediaType()+"; charset=utf-8")
	if len(h.options.Schemas) > 1 {
		header.Set("Content-Profile", request.Schema)
	}
	if request.Action == query.Read && len(header["Vary"]) == 0 {
		header.Set("Vary", "Accept, Prefer, Range")
	}
	h.clock(c).tell(header, lapResponse)
	return writeBody(c.Response(), c.Request().Method, http.StatusOK, body)
}

// planLines takes the lines of a plan.
type planLines struct {
	text []byte
	most int64
}

// Begin implements store.Sink.
func (p *planLines) Begin(store.Columns) error { return nil }

// Row implements store.Sink.
func (p *planLines) Row(values [][]byte) error {
	p.text = append(append(p.text, values[0]...), '\n')
	if int64(len(p.text)) > p.most {
		e := failure(http.StatusRequestEntityTooLarge, "54000", "The plan is larger than the server holds")
		e.Hint = text("Ask for fewer options, or explain a simpler request")
		return e
	}
	return nil
}

// End implements store.Sink.
func (p *planLines) End(int64) error { return nil }

// Restart implements store.Restarter.
func (p *planLines) Restart() bool {
	p.text = p.text[:0]
	return true
}
