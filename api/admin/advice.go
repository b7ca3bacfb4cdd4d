package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"

	"basalt/migrations"
)

// AdviceAskBody names a statement by its id in StatementsBody. Its text is PostgreSQL's, not the browser's.
type AdviceAskBody struct {
	Statement string `json:"statement"`
}

// AdviceBody are indexes that a statement might gain by, none of which is there.
type AdviceBody struct {
	// Reason says why there are none, "" when there are: utility (such statements have no plan), too_long, not_planned
	// (Message says why), no_table (of an app is read), small (is the table), whole (tables are needed), indexed (it is
	// already), no_column (is compared as it is), no_gain (by those that were tried).
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Hypothetical tells whether the gain was estimated, by the extension hypopg, HypotheticalAvailable whether that is
	// there to be created.
	Hypothetical          bool `json:"hypothetical"`
	HypotheticalAvailable bool `json:"hypothetical_available"`
	// Cost is what PostgreSQL believes the statement to cost as things are.
	Cost        float64           `json:"cost"`
	Suggestions []IndexSuggestion `json:"suggestions"`
}

// IndexSuggestion is an index that a statement might gain by.
type IndexSuggestion struct {
	Schema  string   `json:"schema"`
	Table   string   `json:"table"`
	Columns []string `json:"columns"`
	// Share is that of the scan of the table in the cost of the statement, from 0 to 1.
	Share float64 `json:"share"`
	// After is what the statement would cost with the index, and Bytes the index's size; null where that was not estimated.
	After *float64 `json:"after"`
	Bytes *int64   `json:"bytes"`

	partitioned bool
}

const (
	// mostTried is how many indexes are tried, within tryPatience; mostSuggestions how many are suggested.
	mostTried       = 8
	tryPatience     = 10 * time.Second
	mostSuggestions = 5
	// planTimeout bounds the making of each plan.
	planTimeout = 5 * time.Second
	// fewRows are those of a table that is read as fast without an index.
	fewRows = 1000
	// leastGain is the part of the cost that an index must save.
	leastGain = 0.05
)

// planned finds statements that have a plan. The constants of others stay in their texts, which may be passwords: they must
// not come into errors and logs.
var planned = regexp.MustCompile(`(?i)^\(*\s*(select|insert|update|delete|merge|with|values|table)\b`)

const (
	adviceStatement = `
select s.query, coalesce(r.rolname::text, '')
from {}.pg_stat_statements s
left join pg_roles r on r.oid = s.userid
where s.dbid = (select oid from pg_database where datname = current_database())
and s.queryid::text || '_' || s.userid::text = $1
limit 1`

	// What is found of a partition is said of its table: indexes are made there.
	adviceTable = `
select
  n.nspname::text,
  t.relname::text,
  t.relkind = 'p',
  ` + appSchemas + `,
  greatest(c.reltuples::bigint, pg_stat_get_live_tuples(c.oid), 0),
  quote_ident($3),
  coalesce((
    select json_agg(json_build_object('Name', a.attname, 'Quoted', quote_ident(a.attname), 'Varchar', a.atttypid = 'varchar'::regtype) order by a.attnum)
    from pg_attribute a
    where a.attrelid = t.oid
    and a.attnum > 0
    and not a.attisdropped
  ), '[]'),
  coalesce((
    select json_agg(array(
      select a.attname::text
      from unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) with ordinality as k (number, place)
      left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
      order by k.place
    ))
    from pg_index i
    join pg_class x on x.oid = i.indexrelid
    join pg_am m on m.oid = x.relam
    where i.indrelid = t.oid
    and i.indisvalid
    and i.indpred is null
    and m.amname = 'btree'
  ), '[]')
from pg_class c
join pg_namespace s on s.oid = c.relnamespace
join pg_class t on t.oid = coalesce(pg_partition_root(c.oid), c.oid)
join pg_namespace n on n.oid = t.relnamespace
where s.nspname = $1
and c.relname = $2`
)

// advisedTable is the table of a scan.
type advisedTable struct {
	schema, name     string
	partitioned, app bool
	rows             int64
	alias            string // of the scan, quoted
	columns          []column
	indexes          [][]*string // null for an expression
}

