package sql_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query"
	"basalt/query/sql"
)

const eventsSchema = `
create table events (
  id int primary key,
  kind text not null,
  at timestamptz,
  weight int not null,
  slot int not null,
  lane int not null,
  unique (slot, lane)
);
insert into events
select g, 'kind ' || g % 3, case when g % 5 > 0 then timestamptz '2026-01-01' + g * interval '1 minute' end, g % 100, g % 200, g / 200
from generate_series(1, 20000) g
order by
  g % 3,
  g desc; -- the rows of a kind lie together: an index on kind is worth its while, vacuumed or not
create index on events (weight, id);
create index on events (kind, id desc);
create index on events (at, id);
create index on events (at desc, id desc);
analyze events;
`

// node is a node of a plan as EXPLAIN tells it.
type node struct {
	Type    string  `json:"Node Type"`
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Index   string  `json:"Index Name"`
	Plans   []node
}

// TestAPageFarInsideReadsNoMoreRowsThanTheFirst: each page is found by an index and cut where it ends, whatever the
// directions of the order, and wherever nulls stand.
func TestAPageFarInsideReadsNoMoreRowsThanTheFirst(t *testing.T) {
	const limit = 20
	s := newSample(t)
	s.Exec(t, eventsSchema)
	s.load(t)
	far := func(values ...string) (list []query.CursorValue) {
		for _, value := range values {
			list = append(list, query.CursorValue{Text: strings.TrimPrefix(value, "null"), Null: value == "null"})
		}
		return list
	}
	for _, c := range []struct {
		name, order string
		after       []query.CursorValue
	}{
		{"no order", "", far("10000")},
		{"a key", "&order=id.desc", far("10000")},
		{"a column and the key behind it", "&order=weight", far("50", "10050")},
		{"the same backwards", "&order=weight.desc", far("50", "10050")},
		{"two directions", "&order=kind,id.desc", far("kind 1", "10000")},
		{"two directions at the beginning of a long group", "&order=kind,id.desc", far("kind 2", "19999")},
		{"another unique constraint", "&order=slot,lane", far("100", "50")},
		{"a column with nulls behind", "&order=at", far("2026-01-10 00:00:00+00", "10000")},
		{"among the nulls behind", "&order=at", far("null", "10000")},
		{"a column with nulls before", "&order=at.desc", far("2026-01-10 00:00:00+00", "10000")},
		{"among the nulls before", "&order=at.desc", far("null", "10000")},
	} {
		t.Run(c.name, func(t *testing.T) {
			request, err := s.request("GET /events?select=kind&limit=20" + c.order + " # page=keyset")
			if err != nil {
				t.Fatal(err)
			}
			first, err := s.statement(request)
			if err != nil {
				t.Fatal(err)
			}
			request.Cursor = &query.Cursor{Order: first.Page.Order, Values: c.after}
			statement, err := s.statement(request)
			if err != nil {
				t.Fatal(err)
			}
			plan := s.explain(t, request, statement)
			read, scanned := 0.0, false
			var visit func(n *node)
			visit = func(n *node) {
				if strings.Contains(n.Type, "Scan") && n.Type != "Subquery Scan" {
					read += (n.Rows + n.Removed) * n.Loops
					scanned = scanned || n.Index == ""
				}
				for i := range n.Plans {
					visit(&n.Plans[i])
				}
			}
			visit(&plan)
			// A third of the rows are of one kind: PostgreSQL may also go by the key and pass over the others.
			if scanned || read > 4*(limit+1) {
				t.Errorf("%.0f rows are read, or not by an index\n%s\n%+v", read, statement.SQL, plan)
			}
		})
	}
}

// explain runs a statement and gives its plan.
func (s *sample) explain(t *testing.T, request *query.Request, statement *sql.Statement) node {
	t.Helper()
	values, err := statement.Bind(nil, request)
	if err != nil {
		t.Fatal(err)
	}
	var plans []struct{ Plan node }
	s.with(t, func(conn *pgconn.PgConn) {
		result := conn.ExecParams(t.Context(), "explain (analyze, format json)\n"+statement.SQL, values, nil, nil, nil).Read()
		if result.Err != nil {
			t.Fatalf("%v\n%s", result.Err, statement.SQL)
		}
		if err := json.Unmarshal(result.Rows[0][0], &plans); err != nil {
			t.Fatal(err)
		}
	})
	return plans[0].Plan
}
