package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

const office = `
create table job (id int primary key, title text, done bool default false, rank int default 1, data jsonb default '{}', tags text[], code char(5), bits bit(5), boss int references job);
insert into job (id, title, data, code, bits, boss) values (0, 'root', '{"a":1}', 'aaaaa', '00000', null), (1, 'one', '{"a":2}', 'bbbbb', '10000', 0), (2, 'two', '{"a":3}', 'ccccc', '01000', 0), (3, 'three', '{"a":4}', 'ddddd', '00100', 1);
create function is_first(job) returns bool language sql stable as 'select $1.id = 0';
create function loud(job) returns text language sql stable as $$ select upper($1.title) $$;
create table client (id int primary key, name text);
create table project (id int primary key, name text, client int references client);
create table task (id int primary key, name text, project int references project);
create table worker (id int primary key, name text);
create table works (worker int references worker, task int references task, primary key (worker, task));
insert into client values (1, 'MS'), (2, 'Apple');
insert into project values (1, 'W7', 1), (2, 'IOS', 2);
insert into task values (1, 'Design', 1), (2, 'Code', 1), (3, 'Sell', 2);
insert into worker values (1, 'Ann'), (2, 'Bob');
insert into works values (1, 1), (1, 2), (2, 3);
create table info (id int primary key references worker, address text);
insert into info values (1, 'Street 1');
create table secret (id int primary key, name text, password text);
insert into secret values (1, 'a', 'x'), (2, 'b', 'y');
create table gone (id int primary key, v text);
insert into gone select g, 'v' || g from generate_series(1, 30) g;
create table barren (id int primary key, extra int);
` + open + `
revoke all on secret from anon;
grant update (password), select (id, name), insert (id, name, password), delete on secret to anon;`

func TestWhatAnUpdateChangesAndAnswers(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, office, nil)
	patch := func(name, path, body string, status int, want string) exchange {
		return exchange{name: name, method: "PATCH", path: path, headers: []string{give}, body: body, status: status, want: want}
	}
	nothing := []string{"Content-Type:", "Content-Range: */*"}
	run(t, s, []exchange{
		patch("to null", "job?id=eq.1&select=id,title", `{"title":null}`, 200, `[{"id":1,"title":null}]`),
		patch("several columns of several rows", "job?id=in.(1,2)&select=id,title,rank&order=id", `{"title":"x","rank":7}`, 200, `[{"id":1,"title":"x","rank":7},{"id":2,"title":"x","rank":7}]`),
		patch("by a computed column", "job?is_first=is.true&select=title", `{"title":"first"}`, 200, `[{"title":"first"}]`),
		patch("by a computed column that holds for none", "job?loud=eq.nothing", `{"title":"first"}`, 200, `[]`),
		patch("shows computed columns of the new row", "job?id=eq.0&select=id,is_first,loud", `{"title":"root"}`, 200, `[{"id":0,"is_first":true,"loud":"ROOT"}]`),
		patch("by a place in JSON", "job?data->>a=eq.4&select=id", `{"rank":3}`, 200, `[{"id":3}]`),
		patch("by logic", "job?or=(id.eq.1,and(id.eq.2,rank.eq.7))&select=id&order=id", `{"rank":8}`, 200, `[{"id":1},{"id":2}]`),
		patch("by what is negated", "job?not.or=(id.lt.3,rank.eq.99)&select=id", `{"rank":8}`, 200, `[{"id":3}]`),
		patch("a key itself", "job?id=eq.3&select=id", `{"id":33}`, 200, `[{"id":33}]`),
		patch("JSON as a whole", "job?id=eq.33&select=data", `{"data":{"z":[1,{"y":null}]}}`, 200, `[{"data":{"z":[1,{"y":null}]}}]`),
		patch("arrays", "job?id=eq.33&select=tags", `{"tags":["a",null,"b,c"]}`, 200, `[{"tags":["a",null,"b,c"]}]`),
		patch("fixed lengths", "job?code=eq.aaaaa&select=code,bits", `{"bits":"11100","code":"zzzyy"}`, 200, `[{"code":"zzzyy","bits":"11100"}]`),
		patch("fixed lengths by their bits", "job?bits=eq.11100&select=code", `{"code":"aaaaa"}`, 200, `[{"code":"aaaaa"}]`),
		patch("too long", "job?id=eq.1", `{"code":"zzzyyy"}`, 400, refusal("22001", "value too long for type character(5)", "", "")),
		patch("characters beyond ASCII", "job?id=eq.1&select=title", `{"title":"圍棋￥"}`, 200, `[{"title":"圍棋￥"}]`),
		patch("white space around it", "job?id=eq.1&select=title", "\t \n \r { \"title\": \"w\" } \t", 200, `[{"title":"w"}]`),
		patch("a list of one", "job?id=eq.1&select=title", `[{"title":"list"}]`, 200, `[{"title":"list"}]`),
		{name: "a form", method: "PATCH", path: "job?id=eq.1&select=title,rank", headers: []string{give, "Content-Type: application/x-www-form-urlencoded"}, body: "title=a+b&rank=4", status: 200, want: `[{"title":"a b","rank":4}]`},
		{name: "a table without rows", method: "PATCH", path: "barren?id=eq.1", body: `{"extra":20}`, status: 204, want: "", header: nothing},
		{name: "one row counted", method: "PATCH", path: "job?id=eq.1", headers: []string{"Prefer: count=exact"}, body: `{"rank":5}`, status: 204, want: "", header: []string{"Content-Range: 0-0/1"}},
		{name: "none counted", method: "PATCH", path: "job?id=eq.99", headers: []string{"Prefer: count=exact"}, body: `{"rank":5}`, status: 204, want: "", header: []string{"Content-Range: */0"}},
		{name: "a planned count is none", method: "PATCH", path: "job?id=eq.1", headers: []string{"Prefer: count=planned"}, body: `{"rank":5}`, status: 204, want: "", header: []string{"Content-Range: 0-0/*"}},
		{name: "headers only", method: "PATCH", path: "job?id=eq.1&select=nope", headers: []string{"Prefer: return=headers-only"}, body: `{"rank":5}`, status: 204, want: "", header: []string{"Location:", "Content-Range: 0-0/*", "Preference-Applied: return=headers-only"}},
		{name: "columns of select mean nothing without a representation", method: "PATCH", path: "job?id=eq.1&select=nope", body: `{"rank":5}`, status: 204, want: "", header: []string{"Content-Range: 0-0/*"}},
		{name: "an unknown column of select", method: "PATCH", path: "job?id=eq.1&select=nope", headers: []string{give}, body: `{"rank":5}`, status: 400, has: []string{`"42703"`}},
		{name: "nothing of an empty object, whatever the filters", method: "PATCH", path: "job", body: `{}`, status: 204, want: "", header: nothing},
		{name: "nothing of no rows", method: "PATCH", path: "job?id=eq.1", body: `[]`, status: 204, want: "", header: nothing},
		{name: "nothing of an empty object in a list", method: "PATCH", path: "job?id=eq.1", body: `[{}]`, status: 204, want: "", header: nothing},
		{name: "nothing with select", method: "PATCH", path: "job?id=eq.1&select=id,loud", headers: []string{give}, body: `{}`, status: 200, want: `[]`, header: []string{"Content-Range: */*", "Preference-Applied: return=representation"}},
		{name: "nothing of columns that the body lacks", method: "PATCH", path: "job?id=eq.1&columns=title", headers: []string{"Prefer: count=exact"}, body: `{"rank":1}`, status: 204, want: ""},
		{name: "columns that no row has", method: "PATCH", path: "job?id=eq.1&columns=helicopter", headers: []string{give}, body: `{"title":"yyy"}`, status: 400, want: refusal("PGRST204", "Could not find the 'helicopter' column of 'job' in the schema cache", "", "")},
		{name: "the table is missed first", method: "PATCH", path: "jub?id=eq.1&columns=helicopter", body: `[{"id":1},{"id":2}]`, status: 404, want: refusal("PGRST205", "Could not find the table 'public.jub' in the schema cache", "", "")},
		{name: "columns narrow what is set, though no row is found", method: "PATCH", path: "job?id=eq.99&columns=title", headers: []string{give}, body: `{"title":"y","other":1}`, status: 200, want: `[]`},
		{name: "defaults of columns that are absent", method: "PATCH", path: "job?id=eq.2&columns=title,rank,done&select=title,rank,done", headers: []string{"Prefer: missing=default, return=representation"}, body: `{"title":"t"}`, status: 200,
			want: `[{"title":"t","rank":1,"done":false}]`, header: []string{"Preference-Applied: missing=default, return=representation"}},
		{name: "nulls of columns that are given", method: "PATCH", path: "job?id=eq.2&columns=title,rank&select=title,rank", headers: []string{"Prefer: missing=default, return=representation"}, body: `{"title":"t","rank":null}`, status: 200, want: `[{"title":"t","rank":null}]`},
		{name: "null of columns that are absent", method: "PATCH", path: "job?id=eq.2&columns=title,rank&select=title,rank", headers: []string{give}, body: `{"title":"t"}`, status: 200, want: `[{"title":"t","rank":null}]`},
		{name: "a key that is taken", method: "PATCH", path: "job?id=eq.2", body: `{"id":0}`, status: 409, has: []string{"23505"}},
		{name: "a key that others point at", method: "PATCH", path: "job?id=eq.0", body: `{"id":77}`, status: 409, has: []string{"23503"}},
		{name: "a filter that the type cannot read", method: "PATCH", path: "job?id=eq.x", body: `{"rank":1}`, status: 400, has: []string{"22P02"}},
		{name: "a filter that is none", method: "PATCH", path: "job?id=1", body: `{"rank":1}`, status: 400, has: []string{"PGRST100"}},
	})
}

