package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

const paintbox = `
create domain color as int;
create function color_json(color) returns json language sql immutable as $$ select to_json('#' || lpad(to_hex($1::int), 6, '0')) $$;
create function color_text(text) returns color language sql immutable as $$ select (('x' || lpad(ltrim($1, '#'), 8, '0'))::bit(32)::int)::color $$;
create function color_from(json) returns color language sql immutable as $$ select color_text($1 #>> '{}') $$;
do $$ begin
  set local client_min_messages = error;
  create cast (color as json) with function color_json(color) as implicit;
  create cast (text as color) with function color_text(text) as implicit;
  create cast (json as color) with function color_from(json) as implicit;
end $$;
create domain loud as text;
create function loud_json(loud) returns json language sql immutable as $$ select to_json(coalesce(upper($1), 'NOTHING')) $$;
do $$ begin set local client_min_messages = error; create cast (loud as json) with function loud_json(loud) as implicit; end $$;
create table shouts (id int primary key, s loud); insert into shouts values (1, 'a'), (2, null);
create domain plain as text check (value <> 'bad');
create table brush (id int primary key, name plain, tint color, spare color);
insert into brush values (1, 'flat', 255, 65280), (2, 'round', 65280, null), (3, 'fan', null, 255);
create table stroke (id int primary key, brush int references brush, tint color);
insert into stroke values (1, 1, 16711680), (2, 1, 255);
create function warm(brush) returns color language sql stable as $$ select ($1.tint::int + 16711680)::color $$;
create view brushes as select id, tint from brush;
` + open

func TestDomainsMayHaveRepresentations(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, paintbox, nil)
	run(t, s, []exchange{
		{name: "shown as JSON", path: "brush?select=id,tint&order=id", status: 200, want: `[{"id":1,"tint":"#0000ff"},{"id":2,"tint":"#00ff00"},{"id":3,"tint":null}]`},
		{name: "in the star", path: "brush?id=eq.1", status: 200, want: `[{"id":1,"name":"flat","tint":"#0000ff","spare":"#00ff00"}]`},
		{name: "with an alias", path: "brush?id=eq.1&select=ink:tint", status: 200, want: `[{"ink":"#0000ff"}]`},
		{name: "with a cast of what is shown", path: "brush?id=eq.1&select=ink:tint::text", status: 200, want: `[{"ink":"\"#0000ff\""}]`},
		{name: "with a cast that JSON has not", path: "brush?id=eq.1&select=tint::int", status: 400, has: []string{`"42846"`}},
		{name: "in aggregates as stored", path: "brush?select=count", status: 200, want: `[{"count":3}]`},
		{name: "in a filter as text", path: "brush?select=id&tint=eq.%230000ff", status: 200, want: `[{"id":1}]`},
		{name: "in a comparison", path: "brush?select=id&tint=gt.%230000ff", status: 200, want: `[{"id":2}]`},
		{name: "in a list", path: "brush?select=id&tint=in.(%2300ff00,%230000ff)&order=id", status: 200, want: `[{"id":1},{"id":2}]`},
		{name: "in a quantified filter", path: "brush?select=id&tint=eq(any).{%2300ff00}", status: 200, want: `[{"id":2}]`},
		{name: "is null", path: "brush?select=id&tint=is.null", status: 200, want: `[{"id":3}]`},
		{name: "within or", path: "brush?select=id&or=(tint.eq.%2300ff00,spare.eq.%230000ff)&order=id", status: 200, want: `[{"id":2},{"id":3}]`},
		{name: "in an order by what is stored", path: "brush?select=id&order=tint.desc.nullslast", status: 200, want: `[{"id":2},{"id":1},{"id":3}]`},
		{name: "in an embed to many", path: "brush?select=id,stroke(tint)&id=eq.1&stroke.order=id", status: 200, want: `[{"id":1,"stroke":[{"tint":"#ff0000"},{"tint":"#0000ff"}]}]`},
		{name: "in an embed to one", path: "stroke?select=id,brush(tint)&order=id&limit=1", status: 200, want: `[{"id":1,"brush":{"tint":"#0000ff"}}]`},
		{name: "in the filter of an embed", path: "brush?select=id,stroke!inner(id)&stroke.tint=eq.%23ff0000", status: 200, want: `[{"id":1,"stroke":[{"id":1}]}]`},
		{name: "in a spread", path: "stroke?select=id,...brush(of:tint)&order=id&limit=1", status: 200, want: `[{"id":1,"of":"#0000ff"}]`},
		{name: "of a view's column", path: "brushes?select=tint&id=eq.2&tint=eq.%2300ff00", status: 200, want: `[{"tint":"#00ff00"}]`},
		{name: "of a computed column", path: "brush?id=eq.1&select=warm", status: 200, want: `[{"warm":"#ff00ff"}]`},
		{name: "written from JSON and shown again", method: "POST", path: "brush?select=tint", headers: []string{give}, body: `{"id":4,"tint":"#010203"}`, status: 201, want: `[{"tint":"#010203"}]`},
		{name: "changed from JSON", method: "PATCH", path: "brush?id=eq.4&select=tint,spare", headers: []string{give}, body: `{"spare":"#000001"}`, status: 200, want: `[{"tint":"#010203","spare":"#000001"}]`},
		{name: "nulls stripped beside them", path: "brush?id=eq.3&select=id,tint,spare", headers: []string{"Accept: application/vnd.pgrst.array+json;nulls=stripped"}, status: 200, want: `[{"id":3,"spare":"#0000ff"}]`},
		{name: "their functions say what becomes of null", path: "shouts?order=id", status: 200, want: `[{"id":1,"s":"A"},{"id":2,"s":"NOTHING"}]`},
		{name: "a filter without a cast from text takes what is stored", path: "shouts?select=id&s=eq.a", status: 200, want: `[{"id":1}]`},
		{name: "a domain without casts is what it rests on", path: "brush?select=id&name=like.f*&order=id", status: 200, want: `[{"id":1},{"id":3}]`},
		{name: "a text that its function does not take", path: "brush?tint=eq.%23zzz", status: 400, has: []string{`"22P02"`}},
	})
}
