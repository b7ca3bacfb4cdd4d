package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

// museum has every kind of relationship that foreign keys can make.
const museum = `
create table painter (id int primary key, name text, born int);
create table painting (id int primary key, title text, painter int references painter, year int);
create table frame (painting int primary key references painting, wood text);
create table loan (id int primary key, painting int unique references painting, city text);
create table tag (id int primary key, word text);
create table painting_tag (painting int references painting, tag int references tag, weight int, primary key (painting, tag));
create table hall (building text, floor int, name text, primary key (building, floor));
create table exhibit (id int primary key, building text, floor int, painting int references painting, foreign key (building, floor) references hall (building, floor));
create table guard (id int primary key, name text, chief int references guard);
insert into painter values (1, 'Ada', 1900), (2, 'Ben', 1920), (3, 'Cem', null);
insert into painting values (1, 'Dawn', 1, 1930), (2, 'Noon', 1, 1935), (3, 'Dusk', 2, 1950), (4, 'Night', null, null);
insert into frame values (1, 'oak'), (3, 'pine');
insert into loan values (1, 1, 'Rome'), (2, 2, 'Oslo'), (3, null, 'Bern');
insert into tag values (1, 'sky'), (2, 'sea'), (3, 'sun');
insert into painting_tag values (1, 1, 5), (1, 3, 2), (2, 3, 9), (3, 2, 1);
insert into hall values ('A', 1, 'Red'), ('A', 2, 'Blue'), ('B', 1, 'Gold');
insert into exhibit values (1, 'A', 1, 1), (2, 'A', 1, 2), (3, 'B', 1, 3), (4, 'B', null, 4);
insert into guard values (1, 'Gil', null), (2, 'Hal', 1), (3, 'Ida', 1), (4, 'Jon', 2);
create function rich(painter) returns setof painting language sql stable as $$ select * from painting where painter = $1.id and year > 1930 $$;
create function oldest(painter) returns painting language sql stable as $$ select * from painting where painter = $1.id order by year limit 1 $$;
create function twin(painter) returns setof painter rows 1 language sql stable as $$ select * from painter where id <> $1.id and $1.id < 3 order by id limit 1 $$;
` + open