func TestEmbedsOfChangedRows(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, office, nil)
	patch := func(name, path, body, want string) exchange {
		return exchange{name: name, method: "PATCH", path: path, headers: []string{give}, body: body, status: 200, want: want, header: []string{"Preference-Applied: return=representation"}}
	}
	run(t, s, []exchange{
		patch("children of the same table", "job?id=eq.0&select=id,title,under:job!boss(title)&under.order=id", `{"title":"r"}`, `[{"id":0,"title":"r","under":[{"title":"one"},{"title":"two"}]}]`),
		patch("children that a filter leaves", "job?id=eq.0&select=id,under:job!boss(title)&under.title=like.t*", `{"title":"r"}`, `[{"id":0,"under":[{"title":"two"}]}]`),
		patch("without the key in the answer", "job?id=eq.0&select=title,under:job!boss(title)&under.id=eq.1", `{"title":"r2"}`, `[{"title":"r2","under":[{"title":"one"}]}]`),
		patch("parent, children and grandchildren", "job?id=eq.1&select=id,up:boss(title),under:job!boss(title,under:job!boss(title))", `{"title":"o"}`, `[{"id":1,"up":{"title":"r2"},"under":[{"title":"three","under":[]}]}]`),
		patch("a parent that a filter hides", "job?id=eq.1&select=id,up:boss(title)&up.title=neq.r2", `{"title":"o"}`, `[{"id":1,"up":null}]`),
		patch("many to many and beyond", "worker?id=eq.1&select=name,task(name,project(name,client(name)))&task.order=id", `{"name":"Kev"}`,
			`[{"name":"Kev","task":[{"name":"Design","project":{"name":"W7","client":{"name":"MS"}}},{"name":"Code","project":{"name":"W7","client":{"name":"MS"}}}]}]`),
		patch("many to many with filters", "worker?id=eq.1&select=name,task(name,project(name))&task.name=ilike.code&task.project.name=eq.none", `{"name":"Kev"}`, `[{"name":"Kev","task":[{"name":"Code","project":null}]}]`),
		patch("one to one", "worker?id=eq.1&select=name,info(address)", `{"name":"J"}`, `[{"name":"J","info":{"address":"Street 1"}}]`),
		patch("one to one from the other side", "info?id=eq.1&select=address,worker(name)", `{"address":"New"}`, `[{"address":"New","worker":{"name":"J"}}]`),
		patch("one to one that a filter hides", "worker?id=eq.1&select=name,info(address)&info.address=eq.x", `{"name":"J"}`, `[{"name":"J","info":null}]`),
		patch("the new parent after a change of the reference", "task?id=eq.3&select=project(name)", `{"project":1}`, `[{"project":{"name":"W7"}}]`),
		patch("a spread parent", "task?id=eq.3&select=name,...project(of:name)", `{"project":2}`, `[{"name":"Sell","of":"IOS"}]`),
		patch("spread children", "project?id=eq.1&select=name,...task(tasks:name)&task.order=id", `{"name":"W8"}`, `[{"name":"W8","tasks":["Design","Code"]}]`),
		patch("rows without children left out", "project?id=gt.0&select=name,task!inner(name)&task.name=eq.Sell", `{"client":1}`, `[{"name":"IOS","task":[{"name":"Sell"}]}]`),
		patch("an embed that is a filter only, which the change does not heed", "project?id=gt.0&select=id,task()&task.name=eq.Sell&order=id", `{"client":2}`, `[{"id":1},{"id":2}]`),
		patch("windows on children", "project?id=eq.1&select=name,task(name)&task.order=id.desc&task.limit=1", `{"client":1}`, `[{"name":"W8","task":[{"name":"Code"}]}]`),
		patch("ordered by a parent", "task?id=lte.3&select=id,project(name)&order=project(name),id", `{"name":"t"}`, `[{"id":3,"project":{"name":"IOS"}},{"id":1,"project":{"name":"W8"}},{"id":2,"project":{"name":"W8"}}]`),
		{name: "deleted rows have their parents", method: "DELETE", path: "info?id=eq.1&select=address,worker(name)", headers: []string{give}, status: 200, want: `[{"address":"New","worker":{"name":"J"}}]`},
		{name: "a relation that is not related", method: "PATCH", path: "task?id=eq.1&select=id,secret(id)", headers: []string{give}, body: `{"name":"x"}`, status: 400, has: []string{"PGRST200"}},
	})
}

