package rest_test

import (
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const registry = `
create schema inside;
create table inside.writer (id int primary key, name text);
create table inside.work (id int primary key, title text, writer int constraint work_writer references inside.writer, year int);
create table inside.genre (id int primary key, label text);
create table inside.work_genre (work int constraint wg_work references inside.work, genre int constraint wg_genre references inside.genre, primary key (work, genre));
create table inside.cover (work int primary key constraint cover_work references inside.work, color text);
insert into inside.writer values (1, 'Ann'), (2, 'Bob');
insert into inside.work values (1, 'Alpha', 1, 1941), (2, 'Beta', 1, 1952), (3, 'Gamma', 2, 1955);
insert into inside.genre values (1, 'play'), (2, 'poem');
insert into inside.work_genre values (1, 1), (2, 1), (2, 2);
insert into inside.cover values (1, 'red');
create view writers as select id, name from inside.writer;
create view works as select id as nr, title, writer as by_whom, year from inside.work;
create view fifties as select * from works where year >= 1950;
create materialized view works_kept as select id, title, writer from inside.work;
create view genres as select * from inside.genre;
create view works_genres as select work as w, genre as g from inside.work_genre;
create view covers as select * from inside.cover;
create view counted as select w.id, w.name, (select count(*) from inside.work o where o.writer = w.id) as n from inside.writer w;
create view grouped as select writer, count(*)::int as n from inside.work group by writer;
create view with_cte as with c as (select id, title, writer from inside.work where year > 1950) select * from c;
create view nested as select x.id, x.writer from (select id, writer from inside.work) x;
create view no_key as select title, year from inside.work;
create view computed_key as select id + 0 as id, writer + 0 as writer from inside.work;
create view both_ends as select w.id as work_id, w.title, p.id as writer_id, p.name from inside.work w join inside.writer p on p.id = w.writer;
create view unioned as select id, writer from inside.work union all select id, writer from inside.work;
create table inside.clerk (id int primary key, name text, boss int references inside.clerk);
insert into inside.clerk values (1, 'Kim', null), (2, 'Lee', 1), (3, 'Max', 2);
create view clerks as select id, name, boss from inside.clerk;
create view ranks as select a.id, a.name, a.boss as above, b.boss as top from inside.clerk a left join inside.clerk b on b.id = a.boss;
create table region (id int primary key, name text);
create table sale (id int, year int, region int references region, amount int, primary key (id, year)) partition by list (year);
create table sale_2025 partition of sale for values in (2025);
create table sale_2026 partition of sale for values in (2026);
create table refund (id int primary key, sale int, year int, foreign key (sale, year) references sale (id, year));
insert into region values (1, 'north'), (2, 'south');
insert into sale values (1, 2025, 1, 10), (1, 2026, 1, 20), (2, 2026, 2, 30);
insert into refund values (1, 1, 2026), (2, 1, 2025);
` + open

func TestViewsAreRelatedAsTheirTables(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, registry, nil)
	run(t, s, []exchange{
		{name: "a view to a view", path: "works?select=title,writers(name)&order=nr", status: 200, want: `[{"title":"Alpha","writers":{"name":"Ann"}},{"title":"Beta","writers":{"name":"Ann"}},{"title":"Gamma","writers":{"name":"Bob"}}]`},
		{name: "from the other side", path: "writers?select=name,works(title)&order=id&works.order=nr", status: 200, want: `[{"name":"Ann","works":[{"title":"Alpha"},{"title":"Beta"}]},{"name":"Bob","works":[{"title":"Gamma"}]}]`},
		{name: "a view of a view", path: "fifties?select=title,writers(name)&order=nr", status: 200, want: `[{"title":"Beta","writers":{"name":"Ann"}},{"title":"Gamma","writers":{"name":"Bob"}}]`},
		{name: "to a view of a view", path: "writers?select=name,fifties(title)&order=id", status: 200, want: `[{"name":"Ann","fifties":[{"title":"Beta"}]},{"name":"Bob","fifties":[{"title":"Gamma"}]}]`},
		{name: "a materialized view", path: "works_kept?select=title,writers(name)&id=eq.3", status: 200, want: `[{"title":"Gamma","writers":{"name":"Bob"}}]`},
		{name: "one to one", path: "works?select=title,covers(color)&order=nr&limit=2", status: 200, want: `[{"title":"Alpha","covers":{"color":"red"}},{"title":"Beta","covers":null}]`},
		{name: "many to many by a view of the junction", path: "works?select=title,genres(label)&order=nr&genres.order=id", status: 200, want: `[{"title":"Alpha","genres":[{"label":"play"}]},{"title":"Beta","genres":[{"label":"play"},{"label":"poem"}]},{"title":"Gamma","genres":[]}]`},
		{name: "with the junction's name as the hint", path: "genres?select=label,works!works_genres(title)&id=eq.2", status: 200, want: `[{"label":"poem","works":[{"title":"Beta"}]}]`},
		{name: "with the name of the table's constraint as the hint", path: "works?select=nr,writers!work_writer(name)&nr=eq.1", status: 200, want: `[{"nr":1,"writers":{"name":"Ann"}}]`},
		{name: "with the view's column as the hint", path: "works?select=nr,writers!by_whom(name)&nr=eq.1", status: 200, want: `[{"nr":1,"writers":{"name":"Ann"}}]`},
		{name: "the view's column in place of a view's name means nothing", path: "works?select=nr,by_whom(name)", status: 400, has: []string{"PGRST200"}},
		{name: "nor does the constraint", path: "works?select=nr,work_writer(name)", status: 400, has: []string{"PGRST200"}},
		{name: "a view with subqueries beside its key", path: "counted?select=name,n,works(title)&id=eq.2", status: 200, want: `[{"name":"Bob","n":1,"works":[{"title":"Gamma"}]}]`},
		{name: "a view that refers to itself, by its column", path: "clerks?select=name,boss(name)&id=eq.2", status: 200, want: `[{"name":"Lee","boss":{"name":"Kim"}}]`},
		{name: "a view that refers to itself, both ways", path: "clerks?select=id,boss,up:boss(id),down:clerks!boss(id)&id=eq.2", status: 200, want: `[{"id":2,"boss":1,"up":{"id":1},"down":[{"id":3}]}]`},
		{name: "a view that refers to itself by two columns", path: "ranks?select=name,above(name),top(name)&id=eq.3", status: 200, want: `[{"name":"Max","above":{"name":"Lee"},"top":{"name":"Kim"}}]`},
		{name: "a view of groups", path: "grouped?select=n,writers(name)&order=n", status: 200, want: `[{"n":1,"writers":{"name":"Bob"}},{"n":2,"writers":{"name":"Ann"}}]`},
		{name: "a view of a common table expression", path: "with_cte?select=title,writers(name)&order=id", status: 200, want: `[{"title":"Beta","writers":{"name":"Ann"}},{"title":"Gamma","writers":{"name":"Bob"}}]`},
		{name: "a view of a subquery", path: "nested?select=id,writers(name)&id=eq.1", status: 200, want: `[{"id":1,"writers":{"name":"Ann"}}]`},
		{name: "a view of both ends", path: "both_ends?select=title,covers(color)&order=work_id&limit=1", status: 200, want: `[{"title":"Alpha","covers":{"color":"red"}}]`},
		{name: "a view without the key", path: "no_key?select=title,writers(name)", status: 400, has: []string{"PGRST200"}},
		{name: "a view that computes the key", path: "computed_key?select=id,writers(name)", status: 400, has: []string{"PGRST200"}},
		{name: "inner joins of views", path: "writers?select=name,works!inner(title)&works.title=eq.Gamma", headers: []string{exact}, status: 200, want: `[{"name":"Bob","works":[{"title":"Gamma"}]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "related order of views", path: "works?select=title&order=writers(name).desc,nr&limit=1", status: 400, has: []string{"PGRST108"}},
		{name: "related order of views that are embedded", path: "works?select=title,writers()&order=writers(name).desc,nr&limit=1", status: 200, want: `[{"title":"Gamma"}]`},
	})
}

func TestPartitionedTablesAreRelatedAsWholes(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, registry, nil)
	run(t, s, []exchange{
		{name: "read as a whole", path: "sale?select=id,year&order=id,year", status: 200, want: `[{"id":1,"year":2025},{"id":1,"year":2026},{"id":2,"year":2026}]`},
		{name: "as a child", path: "region?select=name,sale(amount)&order=id&sale.order=amount", status: 200, want: `[{"name":"north","sale":[{"amount":10},{"amount":20}]},{"name":"south","sale":[{"amount":30}]}]`},
		{name: "as a parent", path: "refund?select=id,sale(amount)&order=id", status: 200, want: `[{"id":1,"sale":{"amount":20}},{"id":2,"sale":{"amount":10}}]`},
		{name: "with parents and children", path: "sale?select=amount,region(name),refund(id)&amount=gte.20&order=amount", status: 200,
			want: `[{"amount":20,"region":{"name":"north"},"refund":[{"id":1}]},{"amount":30,"region":{"name":"south"},"refund":[]}]`},
		{name: "a partition is no relation of its own", path: "sale_2025", status: 404, has: []string{"PGRST205"}},
		{name: "nor to be embedded", path: "region?select=name,sale_2025(amount)", status: 400, has: []string{"PGRST200"}},
		{name: "a partition's rows are told by their column", path: "sale?select=tableoid::regclass,amount&year=eq.2025", status: 200, want: `[{"tableoid":"sale_2025","amount":10}]`},
	})
}

func TestEmbedsStayInTheSchemaOfTheRequest(t *testing.T) {
	t.Parallel()
	const special = `Spécial "@/\#~_-`
	s := apitest.Start(t, `
create schema north; create schema south; create schema dark;
create table north.port (id int primary key, name text);
create table south.port (id int primary key, name text, twin int references north.port);
create table north.pier (id int primary key, port int references north.port);
create table south.pier (id int primary key, port int references south.port);
create table south.route (a int references north.port, b int references north.pier, primary key (a, b));
create view north.south_port as select * from south.port;
insert into north.port values (1, 'N'); insert into south.port values (1, 'S', 1); insert into north.pier values (5, 1); insert into south.pier values (6, 1); insert into south.route values (1, 5);
create function north.greet(north.port) returns text language sql stable as $$ select 'north' $$;
create function south.greet(south.port) returns text language sql stable as $$ select 'south' $$;
create schema "Spécial ""@/\#~_-";
create table "Spécial ""@/\#~_-".tongue (id int primary key, name text);
create table "Spécial ""@/\#~_-".speaker (id int primary key, name text, tongue int references "Spécial ""@/\#~_-".tongue);
insert into "Spécial ""@/\#~_-".tongue values (1, 'Latin'); insert into "Spécial ""@/\#~_-".speaker values (1, 'Livia', 1);
create function "Spécial ""@/\#~_-".speaks("Spécial ""@/\#~_-".speaker) returns setof "Spécial ""@/\#~_-".tongue rows 1 language sql stable as $$ select * from "Spécial ""@/\#~_-".tongue where id = $1.tongue $$;
create function "Spécial ""@/\#~_-".loud("Spécial ""@/\#~_-".speaker) returns text language sql stable as $$ select upper($1.name) $$;
grant usage on schema north, south, "Spécial ""@/\#~_-" to anon;
grant select on all tables in schema north, south, "Spécial ""@/\#~_-" to anon;`, func(s *api.Settings) { s.Schemas = []string{"north", "south", special} })
	south := "Accept-Profile: south"
	run(t, s, []exchange{
		{name: "the relation of the request's schema", path: "port?select=name,greet,pier!pier_port_fkey(id)", status: 200, want: `[{"name":"N","greet":"north","pier":[{"id":5}]}]`, header: []string{"Content-Profile: north"}},
		{name: "that of the other", path: "port?select=name,greet,pier(id)", headers: []string{south}, status: 200, want: `[{"name":"S","greet":"south","pier":[{"id":6}]}]`, header: []string{"Content-Profile: south"}},
		{name: "a key into another exposed schema", path: "port?select=name,twin(name)", headers: []string{south}, status: 400, has: []string{"PGRST200", "in the schema 'south'"}},
		{name: "nor by the name that both have", path: "port?select=name,port(name)", headers: []string{south}, status: 400, has: []string{"PGRST200"}},
		{name: "a view brings it into the schema", path: "south_port?select=name,port(name)", status: 200, want: `[{"name":"S","port":{"name":"N"}}]`},
		{name: "a junction may be in another exposed schema", path: "port?select=name,pier!route(id)", status: 200, want: `[{"name":"N","pier":[{"id":5}]}]`},
		{name: "a schema that is not exposed", path: "port", headers: []string{"Accept-Profile: dark"}, status: 406,
			want: refusal("PGRST106", "Invalid schema: dark", "", "Only the following schemas are exposed: north, south, "+special)},
		{name: "a schema of a name that needs quotes", path: "speaker?select=name,loud,tongue(name),speaks(name)", headers: []string{"Accept-Profile: " + special}, status: 200,
			want: `[{"name":"Livia","loud":"LIVIA","tongue":{"name":"Latin"},"speaks":{"name":"Latin"}}]`, header: []string{"Content-Profile: " + special}},
		{name: "one that is not there", path: "port", headers: []string{"Accept-Profile: nowhere"}, status: 406, has: []string{"PGRST106", "Invalid schema: nowhere"}},
		{name: "a relation of the other schema", path: "route", status: 404, has: []string{"Could not find the table 'north.route' in the schema cache"}},
	})
}
