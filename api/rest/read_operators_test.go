package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

const harbour = `
create table ship (id int primary key, name text, tons numeric, afloat boolean, tags text[], crew int4range, log jsonb, built date);
insert into ship values
  (1, 'Aurora', 10.5, true, '{ice,red}', '[1,4)', '{"port":"Oslo","stops":[1,2]}', '1990-05-01'),
  (2, 'Borealis', 20, false, '{ice}', '[4,9)', '{"port":"Bergen"}', '2000-01-31'),
  (3, 'corvus', null, null, '{}', '[12,20]', null, null),
  (4, null, 7, true, null, null, '[3]', '2020-12-24');
create table pattern (id int primary key, t text);
insert into pattern values (1, '100%'), (2, '100x'), (3, 'a_b'), (4, 'axb'), (5, 'back\slash'), (6, 'star*'), (7, 'line
two');
` + open

func TestEveryOperatorOfTheDialect(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, harbour, nil)
	ids := func(name, filter, want string) exchange {
		return exchange{name: name, path: "ship?select=id&order=id&" + filter, status: 200, want: want}
	}
	run(t, s, []exchange{
		ids("eq", "id=eq.2", `[{"id":2}]`),
		ids("neq leaves out nulls", "tons=neq.20", `[{"id":1},{"id":4}]`),
		ids("gt", "tons=gt.10", `[{"id":1},{"id":2}]`),
		ids("gte", "tons=gte.10.5", `[{"id":1},{"id":2}]`),
		ids("lt", "tons=lt.10.5", `[{"id":4}]`),
		ids("lte", "tons=lte.10.5", `[{"id":1},{"id":4}]`),
		ids("like knows upper case", "name=like.*or*", `[{"id":1},{"id":2},{"id":3}]`),
		ids("like at the start", "name=like.Bor*", `[{"id":2}]`),
		ids("ilike does not", "name=ilike.C*S", `[{"id":3}]`),
		ids("match", "name=match.^[AB].*s$", `[{"id":2}]`),
		ids("imatch", "name=imatch.^c", `[{"id":3}]`),
		ids("in", "id=in.(1,3,99)", `[{"id":1},{"id":3}]`),
		ids("in with blanks around its list and elements", "id=in. ( 1 , 3 ) ", `[{"id":1},{"id":3}]`),
		ids("in of nothing but a blank", "id=in.(   )", `[]`),
		ids("not in of nothing", "id=not.in.()", `[{"id":1},{"id":2},{"id":3},{"id":4}]`),
		ids("is null", "tons=is.null", `[{"id":3}]`),
		ids("is not_null", "tons=is.not_null", `[{"id":1},{"id":2},{"id":4}]`),
		ids("is true", "afloat=is.true", `[{"id":1},{"id":4}]`),
		ids("is false", "afloat=is.false", `[{"id":2}]`),
		ids("is unknown", "afloat=is.unknown", `[{"id":3}]`),
		ids("is in any case of letters", "afloat=is.uNkNoWn", `[{"id":3}]`),
		ids("isdistinct takes nulls for values", "tons=isdistinct.20", `[{"id":1},{"id":3},{"id":4}]`),
		ids("isdistinct of arrays", "tags=isdistinct.{ice}", `[{"id":1},{"id":3},{"id":4}]`),
		ids("isdistinct of ranges", "crew=isdistinct.[1,4)", `[{"id":2},{"id":3},{"id":4}]`),
		ids("cs of an array", "tags=cs.{ice}", `[{"id":1},{"id":2}]`),
		ids("cd of an array", "tags=cd.{ice,blue}", `[{"id":2},{"id":3}]`),
		ids("ov of an array", "tags=ov.{red,blue}", `[{"id":1}]`),
		ids("arrays are ordered by their elements", "tags=gt.{ice}", `[{"id":1}]`),
		ids("arrays are equal", "tags=eq.{ice,red}", `[{"id":1}]`),
		ids("cs of jsonb", `log=cs.{"port":"Oslo"}`, `[{"id":1}]`),
		ids("cd of jsonb", `log=cd.{"port":"Bergen","x":1}`, `[{"id":2}]`),
		ids("eq of jsonb", "log=eq.[3]", `[{"id":4}]`),
		ids("eq of a range", "crew=eq.[1,3]", `[{"id":1}]`),
		ids("neq of a range", "crew=neq.[1,3]", `[{"id":2},{"id":3}]`),
		ids("cs of a range", "crew=cs.[5,6]", `[{"id":2}]`),
		ids("cd of a range", "crew=cd.[0,10]", `[{"id":1},{"id":2}]`),
		ids("ov of a range", "crew=ov.[3,5]", `[{"id":1},{"id":2}]`),
		ids("sl", "crew=sl.(10,12)", `[{"id":1},{"id":2}]`),
		ids("sr", "crew=sr.[1,8]", `[{"id":3}]`),
		ids("nxr", "crew=nxr.[1,8]", `[{"id":1},{"id":2}]`),
		ids("nxl", "crew=nxl.[4,5]", `[{"id":2},{"id":3}]`),
		ids("adj", "crew=adj.[9,12)", `[{"id":2},{"id":3}]`),
		ids("not before eq", "id=not.eq.2", `[{"id":1},{"id":3},{"id":4}]`),
		ids("not before is", "name=not.is.null", `[{"id":1},{"id":2},{"id":3}]`),
		ids("not before like leaves out nulls", "name=not.like.*or*", `[]`),
		ids("not before isdistinct", "tons=not.isdistinct.20", `[{"id":2}]`),
		ids("not before a range's", "crew=not.sl.(10,12)", `[{"id":3}]`),
		ids("conditions of one column add up", "id=gt.1&id=lt.4&id=neq.2", `[{"id":3}]`),
		ids("values are read as the column's type", "built=gte.2000-1-31", `[{"id":2},{"id":4}]`),
		{name: "not twice", path: "ship?id=not.not.eq.1", status: 400, has: []string{"PGRST100"}},
		{name: "is of anything else", path: "ship?afloat=is.nil", status: 400, has: []string{"PGRST100", "not_null"}},
		{name: "no operator at all", path: "ship?id=1", status: 400,
			want: refusal("PGRST100", `"failed to parse filter (1)" (line 1, column 1)`, `unexpected "1" expecting "not" or operator (eq, gt, ...)`, "")},
		{name: "an operator in the wrong case", path: "ship?id=EQ.1", status: 400, has: []string{"PGRST100"}},
		{name: "no list behind in", path: "ship?id=in.1", status: 400, has: []string{"PGRST100"}},
		{name: "an empty element of a list of numbers", path: "ship?id=in.(,3)", status: 400, has: []string{`"22P02"`}},
		{name: "is true of what is no boolean", path: "ship?id=is.true", status: 400, has: []string{`"42804"`}},
		{name: "an operator that a type has not", path: "ship?id=cs.1", status: 404, has: []string{`"42883"`}},
		{name: "an array that is none", path: "ship?tags=cs.ice", status: 400, has: []string{`"22P02"`}},
	})
}

