package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/auth/administrator"
)

func TestAllRowsOfAQueryAreAFile(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, restSchema+`; create table "Ödland"."a/b %41,""c""" (id int); insert into "Ödland"."a/b %41,""c""" values (7)`, administrator.Editor)
	odd := "/export/" + url.PathEscape("Ödland") + "/" + url.PathEscape(`a/b %41,"c"`)
	for _, test := range []struct {
		name, path  string
		status      int
		want        string
		disposition string
	}{
		{"CSV", "/export/shop/orders?format=csv&query=" + url.QueryEscape("order=id.desc&select=id"), 200, "id\n9223372036854775807\n2", "attachment; filename=orders.csv"},
		{"NDJSON under a filter", "/export/shop/orders?format=ndjson&query=" + url.QueryEscape("id=eq.2&select=id"), 200, "{\"id\":2}\n", "attachment; filename=orders.ndjson"},
		{"as anon", "/export/public/notes?format=json&role=anon&query=", 200, "[]", "attachment; filename=notes.json"},
		{"names that must be quoted", odd + "?format=json&query=", 200, `[{"id":7}]`, `attachment; filename="a/b %41,\"c\".json"`},
		{"an unknown format", "/export/shop/orders?format=xml", 400, "bad_format", ""},
		{"a filter that is refused is no file", "/export/shop/orders?format=csv&query=" + url.QueryEscape("id=eq.x"), 400, "22P02", ""},
		{"a table that is not there", "/export/shop/nothing?format=csv&query=", 404, "nothing", ""},
		{"a function is no table", "/export/public/rpc%2Fis_superuser?format=json&query=", 404, "42P01", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := d.call(t, "GET", test.path, nil)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
			if got := answer.Header.Get("Content-Disposition"); got != test.disposition {
				t.Errorf("Content-Disposition: %s", got)
			}
		})
	}
}

func TestRowsOfATableOfAnyNameAreChanged(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create schema "Öd/100%"; create table "Öd/100%"."a/b %41" (id int primary key)`, administrator.Editor)
	value := "7"
	d.rows(t, http.StatusOK, url.PathEscape("Öd/100%")+"/"+url.PathEscape("a/b %41"), []admin.RowChange{{Op: "insert", Set: map[string]*string{"id": &value}}})
}

func TestASchemaIsNamedByItsOwnHeader(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, restSchema, administrator.Editor)
	answer := d.call(t, "POST", "/rest/my%20table", `{"a b":1}`, "X-Schema: %C3%96dland", "Prefer: return=representation")
	if answer.Status != http.StatusCreated || answer.Body != `[{"a b":1}]` {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}

func TestRungsOfATable(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table places (id bigint primary key, mine bool);
		insert into places select i * 2, i <= 250 from generate_series(1, 1000) i;
		alter table places enable row level security;
		create policy mine on places using (mine);
		grant select on places to anon;
		create table pairs (a int, b int, primary key (a, b))`, administrator.Editor)
	for _, test := range []struct {
		name, path string
		headers    []string
		status     int
		want       string
	}{
		{"from the least key on", "/rungs/public/places?step=400", nil, 200, `{"step":400,"keys":["800","1600"]}`},
		{"from the greatest", "/rungs/public/places?step=400&descending=true", nil, 200, `{"step":400,"keys":["1202","402"]}`},
		{"of the rows that a role sees", "/rungs/public/places?step=100", []string{"X-View-As-Role: anon"}, 200, `{"step":100,"keys":["200","400"]}`},
		{"a key of two columns", "/rungs/public/pairs?step=100", nil, 400, "no_key"},
		{"no step", "/rungs/public/places", nil, 400, "bad_step"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := d.call(t, "GET", test.path, nil, test.headers...)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
}
