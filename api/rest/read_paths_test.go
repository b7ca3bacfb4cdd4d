package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

const attic = `
create type complexion as (hue text, depth float8);
create table trunk (id int primary key, j jsonb, raw json, nums int[], grid int[], face complexion, label text);
insert into trunk values
  (1, '{"a":{"b":"x","n":1},"list":[1,2,[3,4]],"!@#$%^&*_k":{"in-ner":5},"0":"zero","t ":1}', '{"a": {"b":"x"}, "a2" : 1}', '{1,2}', '{{1,2},{3,4}}', ('red', 0.5), 'one'),
  (2, '{"a":{"b":"y","n":10},"list":[9]}', '{"a":{"b":"y"}}', '{11,12}', '{{11,12},{13,14}}', ('blue', 0.25), 'two'),
  (3, '[{"a":1},{"a":2}]', '[7,8]', null, null, null, null),
  (4, null, null, '{}', '{}', (null, null), '{"a":1}');
` + open

func TestPathsIntoJSON(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, attic, nil)
	show := func(name, what, want string) exchange {
		return exchange{name: name, path: "trunk?id=eq.1&select=" + what, status: 200, want: want}
	}
	ids := func(name, filter, want string) exchange {
		return exchange{name: name, path: "trunk?select=id&" + filter, status: 200, want: want}
	}
	run(t, s, []exchange{
		show("a single arrow gives JSON", "j->a", `[{"a":{"b":"x","n":1}}]`),
		show("a double arrow gives text", "j->a->>n", `[{"n":"1"}]`),
		show("a path of json keeps its text", "raw->a", `[{"a":{"b":"x"}}]`),
		show("the last key is the name", "j->a->b", `[{"b":"x"}]`),
		show("before an index the last key is", "j->list->2->1", `[{"list":4}]`),
		show("of indexes alone the column is", "nums->0", `[{"nums":1}]`),
		show("an alias is instead", "first:j->list->0", `[{"first":1}]`),
		show("a cast of a path", "j->a->>n::int", `[{"n":1}]`),
		show("a cast of a path to json", "j->>a::json", `[{"a":{"b":"x", "n":1}}]`),
		show("an alias with a cast", "x:j->a->>n::numeric", `[{"x":1}]`),
		show("an index from the end", "j->list->-1->>-2", `[{"list":"3"}]`),
		show("a quoted number is a key", `j->"0",j->0`, `[{"0":"zero","j":null}]`),
		show("keys of any characters but the reserved", "j->!@%23$%25^%26*_k->in-ner", `[{"in-ner":5}]`),
		show("keys are trimmed unless quoted", `j->t ,u:j->"t "`, `[{"t":null,"u":1}]`),
		show("numbers with letters are keys", "j->0xy1", `[{"0xy1":null}]`),
		show("what is not there is null", "j->nope->deeper->>end", `[{"end":null}]`),
		show("an item of an array", "a:nums->0,b:nums->>1,c:grid->1->0", `[{"a":1,"b":"2","c":3}]`),
		show("a field of a composite", "face->hue,d:face->>depth", `[{"hue":"red","d":"0.5"}]`),
		show("a path into text finds nothing", "label->a", `[{"a":null}]`),
		ids("a filter on text", "j->a->>b=eq.y", `[{"id":2}]`),
		ids("a filter on JSON", `j->a=eq.{"b":"x","n":1}`, `[{"id":1}]`),
		ids("numbers in JSON are compared as numbers", "j->a->n=gt.2", `[{"id":2}]`),
		ids("numbers in text are compared as text", "j->a->>n=lt.2&order=id", `[{"id":1},{"id":2}]`),
		ids("a negated filter", "j->a->>b=not.eq.x", `[{"id":2}]`),
		ids("a list", "j->a->>b=in.(x,z)", `[{"id":1}]`),
		ids("is null", "j->a->b=is.null&order=id", `[{"id":3},{"id":4}]`),
		ids("a pattern", "j->a->>b=like.*y*", `[{"id":2}]`),
		ids("by an index", "j->0->>a=eq.1", `[{"id":3}]`),
		ids("by an index from the end", "j->-1->a=eq.2", `[{"id":3}]`),
		ids("an item of an array is JSON", "nums->0=eq.11", `[{"id":2}]`),
		ids("or its text", "nums->>1=eq.2", `[{"id":1}]`),
		ids("an item of an array of arrays", "grid->1->>1=eq.4", `[{"id":1}]`),
		ids("a field of a composite in a filter", "face->>hue=eq.blue", `[{"id":2}]`),
		ids("containment below a key", `j->a=cs.{"n":10}`, `[{"id":2}]`),
		ids("within or", `or=(j->a->>b.eq.x,j->0->a.eq.1)&order=id`, `[{"id":1},{"id":3}]`),
		ids("a quoted key with a dot in a filter", `j->"a.b"->>c=is.null&id=eq.1`, `[{"id":1}]`),
		ids("order by JSON", "j->a=not.is.null&order=j->a->n.desc", `[{"id":2},{"id":1}]`),
		ids("order by text", "j->a=not.is.null&order=j->a->>b.desc", `[{"id":2},{"id":1}]`),
		ids("order by text with nulls first", "order=j->a->>b.nullsfirst,id", `[{"id":3},{"id":4},{"id":1},{"id":2}]`),
		ids("order by an item of an array", "order=nums->0.desc.nullslast,id", `[{"id":2},{"id":1},{"id":3},{"id":4}]`),
		ids("order by a field of a composite", "order=face->depth.asc.nullslast,id&id=lt.3", `[{"id":2},{"id":1}]`),
		{name: "a cast that its text cannot take", path: "trunk?select=j->a->>b::int", status: 400, has: []string{`"22P02"`}},
		{name: "an arrow behind text", path: "trunk?select=j->>a->b", status: 404, has: []string{`"42883"`, "operator does not exist"}},
		{name: "two signs", path: "trunk?select=j->>--34", status: 400,
			has: []string{"PGRST100", `failed to parse select parameter (j->>--34)\" (line 1, column 6)`, `unexpected \"-\" expecting digit`}},
		{name: "a parenthesis in a key", path: "trunk?select=j->(x)", status: 400, has: []string{"PGRST100", "any non reserved character"}},
		{name: "an arrow to nothing", path: "trunk?select=j->", status: 400, has: []string{"PGRST100"}},
		{name: "a path of a column that is not there", path: "trunk?select=k->a", status: 400, has: []string{`"42703"`}},
	})
}
