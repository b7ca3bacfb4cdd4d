package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// importing is one import as it is carried out.
type importing struct {
	ctx     context.Context
	tx      pgx.Tx
	table   *table
	options importOptions
	source  rowSource
	out     *lines
	began   time.Time
	told    time.Time

	fields  []string       // of the batch
	columns []*tableColumn // of each field, nil for one that is left out
	insert  string         // the statement of the batch
	batch   []importRow
	bytes   int

	taken, inserted, skipped int64
	committing               bool // all that is left is to commit
	refused                  []RefusedRow
}

type importRow struct {
	values []*string
	line   int64
}

// all takes all rows of the file.
func (i *importing) all() error {
	i.told = time.Now()
	for {
		fields, values, line, err := i.source.next()
		if err == io.EOF {
			return i.flush()
		}
		if bad, ok := errors.AsType[*rowError](err); ok {
			if err := i.refuse(RefusedRow{Line: bad.line, Reason: bad.reason, Code: "bad_row"}); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if !slices.Equal(fields, i.fields) {
			if err := i.flush(); err != nil {
				return err
			}
			if err := i.begin(fields); err != nil {
				return err
			}
		}
		if misread, reason := i.misread(values); misread != nil {
			if err := i.refuse(RefusedRow{Line: line, Reason: reason, Code: "22P02", Column: misread.name}); err != nil {
				return err
			}
			continue
		}
		i.batch = append(i.batch, importRow{values, line})
		for _, value := range values {
			i.bytes += 8 // what is absent takes room too
			if value != nil {
				i.bytes += len(*value)
			}
		}
		if len(i.batch) == importBatch || i.bytes >= importBatchBytes {
			if err := i.flush(); err != nil {
				return err
			}
			if err := i.tell(); err != nil {
				return err
			}
		}
	}
}

// begin prepares the statement for rows of the same fields.
func (i *importing) begin(fields []string) error {
	i.fields = slices.Clone(fields)
	i.columns = make([]*tableColumn, len(fields))
	var used []*tableColumn
	for n, field := range fields {
		name := field
		if i.options.mapping != nil {
			var mapped bool
			if name, mapped = i.options.mapping[field]; !mapped {
				continue
			}
		}
		column := i.table.columns[name]
		if column == nil {
			refused := refusedf(http.StatusBadRequest, "42703", "column %q of relation %q does not exist", name, i.table.name)
			refused.Column, refused.Hint = name, "Map the field to another column, or leave it out"
			return refused
		}
		if slices.Contains(used, column) {
			return refusedf(http.StatusBadRequest, "42701", "The file has several fields for the column %q", name)
		}
		i.columns[n], used = column, append(used, column)
	}
	if len(used) == 0 {
		return refusedf(http.StatusBadRequest, "bad_mapping", "No field of the file goes to a column of %s", i.table.name)
	}
	var err error
	i.insert, err = i.statement(used)
	return err
}

// statement writes the insert of a batch, which takes an array of texts for each column. A text is read by its type's own
// input, and then assigned as any value is: what is too long is refused, not cut.
func (i *importing) statement(used []*tableColumn) (string, error) {
	s := newStatement()
	s.text("insert into " + i.table.sql() + " (")
	s.list(used, func(c *tableColumn) { s.text(c.sql()) })
	s.text(")")
	if slices.ContainsFunc(used, func(c *tableColumn) bool { return c.identity == "always" }) {
		s.text(" overriding system value")
	}
	s.text(" select ")
	s.list(used, func(c *tableColumn) { s.text("v." + c.sql() + "::" + c.typeName) })
	s.text(" from unnest(")
	for n := range used {
		if n > 0 {
			s.text(", ")
		}
		s.text("$" + strconv.Itoa(n+1) + "::text[]")
	}
	s.text(") as v (")
	s.list(used, func(c *tableColumn) { s.text(c.sql()) })
	s.text(")")
	if i.options.onConflict == "" {
		return s.b.String(), nil
	}
	return s.b.String() + i.conflict(used), i.checkConflict()
}

func (i *importing) conflictColumns() []string {
	if len(i.options.conflictColumns) > 0 {
		return i.options.conflictColumns
	}
	return i.table.key
}

func (i *importing) checkConflict() error {
	if len(i.conflictColumns()) == 0 && i.options.onConflict == "update" {
		return refusedf(http.StatusBadRequest, "bad_conflict", "The table has no primary key: conflict_columns must say which rows are the same")
	}
	for _, name := range i.conflictColumns() {
		if i.table.columns[name] == nil {
			return refusedf(http.StatusBadRequest, "42703", "column %q of relation %q does not exist", name, i.table.name)
		}
	}
	return nil
}

// conflict writes what becomes of rows that are there already.
func (i *importing) conflict(used []*tableColumn) string {
	s, names := newStatement(), i.conflictColumns()
	s.text(" on conflict")
	for n, name := range names {
		s.text(map[bool]string{true: " (", false: ", "}[n == 0] + pgx.Identifier{name}.Sanitize())
	}
	if len(names) > 0 {
		s.text(")")
	}
	set := slices.DeleteFunc(slices.Clone(used), func(c *tableColumn) bool { return slices.Contains(names, c.name) })
	if i.options.onConflict == "skip" || len(set) == 0 {
		s.text(" do nothing")
		return s.b.String()
	}
	s.text(" do update set ")
	s.list(set, func(c *tableColumn) { s.text(c.sql() + " = excluded." + c.sql()) })
	return s.b.String()
}

// flush writes the batch.
func (i *importing) flush() error {
	batch := i.batch
	i.batch, i.bytes = i.batch[:0], 0
	if len(batch) == 0 {
		return nil
	}
	return i.write(batch)
}

// write writes rows. When PostgreSQL refuses them the halves are tried, down to the row that is at fault.
func (i *importing) write(rows []importRow) error {
	written, err := i.try(rows)
	if err == nil {
		i.taken += int64(len(rows))
		i.inserted += written
		i.skipped += int64(len(rows)) - written
		return nil
	}
	database, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !ofRow(database) {
		return err
	}
	if len(rows) > 1 {
		half := len(rows) / 2
		if err := i.write(rows[:half]); err != nil {
			return err
		}
		return i.write(rows[half:])
	}
	column := database.ColumnName
	if column == "" {
		column = i.faulty(rows[0], database.Code)
	}
	return i.refuse(RefusedRow{Line: rows[0].line, Reason: i.asInFile(database.Message, rows[0], column), Details: database.Detail, Code: database.Code, Column: column})
}

// ofRow says that an error is one of the row rather than of the statement or the server.
func ofRow(e *pgconn.PgError) bool {
	switch e.Code[:2] {
	case "22", "23", "44", "P0":
		return true
	}
	return e.Code == "42501" && e.Routine == "ExecWithCheckOptions" // a policy; a right that is missing is so for all rows
}

// try writes rows in a savepoint, which what is refused leaves as it was.
func (i *importing) try(rows []importRow) (int64, error) {
	arguments := make([]any, 0, len(i.columns))
	for n, column := range i.columns {
		if column == nil {
			continue
		}
		values := make([]*string, len(rows))
		for r := range rows {
			values[r] = i.text(column, rows[r].values[n])
		}
		arguments = append(arguments, values)
	}
	var written int64
	err := pgx.BeginFunc(i.ctx, i.tx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(i.ctx, i.insert, arguments...)
		written = tag.RowsAffected()
		return err
	})
	return written, err
}

