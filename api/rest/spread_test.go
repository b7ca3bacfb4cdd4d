package rest_test

import (
	"testing"

	"basalt/api/apitest"
)

func TestSpreadsToOneMergeIntoTheParent(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, museum, nil)
	run(t, s, []exchange{
		{name: "its columns", path: "painting?select=title,...painter(name,born)&order=id", status: 200,
			want: `[{"title":"Dawn","name":"Ada","born":1900},{"title":"Noon","name":"Ada","born":1900},{"title":"Dusk","name":"Ben","born":1920},{"title":"Night","name":null,"born":null}]`},
		{name: "with aliases", path: "painting?select=title,...painter(by:name)&id=eq.1", status: 200, want: `[{"title":"Dawn","by":"Ada"}]`},
		{name: "all of them", path: "painting?select=title,...painter(*)&id=eq.1", status: 200, want: `[{"title":"Dawn","id":1,"name":"Ada","born":1900}]`},
		{name: "none of them", path: "painting?select=title,...painter()&id=eq.1", status: 200, want: `[{"title":"Dawn"}]`},
		{name: "one to one", path: "painting?select=title,...frame(wood)&order=id&limit=2", status: 200, want: `[{"title":"Dawn","wood":"oak"},{"title":"Noon","wood":null}]`},
		{name: "in a spread", path: "exhibit?select=id,...painting(title,...painter(name))&id=eq.1", status: 200, want: `[{"id":1,"title":"Dawn","name":"Ada"}]`},
		{name: "with an embed within", path: "exhibit?select=id,...painting(title,painter(name),tag(word))&id=eq.2", status: 200, want: `[{"id":2,"title":"Noon","painter":{"name":"Ada"},"tag":[{"word":"sun"}]}]`},
		{name: "in an embed", path: "painter?select=name,painting(title,...frame(wood))&id=eq.1&painting.order=id", status: 200, want: `[{"name":"Ada","painting":[{"title":"Dawn","wood":"oak"},{"title":"Noon","wood":null}]}]`},
		{name: "of a junction's far side", path: "painting?select=title,tag:painting_tag(weight,...tag(word))&id=eq.1&tag.order=weight", status: 200, want: `[{"title":"Dawn","tag":[{"weight":2,"word":"sun"},{"weight":5,"word":"sky"}]}]`},
		{name: "of nothing but the far side", path: "painting?select=title,tag:painting_tag(...tag(word))&id=eq.1&tag.order=weight", status: 200, want: `[{"title":"Dawn","tag":[{"word":"sun"},{"word":"sky"}]}]`},
		{name: "with a hint", path: "painting?select=title,...painter!painting_painter_fkey(name)&id=eq.1", status: 200, want: `[{"title":"Dawn","name":"Ada"}]`},
		{name: "filtered", path: "painting?select=title,...painter(name)&painter.name=eq.Ben&order=id&limit=3", status: 200, want: `[{"title":"Dawn","name":null},{"title":"Noon","name":null},{"title":"Dusk","name":"Ben"}]`},
		{name: "by a path", path: "painting?select=title,...painter(year:born::text)&id=eq.3", status: 200, want: `[{"title":"Dusk","year":"1920"}]`},
		{name: "ordered by", path: "painting?select=title,...painter(name)&order=painter(name).desc.nullslast,id&limit=1", status: 200, want: `[{"title":"Dusk","name":"Ben"}]`},
		{name: "absent", path: "painting?select=title,...painter(name)&painter=is.null", status: 200, want: `[{"title":"Night","name":null}]`},
		{name: "alone", path: "painting?select=...painter(name)&id=eq.1", status: 200, want: `[{"name":"Ada"}]`},
		{name: "of what was written", method: "PATCH", path: "painting?select=title,...painter(name)&id=eq.1", headers: []string{give}, body: `{"year":1931}`, status: 200, want: `[{"title":"Dawn","name":"Ada"}]`},
		{name: "in CSV", path: "painting?select=title,...painter(name)&id=eq.1", headers: []string{"Accept: text/csv"}, status: 200, want: "title,name\nDawn,Ada"},
		{name: "takes no alias", path: "painting?select=x:...painter(name)", status: 400, has: []string{"PGRST100"}},
		{name: "takes no path", path: "painting?select=...painter->x(name)", status: 400, has: []string{"PGRST100"}},
		{name: "of two dots", path: "painting?select=..painter(name)", status: 400, has: []string{"PGRST100"}},
	})
}

