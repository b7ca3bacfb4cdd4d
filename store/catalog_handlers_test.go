package store_test

import (
	"testing"

	"basalt/query/catalog"
	"basalt/store/storetest"
)

const handlerSchema = `
create schema second;
create schema hidden;
create domain "text/html" as text;
create domain second."*/*" as bytea;
create domain "no media" as text;
create type pair as (a int, b int);
create table item (id int);
create view item_view as select * from item;
create function html_item(state "text/html", next item) returns "text/html" language sql as 'select state';
create function html_view(state "text/html", next item_view) returns "text/html" language sql as 'select state';
create function html_any(state "text/html", next anyelement) returns "text/html" language sql as 'select state';
create function html_pair(state "text/html", next pair) returns "text/html" language sql as 'select state';
create function html_two(state "text/html", next item, more int) returns "text/html" language sql as 'select state';
create function any_item(state second."*/*", next item) returns second."*/*" language sql as 'select state';
create function other(state "no media", next item) returns "no media" language sql as 'select state';
create aggregate first_html(item) (stype = "text/html", sfunc = html_item);
create aggregate later_html(item) (stype = "text/html", sfunc = html_item);
create aggregate view_html(item_view) (stype = "text/html", sfunc = html_view);
create aggregate any_html(anyelement) (stype = "text/html", sfunc = html_any);
create aggregate pair_html(pair) (stype = "text/html", sfunc = html_pair);
create aggregate two_html(item, int) (stype = "text/html", sfunc = html_two);
create aggregate second.all_of_item(item) (stype = second."*/*", sfunc = any_item);
create aggregate hidden.html(item) (stype = "text/html", sfunc = html_item);
create aggregate no_html(item) (stype = "no media", sfunc = other);
create function page() returns "text/html" language sql as $$ select '' $$;
create function pages() returns setof "text/html" language sql as $$ select '' $$;
`

func TestCatalogOfMediaHandlers(t *testing.T) {
	t.Parallel()
	db := storetest.NewEmpty(t)
	options := catalog.Options{Schemas: []string{"public", "second"}, ExtraSearchPath: []string{"extensions"}}
	if c := load(t, db.URL, options); c.HasHandlers || c.Handlers(nil) != nil || c.GeoJSON != (catalog.Name{}) {
		t.Errorf("an empty database has handlers: %v, %v, %v", c.HasHandlers, c.Handlers(nil), c.GeoJSON)
	}
	db.Exec(t, handlerSchema)
	c := load(t, db.URL, options)
	item, view := c.Relation(public("item")), c.Relation(public("item_view"))
	for _, test := range []struct {
		name     string
		relation *catalog.Relation
		want     []string
	}{
		{"of a table, the oldest first", item, []string{"public.first_html text/html", "public.later_html text/html", "second.all_of_item */*"}},
		{"of a view", view, []string{"public.view_html text/html"}},
		{"of any rows", nil, []string{"public.any_html text/html"}},
	} {
		var got []string
		for _, h := range c.Handlers(test.relation) {
			got = append(got, h.Name.String()+" "+h.MediaType())
			if h.Row != test.relation {
				t.Errorf("%s: the rows are of %v", h.Name, h.Row)
			}
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
			continue
		}
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
			}
		}
	}
	if got := c.Routines(public("page"))[0].MediaType(); got != "text/html" {
		t.Errorf("a function of a page gives %q", got)
	}
	if got := c.Routines(public("pages"))[0].MediaType(); got != "" {
		t.Errorf("a function of several pages gives %q", got)
	}
	if !c.HasHandlers {
		t.Error("the catalog does not say that it has handlers")
	}
}
