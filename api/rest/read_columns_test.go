package rest_test

import (
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const pantry = `
create table jar (id int primary key, label text, grams int, price numeric(6,2), opened timestamptz);
insert into jar values (1, 'plum', 300, 2.50, '2026-01-02 03:04:05+00'), (2, 'Quince', 150, 4.00, null), (3, null, 75, null, null);
create function shout(jar) returns text language sql stable as $$ select upper($1.label) $$;
create function price_per_kilo(jar) returns numeric language sql stable as $$ select round($1.price * 1000 / $1.grams, 2) $$;
create function words(jar) returns text[] language sql stable as $$ select array[$1.label, 'jam'] $$;
create function details(jar) returns jsonb language sql stable as $$ select jsonb_build_object('g', $1.grams) $$;
create function label(jar) returns text language sql stable as $$ select 'never' $$;
create function label_or(jar, instead text default 'none') returns text language sql stable as $$ select coalesce($1.label, instead) $$;
create function halves(jar) returns setof int language sql stable as $$ select $1.grams / 2 from generate_series(1, 2) $$;
create table shelf_of (id int primary key, jar int references jar);
insert into shelf_of values (1, 2);
create function shout(shelf_of) returns text language sql stable as $$ select 'shelf' $$;
create view cheap as select * from jar where price < 3;
create function shout(cheap) returns text language sql stable as $$ select 'cheap ' || $1.label $$;
create schema aside; create function aside.hidden(jar) returns int language sql as 'select 1';
create table tally (id int primary key, count int); insert into tally values (1, 7);
create table crowd (id int primary key, t int, j int, e1 int); insert into crowd values (1, 2, 3, 4);
` + open

func TestComputedColumns(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, pantry, nil)
	run(t, s, []exchange{
		{name: "shown", path: "jar?select=id,shout&order=id", status: 200, want: `[{"id":1,"shout":"PLUM"},{"id":2,"shout":"QUINCE"},{"id":3,"shout":null}]`},
		{name: "not in the star", path: "jar?id=eq.3&select=*", status: 200, want: `[{"id":3,"label":null,"grams":75,"price":null,"opened":null}]`},
		{name: "beside the star", path: "jar?id=eq.3&select=*,shout", status: 200, want: `[{"id":3,"label":null,"grams":75,"price":null,"opened":null,"shout":null}]`},
		{name: "with an alias and a cast", path: "jar?id=eq.1&select=per:price_per_kilo::int", status: 200, want: `[{"per":8}]`},
		{name: "filtered by", path: "jar?select=id&price_per_kilo=gt.10", status: 200, want: `[{"id":2}]`},
		{name: "filtered by in or", path: "jar?select=id&or=(shout.eq.PLUM,shout.is.null)&order=id", status: 200, want: `[{"id":1},{"id":3}]`},
		{name: "ordered by", path: "jar?select=id&order=price_per_kilo.desc.nullslast", status: 200, want: `[{"id":2},{"id":1},{"id":3}]`},
		{name: "an array", path: "jar?id=eq.1&select=words&words=cs.{jam}", status: 200, want: `[{"words":["plum","jam"]}]`},
		{name: "a path into one", path: "jar?id=eq.1&select=details->g,n:words->>1", status: 200, want: `[{"g":300,"n":"jam"}]`},
		{name: "a path into one in filter and order", path: "jar?select=id&details->g=gt.80&order=details->g", status: 200, want: `[{"id":2},{"id":1}]`},
		{name: "with arguments that have defaults", path: "jar?select=label_or&label_or=eq.none", status: 200, want: `[{"label_or":"none"}]`},
		{name: "a set makes rows", path: "jar?select=id,halves&id=eq.2", status: 200, want: `[{"id":2,"halves":75},{"id":2,"halves":75}]`},
		{name: "a column of the same name wins", path: "jar?id=eq.1&select=label", status: 200, want: `[{"label":"plum"}]`},
		{name: "each relation has its own", path: "shelf_of?select=shout,jar(shout)", status: 200, want: `[{"shout":"shelf","jar":{"shout":"QUINCE"}}]`},
		{name: "of a view", path: "cheap?select=shout", status: 200, want: `[{"shout":"cheap plum"}]`},
		{name: "filtered by in an embed", path: "shelf_of?select=id,jar!inner(id)&jar.shout=eq.PLUM", status: 200, want: `[]`},
		{name: "ordered by through an embed", path: "shelf_of?select=id,jar(id)&order=jar(shout)", status: 200, want: `[{"id":1,"jar":{"id":2}}]`},
		{name: "of the result of a write", method: "PATCH", path: "jar?id=eq.1&select=shout", headers: []string{give}, body: `{"label":"plums"}`, status: 200, want: `[{"shout":"PLUMS"}]`},
		{name: "outside of the exposed schemas", path: "jar?select=hidden", status: 400, has: []string{`"42703"`}},
		{name: "of another relation", path: "tally?select=shout", status: 400, has: []string{`"42703"`}},
	})
}