func TestEveryKindOfRelationship(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, museum, nil)
	run(t, s, []exchange{
		{name: "to one", path: "painting?select=title,painter(name)&order=id", status: 200,
			want: `[{"title":"Dawn","painter":{"name":"Ada"}},{"title":"Noon","painter":{"name":"Ada"}},{"title":"Dusk","painter":{"name":"Ben"}},{"title":"Night","painter":null}]`},
		{name: "to many", path: "painter?select=name,painting(title)&order=id&painting.order=id", status: 200,
			want: `[{"name":"Ada","painting":[{"title":"Dawn"},{"title":"Noon"}]},{"name":"Ben","painting":[{"title":"Dusk"}]},{"name":"Cem","painting":[]}]`},
		{name: "one to one by a primary key", path: "painting?select=id,frame(wood)&order=id&limit=2", status: 200, want: `[{"id":1,"frame":{"wood":"oak"}},{"id":2,"frame":null}]`},
		{name: "one to one from its other side", path: "frame?select=wood,painting(title)&order=wood", status: 200, want: `[{"wood":"oak","painting":{"title":"Dawn"}},{"wood":"pine","painting":{"title":"Dusk"}}]`},
		{name: "one to one by a unique key", path: "painting?select=id,loan(city)&order=id&limit=3", status: 200,
			want: `[{"id":1,"loan":{"city":"Rome"}},{"id":2,"loan":{"city":"Oslo"}},{"id":3,"loan":null}]`},
		{name: "many to many", path: "painting?select=title,tag(word)&order=id&tag.order=id", status: 200,
			want: `[{"title":"Dawn","tag":[{"word":"sky"},{"word":"sun"}]},{"title":"Noon","tag":[{"word":"sun"}]},{"title":"Dusk","tag":[{"word":"sea"}]},{"title":"Night","tag":[]}]`},
		{name: "many to many from its other side", path: "tag?select=word,painting(title)&id=eq.3&painting.order=id", status: 200, want: `[{"word":"sun","painting":[{"title":"Dawn"},{"title":"Noon"}]}]`},
		{name: "the junction itself, with what it leads to", path: "painting?select=title,painting_tag(weight,tag(word))&id=eq.1&painting_tag.order=weight", status: 200,
			want: `[{"title":"Dawn","painting_tag":[{"weight":2,"tag":{"word":"sun"}},{"weight":5,"tag":{"word":"sky"}}]}]`},
		{name: "by a key of two columns", path: "exhibit?select=id,hall(name)&order=id", status: 200,
			want: `[{"id":1,"hall":{"name":"Red"}},{"id":2,"hall":{"name":"Red"}},{"id":3,"hall":{"name":"Gold"}},{"id":4,"hall":null}]`},
		{name: "its columns are not added to the answer", path: "hall?select=name,exhibit(id)&order=name&exhibit.order=id", status: 200,
			want: `[{"name":"Blue","exhibit":[]},{"name":"Gold","exhibit":[{"id":3}]},{"name":"Red","exhibit":[{"id":1},{"id":2}]}]`},
		{name: "a chief by the column", path: "guard?select=name,chief(name,chief(name))&id=eq.4", status: 200, want: `[{"name":"Jon","chief":{"name":"Hal","chief":{"name":"Gil"}}}]`},
		{name: "the guards of a chief by the relation", path: "guard?select=name,guard(name)&id=eq.1&guard.order=id", status: 200, want: `[{"name":"Gil","guard":[{"name":"Hal"},{"name":"Ida"}]}]`},
		{name: "the guards of their guards by a hint", path: "guard?select=name,team:guard!chief(name,team:guard!chief(name))&id=eq.1&team.order=id", status: 200,
			want: `[{"name":"Gil","team":[{"name":"Hal","team":[{"name":"Jon"}]},{"name":"Ida","team":[]}]}]`},
		{name: "up and down again", path: "guard?select=name,chief(name,team:guard!chief(name))&id=eq.3&chief.team.order=id", status: 200,
			want: `[{"name":"Ida","chief":{"name":"Gil","team":[{"name":"Hal"},{"name":"Ida"}]}}]`},
		{name: "several side by side", path: "painting?select=title,painter(name),frame(wood),tag(word)&id=eq.3", status: 200, want: `[{"title":"Dusk","painter":{"name":"Ben"},"frame":{"wood":"pine"},"tag":[{"word":"sea"}]}]`},
		{name: "four levels", path: "painter?select=name,painting(title,exhibit(hall(name)))&id=eq.2", status: 200, want: `[{"name":"Ben","painting":[{"title":"Dusk","exhibit":[{"hall":{"name":"Gold"}}]}]}]`},
		{name: "the star with an embed", path: "painting?select=*,painter(*)&id=eq.4", status: 200, want: `[{"id":4,"title":"Night","painter":null,"year":null,"painter":null}]`},
		{name: "keys stand where select has them", path: "painting?select=painter(name),title&id=eq.1", status: 200, want: `[{"painter":{"name":"Ada"},"title":"Dawn"}]`},
		{name: "two aliases of one relation", path: "painter?select=early:painting(title),late:painting(title)&early.year=lt.1935&late.year=gte.1935&id=eq.1", status: 200,
			want: `[{"early":[{"title":"Dawn"}],"late":[{"title":"Noon"}]}]`},
		{name: "two aliases through a junction", path: "painting?select=s:tag(word),w:tag(word)&s.word=like.s*&w.word=like.*y&id=eq.1&s.order=id", status: 200,
			want: `[{"s":[{"word":"sky"},{"word":"sun"}],"w":[{"word":"sky"}]}]`},
		{name: "an alias that needs quotes", path: `painting?select="the painter":painter(name)&id=eq.1&"the painter".name=eq.Ada`, status: 200, want: `[{"the painter":{"name":"Ada"}}]`},
		{name: "of no columns", path: "painting?select=title,painter()&id=eq.1", status: 200, want: `[{"title":"Dawn"}]`},
		{name: "of no columns at any level", path: "painter?select=name,painting(tag())&id=eq.1", status: 200, want: `[{"name":"Ada"}]`},
		{name: "ordered below", path: "painter?select=name,painting(title)&painting.order=year.desc&id=eq.1", status: 200, want: `[{"name":"Ada","painting":[{"title":"Noon"},{"title":"Dawn"}]}]`},
		{name: "ordered two levels below", path: "painting?select=id,painting_tag(tag(word))&painting_tag.order=weight.desc&id=eq.1", status: 200, want: `[{"id":1,"painting_tag":[{"tag":{"word":"sky"}},{"tag":{"word":"sun"}}]}]`},
		{name: "in one object", path: "painting?select=title,painter(name)&id=eq.1", headers: []string{"Accept: application/vnd.pgrst.object+json"}, status: 200, want: `{"title":"Dawn","painter":{"name":"Ada"}}`},
		{name: "of what was written", method: "PATCH", path: "painting?id=eq.4&select=title,painter(name)", headers: []string{give}, body: `{"painter":2}`, status: 200, want: `[{"title":"Night","painter":{"name":"Ben"}}]`},
	})
}

