package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
)

const (
	// importBatch and importBatchBytes are how many rows, of how many bytes, one statement writes.
	importBatch      = 1000
	importBatchBytes = 1 << 20
	// mostRefusedRows is how many refused rows an import may have: a file with more is another one than was meant.
	mostRefusedRows = 10_000
	// mostRefusalReason bounds what is said of one of them, in bytes.
	mostRefusalReason = 1 << 10
	// progressSpacing is the least time between two lines of progress.
	progressSpacing = 500 * time.Millisecond
	// importPatience is how long the next bytes of the file may take.
	importPatience = time.Minute
	// mostIgnored is how much of a file is read on after its import has failed.
	mostIgnored = 256 << 20
)

// ImportLine is a line of the answer to an import: one of its members is there. Refused rows are told behind the end of
// the file: browsers read no answer while they send.
type ImportLine struct {
	Done     *int64          `json:"done,omitempty"` // rows that were taken so far
	Refused  *RefusedRow     `json:"refused,omitempty"`
	Error    *ErrorBody      `json:"error,omitempty"` // why nothing was kept
	Finished *ImportFinished `json:"finished,omitempty"`
}

// RefusedRow is a row that was left out.
type RefusedRow struct {
	Line    int64  `json:"line"` // of the file, from 1, where the row begins
	Reason  string `json:"reason"`
	Details string `json:"details,omitempty"` // PostgreSQL's: which value of which columns
	Code    string `json:"code"`
	Column  string `json:"column,omitempty"`
}

// ImportFinished is the last line. Without it the answer was cut, or PostgreSQL was lost at the commit, and nothing is sure.
type ImportFinished struct {
	// Kept tells whether the rows are in the table. An import is one transaction.
	Kept       bool    `json:"kept"`
	Inserted   int64   `json:"inserted"` // or, on conflict, updated
	Skipped    int64   `json:"skipped"`  // were there already (on_conflict=skip)
	Refused    int64   `json:"refused"`
	DurationMS float64 `json:"duration_ms"`
}

