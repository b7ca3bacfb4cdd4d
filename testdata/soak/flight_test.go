//go:build linux

package soak_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/store/storetest"
)

const object = "Accept: application/vnd.pgrst.object+json"

const notesSchema = `
create table notes (
  id int primary key,
  owner uuid not null default auth.uid(),
  body text not null
);
alter table notes enable row level security;
create policy own on notes using (owner = (select auth.uid()));
`

func TestARequestCostsOneRoundTripToPostgreSQL(t *testing.T) {
	database := storetest.NewEmpty(t)
	proxy := startProxy(t, database.URL)
	s := serving{databaseURL: proxy.url, flags: []string{"--pool-size", "1"}}
	p := serve(t, s)
	database.Exec(t, notesSchema)
	k := readKeys(t, serving{databaseURL: database.URL})
	anon := newCaller(p.url(), k.anon, "")
	awaitTable(t, newCaller(p.url(), k.service, ""), "notes")
	ada, _ := anon.signUp(t, "ada@example.com")
	bob, _ := anon.signUp(t, "bob@example.com")

	const rounds = 20
	for _, c := range []struct {
		what    string
		request func(n int) // n is another one each time, below 60 within a kind
	}{
		{"an insert", func(n int) {
			ada.must(t, http.StatusCreated, "POST", "/rest/v1/notes", fmt.Sprintf(`{"id":%d,"body":"mine"}`, n))
		}},
		{"a read by primary key under row-level security", func(n int) {
			got := ada.must(t, http.StatusOK, "GET", fmt.Sprintf("/rest/v1/notes?select=id,body&id=eq.%d", n), "")
			if !strings.Contains(got.body, `"mine"`) {
				t.Fatalf("ada reads %s", got.body)
			}
		}},
		{"a read by users in turns", func(n int) {
			as, want := ada, `"mine"`
			if n%2 == 1 {
				as, want = bob, `[]`
			}
			got := as.must(t, http.StatusOK, "GET", fmt.Sprintf("/rest/v1/notes?select=id,body&id=eq.%d", n), "")
			if !strings.Contains(got.body, want) {
				t.Fatalf("%s instead of %s", got.body, want)
			}
		}},
		{"an update", func(n int) {
			ada.must(t, http.StatusNoContent, "PATCH", fmt.Sprintf("/rest/v1/notes?id=eq.%d", n), `{"body":"mine still"}`)
		}},
		{"an insert of one object that is given back", func(n int) {
			ada.must(t, http.StatusCreated, "POST", "/rest/v1/notes?select=*", fmt.Sprintf(`{"id":%d,"body":"mine"}`, 1000+n),
				object, "Prefer: return=representation")
		}},
		{"an upsert of one object that is given back", func(n int) {
			ada.must(t, http.StatusOK, "POST", "/rest/v1/notes?select=*", fmt.Sprintf(`{"id":%d,"body":"mine"}`, 1000+n),
				object, "Prefer: return=representation, resolution=merge-duplicates")
		}},
		{"a PUT", func(n int) {
			ada.must(t, http.StatusNoContent, "PUT", fmt.Sprintf("/rest/v1/notes?id=eq.%d", 1000+n), fmt.Sprintf(`{"id":%d,"body":"put"}`, 1000+n))
		}},
		{"an update by key that gives its row back", func(n int) {
			ada.must(t, http.StatusOK, "PATCH", fmt.Sprintf("/rest/v1/notes?id=eq.%d", 1000+n), `{"body":"mine still"}`, "Prefer: return=representation")
		}},
		{"an update of one object by any filter", func(n int) {
			ada.must(t, http.StatusOK, "PATCH", fmt.Sprintf("/rest/v1/notes?id=gte.%d&id=lt.%d", 1000+n, 1001+n), `{"body":"one"}`,
				object, "Prefer: return=representation")
		}},
		{"an update that finds no object", func(n int) {
			ada.must(t, http.StatusNotAcceptable, "PATCH", fmt.Sprintf("/rest/v1/notes?id=eq.%d", 5000+n), `{"body":"none"}`,
				object, "Prefer: return=representation")
		}},
		{"an update with a bound", func(n int) {
			ada.must(t, http.StatusNoContent, "PATCH", fmt.Sprintf("/rest/v1/notes?id=eq.%d", 1000+n), `{"body":"bounded"}`,
				"Prefer: handling=strict, max-affected=1")
		}},
		{"a delete by key that gives its row back", func(n int) {
			ada.must(t, http.StatusOK, "DELETE", fmt.Sprintf("/rest/v1/notes?id=eq.%d", 1000+n), "", object, "Prefer: return=representation")
		}},
		{"a batch of writes that gives no rows back", func(n int) {
			ada.must(t, http.StatusOK, "POST", "/rest/v1/", fmt.Sprintf(`[
				{"method":"POST","path":"/notes","body":{"id":%[1]d,"body":"more"}},
				{"method":"PATCH","path":"/notes?id=eq.%[1]d","body":{"body":"changed"}},
				{"method":"DELETE","path":"/notes?id=eq.%[1]d"}
			]`, 1000+n), "Content-Type: application/vnd.basalt.batch+json")
		}},
		{"a batch of reads", func(n int) {
			ada.must(t, http.StatusOK, "POST", "/rest/v1/", fmt.Sprintf(`[
				{"method":"GET","path":"/notes?select=id&id=eq.%[1]d"},
				{"method":"GET","path":"/notes?select=body&id=eq.%[1]d"}
			]`, n), "Content-Type: application/vnd.basalt.batch+json")
		}},
	} {
		n := 0
		// The first of a kind is prepared and looked at, and a change of the schema begins that anew: what is counted
		// is the cheapest of a few rounds.
		least := flights{}
		for range 3 {
			before := proxy.of("basalt")
			for range rounds {
				c.request(n)
				n++
			}
			after := proxy.of("basalt")
			cost := flights{after.out - before.out, after.home - before.home}
			if least.out == 0 || cost.out+cost.home < least.out+least.home {
				least = cost
			}
		}
		t.Logf("%s: %d flights out and %d home for %d requests", c.what, least.out, least.home, rounds)
		if least.out != rounds || least.home != rounds {
			t.Errorf("%s costs %+v flights for %d requests", c.what, least, rounds)
		}
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
}
