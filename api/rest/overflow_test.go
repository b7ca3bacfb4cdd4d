package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// TestAnAnswerTooLargeToHoldUndoesItsWrite: what is refused must not have been written.
func TestAnAnswerTooLargeToHoldUndoesItsWrite(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create table item (id int primary key, body text not null);
		insert into item select g, repeat('x', 200) from generate_series(1, 2000) g;
		grant all on item to service_role;
		create function renew() returns setof item language sql volatile as $$
		  update item set body = repeat('z', 200) returning *
		$$;`,
		func(settings *api.Settings) { settings.AnswerMemory = 64 << 10 })
	for title, request := range map[string][3]string{
		"update": {"PATCH", "/rest/v1/item?id=gt.0", `{"body":"` + strings.Repeat("y", 200) + `"}`},
		"delete": {"DELETE", "/rest/v1/item?id=gt.0", ""},
		"call":   {"POST", "/rest/v1/rpc/renew", "{}"},
		"upsert": {"POST", "/rest/v1/item?on_conflict=id", upserts(2000)},
	} {
		t.Run(title, func(t *testing.T) {
			answer := s.Do(t, request[0], request[1], request[2], s.Service(), "Prefer: return=representation,resolution=merge-duplicates")
			if answer.Status != http.StatusRequestEntityTooLarge || !strings.Contains(answer.Body, `"54000"`) {
				t.Fatalf("answer %d %.200s", answer.Status, answer.Body)
			}
			var untouched int
			if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from item where body = repeat('x', 200)`).Scan(&untouched); err != nil {
				t.Fatal(err)
			}
			if untouched != 2000 {
				t.Errorf("%d rows are as they were, want all 2000", untouched)
			}
		})
	}
	// One row is never refused: its commit rides in the same flight.
	one := "Accept: application/vnd.pgrst.object+json"
	large := `{"body":"` + strings.Repeat("y", 100<<10) + `"}`
	for path, headers := range map[string][]string{
		"item?id=eq.1":                   {"Prefer: return=representation"},
		"item?id=gte.2&id=lt.3":          {"Prefer: return=representation", one},
		"item?id=eq.3&select=id,body,id": {"Prefer: return=representation", one},
	} {
		answer := s.Do(t, "PATCH", "/rest/v1/"+path, large, append(headers, s.Service())...)
		if answer.Status != http.StatusOK || len(answer.Body) < 100<<10 {
			t.Errorf("%s: %d %.200s", path, answer.Status, answer.Body)
		}
	}
	if answer := s.Do(t, "PATCH", "/rest/v1/item?id=gt.0", `{"body":"y"}`, s.Service()); answer.Status != http.StatusNoContent {
		t.Errorf("without representation: %d %.200s", answer.Status, answer.Body)
	}
}

// Nothing of an answer to HEAD leaves before its end, so that an error far behind is told.
func TestHeadTellsOfErrorsThatComeLate(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create table item (id int primary key, body text not null);
		insert into item select g, repeat('x', 4000) from generate_series(1, 700) g;
		create function divided(item) returns int language sql stable as $$ select 1 / (600 - $1.id) $$;`+open, nil)
	run(t, s, []exchange{
		{name: "all rows are there", method: "HEAD", path: "item?select=id,body&order=id", status: 200, header: []string{"Content-Range: */*"}},
		{name: "with their total", method: "HEAD", path: "item?select=id,body&order=id", headers: []string{"Prefer: count=exact"}, status: 200, header: []string{"Content-Range: 0-699/700"}},
		{name: "one cannot be made", method: "HEAD", path: "item?select=id,body,divided&order=id", status: 400},
		{name: "one line cannot be made", method: "HEAD", path: "item?select=id,body,divided&order=id", headers: []string{"Accept: application/x-ndjson"}, status: 400},
		{name: "the one that cannot be made is not asked for", method: "HEAD", path: "item?select=id,body,divided&order=id&id=lt.600", status: 200},
	})
}

// upserts is a body of n rows that replace those with the ids from 1.
func upserts(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"body":"%s"}`, i+1, strings.Repeat("y", 200))
	}
	b.WriteByte(']')
	return b.String()
}