// importRows answers POST /import/{schema}/{table}?format=&delimiter=&decimal=&mapping=&on_conflict=&conflict_columns=&dry_run=&strict=.
func (d *Data) importRows(c echo.Context) error {
	options, err := importOptionsOf(c)
	if err != nil {
		return err
	}
	v, err := d.viewOf(c)
	if err != nil {
		return err
	}
	response := http.NewResponseController(c.Response())
	_ = response.EnableFullDuplex() // HTTP/2 is so by itself
	ctx, cancel := context.WithCancelCause(c.Request().Context())
	defer cancel(nil)
	stopWatch := d.watchSession(c, cancel)
	defer stopWatch()
	body := &patientBody{from: c.Request().Body, controller: response}
	i := &importing{ctx: ctx, out: newLines(c), began: time.Now(), options: options}
	if i.source, err = options.open(body); err != nil {
		return err
	}
	session := v.session()
	session.Long = true
	session.StatementTimeout = ddlTimeout
	err = d.pool.Tx(ctx, session, func(tx pgx.Tx) error {
		i.tx = tx
		if i.table, err = findTable(ctx, tx, named(c, "schema"), named(c, "table")); err != nil {
			return err
		}
		if err := i.all(); err != nil {
			return err
		}
		if options.dryRun {
			return errDryRun
		}
		if err := d.auditImport(c, tx, v, i); err != nil {
			return err
		}
		i.committing = true
		return nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil && c.Request().Context().Err() == nil {
		err = cause
	}
	if err != nil && err != errDryRun && !i.out.begun && i.taken == 0 && len(i.refused) == 0 {
		// What fails while rows are written, without their being at fault, leaves open whether any were kept: it is said.
		if i.insert == "" || explain(err).status < 500 {
			return err
		}
	}
	if err := i.finish(err); err != nil {
		return err
	}
	// A browser reads the answer when it has sent all, and loses it when the connection is closed before.
	_, _ = io.CopyN(io.Discard, body, mostIgnored)
	return nil
}

// errDryRun undoes an import that was only to be tried.
var errDryRun = errors.New("this was a dry run")

func (d *Data) auditImport(c echo.Context, tx pgx.Tx, v view, i *importing) error {
	if v.role != "" {
		if _, err := tx.Exec(c.Request().Context(), `set constraints all immediate`); err != nil {
			return err
		}
		if _, err := tx.Exec(c.Request().Context(), `reset role`); err != nil {
			return err
		}
	}
	type imported struct {
		Role    string `json:"role,omitempty"`
		Rows    int64  `json:"rows"`
		Refused int    `json:"refused"`
	}
	return administrator.Record(c.Request().Context(), tx, actorOf(c), administrator.Change{
		Action: "rows.import", Target: i.table.schema + "." + i.table.name, After: imported{v.role, i.inserted, len(i.refused)},
	})
}

// importOptions are what the address of an import says.
type importOptions struct {
	format string
	// delimiter is between the fields of CSV. Spreadsheets write a semicolon where the comma is in numbers.
	delimiter byte
	// decimalComma says that numbers of CSV have a comma before their fraction, and points between thousands.
	decimalComma bool
	// mapping gives the column of each field of the file; a field that is not in it is left out. Nil takes them by name.
	mapping map[string]string
	// onConflict is skip, update or "" for a refusal; conflictColumns are those that tell, the primary key by default.
	onConflict      string
	conflictColumns []string
	dryRun          bool
	// strict ends the import at the first refused row.
	strict bool
}

func importOptionsOf(c echo.Context) (o importOptions, err error) {
	o.format, o.onConflict = c.QueryParam("format"), c.QueryParam("on_conflict")
	switch delimiter := c.QueryParam("delimiter"); delimiter {
	case "":
		o.delimiter = ','
	case ",", ";", "\t":
		o.delimiter = delimiter[0]
	default:
		return o, refusedf(http.StatusBadRequest, "bad_delimiter", "delimiter is a comma, a semicolon or a tab, not %q", delimiter)
	}
	switch decimal := c.QueryParam("decimal"); decimal {
	case "", ".":
	case ",":
		o.decimalComma = o.format == "csv" // JSON has points
	default:
		return o, refusedf(http.StatusBadRequest, "bad_decimal", "decimal is a point or a comma, not %q", decimal)
	}
	o.dryRun, o.strict = c.QueryParam("dry_run") == "true", c.QueryParam("strict") == "true"
	if text := c.QueryParam("mapping"); text != "" {
		if err := json.Unmarshal([]byte(text), &o.mapping); err != nil {
			return o, refusedf(http.StatusBadRequest, "bad_mapping", "mapping is a JSON object: the column of each field")
		}
		taken := map[string]bool{}
		for _, column := range o.mapping {
			if taken[column] {
				return o, refusedf(http.StatusBadRequest, "bad_mapping", "Two fields are mapped to the column %q", column)
			}
			taken[column] = true
		}
	}
	if text := c.QueryParam("conflict_columns"); text != "" {
		if err := json.Unmarshal([]byte(text), &o.conflictColumns); err != nil {
			return o, refusedf(http.StatusBadRequest, "bad_conflict", "conflict_columns is a JSON array of names")
		}
	}
	switch o.onConflict {
	case "", "skip", "update":
		return o, nil
	}
	return o, refusedf(http.StatusBadRequest, "bad_conflict", "on_conflict is skip or update, not %q", o.onConflict)
}

// rowSource gives the rows of a file one by one. An error ends the import; a *rowError is of one row.
type rowSource interface {
	// next gives the fields of the next row with their values and the line that it begins at. io.EOF is the end.
	next() (fields []string, values []*string, line int64, err error)
}

// rowError is a row that cannot be read, behind which the next one can.
type rowError struct {
	line   int64
	reason string
}

func (e *rowError) Error() string { return e.reason }

// fileError is a file that cannot be read on.
func fileError(line int64, format string, values ...any) error {
	return refusedf(http.StatusBadRequest, "bad_file", "Line %d: %s", line, fmt.Sprintf(format, values...))
}

func (o *importOptions) open(r io.Reader) (rowSource, error) {
	switch o.format {
	case "csv":
		return newCSVSource(r, o.delimiter), nil
	case "json":
		return newJSONSource(r, true), nil
	case "ndjson":
		return newJSONSource(r, false), nil
	}
	return nil, refusedf(http.StatusBadRequest, "bad_format", "format is csv, json or ndjson, not %q", o.format)
}

// patientBody reads a body whose client may take its time, as long as something comes.
type patientBody struct {
	from       io.Reader
	controller *http.ResponseController
	moved      time.Time
}

func (b *patientBody) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(b.moved) > time.Second {
		_ = b.controller.SetReadDeadline(now.Add(importPatience)) // not every writer has deadlines
		b.moved = now
	}
	n, err := b.from.Read(p)
	if err != nil && err != io.EOF {
		return n, &cutError{err}
	}
	return n, err
}

// cutError is a body that did not come to its end.
type cutError struct{ err error }

func (e *cutError) Error() string { return "the file was cut off: " + e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }
