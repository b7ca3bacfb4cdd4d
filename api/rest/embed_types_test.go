package rest_test

import (
	"encoding/json"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// TestEveryTypeIsTheSameInRowsEmbedsAndSpreads holds the ways that a value can take into an answer to each other: what
// one of them shows of a row, all of them show.
func TestEveryTypeIsTheSameInRowsEmbedsAndSpreads(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, workshop+paintbox+`
insert into kinds (id) values (2);
insert into kinds (id, f, a, c, ca, j, raw, i, o) values (3, -0.1, '{}', row (null, ''), '{}', 'null', '[ ]', '-1 mon', '');
create table holder (id int primary key, kind int references kinds);
insert into holder select g, g from generate_series(1, 3) g;
create function every(holder) returns setof kinds language sql stable as 'select * from kinds order by id';
create function tag(kinds) returns color language sql stable as 'select 255::int::color';
`+open, func(s *api.Settings) { s.RestAggregates = true })
	zone := "Prefer: timezone=UTC"
	read := func(path string, into any) {
		t.Helper()
		answer := s.Do(t, "GET", "/rest/v1/"+path, "", zone)
		if answer.Status != 200 {
			t.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
		}
		answer.JSON(t, into)
	}
	var rows []map[string]any
	read("kinds?select=*,tag&order=id", &rows)
	want, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	same := func(name string, got []map[string]any) {
		t.Helper()
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != string(want) {
			t.Errorf("%s:\n%s\nrows:\n%s", name, text, want)
		}
	}

	var many []struct{ Every []map[string]any }
	read("holder?select=every(*,tag)&id=eq.1&every.order=id", &many)
	same("an embed to many", many[0].Every)

	var one []struct{ Kinds map[string]any }
	read("holder?select=kinds(*,tag)&order=id", &one)
	var collected []map[string]any
	for _, o := range one {
		collected = append(collected, o.Kinds)
	}
	same("an embed to one", collected)

	collected = nil
	read("holder?select=...kinds(*,tag)&order=id", &collected)
	same("a spread to one", collected)

	var lists []map[string][]any
	read("holder?select=...every(*,tag)&id=eq.1&every.order=id", &lists)
	collected = make([]map[string]any, 3)
	for i := range collected {
		collected[i] = map[string]any{}
		for key, list := range lists[0] {
			if len(list) != 3 {
				t.Fatalf("%s has %d elements", key, len(list))
			}
			collected[i][key] = list[i]
		}
	}
	same("a spread to many", collected)

	one, collected = nil, nil
	read("holder?select=id,kinds(*,tag),count()&order=id", &one)
	for _, o := range one {
		collected = append(collected, o.Kinds)
	}
	same("an embed that groups are made by", collected)
}
