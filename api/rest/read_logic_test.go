package rest_test

import (
	"strings"
	"testing"

	"basalt/api/apitest"
)

const orchard = `
create table tree (id int primary key, kind text, height int, "or" int, "and" int, "not" int);
insert into tree values (1, 'oak', 10, 1, 0, 5), (2, 'ash', 20, 0, 1, 6), (3, 'elm, old', 30, null, null, 7), (4, null, null, 1, 1, 8);
create table nest (id int primary key, tree int references tree, bird text);
insert into nest values (1, 1, 'owl'), (2, 1, 'jay'), (3, 2, 'owl'), (4, 3, 'kite');
create table egg (id int primary key, nest int references nest, spots int);
insert into egg values (1, 1, 3), (2, 1, 4), (3, 3, 3), (4, 4, 9);
` + open

func TestConditionsCombineToAnyDepth(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, orchard, nil)
	ids := func(name, filter, want string) exchange {
		return exchange{name: name, path: "tree?select=id&order=id&" + filter, status: 200, want: want}
	}
	run(t, s, []exchange{
		ids("or", "or=(id.eq.1,height.gt.20)", `[{"id":1},{"id":3}]`),
		ids("and", "and=(id.gt.1,height.gt.20)", `[{"id":3}]`),
		ids("one condition", "or=(id.eq.1)", `[{"id":1}]`),
		ids("not.or as a key", "not.or=(id.eq.1,id.eq.2)", `[{"id":3},{"id":4}]`),
		ids("not.and as a key", "not.and=(id.gt.1,id.lt.4)", `[{"id":1},{"id":4}]`),
		ids("groups in groups", "or=(and(kind.eq.oak,height.eq.10),and(kind.eq.ash,or(height.eq.1,height.eq.20)))", `[{"id":1},{"id":2}]`),
		ids("a negated group within", "and=(id.lt.4,not.or(id.eq.1,id.eq.3))", `[{"id":2}]`),
		ids("a negated condition within", "or=(kind.not.eq.oak,id.not.is.null)", `[{"id":1},{"id":2},{"id":3},{"id":4}]`),
		ids("two groups add up", "or=(id.eq.1,id.eq.2)&or=(id.eq.2,id.eq.3)", `[{"id":2}]`),
		ids("beside an ordinary filter", "or=(id.eq.1,id.eq.2)&height=gt.10", `[{"id":2}]`),
		ids("with blanks everywhere", "and=( or ( id.eq.1 , id.eq.2 ) , not.and ( id.eq.1 , kind.eq.oak ) )", `[{"id":2}]`),
		ids("lists within", "or=(id.in.(1,2),kind.in.(\"elm, old\"))", `[{"id":1},{"id":2},{"id":3}]`),
		ids("quoted values within", `or=(kind.eq."elm, old",kind.like."o*")`, `[{"id":1},{"id":3}]`),
		ids("quotes that are no quotes outside of a group", `kind=eq."oak"`, `[]`),
		ids("a quote in the middle of a value", `or=(kind.eq.o"ak,id.eq.1)`, `[{"id":1}]`),
		ids("columns named like the operators", "or=(or.eq.1,and.eq.0)", `[{"id":1},{"id":4}]`),
		ids("a column named not", "or=(not.eq.5,not.eq.8)", `[{"id":1},{"id":4}]`),
		ids("nulls are unknown in any group", "not.or=(kind.eq.oak,height.eq.20)", `[{"id":3}]`),
		{name: "no condition at all", path: "tree?or=()", status: 400, want: refusal("PGRST100", `"failed to parse logic tree (())" (line 1, column 4)`,
			`unexpected ")" expecting field name (* or [a..z0..9_$]), negation operator (not) or logic operator (and, or)`, "")},
		{name: "no parentheses", path: "tree?or=id.eq.1", status: 400, has: []string{"PGRST100"}},
		{name: "a parenthesis that stays open", path: "tree?or=(id.eq.1,and(id.eq.2", status: 400, has: []string{"PGRST100"}},
		{name: "a condition without its operator", path: "tree?or=(id.eq.1,id)", status: 400, has: []string{"PGRST100"}},
		{name: "a comma too many", path: "tree?or=(id.eq.1,)", status: 400, has: []string{"PGRST100"}},
		{name: "text behind the group", path: "tree?or=(id.eq.1))", status: 400, has: []string{"PGRST100"}},
	})
}