func TestSpreadsToManyMakeLists(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, museum+`alter table tag add parts int[]; update tag set parts = case id when 1 then '{1,2}'::int[] when 2 then '{}' end;`, nil)
	run(t, s, []exchange{
		{name: "a list of each column", path: "painter?select=name,...painting(title,year)&order=id&painting.order=id", status: 200,
			want: `[{"name":"Ada","title":["Dawn","Noon"],"year":[1930,1935]},{"name":"Ben","title":["Dusk"],"year":[1950]},{"name":"Cem","title":[],"year":[]}]`},
		{name: "with aliases", path: "painter?select=name,...painting(titles:title)&id=eq.1&painting.order=id.desc", status: 200, want: `[{"name":"Ada","titles":["Noon","Dawn"]}]`},
		{name: "of all columns", path: "painter?select=name,...painting(*)&id=eq.2", status: 200, want: `[{"name":"Ben","id":[3],"title":["Dusk"],"painter":[2],"year":[1950]}]`},
		{name: "nulls stay in their places", path: "hall?select=name,...exhibit(id,painting(title))&building=eq.B", status: 200, want: `[{"name":"Gold","id":[3],"painting":[{"title":"Dusk"}]}]`},
		{name: "one order for all lists", path: "painting?select=id,...painting_tag(tag,weight)&painting_tag.order=weight&id=eq.1", status: 200, want: `[{"id":1,"tag":[3,1],"weight":[2,5]}]`},
		{name: "by a column that is not shown", path: "painting?select=id,...painting_tag(tag)&painting_tag.order=weight.desc&id=eq.1", status: 200, want: `[{"id":1,"tag":[1,3]}]`},
		{name: "by a related column", path: "painting?select=id,...painting_tag(weight,tag())&painting_tag.order=tag(word).desc&id=eq.1", status: 200, want: `[{"id":1,"weight":[2,5]}]`},
		{name: "through a junction", path: "painting?select=title,...tag(word)&order=id&tag.order=id", status: 200,
			want: `[{"title":"Dawn","word":["sky","sun"]},{"title":"Noon","word":["sun"]},{"title":"Dusk","word":["sea"]},{"title":"Night","word":[]}]`},
		{name: "lists of lists", path: "painting?select=id,...tag(parts)&id=eq.1&tag.order=id", status: 200, want: `[{"id":1,"parts":[[1,2],null]}]`},
		{name: "lists of rows", path: "painter?select=name,...painting(title,frame(wood))&id=eq.1&painting.order=id", status: 200, want: `[{"name":"Ada","title":["Dawn","Noon"],"frame":[{"wood":"oak"},null]}]`},
		{name: "lists of lists of rows", path: "painter?select=name,...painting(title,tag(word))&id=eq.1&painting.order=id&painting.tag.order=id", status: 200,
			want: `[{"name":"Ada","title":["Dawn","Noon"],"tag":[[{"word":"sky"},{"word":"sun"}],[{"word":"sun"}]]}]`},
		{name: "a spread to one within", path: "painter?select=name,...painting(title,...frame(wood))&id=eq.1&painting.order=id", status: 200, want: `[{"name":"Ada","title":["Dawn","Noon"],"wood":["oak",null]}]`},
		{name: "a spread to many within", path: "painter?select=name,...painting(title,...tag(word))&id=eq.1&painting.order=id&painting.tag.order=id", status: 200,
			want: `[{"name":"Ada","title":["Dawn","Noon"],"word":[["sky","sun"],["sun"]]}]`},
		{name: "within a spread to one", path: "exhibit?select=id,...painting(...tag(word))&id=eq.1&painting.tag.order=id", status: 200, want: `[{"id":1,"word":["sky","sun"]}]`},
		{name: "within an embed", path: "painting?select=id,painter(name,...painting(title))&id=eq.1&painter.painting.order=id", status: 200, want: `[{"id":1,"painter":{"name":"Ada","title":["Dawn","Noon"]}}]`},
		{name: "filtered and limited", path: "painter?select=name,...painting(title)&painting.year=gt.1930&painting.limit=1&id=eq.1", status: 200, want: `[{"name":"Ada","title":["Noon"]}]`},
		{name: "inner", path: "painter?select=name,...painting!inner(title)&painting.title=eq.Dusk", headers: []string{exact}, status: 200, want: `[{"name":"Ben","title":["Dusk"]}]`, header: []string{"Content-Range: 0-0/1"}},
		{name: "absent", path: "painter?select=name,...painting(title)&painting=is.null", status: 200, want: `[{"name":"Cem","title":[]}]`},
		{name: "of a computed relationship", path: "painter?select=name,...rich(title)&id=lte.2&order=id", status: 200, want: `[{"name":"Ada","title":["Noon"]},{"name":"Ben","title":["Dusk"]}]`},
		{name: "of nothing", path: "painter?select=name,...painting()&id=eq.1", status: 200, want: `[{"name":"Ada"}]`},
		{name: "of what was written", method: "PATCH", path: "painter?select=name,...painting(title)&id=eq.2", headers: []string{give}, body: `{"born":1921}`, status: 200, want: `[{"name":"Ben","title":["Dusk"]}]`},
	})
}