func TestNamesAreLookedForAlongTheSearchPath(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, pantry+`
create type aside.fruit as enum ('plum', 'Quince');
create text search configuration aside.mine (copy = english);
create function aside.same(text, int) returns boolean language sql immutable as 'select length($1) = $2';
create operator aside.@> (leftarg = text, rightarg = int, function = aside.same);
create function aside.shout(jar) returns text language sql stable as $$ select 'never' $$;
grant usage on schema aside to anon;`, func(s *api.Settings) { s.ExtraSearchPath = []string{"aside"} })
	run(t, s, []exchange{
		{name: "a computed column", path: "jar?select=id,hidden&hidden=eq.1&order=hidden,id&limit=1", status: 200, want: `[{"id":1,"hidden":1}]`},
		{name: "the request's schema comes first", path: "jar?select=shout&id=eq.1", status: 200, want: `[{"shout":"PLUM"}]`},
		{name: "a type of a cast", path: "jar?select=label::fruit&id=lte.2&order=id", status: 200, want: `[{"label":"plum"},{"label":"Quince"}]`},
		{name: "a configuration of a search", path: "jar?select=id&label=fts(mine).plums", status: 200, want: `[{"id":1}]`},
		{name: "an operator", path: "jar?select=id&label=cs.4", status: 200, want: `[{"id":1}]`},
		{name: "but no relations", path: "fruit", status: 404, has: []string{"PGRST205"}},
		{name: "and no functions", path: "rpc/hidden", status: 404, has: []string{"PGRST202"}},
	})
}

func TestColumnsCastsAndAliases(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, pantry, nil)
	run(t, s, []exchange{
		{name: "keys come in the order of select", path: "jar?id=eq.1&select=grams,id,label", status: 200, want: `[{"grams":300,"id":1,"label":"plum"}]`},
		{name: "blanks around items", path: "jar?id=eq.1&select= id , g : grams , label ", status: 200, want: `[{"id":1,"g":300,"label":"plum"}]`},
		{name: "casts", path: "jar?id=eq.1&select=id::text,grams::float8,p:price::int,d:opened::date", status: 200, want: `[{"id":"1","grams":300,"p":3,"d":"2026-01-02"}]`},
		{name: "casts of several words", path: "jar?id=eq.1&select=grams::double precision,opened::timestamp without time zone", status: 200,
			want: `[{"grams":300,"opened":"2026-01-02T03:04:05"}]`},
		{name: "casts to arrays", path: "jar?id=eq.1&select=words::_text,w:words::_varchar", status: 200, want: `[{"words":["plum","jam"],"w":["plum","jam"]}]`},
		{name: "a cast to a type that is not there", path: "jar?select=id::notype", status: 400, want: refusal("42704", `type "notype" does not exist`, "", "")},
		{name: "a cast to nothing", path: "jar?select=id::", status: 400, has: []string{"PGRST100", "letter or digit"}},
		{name: "the alias is no column to filter by", path: "jar?select=g:grams&g=eq.1", status: 400, has: []string{`"42703"`}},
		{name: "a column with a near name", path: "jar?select=labl", status: 400,
			want: refusal("42703", "column jar.labl does not exist", "", `Perhaps you meant to reference the column "jar.label".`)},
		{name: "columns called like aliases of our own", path: "crowd?select=t,j,e1&t=eq.2&order=t", status: 200, want: `[{"t":2,"j":3,"e1":4}]`},
		{name: "columns of the system", path: "jar?id=eq.1&select=tableoid::regclass,ctid", status: 200, has: []string{`"tableoid":"jar"`, `"ctid":"(0,`}},
		{name: "filters on them", path: "jar?select=id&xmin=eq.1", status: 200, want: `[]`},
		{name: "a row that nobody changed since", method: "PATCH", path: "jar?id=eq.1&xmin=neq.1&select=id,xmin", headers: []string{give}, body: `{"grams":300}`, status: 200, has: []string{`"id":1,"xmin":"`}},
		{name: "a row that somebody changed since", method: "PATCH", path: "jar?id=eq.1&xmin=eq.1&select=id", headers: []string{give}, body: `{"grams":1}`, status: 200, want: `[]`},
		{name: "they come with the embeds of a write", method: "PATCH", path: "jar?id=eq.2&select=id,tableoid::regclass,shelf_of(id)", headers: []string{give}, body: `{"grams":150}`, status: 200, want: `[{"id":2,"tableoid":"jar","shelf_of":[{"id":1}]}]`},
		{name: "a deletion of a row that somebody changed since", method: "DELETE", path: "jar?id=eq.1&xmin=eq.1&select=id", headers: []string{give}, status: 200, want: `[]`},
		{name: "views have none", path: "cheap?select=xmin", status: 400, has: []string{`"42703"`}},
		{name: "a bracket", path: "jar?select=id[0]", status: 400, has: []string{"PGRST100"}},
		{name: "a parenthesis that stays open", path: "jar?select=id,shelf_of(id", status: 400, has: []string{"PGRST100"}},
		{name: "an item that is empty", path: "jar?select=id,,label", status: 400, has: []string{"PGRST100"}},
		{name: "a hint without parentheses", path: "jar?select=id!inner", status: 400, has: []string{"PGRST100"}},
		{name: "the first select counts", path: "jar?id=eq.1&select=id&select=label", status: 200, want: `[{"id":1}]`},
	})
}