func TestRightsOnColumnsThatAreWritten(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, office, nil)
	denied := refusal("42501", "permission denied for table secret", "", "")
	run(t, s, []exchange{
		{name: "changing what one may not read", method: "PATCH", path: "secret?id=eq.1", headers: []string{"Prefer: return=minimal"}, body: `{"password":"new"}`, status: 204, want: "", header: []string{"Content-Range: 0-0/*"}},
		{name: "and seeing what one may", method: "PATCH", path: "secret?id=eq.1&select=id,name", headers: []string{give}, body: `{"password":"newer"}`, status: 200, want: `[{"id":1,"name":"a"}]`},
		{name: "and seeing what one may not", method: "PATCH", path: "secret?id=eq.1&select=id,password", headers: []string{give}, body: `{"password":"x"}`, status: 401, want: denied},
		{name: "and seeing all", method: "PATCH", path: "secret?id=eq.1", headers: []string{give}, body: `{"password":"x"}`, status: 401, want: denied},
		{name: "filtering by what one may not read", method: "PATCH", path: "secret?password=eq.y", body: `{"password":"x"}`, status: 401, want: denied},
		{name: "changing what one may only read", method: "PATCH", path: "secret?id=eq.1", body: `{"name":"x"}`, status: 401, want: denied},
		{name: "inserting with what one may see", method: "POST", path: "secret?select=id,name", headers: []string{give}, body: `{"id":3,"name":"c","password":"z"}`, status: 201, want: `[{"id":3,"name":"c"}]`},
		{name: "inserting with all", method: "POST", path: "secret", headers: []string{give}, body: `{"id":4,"name":"c","password":"z"}`, status: 401, want: denied},
		{name: "inserting and seeing nothing", method: "POST", path: "secret", body: `{"id":4,"name":"c","password":"z"}`, status: 201, want: ""},
		{name: "the key of what was inserted", method: "POST", path: "secret", headers: []string{"Prefer: return=headers-only"}, body: `{"id":5,"name":"c","password":"z"}`, status: 201, want: "", header: []string{"Location: /secret?id=eq.5"}},
		{name: "merging what one may not update", method: "POST", path: "secret", headers: []string{"Prefer: resolution=merge-duplicates"}, body: `{"id":5,"name":"d","password":"z"}`, status: 401, want: denied},
		{name: "deleting with what one may see", method: "DELETE", path: "secret?id=eq.5&select=name", headers: []string{give}, status: 200, want: `[{"name":"c"}]`},
		{name: "nothing else was done", path: "secret?order=id", headers: []string{s.Service()}, status: 200, want: `[{"id":1,"name":"a","password":"newer"},{"id":2,"name":"b","password":"y"},{"id":3,"name":"c","password":"z"},{"id":4,"name":"c","password":"z"}]`},
	})
}

