package rest_test

import (
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

func TestInnerAndLeftJoins(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, museum, nil)
	run(t, s, []exchange{
		{name: "to one, left by default", path: "painting?select=id,painter(id)&order=id", headers: []string{exact}, status: 200,
			want: `[{"id":1,"painter":{"id":1}},{"id":2,"painter":{"id":1}},{"id":3,"painter":{"id":2}},{"id":4,"painter":null}]`, header: []string{"Content-Range: 0-3/4"}},
		{name: "to one, left by word", path: "painting?select=id,painter!left(id)&id=eq.4", status: 200, want: `[{"id":4,"painter":null}]`},
		{name: "to one, inner", path: "painting?select=id,painter!inner(id)&order=id", headers: []string{exact}, status: 200,
			want: `[{"id":1,"painter":{"id":1}},{"id":2,"painter":{"id":1}},{"id":3,"painter":{"id":2}}]`, header: []string{"Content-Range: 0-2/3"}},
		{name: "a filter of an embed to one leaves it null", path: "painting?select=id,painter(id)&painter.name=eq.Ben&order=id", status: 200,
			want: `[{"id":1,"painter":null},{"id":2,"painter":null},{"id":3,"painter":{"id":2}},{"id":4,"painter":null}]`},
		{name: "inner, it filters the rows", path: "painting?select=id,painter!inner(id)&painter.name=eq.Ben", headers: []string{exact}, status: 200, want: `[{"id":3,"painter":{"id":2}}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "inner without a match", path: "painting?select=id,painter!inner(id)&painter.name=eq.Nobody", headers: []string{exact}, status: 200, want: `[]`, header: []string{"Content-Range: */0"}},
		{name: "to many, inner", path: "painter?select=id,painting!inner(id)&order=id&painting.order=id", headers: []string{exact}, status: 200,
			want: `[{"id":1,"painting":[{"id":1},{"id":2}]},{"id":2,"painting":[{"id":3}]}]`, header: []string{"Content-Range: 0-1/2"}},
		{name: "to many, inner with a filter", path: "painter?select=id,painting!inner(id)&painting.year=lt.1935", headers: []string{exact}, status: 200, want: `[{"id":1,"painting":[{"id":1}]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "many to many, inner with a filter", path: "painting?select=id,tag!inner(word)&tag.word=eq.sun&order=id", headers: []string{exact}, status: 200,
			want: `[{"id":1,"tag":[{"word":"sun"}]},{"id":2,"tag":[{"word":"sun"}]}]`, header: []string{"Content-Range: 0-1/2"}},
		{name: "two levels, both inner", path: "painter?select=id,painting!inner(id,tag!inner(word))&painting.tag.word=eq.sky", headers: []string{exact}, status: 200,
			want: `[{"id":1,"painting":[{"id":1,"tag":[{"word":"sky"}]}]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "two levels, the first left", path: "painter?select=id,painting(id,tag!inner(word))&painting.tag.word=eq.sky&order=id", headers: []string{exact}, status: 200,
			want: `[{"id":1,"painting":[{"id":1,"tag":[{"word":"sky"}]}]},{"id":2,"painting":[]},{"id":3,"painting":[]}]`, header: []string{"Content-Range: 0-2/3"}},
		{name: "two levels, the second left", path: "painter?select=id,painting!inner(id,tag(word))&painting.tag.word=eq.sky&order=id&painting.order=id", status: 200,
			want: `[{"id":1,"painting":[{"id":1,"tag":[{"word":"sky"}]},{"id":2,"tag":[]}]},{"id":2,"painting":[{"id":3,"tag":[]}]}]`},
		{name: "two at once", path: "painting?select=id,painter!inner(id),frame!inner(wood)&order=id", headers: []string{exact}, status: 200,
			want: `[{"id":1,"painter":{"id":1},"frame":{"wood":"oak"}},{"id":3,"painter":{"id":2},"frame":{"wood":"pine"}}]`, header: []string{"Content-Range: 0-1/2"}},
		{name: "of no columns", path: "painter?select=id,painting!inner()&painting.title=eq.Dusk", status: 200, want: `[{"id":2}]`},
		{name: "behind a hint", path: "painting?select=id,painter!painting_painter_fkey!inner(id)&painter.id=eq.2", status: 200, want: `[{"id":3,"painter":{"id":2}}]`},
		{name: "before a hint", path: "painting?select=id,painter!inner!painting_painter_fkey(id)&painter.id=eq.2", status: 200, want: `[{"id":3,"painter":{"id":2}}]`},
		{name: "through a column, with an alias", path: "painting?select=id,by:painter!painter!inner(id)&by.id=eq.2", status: 200, want: `[{"id":3,"by":{"id":2}}]`},
		{name: "of a spread", path: "painting?select=id,...painter!inner(name)&painter.name=eq.Ben", status: 200, want: `[{"id":3,"name":"Ben"}]`},
		{name: "with a limit below", path: "painter?select=id,painting!inner(id)&painting.limit=1&painting.order=id.desc&order=id", status: 200, want: `[{"id":1,"painting":[{"id":2}]},{"id":2,"painting":[{"id":3}]}]`},
		{name: "with a limit above", path: "painter?select=id,painting!inner(id)&limit=1&order=id.desc", headers: []string{exact}, status: 206, want: `[{"id":2,"painting":[{"id":3}]}]`, header: []string{"Content-Range: 0-0/2"}},
	})
}

func TestNullFiltersOnEmbeds(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, museum+`
create table box (id int primary key, frame_id int);
create table lid (id int primary key, note text, box int references box);
insert into box values (1, 7), (2, 8), (3, 9);
insert into lid values (1, null, 1);
create table room (id int primary key, status int references box);
insert into room values (1, 1), (2, null);
alter table box add column room text default 'r';
alter table room add column box int default 5;`, nil)
	run(t, s, []exchange{
		{name: "to one, present", path: "painting?select=id,painter()&painter=not.is.null&order=id", headers: []string{exact}, status: 200, want: `[{"id":1},{"id":2},{"id":3}]`, header: []string{"Content-Range: 0-2/3"}},
		{name: "to one, absent", path: "painting?select=id,frame(wood)&frame=is.null&order=id", headers: []string{exact}, status: 200, want: `[{"id":2,"frame":null},{"id":4,"frame":null}]`, header: []string{"Content-Range: 0-1/2"}},
		{name: "not_null says present too", path: "painting?select=id,frame()&frame=is.not_null&order=id", status: 200, want: `[{"id":1},{"id":3}]`},
		{name: "to many, present", path: "painter?select=id,painting()&painting=not.is.null&order=id", status: 200, want: `[{"id":1},{"id":2}]`},
		{name: "to many, absent", path: "painter?select=id,painting(id)&painting=is.null", status: 200, want: `[{"id":3,"painting":[]}]`},
		{name: "many to many under a filter, present", path: "painting?select=id,tag()&tag.word=eq.sun&tag=not.is.null&order=id", status: 200, want: `[{"id":1},{"id":2}]`},
		{name: "many to many under a filter, absent", path: "painting?select=id,tag()&tag.word=eq.sun&tag=is.null&order=id", status: 200, want: `[{"id":3},{"id":4}]`},
		{name: "by the alias", path: "painter?select=id,works:painting()&works=is.null", status: 200, want: `[{"id":3}]`},
		{name: "one of two embeds", path: "painting?select=id,frame(),loan()&frame.wood=eq.pine&loan.city=eq.Oslo&or=(frame.not.is.null,loan.not.is.null)&order=id", headers: []string{exact}, status: 200,
			want: `[{"id":2},{"id":3}]`, header: []string{"Content-Range: 0-1/2"}},
		{name: "below the first level", path: "painter?select=id,painting(id,frame())&painting.frame=is.null&order=id", status: 200, want: `[{"id":1,"painting":[{"id":2}]},{"id":2,"painting":[]},{"id":3,"painting":[]}]`},
		{name: "on both levels", path: "painter?select=id,painting(id,frame())&painting.frame=is.null&painting=not.is.null", status: 200, want: `[{"id":1,"painting":[{"id":2}]}]`},
		{name: "a row of nulls is present", path: "box?select=id,lid(note)&lid=not.is.null", status: 200, want: `[{"id":1,"lid":[{"note":null}]}]`},
		{name: "other operators mean a column of that name", path: "room?select=id,status(id)&status=eq.1", status: 200, want: `[{"id":1,"status":{"id":1}}]`},
		{name: "the embed is meant by null even when a column has its name", path: "box?select=id,room()&room=not.is.null", status: 200, want: `[{"id":1}]`},
		{name: "without the embed the column is", path: "box?select=id&room=is.null", status: 200, want: `[]`},
		{name: "other operators without a column", path: "painter?select=id,painting()&painting=eq.1", status: 400,
			want: refusal("PGRST120", "Bad operator on the 'painting' embedded resource", "Only is null or not is null filters are allowed on embedded resources", "")},
		{name: "is true", path: "painter?select=id,painting()&painting=is.true", status: 400, has: []string{"PGRST120"}},
		{name: "what is neither embedded nor a column", path: "painter?select=id&painting=is.null", status: 400, has: []string{`"42703"`}},
	})
}

func TestRowsAreOrderedByEmbeds(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, museum+`alter table painter add data jsonb; update painter set data = jsonb_build_object('k', 10 - id);`, nil)
	run(t, s, []exchange{
		{name: "to one", path: "painting?select=id,painter(name)&order=painter(name).desc.nullslast,id.desc", status: 200,
			want: `[{"id":3,"painter":{"name":"Ben"}},{"id":2,"painter":{"name":"Ada"}},{"id":1,"painter":{"name":"Ada"}},{"id":4,"painter":null}]`},
		{name: "nulls first", path: "painting?select=id,painter(name)&order=painter(name).nullsfirst,id&limit=2", status: 200, want: `[{"id":4,"painter":null},{"id":1,"painter":{"name":"Ada"}}]`},
		{name: "one to one", path: "painting?select=id,frame(wood)&order=frame(wood).desc.nullslast,id&limit=2", status: 200, want: `[{"id":3,"frame":{"wood":"pine"}},{"id":1,"frame":{"wood":"oak"}}]`},
		{name: "by a column that is not shown", path: "painting?select=id,painter(name)&order=painter(born).desc.nullslast&limit=1", status: 200, want: `[{"id":3,"painter":{"name":"Ben"}}]`},
		{name: "with nothing shown", path: "painting?select=id,painter()&order=painter(name).desc.nullslast&limit=1", status: 200, want: `[{"id":3}]`},
		{name: "by the alias of the embed", path: "painting?select=id,by:painter(name)&order=by(name).desc.nullslast&limit=1", status: 200, want: `[{"id":3,"by":{"name":"Ben"}}]`},
		{name: "by an alias within", path: "painting?select=id,painter(who:name)&order=painter(who).desc.nullslast&limit=1", status: 200, want: `[{"id":3,"painter":{"who":"Ben"}}]`},
		{name: "by a path", path: "painting?select=id,painter(name)&order=painter(data->k).nullslast,id&limit=1", status: 200, want: `[{"id":3,"painter":{"name":"Ben"}}]`},
		{name: "in an embed", path: "hall?select=name,exhibit(id,painting(title))&exhibit.order=painting(title).desc&building=eq.A&floor=eq.1", status: 200,
			want: `[{"name":"Red","exhibit":[{"id":2,"painting":{"title":"Noon"}},{"id":1,"painting":{"title":"Dawn"}}]}]`},
		{name: "in an embed, by two terms", path: "painter?select=id,painting(id,frame(wood))&painting.order=frame(wood).nullsfirst,id&id=eq.1", status: 200, want: `[{"id":1,"painting":[{"id":2,"frame":null},{"id":1,"frame":{"wood":"oak"}}]}]`},
		{name: "between other terms", path: "painting?select=id,painter(name)&order=year.nullsfirst,painter(name),id&limit=1", status: 200, want: `[{"id":4,"painter":null}]`},
		{name: "to many", path: "painter?select=id,painting(id)&order=painting(id)", status: 400,
			want: refusal("PGRST118", "A related order on 'painting' is not possible", "'painter' and 'painting' do not form a many-to-one or one-to-one relationship", "")},
		{name: "to many by its alias", path: "painter?select=id,works:painting(id)&order=works(id)", status: 400,
			want: refusal("PGRST118", "A related order on 'works' is not possible", "'painter' and 'works' do not form a many-to-one or one-to-one relationship", "")},
		{name: "what is not embedded", path: "painting?select=id,painter(name)&order=paintr(name)", status: 400,
			want: refusal("PGRST108", "'paintr' is not an embedded resource in this request", "", "Verify that 'paintr' is included in the 'select' query parameter.")},
		{name: "the relation's name beside an alias", path: "painting?select=id,by:painter(name)&order=painter(name)", status: 400, has: []string{"PGRST108"}},
		{name: "several columns in one pair of parentheses", path: "painting?select=id,painter(name)&order=painter(name,id)", status: 400, has: []string{"PGRST100"}},
	})
}

func TestEmbedsAreAddressedByTheirAliases(t *testing.T) {
	t.Parallel()
	const path = "painter?select=id,works:painting(id)&id=eq.1&"
	lenient := apitest.Start(t, museum, nil)
	warning := `Warning: 299 - "Addressing the embedded resource 'painting' by its name is deprecated, use its alias 'works'"`
	run(t, lenient, []exchange{
		{name: "a filter by the alias", path: path + "works.id=gt.1", status: 200, want: `[{"id":1,"works":[{"id":2}]}]`, header: []string{"Warning:"}},
		{name: "a filter by the name", path: path + "painting.id=gt.1", status: 200, want: `[{"id":1,"works":[{"id":2}]}]`, header: []string{warning}},
		{name: "an order by the name", path: path + "painting.order=id.desc", status: 200, want: `[{"id":1,"works":[{"id":2},{"id":1}]}]`, header: []string{warning}},
		{name: "a limit by the name", path: path + "painting.limit=1&works.order=id", status: 200, want: `[{"id":1,"works":[{"id":1}]}]`, header: []string{warning}},
		{name: "a group by the name", path: path + "painting.or=(id.eq.2)", status: 200, want: `[{"id":1,"works":[{"id":2}]}]`, header: []string{warning}},
	})
	strict := apitest.Start(t, museum, func(s *api.Settings) { s.LegacyTargetNames = false })
	refused := refusal("PGRST108", "'painting' is not an embedded resource in this request", "Target names are not allowed in filters if they have an alias",
		"Change 'painting' to 'works' in filters, orders or limits.")
	run(t, strict, []exchange{
		{name: "refused: a filter by the alias", path: path + "works.id=gt.1", status: 200, want: `[{"id":1,"works":[{"id":2}]}]`},
		{name: "refused: a filter by the name", path: path + "painting.id=gt.1", status: 400, want: refused},
		{name: "refused: an order by the name", path: path + "painting.order=id.desc", status: 400, want: refused},
		{name: "refused: a limit by the name", path: path + "painting.limit=1", status: 400, want: refused},
		{name: "the name without an alias", path: "painter?select=id,painting(id)&id=eq.1&painting.id=gt.1", status: 200, want: `[{"id":1,"painting":[{"id":2}]}]`},
	})
}
