package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// rowsAsJSON is a handler that lets PostgreSQL make of any rows what the server makes of them itself.
const rowsAsJSON = `
create domain "application/vnd.rows+json" as jsonb;
create function rows_step(state "application/vnd.rows+json", next anyelement) returns "application/vnd.rows+json" language sql as $$
  select (state || pg_catalog.to_jsonb(next))::"application/vnd.rows+json" $$;
create aggregate rows_agg(anyelement) (stype = "application/vnd.rows+json", sfunc = rows_step, initcond = '[]');
create function paintings(since int) returns setof painting language sql stable as 'select * from painting where year >= since';
create domain shade as text;
create function shade_json(shade) returns json language sql as $$ select pg_catalog.json_build_object('shade', $1::text) $$;
create cast (shade as json) with function shade_json(shade) as implicit;
create table pot (id int primary key, painter int references painter, color shade, sizes int[], price money);
insert into pot values (1, 1, 'red', '{1,2}', 3.5), (2, 1, null, null, null), (3, 2, 'blue', '{}', 0);
`

// The rows that a handler is given have the names, embeds and spreads that the answer in JSON has.
func TestHandlersAreGivenTheRowsOfTheAnswer(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, museum+rowsAsJSON+open, func(settings *api.Settings) { settings.RestAggregates = true })
	read := func(path, accept string) (rows []map[string]any) {
		t.Helper()
		target, err := url.Parse("/rest/v1/" + path)
		if err != nil {
			t.Fatal(err)
		}
		answer := s.Do(t, "GET", target.String(), "", "Accept: "+accept)
		if answer.Status != http.StatusOK {
			t.Errorf("%s as %s: %d %s", path, accept, answer.Status, answer.Body)
			return nil
		}
		if err := json.Unmarshal([]byte(answer.Body), &rows); err != nil {
			t.Errorf("%s as %s: %v: %s", path, accept, err, answer.Body)
		}
		return rows
	}
	for _, path := range []string{
		"painting?select=" + aliases("id") + ",painter(" + aliases("name") + ")&order=id",
		"painter?select=" + aliases("id") + ",painting(" + aliases("title") + ",frame(" + aliases("wood") + "))&order=id&painting.order=id",
		"painting",
		"painting?select=",
		"painting?select=year,id,t:title,title",
		`painting?select="a%20b":id,"select":title,"q\"uote":year`,
		"painting?select=id,title::varchar,year::text&order=year.desc.nullslast&limit=2&offset=1",
		"painting?id=eq.99",
		"painting?select=title,painter(name)&order=id",
		"painting?select=title,painter!inner(name)&painter.name=eq.Ben",
		"painting?select=id,by:painter(who:name)&order=by(who).desc.nullslast,id",
		"painting?select=id,painter(*)&order=painter(born).nullsfirst,id&limit=3",
		"painting?select=id,frame(wood),loan(city)&order=id",
		"painting?select=id,painter()&painter=not.is.null&order=id",
		"painting?select=id,tag(word)&order=id&tag.order=word.desc&tag.limit=1",
		"painter?select=name,painting(title)&order=id&painting.order=id",
		"painter?select=name,painting(title,tag(word),frame(wood))&order=id&painting.order=id&painting.tag.order=id",
		"painter?select=name,painting(title)&painting.year=gt.1940&order=id",
		"painter?select=name,painting()&order=id",
		"painter?select=early:painting(title),late:painting(title)&early.year=lt.1935&late.year=gte.1935&order=id",
		"painter?select=name,rich(title),oldest(title,frame(wood)),twin(name)&order=id",
		"exhibit?select=id,hall(name,exhibit(id))&order=id&hall.exhibit.order=id",
		"guard?select=name,chief(name,chief(name)),team:guard!chief(name)&order=id&team.order=id",
		"painting?select=title,...painter(name,born)&order=id",
		"painting?select=title,...painter(name,painting(title))&order=id&painter.painting.order=id",
		"painter?select=name,...painting(titles:title,years:year)&order=id&painting.order=id",
		"painter?select=name,...painting(titles:title,tag(word))&order=id&painting.order=id&painting.tag.order=id",
		"painter?select=name,...painting(...tag(words:word))&order=id&painting.order=id&painting.tag.order=id",
		"painter?select=name,painting(...frame(wood))&order=id&painting.order=id",
		"painting?select=painter,count(),year.max()&order=painter",
		"painting?select=painter(name),count()",
		"painting?select=...painter(name),year.sum()&order=painter(name)",
		"painter?select=name,painting(count(),year.avg())&order=id",
		"painter?select=name,painting(title.count(),frame(wood))&order=id&id=eq.2",
		"pot?select=id,sizes,price&order=id",
		"painter?select=name,pot(color,sizes,price)&order=id&pot.order=id",
		"painter?select=name,...pot(colors:color,sizes)&order=id&pot.order=id",
		"pot?select=id,...painter(name),by:painter(pot(color))&order=id&by.pot.order=id",
		"rpc/paintings?since=1935&select=id,painter(name)&order=id&limit=2",
		"rpc/paintings?since=1935&select=title,...tag(words:word)&order=id&tag.order=id",
	} {
		want, got := read(path, "application/json"), read(path, "application/vnd.rows+json")
		if len(want) > 1 && !strings.Contains(path, "order=") {
			slices.SortFunc(want, byText)
			slices.SortFunc(got, byText)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nrows %v\nwant %v", path, got, want)
		}
	}
}

// aliases shows a column under each name that the statement itself might give to a source of rows.
func aliases(column string) string {
	var items []string
	for _, prefix := range []string{"c", "e", "h", "j", "o", "r", "s", "t", "x", "y"} {
		items = append(items, prefix+":"+column)
		for number := range 20 {
			items = append(items, fmt.Sprintf("%s%d:%s", prefix, number, column))
		}
	}
	return strings.Join(items, ",")
}

// byText orders rows that nothing else orders.
func byText(x, y map[string]any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) }
