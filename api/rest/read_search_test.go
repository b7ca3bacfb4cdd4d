package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

const gazette = `
create table article (id int primary key, body text, doc tsvector, meta jsonb, raw json, lang text);
insert into article values
  (1, 'The brown fox was jumping', to_tsvector('english', 'The brown fox was jumping'), '{"title":"jumping foxes"}', '{"title":"jumps"}', 'english'),
  (2, 'A lazy dog sleeps', to_tsvector('english', 'A lazy dog sleeps'), '{"title":"dogs"}', '{"title":"sleeping"}', 'english'),
  (3, 'Les chats mangeaient', to_tsvector('french', 'Les chats mangeaient'), '{"title":"chat"}', null, 'french');
create function searchable(article) returns tsvector language sql stable as $$ select to_tsvector('english', $1.body) $$;
` + open

func TestFullTextSearch(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, gazette, nil)
	ids := func(name, filter, want string) exchange {
		return exchange{name: name, path: "article?select=id&order=id&" + filter, status: 200, want: want}
	}
	run(t, s, []exchange{
		ids("a word", "doc=fts.fox", `[{"id":1}]`),
		ids("its stem", "doc=fts.jump", `[{"id":1}]`),
		ids("operators of lexemes", "doc=fts.brown%26fox", `[{"id":1}]`),
		ids("either of two", "doc=fts.fox%7Cdog", `[{"id":1},{"id":2}]`),
		ids("without a word", "doc=fts.!fox%26!chat", `[{"id":2}]`),
		ids("plain words", "doc=plfts.the brown fox", `[{"id":1}]`),
		ids("a phrase", "doc=phfts.brown fox", `[{"id":1}]`),
		ids("a phrase in the wrong order", "doc=phfts.fox brown", `[]`),
		ids("as on the web", `doc=wfts.fox or dog -sleeps`, `[{"id":1}]`),
		ids("negated", "doc=not.fts.fox%7Cdog", `[{"id":3}]`),
		ids("with a configuration", "doc=fts(french).manger", `[{"id":3}]`),
		ids("plain words with one", "doc=plfts(french).les chats", `[{"id":3}]`),
		ids("a phrase with one", "doc=phfts(english).lazy dogs", `[{"id":2}]`),
		ids("as on the web with one", "doc=wfts(french).chats", `[{"id":3}]`),
		ids("negated with one", "doc=not.fts(english).foxes", `[{"id":2},{"id":3}]`),
		ids("a text column becomes a document", "body=fts.jumping", `[{"id":1}]`),
		ids("in the configuration's language", "body=fts(french).mangeait", `[{"id":3}]`),
		ids("which tells words apart", "body=fts(simple).jump", `[]`),
		ids("jsonb becomes one", "meta=fts(english).fox", `[{"id":1}]`),
		ids("json becomes one", "raw=fts(english).sleep", `[{"id":2}]`),
		ids("a path into jsonb", "meta->title=fts(english).dog", `[{"id":2}]`),
		ids("a path to text", "meta->>title=plfts(english).jumping fox", `[{"id":1}]`),
		ids("a computed document", "searchable=fts(english).sleep", `[{"id":2}]`),
		ids("within or", "or=(doc.fts.fox,body.plfts(french).chats,doc.not.wfts(english).dog)&id=gt.1", `[{"id":3}]`),
		ids("negated within and", "and=(body.not.plfts(english).fox,body.not.fts(french).chat)", `[{"id":2}]`),
		{name: "a configuration that is not there", path: "article?doc=fts(klingon).fox", status: 400, has: []string{`"42704"`, "klingon"}},
		{name: "an empty configuration", path: "article?doc=fts().fox", status: 400, has: []string{"PGRST100"}},
		{name: "a query that is none", path: "article?doc=fts.brown fox", status: 400, has: []string{`"42601"`}},
		{name: "a number is no document", path: "article?id=fts.1", status: 404, has: []string{`"42883"`}},
	})
}
