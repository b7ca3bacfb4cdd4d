package admin

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// probe carries a test of policies out, in a transaction that will be rolled back. The rows are found, and those that would
// be written made, as the owner, around row level security; they are kept in a temporary table. Then each policy is asked
// about them as the role, and at last the statement is run as the role: PostgreSQL's own answer is what counts.
type probe struct {
	ctx    context.Context
	tx     pgx.Tx
	asked  *PolicyTestBody
	role   string
	table  *table
	answer *PolicyTestedBody
	rows   []probedRow
}

// probedRow is a row as it is found again.
type probedRow struct {
	place    int
	tid, oid string // "" for a row that is to be inserted
}

// exec runs a statement of ours.
func (p *probe) exec(sql string, arguments ...any) error {
	_, err := p.tx.Exec(p.ctx, sql, arguments...)
	return err
}

// undone runs do within a savepoint that is rolled back.
func (p *probe) undone(do func() error) error {
	if err := p.exec(`savepoint basalt_probe`); err != nil {
		return err
	}
	failure := do()
	if p.tx.Conn().IsClosed() || p.ctx.Err() != nil {
		return failure
	}
	if err := p.exec(`rollback to savepoint basalt_probe`); err != nil {
		return err
	}
	if err := p.exec(`release savepoint basalt_probe`); err != nil {
		return err
	}
	return failure
}

// asRole runs do as the role, and undoes it.
func (p *probe) asRole(do func() error) error {
	return p.undone(func() error {
		if err := p.exec(`select pg_catalog.num_nulls(pg_catalog.set_config('role', $1, true))`, p.role); err != nil {
			return err
		}
		return do()
	})
}

func (p *probe) limit(format string, values ...any) {
	p.answer.Limits = append(p.answer.Limits, fmt.Sprintf(format, values...))
}

// run does all of it, in order.
func (p *probe) run() (err error) {
	if p.table, err = findTable(p.ctx, p.tx, p.asked.Schema, p.asked.Table); err != nil {
		return err
	}
	if err := p.whether(); err != nil {
		return err
	}
	if _, err := p.table.columnsOf(p.asked.Set); err != nil {
		return err
	}
	for _, column := range p.table.readable {
		p.answer.Columns = append(p.answer.Columns, column.name)
	}
	p.answer.Statement = p.shown()
	stages, err := p.stages()
	if err != nil {
		return err
	}
	if err := p.gather(); err != nil {
		return err
	}
	if err := p.make(); err != nil {
		return err
	}
	if err := p.show(); err != nil {
		return err
	}
	for i := range stages {
		if err := p.ask(&stages[i]); err != nil {
			return err
		}
	}
	if err := p.really(); err != nil {
		return err
	}
	p.compare()
	return nil
}

const probedTable = `
select
  c.relkind in ('r', 'p'),
  c.relrowsecurity,
  r.rolsuper or r.rolbypassrls,
  pg_catalog.pg_has_role(r.oid, c.relowner, 'usage') and not c.relforcerowsecurity,
  exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgtype & 2 <> 0),
  not (me.rolsuper or me.rolbypassrls) and (c.relforcerowsecurity or not pg_catalog.pg_has_role(me.oid, c.relowner, 'usage'))
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_roles r on r.rolname = $3
join pg_catalog.pg_roles me on me.rolname = current_user
where n.nspname = $1
  and c.relname = $2`