func TestWhatADeleteAnswers(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, office, nil)
	run(t, s, []exchange{
		{name: "renamed and cast columns", method: "DELETE", path: "gone?id=eq.1&select=nr:id::text,v", headers: []string{give}, status: 200, want: `[{"nr":"1","v":"v1"}]`, header: []string{"Content-Range: */*", "Content-Type: application/json; charset=utf-8"}},
		{name: "counted with the representation", method: "DELETE", path: "gone?id=in.(2,3)&select=id&order=id.desc", headers: []string{give + ", count=exact"}, status: 200, want: `[{"id":3},{"id":2}]`, header: []string{"Content-Range: */2", "Preference-Applied: return=representation, count=exact"}},
		{name: "none counted", method: "DELETE", path: "gone?id=eq.99", headers: []string{"Prefer: count=exact"}, status: 204, want: "", header: []string{"Content-Range: */0", "Content-Type:"}},
		{name: "a planned count is none", method: "DELETE", path: "gone?id=eq.4", headers: []string{"Prefer: count=planned"}, status: 204, want: "", header: []string{"Content-Range: */*"}},
		{name: "columns of select mean nothing without a representation", method: "DELETE", path: "gone?id=eq.5&select=nope", headers: []string{"Prefer: return=minimal"}, status: 204, want: "", header: []string{"Preference-Applied: return=minimal"}},
		{name: "headers only", method: "DELETE", path: "gone?id=eq.6", headers: []string{"Prefer: return=headers-only"}, status: 204, want: "", header: []string{"Location:"}},
		{name: "a body does not count", method: "DELETE", path: "gone?id=eq.7&select=id", headers: []string{give}, body: `{"id":8}`, status: 200, want: `[{"id":7}]`},
		{name: "nor one that is no JSON", method: "DELETE", path: "gone?id=eq.8", body: `}{`, status: 204, want: ""},
		{name: "columns and a window do not count", method: "DELETE", path: "gone?id=in.(9,10)&columns=nope&limit=1&offset=1&select=id&order=id", headers: []string{give, "Range: 0-0"}, status: 200, want: `[{"id":9},{"id":10}]`},
		{name: "CSV", method: "DELETE", path: "gone?id=eq.11", headers: []string{give, "Accept: text/csv"}, status: 200, want: "id,v\n11,v11"},
		{name: "what others point at", method: "DELETE", path: "client?id=eq.1", status: 409, has: []string{"23503"}},
		{name: "all rows by the service key", method: "DELETE", path: "gone", headers: []string{s.Service(), "Prefer: count=exact"}, status: 204, want: "", header: []string{"Content-Range: */19"}},
		{name: "an unknown table", method: "DELETE", path: "gane?id=eq.1", status: 404, has: []string{"PGRST205"}},
	})
}

