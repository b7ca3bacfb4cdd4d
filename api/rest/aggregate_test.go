package rest_test

import (
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const books = `
create table client (id int primary key, name text, city text);
create table project (id int primary key, name text, client int references client, meta jsonb);
create table invoice (id int primary key, project int references project, total numeric(8,2), paid boolean);
create table crew_member (id int primary key, name text);
create table assignment (project int references project, member int references crew_member, hours int, primary key (project, member));
insert into client values (1, 'Acme', 'Ulm'), (2, 'Beta', 'Ulm'), (3, 'Ceta', 'Bonn');
insert into project values (1, 'P1', 1, '{"w":2}'), (2, 'P2', 1, '{"w":3}'), (3, 'P3', 2, '{"w":5}'), (4, 'P4', null, null);
insert into invoice values (1, 1, 100, true), (2, 1, 200, false), (3, 2, 500, true), (4, 3, 50.5, null), (5, null, 7, true);
insert into crew_member values (1, 'Uma'), (2, 'Vic');
insert into assignment values (1, 1, 5), (1, 2, 7), (2, 1, 1), (3, 2, 2);
create function all_invoices() returns setof invoice language sql stable as $$ select * from invoice $$;
` + open

func TestAggregates(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, books, func(s *api.Settings) { s.RestAggregates = true })
	run(t, s, []exchange{
		{name: "rows", path: "invoice?select=count()", status: 200, want: `[{"count":5}]`},
		{name: "rows with an alias and a cast", path: "invoice?select=n:count()::text", status: 200, want: `[{"n":"5"}]`},
		{name: "values", path: "invoice?select=paid.count()", status: 200, want: `[{"count":4}]`},
		{name: "each of them", path: "invoice?select=total.sum(),total.avg(),total.min(),total.max(),total.count()", status: 200, want: `[{"sum":857.50,"avg":171.5000000000000000,"min":7.00,"max":500.00,"count":5}]`},
		{name: "of nothing", path: "invoice?select=total.sum(),count()&id=gt.100", status: 200, want: `[{"sum":null,"count":0}]`},
		{name: "columns make groups", path: "invoice?select=project,total.sum()&order=project", status: 200,
			want: `[{"project":1,"sum":300.00},{"project":2,"sum":500.00},{"project":3,"sum":50.50},{"project":null,"sum":7.00}]`},
		{name: "with aliases", path: "invoice?select=p:project,s:total.sum()&order=project.desc.nullslast&limit=1", status: 200, want: `[{"p":3,"s":50.50}]`},
		{name: "by two columns", path: "invoice?select=project,paid,count()&project=eq.1&order=paid", status: 200, want: `[{"project":1,"paid":false,"count":1},{"project":1,"paid":true,"count":1}]`},
		{name: "cast before", path: "project?select=meta->>w::int.sum()", status: 200, want: `[{"sum":10}]`},
		{name: "cast after", path: "invoice?select=total.sum()::int", status: 200, want: `[{"sum":858}]`},
		{name: "cast before and after with an alias", path: "project?select=x:meta->>w::int.sum()::text", status: 200, want: `[{"x":"10"}]`},
		{name: "under filters", path: "invoice?select=total.max()&paid=is.true", status: 200, want: `[{"max":500.00}]`},
		{name: "groups by a path", path: "project?select=meta->w,count()&meta=not.is.null&order=meta->w.desc&limit=1", status: 200, want: `[{"w":5,"count":1}]`},
		{name: "groups by a star", path: "client?select=*,count()&order=id&limit=1", status: 200, want: `[{"id":1,"name":"Acme","city":"Ulm","count":1}]`},
		{name: "ordered by the aggregate's name", path: "invoice?select=project,total.sum()&order=sum.desc&limit=1", status: 200, want: `[{"project":2,"sum":500.00}]`},
		{name: "an exact total counts groups", path: "invoice?select=project,count()&order=project&limit=1", headers: []string{exact}, status: 206, want: `[{"project":1,"count":2}]`, header: []string{"Content-Range: 0-0/4"}},
		{name: "groups by an embed", path: "invoice?select=project(name),total.sum()&project=lte.2&order=sum", status: 200, want: `[{"project":{"name":"P1"},"sum":300.00},{"project":{"name":"P2"},"sum":500.00}]`},
		{name: "in an embed to many", path: "project?select=name,invoice(total.sum())&order=id", status: 200,
			want: `[{"name":"P1","invoice":[{"sum":300.00}]},{"name":"P2","invoice":[{"sum":500.00}]},{"name":"P3","invoice":[{"sum":50.50}]},{"name":"P4","invoice":[{"sum":null}]}]`},
		{name: "in an embed to many with groups", path: "project?select=name,invoice(paid,total.sum())&id=in.(1,4)&order=id&invoice.order=paid", status: 200,
			want: `[{"name":"P1","invoice":[{"paid":false,"sum":200.00},{"paid":true,"sum":100.00}]},{"name":"P4","invoice":[]}]`},
		{name: "in an embed through a junction", path: "project?select=name,crew_member(count())&order=id&limit=2", status: 200, want: `[{"name":"P1","crew_member":[{"count":2}]},{"name":"P2","crew_member":[{"count":1}]}]`},
		{name: "in an embed under a filter", path: "project?select=name,invoice(count())&invoice.paid=is.true&id=eq.1", status: 200, want: `[{"name":"P1","invoice":[{"count":1}]}]`},
		{name: "in two levels", path: "client?select=name,project(name,invoice(total.max()))&id=eq.2", status: 200, want: `[{"name":"Beta","project":[{"name":"P3","invoice":[{"max":50.50}]}]}]`},
		{name: "of a function's rows", path: "rpc/all_invoices?select=total.max()", status: 200, want: `[{"max":500.00}]`},
		{name: "what cannot be summed", path: "client?select=name.sum()", status: 404, has: []string{`"42883"`}},
		{name: "a function that is none of them", path: "client?select=name.string_agg()", status: 400, has: []string{"PGRST100"}},
		{name: "a column beside that is no group", path: "invoice?select=total.sum()&order=id", status: 400, has: []string{`"42803"`}},
	})
}

