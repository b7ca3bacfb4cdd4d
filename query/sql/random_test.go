package sql_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// canary stands in every literal, JSON key and alias of the random requests.
const canary = "zq7canary"

// Whatever is asked, no text of the client's gets into SQL, PostgreSQL accepts the statement, and all parameters that
// are bound are used.
func TestRandomRequestsCompileToValidStatementsWithoutTheirLiterals(t *testing.T) {
	const requests = 600
	s := newSample(t)
	random := rand.New(rand.NewPCG(1, 2))
	s.with(t, func(conn *pgconn.PgConn) {
		for range requests {
			line := randomRequest(random)
			_, statement, err := s.compile(line)
			if err != nil {
				t.Fatalf("%s\n%v", line, err)
			}
			for _, each := range []struct {
				what string
				sql  string
			}{{"statement", statement.SQL}, {"count", statement.Count.SQL}, {"plan", statement.Plan.SQL}} {
				if strings.Contains(each.sql, canary) {
					t.Fatalf("%s\nthe %s has a literal in it\n%s", line, each.what, each.sql)
				}
			}
			if _, err := prepare(t, conn, statement); err != nil {
				t.Fatalf("%s\n%v\n%s", line, err, statement.SQL)
			}
			if _, err := prepare(t, conn, statement.Count); err != nil {
				t.Fatalf("%s\n%v\n%s", line, err, statement.Count.SQL)
			}
			if _, err := prepare(t, conn, statement.Plan); err != nil {
				t.Fatalf("%s\n%v\n%s", line, err, statement.Plan.SQL)
			}
		}
	})
}

// field is a column of the sample, or a place inside one, with the operators that its type has.
type field struct {
	name      string
	operators []string
	groupable bool
	sum       bool
}

var (
	compared = []string{"eq", "neq", "gt", "gte", "lt", "lte", "is", "isdistinct"}
	ordered  = append([]string{"in", "eq(any)", "gt(all)"}, compared...)
	textual  = append([]string{"like", "ilike", "match", "imatch", "like(any)", "fts", "plfts", "wfts", "fts(simple)"}, ordered...)
	sets     = append([]string{"cs", "cd", "ov"}, compared...)
	ranges   = append([]string{"sl", "sr", "nxr", "nxl", "adj"}, sets...)
	contents = []string{"cs", "cd", "eq", "is", "fts"}
)

// relation is a relation of the sample with its fields and what may be embedded in it.
type relation struct {
	fields []field
	embeds []embed
}

type embed struct {
	spelling, target string
	one              bool
}

var relations = map[string]relation{
	"orders": {
		fields: []field{
			{"id", ordered, true, true}, {"status", textual, true, false}, {"total", ordered, true, true},
			{"paid", []string{"eq", "is", "isdistinct"}, true, false}, {"placed", ordered, true, false},
			{"data", contents, true, false}, {"data->" + canary, contents, true, false},
			{"data->0->>" + canary, textual, true, false}, {"raw", []string{"is", "fts"}, false, false},
			{"tags", sets, true, false}, {"tags->0", contents, true, false}, {"at", compared, true, false},
			{"at->>x", textual, true, false}, {"valid", ranges, true, false}, {"t", textual, true, false},
			{`"Odd \"name"`, ordered, true, true}, {"document", []string{"fts", "is", "phfts(simple)"}, true, false},
		},
		embeds: []embed{
			{"customers", "customers", true}, {"items", "items", false}, {"customer_id", "customers", true},
			{"addresses!billing_id", "addresses", true},
		},
	},
	"customers": {
		fields: []field{
			{"id", ordered, true, true}, {"name", textual, true, false}, {"mood", ordered, true, false},
			{"favorite", []string{"eq", "in", "eq(any)", "is"}, true, false}, {"joined", ordered, true, false},
			{"label", textual, true, false},
		},
		embeds: []embed{
			{"orders", "orders", false}, {"profiles", "profiles", true}, {"groups", "groups", false},
			{"recent_orders", "orders", false}, {"home", "countries", true}, {"countries", "countries", true},
			{"open_orders", "open_orders", false},
		},
	},
	"open_orders": {
		fields: []field{{"id", ordered, true, true}, {"status", textual, true, false}},
		embeds: []embed{{"customers", "customers", true}},
	},
	"items": {
		fields: []field{{"line", ordered, true, true}, {"product", textual, true, false}, {"labels", sets, true, false}},
		embeds: []embed{{"orders", "orders", true}, {"item_notes", "item_notes", false}},
	},
	"item_notes": {
		fields: []field{{"note", textual, true, false}},
		embeds: []embed{{"items", "items", true}},
	},
	"profiles":  {fields: []field{{"bio", textual, true, false}}, embeds: []embed{{"customers", "customers", true}}},
	"groups":    {fields: []field{{"name", textual, true, false}}, embeds: []embed{{"customers", "customers", false}}},
	"countries": {fields: []field{{"name", textual, true, false}}, embeds: []embed{{"customers", "customers", false}}},
	"addresses": {fields: []field{{"street", textual, true, false}}, embeds: []embed{{"orders!billing_id", "orders", false}}},
	"employees": {
		fields: []field{{"name", textual, true, false}, {"manager_id", ordered, true, true}},
		embeds: []embed{{"manager_id", "employees", true}, {"employees", "employees", false}},
	},
}