func TestConditionsReachEveryLevelOfEmbedding(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, orchard, nil)
	const nests = "tree?select=id,nest(id)&nest.order=id&order=id&"
	run(t, s, []exchange{
		{name: "or of the second level", path: nests + "nest.or=(id.eq.1,bird.eq.kite)", status: 200,
			want: `[{"id":1,"nest":[{"id":1}]},{"id":2,"nest":[]},{"id":3,"nest":[{"id":4}]},{"id":4,"nest":[]}]`},
		{name: "not.and of the second level", path: nests + "nest.not.and=(bird.eq.owl,id.lt.3)&id=lte.2", status: 200,
			want: `[{"id":1,"nest":[{"id":2}]},{"id":2,"nest":[{"id":3}]}]`},
		{name: "or of the third level", path: "tree?select=id,nest(id,egg(id))&nest.egg.or=(spots.eq.4,spots.eq.9)&nest.order=id&order=id&id=in.(1,3)", status: 200,
			want: `[{"id":1,"nest":[{"id":1,"egg":[{"id":2}]},{"id":2,"egg":[]}]},{"id":3,"nest":[{"id":4,"egg":[{"id":4}]}]}]`},
		{name: "a condition on a row or on its embed", path: "tree?select=id,nest()&nest.bird=eq.kite&or=(height.eq.10,nest.not.is.null)&order=id", status: 200,
			want: `[{"id":1},{"id":3}]`},
		{name: "a negated condition on an embed in a group", path: "tree?select=id,nest()&not.or=(nest.is.null,id.eq.1)&order=id", status: 200, want: `[{"id":2},{"id":3}]`},
		{name: "presence within presence", path: "tree?select=id,nest(egg())&nest.egg.spots=eq.3&nest.egg=not.is.null&nest=not.is.null&order=id", status: 200,
			want: `[{"id":1},{"id":2}]`},
		{name: "what a group names must be embedded", path: "tree?select=id&nest.or=(id.eq.1,id.eq.2)", status: 400,
			want: refusal("PGRST108", "'nest' is not an embedded resource in this request", "", "Verify that 'nest' is included in the 'select' query parameter.")},
		{name: "also below the first level", path: "tree?select=id,nest(id)&nest.egg.id=eq.1", status: 400,
			want: refusal("PGRST108", "'egg' is not an embedded resource in this request", "", "Verify that 'egg' is included in the 'select' query parameter.")},
		{name: "a group has no path within", path: "tree?select=id,nest(id)&or=(nest.id.eq.1,id.eq.1)", status: 400, has: []string{"PGRST100"}},
	})
}

func TestVeryDeepAndVeryLongQueriesAreRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, orchard, nil)
	deep := func(open, inner string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(")", n)
	}
	run(t, s, []exchange{
		{name: "embeds in embeds", path: "tree?select=" + deep("nest(tree(", "id", 40) + strings.Repeat(")", 40), status: 400, has: []string{"PGRST100", "Too many levels of embedding"}},
		{name: "some embeds in embeds", path: "tree?id=eq.4&select=" + deep("nest(tree(", "id", 5) + strings.Repeat(")", 5), status: 200, want: `[{"nest":[]}]`},
		{name: "groups in groups", path: "tree?or=" + deep("(and", "(id.eq.1)", 100), status: 400, has: []string{"PGRST100"}},
		{name: "two thousand filters", path: "tree?select=id" + strings.Repeat("&id=gt.0", 2_000), status: 400, has: []string{"Too many filters"}},
		{name: "five hundred filters", path: "tree?select=id&limit=1&order=id" + strings.Repeat("&id=gt.0", 500), status: 200, want: `[{"id":1}]`},
	})
}