// whether finds out whether policies are asked at all.
func (p *probe) whether() error {
	var isTable, on, bypasses, owns, triggers, blind bool
	rows, err := p.tx.Query(p.ctx, probedTable, p.asked.Schema, p.asked.Table, p.role)
	if err != nil {
		return err
	}
	found := false
	if _, err = pgx.ForEachRow(rows, []any{&isTable, &on, &bypasses, &owns, &triggers, &blind}, func() error { found = true; return nil }); err != nil {
		return err
	}
	switch {
	case !found:
		return refusedf(http.StatusBadRequest, "22023", "role %q does not exist", p.role)
	case !isTable:
		return refusedf(http.StatusBadRequest, "42809", "%q is not a table: policies belong to tables", p.asked.Table)
	case blind:
		refused := refusedf(http.StatusConflict, "rls_binds_owner", "The server's own role is bound by row level security of this table")
		refused.Hint = "The tester has to see all rows: give the role bypassrls, or take FORCE ROW LEVEL SECURITY away while you test."
		return refused
	case !on:
		p.answer.Bypassed = "Row level security is off: no policy is asked, grants alone decide."
	case bypasses:
		p.answer.Bypassed = fmt.Sprintf("The role %s bypasses row level security: no policy is asked.", p.role)
	case owns:
		p.answer.Bypassed = fmt.Sprintf("The role %s has the rights of the table's owner, and row level security is not forced: no policy is asked.", p.role)
	}
	if triggers && p.asked.Verb != "select" {
		p.limit("Triggers run before the row is written. To show the row that policies see, they were run as the owner: where they look at current_user, it may differ.")
	}
	return nil
}

// gather keeps the rows that the filter finds, whoever may see them.
func (p *probe) gather() error {
	kind := p.table.sql()
	err := p.exec(`create temporary table basalt_probe (
  basalt_place int primary key,
  basalt_of oid,
  basalt_at tid,
  basalt_old ` + kind + `,
  basalt_new ` + kind + `
) on commit drop`)
	if err != nil {
		return err
	}
	if err := p.exec(`grant select on pg_temp.basalt_probe to public`); err != nil {
		return err
	}
	if p.asked.Verb == "insert" {
		p.rows = []probedRow{{place: 1}}
		p.answer.Rows = []PolicyRowBody{{}}
		return p.exec(`insert into pg_temp.basalt_probe (basalt_place) values (1)`)
	}
	name := pgx.Identifier{p.table.name}.Sanitize()
	where := ""
	if strings.TrimSpace(p.asked.Filter) != "" {
		where = " where (\n" + p.asked.Filter + "\n)"
	}
	if err := p.exec(`set local row_security = off`); err != nil {
		return err
	}
	// In the extended protocol a filter cannot end the statement and begin another, such as commit.
	_, err = p.tx.Conn().PgConn().ExecParams(p.ctx, `insert into pg_temp.basalt_probe
select row_number() over (), `+name+`.tableoid, `+name+`.ctid, `+name+`.*::`+kind+` from `+kind+where+` limit `+strconv.Itoa(mostProbed+1), nil, nil, nil, nil).Close()
	if err != nil {
		return inFilter(err)
	}
	if err := p.exec(`set local row_security = on`); err != nil {
		return err
	}
	rows, err := p.tx.Query(p.ctx, `select basalt_place, basalt_at::text, basalt_of::text from pg_temp.basalt_probe order by basalt_place`)
	if err != nil {
		return err
	}
	p.rows, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (found probedRow, err error) {
		return found, row.Scan(&found.place, &found.tid, &found.oid)
	})
	if err != nil {
		return err
	}
	if len(p.rows) > mostProbed {
		p.rows, p.answer.Truncated = p.rows[:mostProbed], true
		if err := p.exec(`delete from pg_temp.basalt_probe where basalt_place > $1`, mostProbed); err != nil {
			return err
		}
	}
	p.answer.Rows = make([]PolicyRowBody, len(p.rows))
	return nil
}

// inFilter says of an error that it is about the filter: its position is in a statement that nobody has written.
func inFilter(err error) error {
	r := explain(err)
	if r.status >= 500 {
		return err
	}
	said := *r
	said.Position, said.Column = 0, ""
	if said.Details == "" {
		said.Details = "In the condition that finds the rows."
	}
	return &said
}