func TestOrderings(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, pantry, nil)
	ids := func(name, order, want string) exchange {
		return exchange{name: name, path: "jar?select=id&order=" + order, status: 200, want: want}
	}
	misspelt := func(order, column, details string) exchange {
		return exchange{name: "misspelt: " + order, path: "jar?order=" + order, status: 400,
			want: refusal("PGRST100", `"failed to parse order (`+order+`)" (line 1, column `+column+`)`, details, "")}
	}
	run(t, s, []exchange{
		ids("ascending by default", "grams", `[{"id":3},{"id":2},{"id":1}]`),
		ids("descending", "grams.desc", `[{"id":1},{"id":2},{"id":3}]`),
		ids("nulls are last", "price", `[{"id":1},{"id":2},{"id":3}]`),
		ids("nulls are first when descending", "price.desc", `[{"id":3},{"id":2},{"id":1}]`),
		ids("nulls first", "price.nullsfirst", `[{"id":3},{"id":1},{"id":2}]`),
		ids("ascending with nulls first", "price.asc.nullsfirst", `[{"id":3},{"id":1},{"id":2}]`),
		ids("descending with nulls last", "price.desc.nullslast", `[{"id":2},{"id":1},{"id":3}]`),
		ids("by several", "opened.nullsfirst,id.desc", `[{"id":3},{"id":2},{"id":1}]`),
		ids("with blanks", " price.desc , id ", `[{"id":3},{"id":2},{"id":1}]`),
		ids("by a quoted name", `"price".desc`, `[{"id":3},{"id":2},{"id":1}]`),
		{name: "by what is not selected", path: "jar?select=label&order=grams&limit=1", status: 200, want: `[{"label":null}]`},
		{name: "by an alias", path: "jar?select=id,cost:price_per_kilo&order=cost.desc.nullslast&limit=1", status: 200, want: `[{"id":2,"cost":26.67}]`},
		{name: "the first order of a level counts", path: "jar?select=id&order=grams&order=id", status: 200, want: `[{"id":3},{"id":2},{"id":1}]`},
		{name: "by a column that is not there", path: "jar?order=nope", status: 400, has: []string{`"42703"`}},
		misspelt("id.ac", "4", `unexpected "a" expecting "asc", "desc", "nullsfirst" or "nullslast"`),
		misspelt("id.asc.nlsfst", "8", `unexpected "n" expecting "nullsfirst" or "nullslast"`),
	})
}

func TestCountIsAColumnOrARowCount(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, pantry, nil)
	run(t, s, []exchange{
		{name: "a column of that name", path: "tally?select=count", status: 200, want: `[{"count":7}]`},
		{name: "all columns of its table", path: "tally", status: 200, want: `[{"id":1,"count":7}]`},
		{name: "the rows of a relation without one", path: "jar?select=count", status: 200, want: `[{"count":3}]`},
		{name: "under a filter, an alias and a cast", path: "jar?select=n:count::text&grams=gt.100", status: 200, want: `[{"n":"2"}]`},
		{name: "of an embed to many", path: "jar?select=id,shelf_of(count)&order=id", status: 200,
			want: `[{"id":1,"shelf_of":[{"count":0}]},{"id":2,"shelf_of":[{"count":1}]},{"id":3,"shelf_of":[{"count":0}]}]`},
		{name: "of an embed under a filter", path: "jar?select=shelf_of(n:count)&shelf_of.id=gt.1&id=eq.2", status: 200, want: `[{"shelf_of":[{"n":0}]}]`},
		{name: "not beside columns", path: "jar?select=label,count", status: 400, has: []string{`"42803"`, "must appear in the GROUP BY clause"}},
		{name: "by parentheses it is an aggregate", path: "jar?select=count()", status: 400, has: []string{"PGRST123"}},
		{name: "a quoted one is a column in any case", path: `tally?select="count"`, status: 200, want: `[{"count":7}]`},
	})
}

func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 70)
	s := apitest.Start(t, "create table wide (id int primary key, "+long+" text, é"+strings.Repeat("é", 40)+" int); insert into wide values (1, 'v', 2);"+open, nil)
	run(t, s, []exchange{
		{name: "a column by the name that it was made with", path: "wide?select=" + long + "&" + long + "=eq.v&order=" + long, status: 200, want: `[{"` + long[:63] + `":"v"}]`},
		{name: "a column by the name that PostgreSQL made of it", path: "wide?select=" + long[:63], status: 200, want: `[{"` + long[:63] + `":"v"}]`},
		{name: "names are cut between characters", path: "wide?select=" + strings.Repeat("%C3%A9", 41), status: 200, want: `[{"` + strings.Repeat("é", 31) + `":2}]`},
		{name: "an alias keeps its length", path: "wide?select=" + strings.Repeat("a", 100) + ":id", status: 200, want: `[{"` + strings.Repeat("a", 100) + `":1}]`},
		{name: "a relation of a long name is not cut", path: strings.Repeat("w", 100), status: 404, has: []string{"PGRST205"}},
	})
}
