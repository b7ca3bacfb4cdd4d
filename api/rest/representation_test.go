package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

// painted has domains with forms of their own: colours are numbers that clients see as #rrggbb, moments are seconds,
// codes are bytes in base64.
const painted = `
create domain colour as int;
create function colour_to_json(colour) returns json language sql immutable as $$ select to_json('#' || lpad(upper(to_hex($1::int)), 6, '0')) $$;
create function colour_from_text(text) returns colour language plpgsql immutable as $$ begin return ('x' || lpad(substr($1, 2), 8, '0'))::bit(32)::int; end $$;
create function colour_from_json(json) returns colour language sql immutable as $$ select colour_from_text($1 #>> '{}') $$;
create domain moment as timestamptz;
create function moment_to_json(moment) returns json language sql stable as $$ select to_json(extract(epoch from $1)::bigint) $$;
create function moment_from_json(json) returns moment language sql stable as $$ select to_timestamp(($1 #>> '{}')::bigint)::timestamptz $$;
create domain packed as bytea;
create function packed_to_json(packed) returns json language sql immutable as $$ select to_json(translate(encode($1, 'base64'), E'\n', '')) $$;
create function packed_from_json(json) returns packed language sql immutable as $$ select decode($1 #>> '{}', 'base64') $$;
create cast (colour as json) with function colour_to_json(colour) as implicit;
create cast (json as colour) with function colour_from_json(json) as implicit;
create cast (text as colour) with function colour_from_text(text) as implicit;
create cast (moment as json) with function moment_to_json(moment) as implicit;
create cast (json as moment) with function moment_from_json(json) as implicit;
create cast (packed as json) with function packed_to_json(packed) as implicit;
create cast (json as packed) with function packed_from_json(json) as implicit;
create table todo (id int primary key, name text, label colour default 255, due moment default '2018-01-01 00:00:00+00', icon packed);
insert into todo values (1, 'Report', 0, '2018-01-02 00:00:00+00', '\x00'), (2, 'Essay', 256, '2018-01-03 00:00:00+00', null);
create view todos as select id, name, label, due, ((label / 2)::int)::colour as dark from todo;
create table shade (colour colour primary key, name text);
` + open

func TestDomainsAreWrittenInTheirOwnForm(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, painted, nil)
	post := func(name, path, body string, want string) exchange {
		return exchange{name: name, method: "POST", path: path, headers: []string{give}, body: body, status: 201, want: want}
	}
	patch := func(name, path, body string, want string) exchange {
		return exchange{name: name, method: "PATCH", path: path, headers: []string{give}, body: body, status: 200, want: want}
	}
	defaults := "Prefer: missing=default, return=representation"
	run(t, s, []exchange{
		{name: "an insert that shows the key", method: "POST", path: "todo", headers: []string{"Prefer: return=headers-only"}, body: `{"id":5,"name":"party","label":"#001100","due":1514764800}`, status: 201, want: "", header: []string{"Location: /todo?id=eq.5"}},
		post("an insert that shows all", "todo", `{"id":6,"name":"party","label":"#001100","due":-15,"icon":"3q2+7w=="}`, `[{"id":6,"name":"party","label":"#001100","due":-15,"icon":"3q2+7w=="}]`),
		post("an insert that shows a part", "todo?select=id,label", `{"id":7,"label":"#00FF00"}`, `[{"id":7,"label":"#00FF00"}]`),
		post("several rows", "todo?select=label,due,icon", `[{"id":8,"label":"#000001","due":1,"icon":"AA=="},{"id":9,"label":null,"due":null,"icon":null}]`, `[{"label":"#000001","due":1,"icon":"AA=="},{"label":null,"due":null,"icon":null}]`),
		post("only the columns named", "todo?columns=id,label&select=id,name,label,due", `{"id":10,"label":"#000100","due":"no moment","name":5}`, `[{"id":10,"name":null,"label":"#000100","due":1514764800}]`),
		{name: "a column that is none before any is read", method: "POST", path: "todo?columns=id,label,helicopters", body: `{"label":"invalid"}`, status: 400, want: refusal("PGRST204", "Could not find the 'helicopters' column of 'todo' in the schema cache", "", "")},
		{name: "defaults in their form", method: "POST", path: "todo?columns=id,label,due&select=label,due", headers: []string{defaults}, body: `[{"id":11},{"id":12,"label":"#000003","due":7}]`, status: 201, want: `[{"label":"#0000FF","due":1514764800},{"label":"#000003","due":7}]`},
		post("through a view", "todos?select=id,label,dark", `{"id":13,"label":"#000100"}`, `[{"id":13,"label":"#000100","dark":"#000080"}]`),
		patch("an update", "todo?id=eq.2&select=id,label,due", `{"label":"#221100","due":1546513200}`, `[{"id":2,"label":"#221100","due":1546513200}]`),
		patch("an update of several rows through a view", "todos?id=lt.3&select=id,name,label,dark&order=id", `{"label":"#221100"}`, `[{"id":1,"name":"Report","label":"#221100","dark":"#110880"},{"id":2,"name":"Essay","label":"#221100","dark":"#110880"}]`),
		patch("an update of the columns named", "todo?id=eq.2&columns=due&select=label,due", `{"due":0,"label":"invalid"}`, `[{"label":"#221100","due":0}]`),
		{name: "an update that shows nothing", method: "PATCH", path: "todos?id=eq.2", headers: []string{"Prefer: return=headers-only"}, body: `{"label":"#221101"}`, status: 204, want: "", header: []string{"Content-Range: 0-0/*"}},
		patch("an update by a filter in its own form", "todo?label=eq.%23221101&select=id", `{"name":"f"}`, `[{"id":2}]`),
		patch("an update by a list in its own form", `todo?label=in.("%23221101","%2300FF00")&select=id&order=id`, `{"name":"g"}`, `[{"id":2},{"id":7}]`),
		{name: "a delete by a filter in its own form", method: "DELETE", path: "todo?label=eq.%23221101&select=id,label", headers: []string{give}, status: 200, want: `[{"id":2,"label":"#221101"}]`},
		{name: "a form", method: "POST", path: "todo?select=label", headers: []string{give, "Content-Type: application/x-www-form-urlencoded"}, body: "id=20&label=%23000011", status: 201, want: `[{"label":"#000011"}]`},
		{name: "CSV", method: "POST", path: "todo?select=id,label", headers: []string{give, "Content-Type: text/csv"}, body: "id,label\n21,#000012\n22,NULL\n", status: 201, want: `[{"id":21,"label":"#000012"},{"id":22,"label":null}]`},
		{name: "a merge", method: "POST", path: "todo?select=id,label", headers: []string{"Prefer: resolution=merge-duplicates, return=representation"}, body: `[{"id":21,"label":"#000013"}]`, status: 200, want: `[{"id":21,"label":"#000013"}]`},
		{name: "a put by a key in its own form", method: "PUT", path: "shade?colour=eq.%23000001", headers: []string{give}, body: `{"colour":"#000001","name":"n"}`, status: 201, want: `[{"colour":"#000001","name":"n"}]`},
		{name: "a put of another", method: "PUT", path: "shade?colour=eq.%23000001", body: `{"colour":"#000002","name":"n"}`, status: 400, has: []string{"PGRST115"}},
		post("what the form cannot read", "todo", `{"id":30,"label":"#00"}`, `[{"id":30,"name":null,"label":"#000000","due":1514764800,"icon":null}]`),
		{name: "what is no number", method: "POST", path: "todo", body: `{"id":31,"due":"soon"}`, status: 400, has: []string{"22P02"}},
	})
}