// make makes the rows as they would be written, with defaults and by triggers, and keeps them.
func (p *probe) make() error {
	if p.asked.Verb != "insert" && p.asked.Verb != "update" {
		return nil
	}
	name := pgx.Identifier{p.table.name}.Sanitize()
	for i, row := range p.rows {
		var made *string
		err := p.undone(func() error {
			s, err := p.statement(row)
			if err != nil {
				return err
			}
			s.text(" returning (" + name + ".*)::" + p.table.sql() + "::text")
			result, err := s.run(p.ctx, p.tx)
			if err == nil && len(result) > 0 {
				made = result[0][0]
			}
			return err
		})
		switch refused := explain(err); {
		case err == nil && made == nil:
			p.answer.Rows[i].Error = &ErrorBody{Message: "A trigger has kept the row from being written"}
		case err == nil:
			if err := p.exec(`update pg_temp.basalt_probe set basalt_new = $2::text::`+p.table.sql()+` where basalt_place = $1`, row.place, *made); err != nil {
				return err
			}
		case p.ctx.Err() != nil || refused.status >= 500:
			return err
		default:
			p.answer.Rows[i].Error = &refused.ErrorBody
		}
	}
	return nil
}

// statement is the statement of the test about one row.
func (p *probe) statement(row probedRow) (*statement, error) {
	s := newStatement()
	set, err := p.table.columnsOf(p.asked.Set)
	if err != nil {
		return nil, err
	}
	switch p.asked.Verb {
	case "insert":
		s.text("insert into " + p.table.sql())
		if len(set) == 0 {
			s.text(" default values")
			return s, nil
		}
		s.text(" (")
		s.list(set, func(c *tableColumn) { s.text(c.sql()) })
		s.text(") values (")
		s.list(set, func(c *tableColumn) { s.value(p.asked.Set[c.name]) })
		s.text(")")
		return s, nil
	case "update":
		s.text("update " + p.table.sql() + " set ")
		s.list(set, func(c *tableColumn) { s.text(c.sql() + " = "); s.value(p.asked.Set[c.name]) })
	case "delete":
		s.text("delete from " + p.table.sql())
	}
	s.text(" where tableoid = ")
	s.value(&row.oid)
	s.text(" and ctid = ")
	s.value(&row.tid)
	return s, nil
}

// shown is the statement as a person would write it.
func (p *probe) shown() string {
	quoted := func(value *string) string {
		if value == nil {
			return "null"
		}
		return "'" + strings.ReplaceAll(clip(*value, mostShownValue), "'", "''") + "'"
	}
	var b strings.Builder
	set, _ := p.table.columnsOf(p.asked.Set) // they have been looked at
	switch p.asked.Verb {
	case "select":
		b.WriteString("select * from " + p.table.sql())
	case "delete":
		b.WriteString("delete from " + p.table.sql())
	case "update":
		b.WriteString("update " + p.table.sql() + " set ")
		for i, column := range set {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(column.sql() + " = " + quoted(p.asked.Set[column.name]))
		}
	case "insert":
		names, values := make([]string, len(set)), make([]string, len(set))
		for i, column := range set {
			names[i], values[i] = column.sql(), quoted(p.asked.Set[column.name])
		}
		b.WriteString("insert into " + p.table.sql())
		if len(set) == 0 {
			b.WriteString(" default values")
		} else {
			b.WriteString(" (" + strings.Join(names, ", ") + ") values (" + strings.Join(values, ", ") + ")")
		}
		if p.asked.ReadBack {
			b.WriteString(" returning *")
		}
		return b.String()
	}
	if filter := strings.TrimSpace(p.asked.Filter); filter != "" {
		b.WriteString(" where " + filter)
	}
	return b.String()
}

// show reads the texts of the rows.
func (p *probe) show() error {
	for _, version := range []string{"old", "new"} {
		s := newStatement()
		s.text("select basalt_place, basalt_" + version + " is distinct from null")
		for _, column := range p.table.readable {
			s.text(", pg_catalog.left((basalt_" + version + ")." + column.sql() + "::text, " + strconv.Itoa(mostShownValue+1) + ")")
		}
		s.text(" from pg_temp.basalt_probe order by basalt_place")
		rows, err := s.run(p.ctx, p.tx)
		if err != nil {
			return err
		}
		for i, row := range rows {
			if *row[1] != "t" {
				continue
			}
			if version == "old" {
				p.answer.Rows[i].Old = row[2:]
			} else {
				p.answer.Rows[i].New = row[2:]
			}
		}
	}
	return nil
}
