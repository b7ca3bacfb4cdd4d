package admin

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"basalt/migrations"
	"basalt/query/pgjson"
	"basalt/store/console"
)

// batchBytes is how much of a result is held before it is sent, batchPatience how long at most: of slow rows the first
// ones are to be seen.
const (
	batchBytes    = 32 << 10
	batchPatience = 200 * time.Millisecond
)

// sqlRun is one request for SQL as it is carried out.
type sqlRun struct {
	body  *SQLBody
	conn  *pgx.Conn
	out   *lines
	began time.Time
	// confined says that plans are made with no way back to the owner.
	confined bool
	// offset is the end, in bytes, of what characters have been counted of the text, and characters how many that are.
	offset, characters int
	rolledBack         bool
	statements         int
}

// all runs the statements until one fails.
func (r *sqlRun) all(ctx context.Context, statements []migrations.Statement) error {
	for i := range statements {
		start := r.count(statements[i].Offset)
		end := start + utf8.RuneCountInString(statements[i].Text)
		r.out.line(SQLLine{Statement: &SQLStatement{i, statements[i].Text, start, end}})
		r.statements++
		if err := r.out.send(); err != nil {
			return err
		}
		if err := r.one(ctx, &statements[i], start); err != nil {
			return err
		}
	}
	r.rolledBack = r.conn.PgConn().TxStatus() != 'I'
	return nil
}

// count gives the characters before a byte of the text. Statements come in order, so the text is counted once.
func (r *sqlRun) count(offset int) int {
	r.characters += utf8.RuneCountInString(r.body.SQL[r.offset:offset])
	r.offset = offset
	return r.characters
}

// one runs a statement that stands behind so many characters.
func (r *sqlRun) one(ctx context.Context, statement *migrations.Statement, before int) error {
	if strings.HasPrefix(statement.Text, `\`) {
		refused := refusedf(http.StatusBadRequest, "42601", "%s is a command of psql, not SQL", strings.Fields(statement.Text)[0])
		refused.Position = int32(before) + 1
		return refused
	}
	began := time.Now()
	if r.body.Explain != "" {
		return r.explain(ctx, statement.Text, before, began)
	}
	if statement.ReadsData() {
		if after := r.body.SQL[statement.Offset+len(statement.Text):]; statement.Data == "" && !strings.HasPrefix(strings.TrimSpace(after), ";") {
			refused := refuseCopy()
			refused.Position = int32(before) + 1
			return refused
		}
		tag, err := r.conn.PgConn().CopyFrom(ctx, strings.NewReader(statement.Data), statement.Text)
		if err != nil {
			return place(err, before)
		}
		return r.complete(console.Result{Tag: tag.String()}, began)
	}
	result, err := console.Run(ctx, r.conn, statement.Text, r.body.rows(), r)
	r.out.endRows()
	if err != nil {
		return place(err, before)
	}
	return r.complete(result, began)
}

// refuseCopy refuses a COPY FROM STDIN whose data do not follow it: the editor has no other standard input.
func refuseCopy() *refusal {
	r := refuse(http.StatusBadRequest, "42601", "COPY FROM STDIN has no data here; to load a file, use the import of Tables")
	r.Hint = `Lines of data may follow the statement, up to a line \.`
	return r
}

func (r *sqlRun) complete(result console.Result, began time.Time) error {
	r.out.line(SQLLine{Complete: &SQLComplete{result.Tag, milliseconds(time.Since(began)), result.Rows, result.Truncated}})
	return r.out.send()
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// The options of EXPLAIN. Brackets keep a text that begins with an option of its own from being taken for one.
const (
	explainPlan    = `explain (format json, verbose, settings) `
	explainAnalyze = `explain (analyze, buffers, verbose, settings, wal, format json) `
)

// explain gives the plan of a statement, which is carried out only in a transaction that is rolled back.
func (r *sqlRun) explain(ctx context.Context, text string, before int, began time.Time) error {
	prefix := explainPlan
	if r.body.Explain == "analyze" {
		prefix = explainAnalyze
	}
	mode := pgx.TxOptions{}
	if r.confined {
		mode.AccessMode = pgx.ReadWrite
	}
	tx, err := r.conn.BeginTx(ctx, mode)
	if err != nil {
		return err
	}
	query := prefix + text
	if r.confined {
		if query, err = confine(ctx, tx, query); err != nil {
			return err
		}
	}
	plan := planSink{run: r}
	_, err = console.Run(ctx, r.conn, query, 1<<20, &plan)
	if err != nil {
		if r.confined {
			err = unconfined(err, prefix+text)
		}
		return place(err, before-len(prefix)) // the options are ASCII; the connection is reset behind this
	}
	if err := tx.Rollback(ctx); err != nil {
		return err
	}
	r.out.raw("plan", plan.text)
	return r.complete(console.Result{Tag: "EXPLAIN"}, began)
}

// planSink takes the text of a plan.
type planSink struct {
	run  *sqlRun
	text []byte
}

// Columns implements console.Sink.
func (p *planSink) Columns([]console.Column) error { return nil }

// Row implements console.Sink.
func (p *planSink) Row(values [][]byte) error {
	p.text = append(append(p.text, values[0]...), '\n')
	return nil
}

// Notice implements console.Sink.
func (p *planSink) Notice(n *pgproto3.NoticeResponse) error { return p.run.Notice(n) }

// Columns implements console.Sink.
func (r *sqlRun) Columns(columns []console.Column) error {
	named := make([]SQLColumn, len(columns))
	for i, c := range columns {
		named[i] = SQLColumn{c.Name, c.Type, c.Schema, c.Table, c.Source}
	}
	r.out.line(SQLLine{Columns: named})
	return nil
}

// Row implements console.Sink.
func (r *sqlRun) Row(values [][]byte) error { return r.out.row(values) }

// Notice implements console.Sink.
func (r *sqlRun) Notice(n *pgproto3.NoticeResponse) error {
	r.out.endRows()
	r.out.line(SQLLine{Notice: &SQLNotice{n.Severity, n.Code, n.Message, n.Detail, n.Hint}})
	return r.out.send()
}

// finish writes the end of the stream.
func (r *sqlRun) finish(err error) error {
	r.out.endRows()
	if err != nil {
		why := explain(err).ErrorBody
		if err == errCancelled {
			why = ErrorBody{Code: "57014", Message: "The run was cancelled"}
		}
		r.out.line(SQLLine{Error: &why})
	}
	r.out.line(SQLLine{Finished: &SQLFinished{milliseconds(time.Since(r.began)), err == nil, r.rolledBack}})
	return r.out.send()
}

// row adds a row to the batch that is being written, and sends it when it is large or old enough.
func (l *lines) row(values [][]byte) error {
	if !l.inRows {
		l.buffer = append(l.buffer, `{"rows":[`...)
		l.inRows, l.batchBegan = true, time.Now()
	} else {
		l.buffer = append(l.buffer, ',')
	}
	l.buffer = append(l.buffer, '[')
	for i, value := range values {
		if i > 0 {
			l.buffer = append(l.buffer, ',')
		}
		if value == nil {
			l.buffer = append(l.buffer, "null"...)
		} else {
			l.buffer = pgjson.AppendString(l.buffer, string(value))
		}
	}
	l.buffer = append(l.buffer, ']')
	if len(l.buffer) < batchBytes && time.Since(l.batchBegan) < batchPatience {
		return nil
	}
	l.endRows()
	return l.send()
}

// endRows ends the batch that is being written, if there is one.
func (l *lines) endRows() {
	if l.inRows {
		l.buffer = append(l.buffer, "]}\n"...)
		l.inRows = false
	}
}
