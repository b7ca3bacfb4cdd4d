package rest_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// condition is a filter as the dialect spells it, as a parameter and as an element of and/or, and as SQL spells it.
type condition struct{ key, value, element, sql string }

// parameter is the condition as a parameter of a URL.
func (c condition) parameter() string {
	return url.QueryEscape(c.key) + "=" + url.QueryEscape(c.value)
}

// words are texts that are awkward in URLs, lists, patterns and SQL.
func words() []string {
	return []string{"a", "b,c", `x"y`, "(p)", `back\slash`, "100%", "under_score", "null", "", "ünïcödé", "o'brien", " blank ", "a.b", "{brace}", "-- comment", "*", "true"}
}

// literal writes a text as SQL does.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// inQuotes writes a text as an element of a list.
func inQuotes(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// pick takes one of several.
func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// randomCondition makes a condition on the columns id, n, s, flag, owner, tags and j.
func randomCondition(r *rand.Rand, depth int) condition {
	if depth > 0 && r.IntN(3) == 0 {
		return randomGroup(r, depth-1)
	}
	c := randomComparison(r)
	if r.IntN(4) == 0 {
		c.element = strings.Replace(c.element, c.key+".", c.key+".not.", 1)
		c.value, c.sql = "not."+c.value, "not ("+c.sql+")"
	}
	return c
}

func randomGroup(r *rand.Rand, depth int) condition {
	logic := pick(r, "and", "or")
	var elements, parts []string
	for range 1 + r.IntN(3) {
		c := randomCondition(r, depth)
		elements, parts = append(elements, c.element), append(parts, "("+c.sql+")")
	}
	list := "(" + strings.Join(elements, pick(r, ",", ", ")) + ")"
	sql := strings.Join(parts, " "+logic+" ")
	key := logic
	if r.IntN(3) == 0 {
		key, sql = "not."+logic, "not ("+sql+")"
	}
	return condition{key: key, value: list, element: key + list, sql: sql}
}

func randomComparison(r *rand.Rand) condition {
	compare := func(column, operator, raw, quoted, sql string) condition {
		return condition{key: column, value: operator + "." + raw, element: column + "." + operator + "." + quoted, sql: sql}
	}
	signs := map[string]string{"eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
	operator := pick(r, "eq", "neq", "gt", "gte", "lt", "lte")
	n := strconv.Itoa(r.IntN(12))
	word := pick(r, words()...)
	switch r.IntN(14) {
	case 0:
		return compare("id", operator, n, n, "id "+signs[operator]+" "+n)
	case 1:
		return compare("n", operator, n, n, "n "+signs[operator]+" "+n)
	case 2:
		return compare("s", operator, word, inQuotes(word), "s "+signs[operator]+" "+literal(word))
	case 3:
		other := pick(r, words()...)
		list := "(" + inQuotes(word) + "," + inQuotes(other) + ")"
		return compare("s", "in", list, list, "s in ("+literal(word)+", "+literal(other)+")")
	case 4:
		return compare("id", "in", "("+n+",3,"+n+")", "("+n+",3,"+n+")", "id in ("+n+", 3)")
	case 5:
		return compare("id", "in", "()", "()", "id = any ('{}')") // a condition on the row, though none fulfils it
	case 6:
		kind := pick(r, "null", "true", "false", "unknown")
		return compare("flag", "is", kind, kind, "flag is "+kind)
	case 7:
		return compare("n", "is", "null", "null", "n is null")
	case 8:
		return compare("s", "isdistinct", word, inQuotes(word), "s is distinct from "+literal(word))
	case 9:
		pattern := pick(r, "*a*", "b*", "*\\\\*", "%", "_", "*ü*", "*'*")
		like := pick(r, "like", "ilike")
		return compare("s", like, pattern, inQuotes(pattern), "s "+like+" "+literal(strings.ReplaceAll(pattern, "*", "%")))
	case 10:
		pattern := pick(r, "^a", "[xyz]", "b|c", "'")
		match := pick(r, "match", "imatch")
		return compare("s", match, pattern, inQuotes(pattern), "s "+map[string]string{"match": "~", "imatch": "~*"}[match]+" "+literal(pattern))
	case 11:
		contains := pick(r, "cs", "cd", "ov")
		array := "{x," + n + "}"
		return compare("tags", contains, array, inQuotes(array), "tags "+map[string]string{"cs": "@>", "cd": "<@", "ov": "&&"}[contains]+" "+literal(array)+"::text[]")
	case 12:
		quantifier := pick(r, "any", "all")
		operator = pick(r, "eq", "gt", "gte", "lt", "lte")
		array := "{1," + n + ",5}"
		return compare("n", operator+"("+quantifier+")", array, array, "n "+signs[operator]+" "+quantifier+" ("+literal(array)+"::int[])")
	default:
		return condition{key: "j->>k", value: operator + "." + word, element: "j->>k." + operator + "." + inQuotes(word), sql: "j ->> 'k' " + signs[operator] + " " + literal(word)}
	}
}

// fill gives insert statements of rows that the conditions tell apart.
func fill(r *rand.Rand, table string, rows int, owners []string, ref string) string {
	var b strings.Builder
	for id := range rows {
		value := func(text string) string {
			if r.IntN(6) == 0 {
				return "null"
			}
			return text
		}
		refers := "null"
		if ref != "" {
			refers = value(strconv.Itoa(r.IntN(rows)))
		}
		fmt.Fprintf(&b, "insert into %s (id, owner, n, s, flag, tags, j, ref) values (%d, %s, %s, %s, %s, %s, %s, %s);\n", table, id, value(literal(pick(r, owners...))),
			value(strconv.Itoa(r.IntN(12))), value(literal(pick(r, words()...))), value(pick(r, "true", "false")), value(literal("{x,"+strconv.Itoa(r.IntN(12))+"}")),
			value(`jsonb_build_object('k', `+literal(pick(r, words()...))+`)`), refers)
	}
	return b.String()
}

// table gives the statement that makes a table of the columns that the conditions speak of.
func table(name, ref string) string {
	refers := "ref int"
	if ref != "" {
		refers += " references " + ref + " on delete set null"
	}
	return fmt.Sprintf("create table %s (id int primary key, owner uuid default auth.uid(), n int, s text, flag bool, tags text[], j jsonb, %s);\n", name, refers)
}

func TestRandomFiltersFindTheRowsThatSQLFinds(t *testing.T) {
	t.Parallel()
	requests := 1000
	if testing.Short() {
		requests = 100
	}
	random := rand.New(rand.NewPCG(11, 12))
	s := apitest.Start(t, table("t", "")+fill(random, "t", 60, []string{"00000000-0000-0000-0000-000000000001"}, "")+open, nil)
	found := 0
	for i := range requests {
		var parameters, wheres []string
		for range 1 + random.IntN(2) {
			c := randomCondition(random, 3)
			parameters, wheres = append(parameters, c.parameter()), append(wheres, "("+c.sql+")")
		}
		where := strings.Join(wheres, " and ")
		var want string
		err := s.Database.Pool.QueryRow(t.Context(), `select coalesce(string_agg(id::text, ',' order by id), '') from t where `+where).Scan(&want)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		answer := s.Do(t, "GET", "/rest/v1/t?select=id&order=id&"+strings.Join(parameters, "&"), "", "Accept: text/csv", "Prefer: count=exact")
		got := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(answer.Body, "id"), "\n"), "\n", ",")
		total := strings.TrimLeft(answer.Header.Get("Content-Range"), "0123456789-*")
		count := 0
		if want != "" {
			count = strings.Count(want, ",") + 1
		}
		if answer.Status != 200 || got != want || total != "/"+strconv.Itoa(count) {
			t.Fatalf("request %d: %s\n%s\n%d %q of %s\nwant %q", i, strings.Join(parameters, "&"), where, answer.Status, answer.Body, total, want)
		}
		found += count
	}
	if found < requests {
		t.Errorf("the conditions hardly find anything: %d rows", found)
	}
}

// onePooled leaves all requests one connection to share.
func onePooled(s *api.Settings) { s.PoolSize = 1 }