// advice answers POST /performance/advice.
func (d *Data) advice(c echo.Context) error {
	var in AdviceAskBody
	if err := readJSON(c, &in); err != nil {
		return err
	}
	ctx := c.Request().Context()
	session := performanceSession()
	session.StatementTimeout = planTimeout
	session.Dirty = true // plans of others' statements are made in it, and indexes that are not there
	body := AdviceBody{Suggestions: []IndexSuggestion{}}
	err := d.pool.Use(ctx, session, func(conn *pgx.Conn) error {
		text, role, err := countedStatement(ctx, conn, in.Statement)
		if err != nil {
			return err
		}
		return body.advise(ctx, conn, role, text)
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// countedStatement gives the text of a statement and the role that has run it, "" when that is gone.
func countedStatement(ctx context.Context, conn *pgx.Conn, id string) (text, role string, err error) {
	state, schema, _, err := statementCounts(ctx, conn)
	if err != nil {
		return "", "", err
	}
	if state != "ready" {
		return "", "", refuse(http.StatusConflict, "not_counted", "Statements are not counted in this database")
	}
	in := pgx.Identifier{schema}.Sanitize()
	err = conn.QueryRow(ctx, strings.ReplaceAll(adviceStatement, "{}", in), id).Scan(&text, &role)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", refuse(http.StatusNotFound, "not_found", "PostgreSQL counts no such statement any more")
	}
	return text, role, err
}

// advise fills the body for a statement that a role has run.
func (body *AdviceBody) advise(ctx context.Context, conn *pgx.Conn, role, text string) error {
	if len(text) > mostStatement {
		body.Reason = "too_long"
		return nil
	}
	statements, err := migrations.Split(text)
	switch {
	case err != nil || len(statements) != 1 || !planned.MatchString(statements[0].Text):
		body.Reason = "utility"
		return nil
	case role == "":
		body.Reason, body.Message = "not_planned", "The role that has run it is gone"
		return nil
	}
	text = statements[0].Text
	plan, err := advisedPlan(ctx, conn, role, text)
	if said, ok := errors.AsType[*pgconn.PgError](err); ok && !conn.IsClosed() {
		body.Reason, body.Message = "not_planned", said.Message
		return nil
	}
	if err != nil {
		return err
	}
	if plan == nil {
		body.Reason, body.Message = "not_planned", fmt.Sprintf("Its plan is larger than %d MiB", mostPlan>>20)
		return nil
	}
	body.Cost = plan.Cost
	candidates, err := body.candidates(ctx, conn, plan)
	if err != nil || len(candidates) == 0 {
		return err
	}
	schema, err := hypopgSchema(ctx, conn)
	if err != nil {
		return err
	}
	if schema == "" {
		body.Suggestions = candidates[:min(len(candidates), mostSuggestions)]
		return conn.QueryRow(ctx, `select exists (select from pg_available_extensions where name = 'hypopg')`).Scan(&body.HypotheticalAvailable)
	}
	body.Hypothetical = true
	return body.try(ctx, conn, schema, role, text, candidates)
}

// advisedPlan gives the plan of a statement, nil when it is too large.
func advisedPlan(ctx context.Context, conn *pgx.Conn, role, statement string) (*planNode, error) {
	text, err := genericPlan(ctx, conn, role, statement)
	if err != nil || text == nil {
		return nil, err
	}
	return readPlan(text)
}

// candidates are the indexes that the scans of a plan might use, of the costliest first. Reason says why there are none.
func (body *AdviceBody) candidates(ctx context.Context, conn *pgx.Conn, plan *planNode) ([]IndexSuggestion, error) {
	var found []IndexSuggestion
	because := func(reason string) {
		if body.Reason == "" {
			body.Reason = reason
		}
	}
	for _, s := range scansOf(plan) {
		table, err := advisedTableOf(ctx, conn, &s)
		if errors.Is(err, pgx.ErrNoRows) {
			continue // dropped meanwhile
		}
		if err != nil {
			return nil, err
		}
		if !table.app {
			continue
		}
		if table.rows < fewRows {
			because("small")
			continue
		}
		share := min(1, s.cost/max(plan.Cost, 1e-9))
		possible := s.candidates(table.alias, table.columns)
		switch {
		case len(possible) > 0:
		case s.indexed:
			because("indexed")
		case strings.Join(s.conditions, "") == "":
			because("whole")
		default:
			because("no_column")
		}
		for _, columns := range possible {
			if table.covers(columns) {
				because("indexed")
				continue
			}
			same := func(other IndexSuggestion) bool {
				return other.Schema == table.schema && other.Table == table.name && slices.Equal(other.Columns, columns)
			}
			if at := slices.IndexFunc(found, same); at >= 0 {
				found[at].Share = min(1, found[at].Share+share)
				continue
			}
			found = append(found, IndexSuggestion{Schema: table.schema, Table: table.name, Columns: columns, Share: share, partitioned: table.partitioned})
		}
	}
	found = slices.DeleteFunc(found, func(s IndexSuggestion) bool { return s.Share < leastGain })
	if len(found) > 0 {
		body.Reason = ""
	} else {
		because("no_table")
	}
	return found[:min(len(found), mostTried)], nil
}

func advisedTableOf(ctx context.Context, conn *pgx.Conn, s *scan) (*advisedTable, error) {
	var t advisedTable
	err := conn.QueryRow(ctx, adviceTable, s.schema, s.relation, s.alias).
		Scan(&t.schema, &t.name, &t.partitioned, &t.app, &t.rows, &t.alias, &t.columns, &t.indexes)
	if err != nil {
		return nil, err
	}
	return &t, nil
}

// covers tells whether an index begins with the columns, of which the planner has made no better use.
func (t *advisedTable) covers(columns []string) bool {
	return slices.ContainsFunc(t.indexes, func(keys []*string) bool {
		return len(keys) >= len(columns) && !slices.ContainsFunc(keys[:len(columns)], func(key *string) bool {
			return key == nil || !slices.Contains(columns, *key)
		})
	})
}

// try keeps of the candidates those that the planner would use for the statement and save by, and those that cannot be
// tried.
func (body *AdviceBody) try(ctx context.Context, conn *pgx.Conn, schema, role, text string, candidates []IndexSuggestion) error {
	began := time.Now()
	for _, candidate := range candidates {
		if time.Since(began) > tryPatience {
			break
		}
		if candidate.partitioned { // the planner would look for indexes of the partitions
			body.Suggestions = append(body.Suggestions, candidate)
			continue
		}
		table, columns := pgx.Identifier{candidate.Schema, candidate.Table}.Sanitize(), make([]string, len(candidate.Columns))
		for i, name := range candidate.Columns {
			columns[i] = pgx.Identifier{name}.Sanitize()
		}
		name, bytes, err := tryIndex(ctx, conn, schema, table, columns)
		if _, refused := errors.AsType[*pgconn.PgError](err); refused && !conn.IsClosed() {
			continue // there is none of such columns
		}
		if err != nil {
			return err
		}
		plan, err := advisedPlan(ctx, conn, role, text)
		_, refused := errors.AsType[*pgconn.PgError](err)
		if err != nil && (!refused || conn.IsClosed()) {
			return err
		}
		if refused {
			// Where planning carries functions out, hypopg loses sight of its indexes, and PostgreSQL cannot name the one
			// that it would use.
			body.Suggestions = append(body.Suggestions, candidate)
		}
		if _, err := conn.Exec(ctx, `select from `+pgx.Identifier{schema}.Sanitize()+`.hypopg_reset()`); err != nil {
			return err
		}
		if plan != nil && plan.uses(name) && plan.Cost <= body.Cost*(1-leastGain) {
			candidate.After, candidate.Bytes = &plan.Cost, &bytes
			body.Suggestions = append(body.Suggestions, candidate)
		}
	}
	after := func(s IndexSuggestion) float64 {
		if s.After == nil {
			return body.Cost
		}
		return *s.After
	}
	slices.SortStableFunc(body.Suggestions, func(a, b IndexSuggestion) int {
		return cmp.Or(cmp.Compare(after(a), after(b)), cmp.Compare(len(a.Columns), len(b.Columns)))
	})
	body.Suggestions = body.Suggestions[:min(len(body.Suggestions), mostSuggestions)]
	if len(body.Suggestions) == 0 {
		body.Reason = "no_gain"
	}
	return nil
}