// writer makes one random request.
type writer struct {
	*rand.Rand
	parameters []string
}

func randomRequest(random *rand.Rand) string {
	targets := []string{"orders", "customers", "open_orders", "items", "item_notes", "profiles", "groups", "employees"}
	target := targets[random.IntN(len(targets))]
	w := &writer{Rand: random}
	items := w.level(target, "", 0, false)
	w.parameters = append(w.parameters, "select="+items)
	if w.IntN(2) == 0 {
		w.parameters = append(w.parameters, "limit=3", "offset=1")
	}
	line := "GET /" + target + "?" + strings.Join(w.parameters, "&") + " # count=estimated"
	if w.IntN(2) == 0 {
		return line + " max-rows=100"
	}
	return line + " max-rows=7"
}

func pick[T any](w *writer, list []T) T { return list[w.IntN(len(list))] }

// level gives the items of one pair of parentheses, and adds the parameters that go with its path. Below a spread to
// many there are no aggregates.
func (w *writer) level(name, path string, depth int, plain bool) string {
	r := relations[name]
	aggregated := !plain && w.IntN(5) == 0
	var items []string
	for range 1 + w.IntN(4) {
		f := pick(w, r.fields)
		switch {
		case aggregated && f.sum && w.IntN(2) == 0:
			items = append(items, f.name+".sum()")
		case aggregated && !f.groupable, aggregated && w.IntN(3) == 0:
			items = append(items, canary+":"+f.name+".count()")
		case w.IntN(4) == 0:
			items = append(items, canary+":"+f.name+"::text")
		case w.IntN(9) == 0 && !aggregated:
			items = append(items, "*")
		default:
			items = append(items, f.name)
		}
	}
	if aggregated {
		items = append(items, "count()")
	}
	if depth < 3 && !aggregated {
		for i := range w.IntN(3) {
			items = append(items, w.embed(pick(w, r.embeds), path, fmt.Sprintf("e%d", i), depth, plain))
		}
	}
	for range w.IntN(4) {
		w.condition(path, r)
	}
	if !aggregated && w.IntN(2) == 0 {
		f := pick(w, r.fields)
		if f.name != "raw" {
			w.parameters = append(w.parameters, path+"order="+f.name+pick(w, []string{"", ".desc", ".asc.nullslast"}))
		}
	}
	return strings.Join(items, ",")
}

func (w *writer) embed(e embed, path, alias string, depth int, plain bool) string {
	join := pick(w, []string{"", "", "!inner", "!left"})
	if w.IntN(3) == 0 {
		return "..." + e.spelling + join + "(" + w.spread(e.target, depth+1) + ")"
	}
	inner := w.level(e.target, path+alias+".", depth+1, plain)
	if w.IntN(6) == 0 {
		w.parameters = append(w.parameters, path+alias+pick(w, []string{"=is.null", "=not.is.null", "=is.not_null"}))
	}
	if w.IntN(4) == 0 {
		w.parameters = append(w.parameters, path+alias+".limit=2", path+alias+".offset=1")
	}
	return alias + ":" + e.spelling + join + "(" + inner + ")"
}

// spread gives the items of a spread, which has no alias that parameters could name it by.
func (w *writer) spread(name string, depth int) string {
	r := relations[name]
	items := []string{pick(w, r.fields).name, canary + ":" + pick(w, r.fields).name}
	if depth < 3 {
		e := pick(w, r.embeds)
		items = append(items, pick(w, []string{"", "..."})+e.spelling+"("+w.spread(e.target, depth+1)+")")
	}
	return strings.Join(items, ",")
}

func (w *writer) condition(path string, r relation) {
	switch w.IntN(4) {
	case 0:
		var parts []string
		for range 1 + w.IntN(3) {
			name, filter := w.filter(r)
			parts = append(parts, name+"."+filter)
		}
		key := pick(w, []string{"and", "or", "not.and", "not.or"})
		w.parameters = append(w.parameters, path+key+"=("+strings.Join(parts, ",")+")")
	default:
		name, filter := w.filter(r)
		w.parameters = append(w.parameters, path+name+"="+filter)
	}
}

func (w *writer) filter(r relation) (name, filter string) {
	f := pick(w, r.fields)
	operator := pick(w, f.operators)
	value := canary
	switch {
	case operator == "is":
		value = pick(w, []string{"null", "not_null", "NULL"})
	case operator == "in":
		value = "(" + canary + ",\"" + canary + ",)\")"
	case strings.HasSuffix(operator, "(any)"), strings.HasSuffix(operator, "(all)"):
		value = "{" + canary + "}"
	}
	if w.IntN(4) == 0 {
		operator = "not." + operator
	}
	return f.name, operator + "." + value
}
