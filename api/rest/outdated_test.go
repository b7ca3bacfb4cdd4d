package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

// Each request comes at once behind the change, before the catalog can know of it.
func TestRequestsFollowChangesOfDefinitionsAtOnce(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
create table thing (id int primary key, name text, gone text, n int);
insert into thing values (1, 'one', 'x', 10), (2, 'two', 'y', 20);
create table part (id int primary key, thing int references thing, name text);
insert into part values (1, 1, 'p');
create view short as select id, name from thing;
create function f(x int) returns int language sql stable as 'select x';
create function all_things() returns setof thing language sql stable as 'select * from thing order by id';
`+open, onePooled)
	for _, step := range []struct {
		sql string
		exchange
	}{
		{``, exchange{name: "before", path: "thing?id=eq.1", status: 200, want: `[{"id":1,"name":"one","gone":"x","n":10}]`}},
		{`alter table thing rename name to title`, exchange{name: "a column is renamed", path: "thing?id=eq.1", status: 200, want: `[{"id":1,"title":"one","gone":"x","n":10}]`}},
		{`alter table thing rename title to name`, exchange{name: "a column is renamed below", path: "part?select=id,thing(*)", status: 200, want: `[{"id":1,"thing":{"id":1,"name":"one","gone":"x","n":10}}]`}},
		{`alter table thing drop gone`, exchange{name: "a column is dropped", path: "thing?id=eq.1", status: 200, want: `[{"id":1,"name":"one","n":10}]`}},
		{`alter table thing alter n type text`, exchange{name: "a column gets another type", method: "PATCH", path: "thing?id=eq.1&select=n", headers: []string{give}, body: `{"n":"y"}`, status: 200, want: `[{"n":"y"}]`}},
		{``, exchange{name: "many rows have it", method: "POST", path: "thing?select=id,n", headers: []string{give}, body: `[{"id":3,"n":"30"},{"id":4,"n":40}]`, status: 201, want: `[{"id":3,"n":"30"},{"id":4,"n":"40"}]`}},
		{`update thing set n = '1'; alter table thing alter n type int using n::int`, exchange{name: "many rows have another", method: "POST", path: "thing?select=id,n", headers: []string{give},
			body: `[{"id":5,"n":"50"},{"id":6,"n":60}]`, status: 201, want: `[{"id":5,"n":50},{"id":6,"n":60}]`}},
		{``, exchange{name: "rows of a function have it", path: "rpc/all_things?id=eq.5", status: 200, want: `[{"id":5,"name":null,"n":50}]`}},
		{`alter table part rename thing to of`, exchange{name: "the column of a key is renamed", path: "thing?select=id,part(name)&id=eq.1", status: 200, want: `[{"id":1,"part":[{"name":"p"}]}]`}},
		{`drop view short`, exchange{name: "a view is dropped", path: "short", status: 404, has: []string{"PGRST205"}}},
		{`drop table part`, exchange{name: "a table is dropped", method: "POST", path: "part", body: `{"id":2}`, status: 404, has: []string{"PGRST205"}}},
		{`drop function f(int); create function f(x text) returns text language sql stable as 'select x'`, exchange{name: "a function takes another type", method: "POST", path: "rpc/f", body: `{"x":"7"}`, status: 200, want: `"7"`}},
		{`drop function f(text)`, exchange{name: "a function is dropped", method: "POST", path: "rpc/f", body: `{"x":"7"}`, status: 404, has: []string{"PGRST202"}}},
		{`drop table thing cascade; create table thing (id int primary key, other text); insert into thing values (9, 'o'); grant all on thing to anon`, exchange{name: "a table is another", path: "thing", status: 200, want: `[{"id":9,"other":"o"}]`}},
	} {
		if step.sql != "" {
			s.Database.Exec(t, step.sql)
		}
		run(t, s, []exchange{step.exchange})
	}
}