func TestOneObjectIsOneRowWritten(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, office, nil)
	one := "Accept: application/vnd.pgrst.object+json"
	rows := func(n string) string {
		return refusal("PGRST116", "Cannot coerce the result to a single JSON object", "The result contains "+n+" rows", "")
	}
	run(t, s, []exchange{
		{name: "an update", method: "PATCH", path: "gone?id=eq.1", headers: []string{one, give}, body: `{"v":"x"}`, status: 200, want: `{"id":1,"v":"x"}`, header: []string{"Content-Type: application/vnd.pgrst.object+json; charset=utf-8"}},
		{name: "an update that shows nothing", method: "PATCH", path: "gone?id=eq.1", headers: []string{one, "Prefer: return=minimal"}, body: `{"v":"y"}`, status: 204, want: "", header: []string{"Content-Type:"}},
		{name: "an update of several", method: "PATCH", path: "gone?id=lte.4", headers: []string{one, give}, body: `{"v":"z"}`, status: 406, want: rows("4")},
		{name: "an update of several that shows nothing", method: "PATCH", path: "gone?id=lte.4", headers: []string{one}, body: `{"v":"z"}`, status: 406, want: rows("4")},
		{name: "an update of none", method: "PATCH", path: "gone?id=lt.0", headers: []string{one}, body: `{"v":"z"}`, status: 406, want: rows("0")},
		{name: "an update of none that shows it", method: "PATCH", path: "gone?id=lt.0", headers: []string{one, give}, body: `{"v":"z"}`, status: 406, want: rows("0")},
		{name: "an update by nothing", method: "PATCH", path: "gone?id=eq.1", headers: []string{one}, body: `{}`, status: 406, want: rows("0")},
		{name: "changed nothing else", path: "gone?v=eq.z", status: 200, want: `[]`},
		{name: "an insert of a list of one", method: "POST", path: "gone", headers: []string{one, give}, body: `[{"id":102,"v":"x"}]`, status: 201, want: `{"id":102,"v":"x"}`},
		{name: "an insert that shows nothing", method: "POST", path: "gone", headers: []string{one, "Prefer: return=minimal"}, body: `[{"id":103,"v":"x"}]`, status: 201, want: "", header: []string{"Content-Type:", "Content-Range: */*"}},
		{name: "an insert with headers only", method: "POST", path: "gone", headers: []string{one, "Prefer: return=headers-only"}, body: `[{"id":104,"v":"x"}]`, status: 201, want: "", header: []string{"Location: /gone?id=eq.104"}},
		{name: "an insert of several", method: "POST", path: "gone", headers: []string{one, give}, body: `[{"id":200,"v":"x"},{"id":201,"v":"x"}]`, status: 406, want: rows("2")},
		{name: "an insert of several that shows nothing", method: "POST", path: "gone", headers: []string{one, "Prefer: return=minimal"}, body: `[{"id":204,"v":"x"},{"id":205,"v":"x"}]`, status: 406, want: rows("2")},
		{name: "an insert of several with headers only", method: "POST", path: "gone", headers: []string{one, "Prefer: return=headers-only"}, body: `[{"id":204,"v":"x"},{"id":205,"v":"x"}]`, status: 406, want: rows("2")},
		{name: "an insert of none", method: "POST", path: "gone", headers: []string{one}, body: `[]`, status: 406, want: rows("0")},
		{name: "an insert of none that shows it", method: "POST", path: "gone", headers: []string{one, give}, body: `[]`, status: 406, want: rows("0")},
		{name: "inserted nothing else", path: "gone?id=gte.200", status: 200, want: `[]`},
		{name: "a delete", method: "DELETE", path: "gone?id=eq.11", headers: []string{one, give}, status: 200, want: `{"id":11,"v":"v11"}`},
		{name: "a delete that shows nothing", method: "DELETE", path: "gone?id=eq.12", headers: []string{one}, status: 204, want: ""},
		{name: "a delete of several", method: "DELETE", path: "gone?id=lt.6", headers: []string{one, give}, status: 406, want: rows("5")},
		{name: "a delete of several that shows nothing", method: "DELETE", path: "gone?id=lt.6", headers: []string{one}, status: 406, want: rows("5")},
		{name: "a delete of none", method: "DELETE", path: "gone?id=lt.0", headers: []string{one}, status: 406, want: rows("0")},
		{name: "deleted nothing else", path: "gone?id=lt.6&select=id&order=id", status: 200, want: `[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5}]`},
		{name: "without nulls", method: "PATCH", path: "gone?id=eq.1", headers: []string{"Accept: application/vnd.pgrst.object+json;nulls=stripped", give}, body: `{"v":null}`, status: 200, want: `{"id":1}`, header: []string{"Content-Type: application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8"}},
		{name: "by its shorter name", method: "PATCH", path: "gone?id=eq.1", headers: []string{"Accept: application/vnd.pgrst.object", give}, body: `{"v":"s"}`, status: 200, want: `{"id":1,"v":"s"}`},
	})
}
