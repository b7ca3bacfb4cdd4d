package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// table is a relation as changing its rows takes it.
type table struct {
	schema, name string
	key          []string // of its primary key, in that order
	columns      map[string]*tableColumn
	readable     []*tableColumn // those that the role may select, in order
}

// tableColumn is a column of it.
type tableColumn struct {
	name      string
	position  int
	typeName  string // as SQL spells it, without a modifier
	fullType  string // with it
	generated bool
	identity  string
	padded    bool // char(n): its text depends on the length that it is cast to
	inKey     int  // its place in the primary key, from 1 on; 0 is none
}

func (c *tableColumn) sql() string { return pgx.Identifier{c.name}.Sanitize() }

// number says that the column's texts are numbers.
func (c *tableColumn) number() bool {
	switch c.typeName {
	case "smallint", "integer", "bigint", "numeric", "real", "double precision":
		return true
	}
	return false
}

func (t *table) sql() string { return pgx.Identifier{t.schema, t.name}.Sanitize() }

const tableColumns = `
select
  a.attname::text,
  a.attnum::int,
  pg_catalog.format_type(a.atttypid, -1),
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  a.attgenerated <> '',
  case a.attidentity when 'a' then 'always' when 'd' then 'by default' else '' end,
  a.atttypid = 'pg_catalog.bpchar'::pg_catalog.regtype,
  coalesce(pg_catalog.array_position(k.conkey, a.attnum), 0),
  pg_catalog.has_column_privilege(c.oid, a.attnum, 'select')
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c.oid
left join pg_catalog.pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
where n.nspname = $1
  and c.relname = $2
  and c.relkind in ('r', 'p', 'v', 'm', 'f')
  and a.attnum > 0
  and not a.attisdropped
order by a.attnum`

// hiddenSchema says that a schema is none that rows are shown or changed of.
func hiddenSchema(name string) bool {
	return strings.HasPrefix(name, "pg_") || name == "information_schema" || name == "basalt"
}

// findTable reads what there is to know about a relation, as the role of the transaction.
func findTable(ctx context.Context, tx pgx.Tx, schema, name string) (*table, error) {
	t := &table{schema: schema, name: name, columns: map[string]*tableColumn{}}
	missing := refusedf(http.StatusNotFound, "42P01", "relation %q does not exist", schema+"."+name)
	if hiddenSchema(schema) || strings.ContainsRune(schema+name, 0) {
		return nil, missing
	}
	rows, err := tx.Query(ctx, tableColumns, schema, name)
	if err != nil {
		return nil, err
	}
	var column tableColumn
	var readable bool
	_, err = pgx.ForEachRow(rows, []any{
		&column.name, &column.position, &column.typeName, &column.fullType, &column.generated, &column.identity, &column.padded, &column.inKey, &readable,
	}, func() error {
		added := column
		t.columns[added.name] = &added
		if added.inKey > 0 {
			t.key = append(t.key, added.name)
		}
		if readable {
			t.readable = append(t.readable, &added)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.columns) == 0 {
		return nil, missing
	}
	slices.SortFunc(t.key, func(a, b string) int { return t.columns[a].inKey - t.columns[b].inKey })
	return t, nil
}

// secret says that the rows hold what must not stand in the audit log.
func (t *table) secret() bool { return t.schema == "auth" || t.schema == "vault" }

// columnsOf gives the columns of some values, in order.
func (t *table) columnsOf(values map[string]*string) ([]*tableColumn, error) {
	var columns []*tableColumn
	for name := range values {
		column := t.columns[name]
		if column == nil {
			refused := refusedf(http.StatusBadRequest, "42703", "column %q of relation %q does not exist", name, t.name)
			refused.Schema, refused.Table, refused.Column = t.schema, t.name, name
			return nil, refused
		}
		columns = append(columns, column)
	}
	slices.SortFunc(columns, byPosition)
	return columns, nil
}

// named gives the values of a row by their columns.
func (t *table) named(row []*string) map[string]*string {
	values := make(map[string]*string, len(row))
	for i, column := range t.readable {
		values[column.name] = row[i]
	}
	return values
}

// writable gives the values of a row that can be set.
func (t *table) writable(row map[string]*string) map[string]*string {
	values := map[string]*string{}
	for name, value := range row {
		if !t.columns[name].generated {
			values[name] = value
		}
	}
	return values
}

// keyOf gives what finds a row again: its primary key, or all of it where there is none. It is nil when the key cannot be read.
func (t *table) keyOf(row map[string]*string) map[string]*string {
	if len(t.key) == 0 {
		return row
	}
	key := map[string]*string{}
	for _, name := range t.key {
		value, ok := row[name]
		if !ok {
			return nil
		}
		key[name] = value
	}
	return key
}

// where writes the condition that finds a row by its key, as it was.
func (t *table) where(s *statement, key []*tableColumn, values, was map[string]*string) {
	separator := " where "
	for _, column := range key {
		s.text(separator)
		separator = " and "
		if column.inKey > 0 && values[column.name] != nil {
			s.text(column.sql() + " = ") // an index knows how
			s.value(values[column.name])
			continue
		}
		s.same(column, values[column.name])
	}
	names := make([]*tableColumn, 0, len(was))
	for name := range was {
		names = append(names, t.columns[name])
	}
	slices.SortFunc(names, byPosition)
	for _, column := range names {
		s.text(separator)
		s.same(column, was[column.name])
	}
}

// statement is SQL under construction with its values, which PostgreSQL reads as text of the types that it infers.
type statement struct {
	b      strings.Builder
	values [][]byte
}

func newStatement() *statement { return &statement{} }

func (s *statement) text(sql string) { s.b.WriteString(sql) }

// value writes a value.
func (s *statement) value(value *string) {
	if value == nil {
		s.text("null")
		return
	}
	s.values = append(s.values, []byte(*value))
	s.text("$" + strconv.Itoa(len(s.values)))
}

// list writes what stands for columns, between commas.
func (s *statement) list(columns []*tableColumn, write func(*tableColumn)) {
	for i, column := range columns {
		if i > 0 {
			s.text(", ")
		}
		write(column)
	}
}

// same writes that a column has a value. Not every type has an equality, and where it has one it may take for equal what
// looks different (citext, numeric): so the texts are compared, the value's own after it was read as its type.
func (s *statement) same(column *tableColumn, value *string) {
	name := column.sql()
	switch {
	case value == nil:
		s.text(name + " is not distinct from null")
	case column.padded:
		s.text(name + " = ")
		s.value(value)
	default:
		s.text("(" + name + " is distinct from null and pg_catalog.format('%s', " + name + ") = pg_catalog.format('%s', ")
		s.value(value)
		s.text("::" + column.typeName + "))")
	}
}

// run sends the statement and gives the rows in PostgreSQL's text.
func (s *statement) run(ctx context.Context, tx pgx.Tx) ([][]*string, error) {
	if len(s.values) > 65535 {
		return nil, refusedf(http.StatusBadRequest, "54000", "%d values are too many for one statement", len(s.values))
	}
	result := tx.Conn().PgConn().ExecParams(ctx, s.b.String(), s.values, nil, nil, nil)
	var rows [][]*string
	for result.NextRow() {
		row := make([]*string, len(result.Values()))
		for i, value := range result.Values() {
			if value != nil {
				text := string(value)
				row[i] = &text
			}
		}
		rows = append(rows, row)
	}
	_, err := result.Close()
	return rows, err
}