func TestComputedRelationships(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, museum+`
create function painting(painter) returns setof painting language sql stable as $$ select * from painting where false $$;
create table sitter (id int primary key, by_a int references painter, by_b int references painter);
insert into sitter values (1, 1, 2);
create function painter(sitter) returns setof painter rows 1 language sql stable as $$ select * from painter where id = $1.by_b $$;
create function team(guard) returns setof guard language sql stable as $$ select * from guard where chief = $1.id $$;
create function boss(guard) returns setof guard rows 1 language sql stable as $$ select * from guard where id = $1.chief $$;
create function made_by(painting) returns setof painter rows 1 language sql stable as $$ select * from painter where id = $1.painter $$;
create function all_painters() returns setof painter language sql stable as $$ select * from painter $$;
`, nil)
	run(t, s, []exchange{
		{name: "to many", path: "painter?select=name,rich(title)&order=id&limit=2", status: 200, want: `[{"name":"Ada","rich":[{"title":"Noon"}]},{"name":"Ben","rich":[{"title":"Dusk"}]}]`},
		{name: "to one by its result", path: "painter?select=name,oldest(title)&order=id", status: 200, want: `[{"name":"Ada","oldest":{"title":"Dawn"}},{"name":"Ben","oldest":{"title":"Dusk"}},{"name":"Cem","oldest":{"title":null}}]`},
		{name: "to one by ROWS 1", path: "painter?select=name,twin(name)&order=id", status: 200, want: `[{"name":"Ada","twin":{"name":"Ben"}},{"name":"Ben","twin":{"name":"Ada"}},{"name":"Cem","twin":null}]`},
		{name: "with an alias, a filter and !inner", path: "painter?select=name,r:rich!inner(title)&r.title=eq.Noon", headers: []string{exact}, status: 200, want: `[{"name":"Ada","r":[{"title":"Noon"}]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "to one with !inner", path: "painter?select=name,oldest!inner(title)&oldest.year=gt.1940", headers: []string{exact}, status: 200, want: `[{"name":"Ben","oldest":{"title":"Dusk"}}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "absent ones", path: "painter?select=name,twin()&twin=is.null", status: 200, want: `[{"name":"Cem"}]`},
		{name: "NULL of a function that returns no set is a row of nulls", path: "painter?select=name,oldest()&oldest=is.null", status: 200, want: `[]`},
		{name: "ordered by", path: "painter?select=name,oldest(year)&order=oldest(year).desc.nullslast", status: 200, want: `[{"name":"Ben","oldest":{"year":1950}},{"name":"Ada","oldest":{"year":1930}},{"name":"Cem","oldest":{"year":null}}]`},
		{name: "to many cannot be ordered by", path: "painter?select=name,rich(year)&order=rich(year)", status: 400,
			want: refusal("PGRST118", "A related order on 'rich' is not possible", "'painter' and 'rich' do not form a many-to-one or one-to-one relationship", "")},
		{name: "within an embed", path: "painting?select=title,painter!painting_painter_fkey(name,rich(title))&id=eq.1", status: 200, want: `[{"title":"Dawn","painter":{"name":"Ada","rich":[{"title":"Noon"}]}}]`},
		{name: "with embeds of its own", path: "painter?select=oldest(title,frame(wood))&id=eq.1", status: 200, want: `[{"oldest":{"title":"Dawn","frame":{"wood":"oak"}}}]`},
		{name: "within one another", path: "painter?select=rich(title,made_by(name,rich(title,made_by(name))))&id=eq.2", status: 200,
			want: `[{"rich":[{"title":"Dusk","made_by":{"name":"Ben","rich":[{"title":"Dusk","made_by":{"name":"Ben"}}]}}]}]`},
		{name: "with conditions within one another", path: "painter?select=name,rich!inner(made_by!inner(name))&rich.made_by.name=eq.Ben", headers: []string{exact}, status: 200,
			want: `[{"name":"Ben","rich":[{"made_by":{"name":"Ben"}}]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "spread", path: "painter?select=name,...oldest(first:title)&id=eq.1", status: 200, want: `[{"name":"Ada","first":"Dawn"}]`},
		{name: "in the place of a detected one", path: "painter?select=name,painting(title)&id=eq.1", status: 200, want: `[{"name":"Ada","painting":[]}]`},
		{name: "in the place of two that are ambiguous", path: "sitter?select=id,painter(name)", status: 200, want: `[{"id":1,"painter":{"name":"Ben"}}]`},
		{name: "from a relation to itself", path: "guard?select=name,boss(name),team(name)&id=eq.2", status: 200, want: `[{"name":"Hal","boss":{"name":"Gil"},"team":[{"name":"Jon"}]}]`},
		{name: "of the rows of a function", path: "rpc/all_painters?select=name,oldest(title)&id=eq.1", status: 200, want: `[{"name":"Ada","oldest":{"title":"Dawn"}}]`},
		{name: "of what was inserted", method: "POST", path: "painter?select=name,oldest(title),rich(title)", headers: []string{give}, body: `{"id":9,"name":"Zed"}`, status: 201, want: `[{"name":"Zed","oldest":{"title":null},"rich":[]}]`},
		{name: "of what was changed", method: "PATCH", path: "painter?select=name,rich(title)&id=eq.2", headers: []string{give}, body: `{"born":1}`, status: 200, want: `[{"name":"Ben","rich":[{"title":"Dusk"}]}]`},
	})
}