func TestQuantifiersCompareWithSeveralValues(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, harbour, nil)
	ids := func(name, filter, want string) exchange {
		return exchange{name: name, path: "ship?select=id&order=id&" + filter, status: 200, want: want}
	}
	run(t, s, []exchange{
		ids("eq any", "id=eq(any).{1,4}", `[{"id":1},{"id":4}]`),
		ids("not eq any", "id=not.eq(any).{1,4}", `[{"id":2},{"id":3}]`),
		ids("gt all", "id=gt(all).{1,2}", `[{"id":3},{"id":4}]`),
		ids("gte any", "tons=gte(any).{15,10.5}", `[{"id":1},{"id":2}]`),
		ids("lt any", "id=lt(any).{2,3}", `[{"id":1},{"id":2}]`),
		ids("lte all", "id=lte(all).{2,3}", `[{"id":1},{"id":2}]`),
		ids("like any", "name=like(any).{Aur*,*vus}", `[{"id":1},{"id":3}]`),
		ids("like all", "name=like(all).{*or*,*s}", `[{"id":2},{"id":3}]`),
		ids("ilike any", "name=ilike(any).{aur*,COR*}", `[{"id":1},{"id":3}]`),
		ids("not ilike all", "name=not.ilike(all).{*or*,*S}", `[{"id":1}]`),
		ids("match any", "name=match(any).{^A,s$}", `[{"id":1},{"id":2},{"id":3}]`),
		ids("imatch all", "name=imatch(all).{^b,S$}", `[{"id":2}]`),
		ids("elements in quotes", `name=eq(any).{"Aurora","corvus"}`, `[{"id":1},{"id":3}]`),
		ids("within or", "or=(name.like(any).{Aur*,xx},id.eq(any).{4})", `[{"id":1},{"id":4}]`),
		ids("of no elements", "id=eq(any).{}", `[]`),
		ids("all of no elements", "id=eq(all).{}", `[{"id":1},{"id":2},{"id":3},{"id":4}]`),
		{name: "neq takes none", path: "ship?id=neq(any).{1}", status: 400, has: []string{"PGRST100"}},
		{name: "cs takes none", path: "ship?tags=cs(any).{1}", status: 400, has: []string{"PGRST100"}},
		{name: "is takes none", path: "ship?id=is(any).{null}", status: 400, has: []string{"PGRST100"}},
		{name: "neither any nor all", path: "ship?id=eq(some).{1}", status: 400, has: []string{"PGRST100"}},
		{name: "what is no array", path: "ship?id=eq(any).1", status: 400, has: []string{`"22P02"`}},
	})
}

func TestPatternsTranslateTheStarOnly(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, harbour, nil)
	ids := func(name, filter, want string) exchange {
		return exchange{name: name, path: "pattern?select=id&order=id&" + filter, status: 200, want: want}
	}
	run(t, s, []exchange{
		ids("the star is any text", "t=like.100*", `[{"id":1},{"id":2}]`),
		ids("the percent sign stays a wildcard", "t=like.1%2500%25", `[{"id":1},{"id":2}]`),
		ids("the underscore stays a wildcard", "t=like.a_b", `[{"id":3},{"id":4}]`),
		ids("a backslash takes its meaning away", `t=like.100\%25`, `[{"id":1}]`),
		ids("also from an underscore", `t=like.a\_b`, `[{"id":3}]`),
		ids("two are one", `t=like.back\\*`, `[{"id":5}]`),
		ids("a star cannot be told from a wildcard", "t=like.star*", `[{"id":6}]`),
		ids("ilike the same", "t=ilike.BACK*", `[{"id":5}]`),
		ids("eq leaves the star alone", "t=eq.star*", `[{"id":6}]`),
		ids("a pattern over lines", "t=like.line*two", `[{"id":7}]`),
		ids("a dot is any character to match", "t=match.^a.b$", `[{"id":3},{"id":4}]`),
		{name: "a pattern that ends in a backslash", path: `pattern?t=like.*\`, status: 400, has: []string{`"22025"`}},
		{name: "an expression that is none", path: "pattern?t=match.(", status: 400, has: []string{`"2201B"`}},
	})
}