// text gives what PostgreSQL's input of a column's type is to read for a value of the file.
func (i *importing) text(column *tableColumn, value *string) *string {
	switch {
	case value == nil:
		return nil
	case i.options.format != "csv" && strings.HasSuffix(column.typeName, "[]"):
		return arrayLiteral(*value)
	case i.options.decimalComma && column.number():
		if number, ok := pointNumber(*value); ok {
			return &number
		}
	}
	return value
}

// misread finds a number that is none with a decimal comma, and that PostgreSQL might take for another one: 1.5 for a half
// more than one, where 1.500 was read as fifteen hundred.
func (i *importing) misread(values []*string) (*tableColumn, string) {
	if !i.options.decimalComma {
		return nil, ""
	}
	for n, column := range i.columns {
		if column == nil || values[n] == nil || !column.number() {
			continue
		}
		if _, ok := pointNumber(*values[n]); !ok {
			return column, "invalid number with a decimal comma: " + strconv.Quote(clip(*values[n], mostRefusalReason))
		}
	}
	return nil, ""
}

// asInFile gives PostgreSQL's message about a row with the value as the file has it.
func (i *importing) asInFile(message string, row importRow, name string) string {
	for n, column := range i.columns {
		if column != nil && column.name == name && row.values[n] != nil {
			return strings.Replace(message, `"`+*i.text(column, row.values[n])+`"`, `"`+*row.values[n]+`"`, 1)
		}
	}
	return message
}

