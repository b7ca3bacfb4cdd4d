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