func TestAggregatesThroughSpreads(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, books, func(s *api.Settings) { s.RestAggregates = true })
	run(t, s, []exchange{
		{name: "they rise into the parent's groups", path: "invoice?select=total.sum(),...project(name)&project=not.is.null&order=project(name)", status: 200,
			want: `[{"sum":300.00,"name":"P1"},{"sum":500.00,"name":"P2"},{"sum":50.50,"name":"P3"}]`},
		{name: "from a spread alone", path: "assignment?select=...project(id.max())", status: 200, want: `[{"max":3}]`},
		{name: "grouped by the spread's other columns", path: "assignment?select=...crew_member(name,count())&order=crew_member(name)", status: 200, want: `[{"name":"Uma","count":2},{"name":"Vic","count":2}]`},
		{name: "ordered by an alias within the spread", path: "assignment?select=...crew_member(who:name,n:count())&order=crew_member(who).desc", status: 200, want: `[{"who":"Vic","n":2},{"who":"Uma","n":2}]`},
		{name: "of the parent and of the spread", path: "assignment?select=h:hours.sum(),...project(p:id.max())", status: 200, want: `[{"h":15,"p":3}]`},
		{name: "grouped by the parent", path: "assignment?select=member,...project(count())&order=member", status: 200, want: `[{"member":1,"count":2},{"member":2,"count":2}]`},
		{name: "through two spreads", path: "invoice?select=total.sum(),...project(...client(city))&project=not.is.null", status: 200, want: `[{"sum":850.50,"city":"Ulm"}]`},
		{name: "out of two spreads", path: "invoice?select=paid,...project(...client(top:id.max()))&project=not.is.null&order=paid", status: 200, want: `[{"paid":false,"top":1},{"paid":true,"top":1},{"paid":null,"top":2}]`},
		{name: "grouped by an embed within a spread", path: "assignment?select=hours.sum(),...project(client(name))&order=sum", status: 200, want: `[{"sum":2,"client":{"name":"Beta"}},{"sum":13,"client":{"name":"Acme"}}]`},
		{name: "within an embed", path: "crew_member?select=name,assignment(...project(ids:id.sum()))&order=id", status: 200, want: `[{"name":"Uma","assignment":[{"ids":3}]},{"name":"Vic","assignment":[{"ids":4}]}]`},
		{name: "not in a spread to many", path: "project?select=name,...invoice(total.sum())", status: 400,
			want: refusal("PGRST127", "Feature not implemented", "Aggregates are not implemented for one-to-many or many-to-many spreads.", "")},
		{name: "not in a spread through a junction", path: "project?select=name,...crew_member(count())", status: 400, has: []string{"PGRST127"}},
		{name: "nor in a spread within one", path: "client?select=name,...project(...invoice(total.sum()))", status: 400, has: []string{"PGRST127"}},
		{name: "nor by rising into one", path: "project?select=name,...assignment(...crew_member(count()))", status: 400, has: []string{"PGRST127"}},
		{name: "nor a count without parentheses", path: "project?select=name,...invoice(count)", status: 400, has: []string{"PGRST127"}},
		{name: "in an embed of a spread to many they may be", path: "client?select=name,...project(invoice(count()))&id=eq.1&project.order=id", status: 200, want: `[{"name":"Acme","invoice":[[{"count":2}],[{"count":1}]]}]`},
	})
}

func TestAggregatesCanBeForbidden(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, books, nil)
	refused := refusal("PGRST123", "Use of aggregate functions is not allowed", "", "The operator can allow them with --rest-aggregates.")
	run(t, s, []exchange{
		{name: "a count", path: "invoice?select=count()", status: 400, want: refused},
		{name: "a sum", path: "invoice?select=project,total.sum()", status: 400, want: refused},
		{name: "in an embed", path: "project?select=name,invoice(total.sum())", status: 400, want: refused},
		{name: "in a spread", path: "invoice?select=...project(id.max())", status: 400, want: refused},
		{name: "in a spread to many", path: "project?select=...invoice(count())", status: 400, want: refused},
	})
}