// tooLong is the code of a text that is longer than its column, which a cast would cut.
const tooLong = "22001"

// faulty finds the column whose type does not take a row's value, "" when all do.
func (i *importing) faulty(row importRow, code string) string {
	for n, column := range i.columns {
		if column == nil || row.values[n] == nil {
			continue
		}
		var fits bool
		err := pgx.BeginFunc(i.ctx, i.tx, func(tx pgx.Tx) error {
			test := `select $1::text::` + column.fullType + ` is not null`
			if code == tooLong {
				test = `select $1::text = $1::text::` + column.fullType + `::text`
			}
			return tx.QueryRow(i.ctx, test, i.text(column, row.values[n])).Scan(&fits)
		})
		if err != nil || code == tooLong && !fits {
			return column.name
		}
	}
	return ""
}

// refuse notes a row that is left out.
func (i *importing) refuse(row RefusedRow) error {
	row.Reason = clip(row.Reason, mostRefusalReason) // PostgreSQL repeats the value, whatever its size
	row.Details = clip(row.Details, mostRefusalReason)
	i.refused = append(i.refused, row)
	if i.options.strict {
		return refusedf(http.StatusUnprocessableEntity, "row_refused", "Line %d was refused", row.Line)
	}
	if len(i.refused) > mostRefusedRows {
		return refusedf(http.StatusUnprocessableEntity, "too_many_refused", "More than %d rows were refused", mostRefusedRows)
	}
	return nil
}

// tell sends a line of progress now and then.
func (i *importing) tell() error {
	if time.Since(i.told) < progressSpacing {
		return nil
	}
	i.told = time.Now()
	done := i.taken
	i.out.line(ImportLine{Done: &done})
	return i.out.send()
}

// unsure tells of an import whether it may have been kept although it has failed: PostgreSQL did not answer to its commit.
func (i *importing) unsure(err error) bool {
	if !i.committing {
		return false
	}
	database, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || left(database)
}

// finish writes the end of the stream. What became of the rows is not said where it is not known.
func (i *importing) finish(err error) error {
	for n := range i.refused {
		i.out.line(ImportLine{Refused: &i.refused[n]})
		if len(i.out.buffer) > batchBytes {
			if err := i.out.send(); err != nil {
				return err
			}
		}
	}
	if err != nil && err != errDryRun {
		why := explain(err).ErrorBody
		if cut, ok := errors.AsType[*cutError](err); ok {
			why = ErrorBody{Code: "cut", Message: "The file did not come to its end", Details: cut.err.Error()}
		}
		if i.unsure(err) {
			i.out.line(ImportLine{Error: &why})
			return i.out.send()
		}
		why.Hint = join(slices.DeleteFunc([]string{why.Hint, "Nothing was kept"}, func(s string) bool { return s == "" }))
		i.out.line(ImportLine{Error: &why})
	}
	i.out.line(ImportLine{Finished: &ImportFinished{
		Kept: err == nil, Inserted: i.inserted, Skipped: i.skipped, Refused: int64(len(i.refused)), DurationMS: milliseconds(time.Since(i.began)),
	}})
	return i.out.send()
}
