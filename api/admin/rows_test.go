package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

// dashboard is a server with somebody who sits at its dashboard.
type dashboard struct {
	*apitest.Server
	headers []string
}

func openDashboard(t *testing.T, sql string, role administrator.Role) *dashboard {
	t.Helper()
	s := apitest.Start(t, sql, nil)
	return &dashboard{s, s.Administrator(t, role)}
}

func (d *dashboard) call(t *testing.T, method, path string, body any, headers ...string) *apitest.Answer {
	t.Helper()
	text := ""
	switch body := body.(type) {
	case nil:
	case string:
		text = body
	default:
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = string(encoded)
	}
	return d.Do(t, method, "/admin/api"+path, text, append(headers, d.headers...)...)
}

// rows changes rows and gives the answer, which must have a status.
func (d *dashboard) rows(t *testing.T, status int, table string, changes []admin.RowChange, headers ...string) (body admin.RowsBody, answer *apitest.Answer) {
	t.Helper()
	answer = d.call(t, "POST", "/rows/"+table, admin.RowChangesBody{Changes: changes}, headers...)
	if answer.Status != status {
		t.Fatalf("rows of %s: %d, want %d: %s", table, answer.Status, status, answer.Body)
	}
	if status == http.StatusOK {
		answer.JSON(t, &body)
	}
	return body, answer
}

func text(s string) *string { return &s }

// values makes a set of columns; the value "\x00" is NULL.
func values(pairs ...string) map[string]*string {
	set := map[string]*string{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "\x00" {
			set[pairs[i]] = nil
		} else {
			set[pairs[i]] = text(pairs[i+1])
		}
	}
	return set
}

// named gives a row by its columns, NULL as "\x00".
func named(b admin.RowsBody, row int) map[string]string {
	found := map[string]string{}
	for i, column := range b.Columns {
		found[column] = "\x00"
		if value := b.Rows[row][i]; value != nil {
			found[column] = *value
		}
	}
	return found
}

func TestValuesComeAndGoExactly(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table exact (id int primary key, v text)`, administrator.Editor)
	for _, test := range []struct{ typeName, value, shown string }{
		{"bigint", "9223372036854775807", ""},
		{"bigint", "-9223372036854775808", ""},
		{"numeric", "1234567890123456789012345678901234567890.0000000001", ""},
		{"numeric", "NaN", ""},
		{"numeric", "1.50", ""},
		{"double precision", "NaN", ""},
		{"double precision", "-Infinity", ""},
		{"double precision", "0.1", ""},
		{"timestamptz", "infinity", ""},
		{"timestamptz", "2024-02-29 23:59:59.123456+00", ""},
		{"date", "-infinity", ""},
		{"bytea", `\x00ff10`, ""},
		{"json", `{ "b":1,   "a" : [1,2] , "b":2}`, ""},
		{"jsonb", `{ "b":1,"a":2}`, `{"a": 2, "b": 1}`},
		{"text[]", `{"a \"quoted\" one",NULL,"","{,}"}`, ""},
		{"int[]", `[2:3]={1,2}`, ""},
		{"boolean", "true", "t"},
		{"inet", "10.1.2.3", ""},
		{"char(5)", "ab", "ab   "},
		{"interval", "1 year 2 mons -3 days", ""},
		{"int4range", "[1,5)", ""},
		{"point", "(1.5,2)", ""},
		{"xml", "<a>1</a>", ""},
		{`"char"`, "x", ""},
		{"text", "", ""},
		{"text", "línea\nдва\t\"three\" '四' \\", ""},
	} {
		t.Run(test.typeName+" "+test.value, func(t *testing.T) {
			shown := test.shown
			if shown == "" {
				shown = test.value
			}
			d.Database.Exec(t, `drop table exact; create table exact (id int primary key, v `+test.typeName+`)`)
			added, _ := d.rows(t, http.StatusOK, "public/exact", []admin.RowChange{{Op: "insert", Set: values("id", "1", "v", test.value)}})
			if got := named(added, 0)["v"]; got != shown {
				t.Errorf("inserted %q, shown %q", test.value, got)
			}
			// The text that was shown is as good a value as the one that was typed.
			cleared, _ := d.rows(t, http.StatusOK, "public/exact", []admin.RowChange{{
				Op: "update", Key: values("id", "1"), Set: values("v", "\x00"), Was: values("v", shown),
			}})
			if got := named(cleared, 0)["v"]; got != "\x00" {
				t.Errorf("set to NULL, shown %q", got)
			}
			undone, _ := d.rows(t, http.StatusOK, "public/exact", cleared.Undo)
			if got := named(undone, 0)["v"]; got != shown {
				t.Errorf("undone to %q, want %q", got, shown)
			}
			gone, _ := d.rows(t, http.StatusOK, "public/exact", []admin.RowChange{{Op: "delete", Key: values("id", "1")}})
			back, _ := d.rows(t, http.StatusOK, "public/exact", gone.Undo)
			if got := named(back, 0)["v"]; got != shown {
				t.Errorf("brought back as %q, want %q", got, shown)
			}
		})
	}
}

func TestTwoEditorsOfARowSeeEachOther(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table cities (id int primary key, name text, people int);
		insert into cities values (1, 'Oslo', 700), (2, 'Bergen', 280)`, administrator.Editor)
	d.Database.Exec(t, `update cities set people = 710 where id = 1`)
	_, answer := d.rows(t, http.StatusConflict, "public/cities", []admin.RowChange{
		{Op: "update", Key: values("id", "2"), Set: values("name", "Bjørgvin"), Was: values("name", "Bergen")},
		{Op: "update", Key: values("id", "1"), Set: values("people", "999"), Was: values("people", "700")},
		{Op: "delete", Key: values("id", "3")},
	})
	var body admin.ConflictsBody
	answer.JSON(t, &body)
	if body.Code != "conflict" || len(body.Conflicts) != 2 || body.Conflicts[0].Index != 1 || *body.Conflicts[0].Theirs["people"] != "710" ||
		body.Conflicts[1].Index != 2 || body.Conflicts[1].Theirs != nil {
		t.Errorf("the conflicts are %s", answer.Body)
	}
	// A change of another column does not stand in the way, and what conflicts has undone what did not.
	saved, _ := d.rows(t, http.StatusOK, "public/cities", []admin.RowChange{
		{Op: "update", Key: values("id", "1"), Set: values("name", "Christiania"), Was: values("name", "Oslo")},
	})
	if row := named(saved, 0); row["name"] != "Christiania" || row["people"] != "710" {
		t.Errorf("saved %v", row)
	}
	d.Database.Exec(t, `update cities set name = 'Kristiania' where id = 1`)
	_, answer = d.rows(t, http.StatusConflict, "public/cities", saved.Undo)
	if !strings.Contains(answer.Body, "Kristiania") {
		t.Errorf("an undo over a later change is answered %s", answer.Body)
	}
}

func TestRelationsOfAllKinds(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create schema "Ünï code";
		create table "Ünï code"."my ""table""" ("a b" int primary key, "ключ'" text);
		create table keyless (a int, b text);
		insert into keyless values (1, 'x'), (2, 'y'), (2, 'y');
		create table made (id int generated always as identity primary key, n int, twice int generated always as (n * 2) stored);
		create table parts (id int, at date, primary key (id, at)) partition by range (at);
		create table parts_2024 partition of parts for values from ('2024-01-01') to ('2025-01-01');
		create table parts_2025 partition of parts for values from ('2025-01-01') to ('2026-01-01');
		create view few as select a, b from keyless where a < 5;
		create function grumble() returns trigger language plpgsql as $$
		begin
			if new.n < 0 then raise exception 'n must not be negative' using hint = 'use zero', column = 'n', errcode = '23514'; end if;
			return new;
		end $$;
		create trigger grumble before insert or update on made for each row execute function grumble();
		create function quiet() returns trigger language plpgsql as $$ begin return null; end $$;
		create table still (id int primary key, n int); insert into still values (1, 1);
		create trigger quiet before update on still for each row execute function quiet()`, administrator.Editor)
	t.Run("names with quotes, spaces and other letters", func(t *testing.T) {
		path := "%C3%9Cn%C3%AF%20code/my%20%22table%22"
		added, _ := d.rows(t, http.StatusOK, path, []admin.RowChange{{Op: "insert", Set: values("a b", "1", "ключ'", `'; drop table x; --`)}})
		changed, _ := d.rows(t, http.StatusOK, path, []admin.RowChange{{Op: "update", Key: values("a b", "1"), Set: values("a b", "2"), Was: values("ключ'", `'; drop table x; --`)}})
		if named(added, 0)["ключ'"] != `'; drop table x; --` || named(changed, 0)["a b"] != "2" || *changed.Undo[0].Key["a b"] != "2" {
			t.Errorf("added %v, changed %v", added, changed)
		}
	})
	t.Run("a table without a key: a row that is like no other", func(t *testing.T) {
		changed, _ := d.rows(t, http.StatusOK, "public/keyless", []admin.RowChange{{Op: "update", Key: values("a", "1", "b", "x"), Set: values("b", "z")}})
		d.rows(t, http.StatusOK, "public/keyless", changed.Undo)
		_, answer := d.rows(t, http.StatusConflict, "public/keyless", []admin.RowChange{{Op: "delete", Key: values("a", "2", "b", "y")}})
		if !strings.Contains(answer.Body, "ambiguous_key") || !strings.Contains(answer.Body, "primary key") {
			t.Errorf("two equal rows: %s", answer.Body)
		}
	})
	t.Run("a view that can be updated", func(t *testing.T) {
		changed, _ := d.rows(t, http.StatusOK, "public/few", []admin.RowChange{{Op: "update", Key: values("a", "1"), Set: values("b", "via")}})
		if named(changed, 0)["b"] != "via" {
			t.Errorf("changed %v", changed)
		}
	})
	t.Run("identity and generated columns", func(t *testing.T) {
		added, _ := d.rows(t, http.StatusOK, "public/made", []admin.RowChange{{Op: "insert", Set: values("n", "21")}})
		if row := named(added, 0); row["id"] != "1" || row["twice"] != "42" {
			t.Errorf("added %v", row)
		}
		gone, _ := d.rows(t, http.StatusOK, "public/made", []admin.RowChange{{Op: "delete", Key: values("id", "1"), Was: values("n", "21")}})
		back, _ := d.rows(t, http.StatusOK, "public/made", gone.Undo)
		if row := named(back, 0); row["id"] != "1" || row["twice"] != "42" {
			t.Errorf("brought back %v", row)
		}
		_, answer := d.rows(t, http.StatusBadRequest, "public/made", []admin.RowChange{{Op: "insert", Set: values("twice", "1")}})
		if !strings.Contains(answer.Body, "428C9") {
			t.Errorf("a value for a generated column: %s", answer.Body)
		}
	})
	t.Run("a partitioned table, across its partitions", func(t *testing.T) {
		d.rows(t, http.StatusOK, "public/parts", []admin.RowChange{{Op: "insert", Set: values("id", "1", "at", "2024-06-01")}})
		moved, _ := d.rows(t, http.StatusOK, "public/parts", []admin.RowChange{{
			Op: "update", Key: values("id", "1", "at", "2024-06-01"), Set: values("at", "2025-06-01"), Was: values("at", "2024-06-01"),
		}})
		d.rows(t, http.StatusOK, "public/parts", moved.Undo)
	})
	t.Run("a trigger that raises an error", func(t *testing.T) {
		_, answer := d.rows(t, http.StatusBadRequest, "public/made", []admin.RowChange{{Op: "insert", Set: values("n", "1")}, {Op: "insert", Set: values("n", "-1")}})
		var body admin.ErrorBody
		answer.JSON(t, &body)
		if body.Code != "23514" || body.Message != "n must not be negative" || body.Hint != "use zero" || body.Column != "n" || body.Index == nil || *body.Index != 1 {
			t.Errorf("answered %s", answer.Body)
		}
	})
	t.Run("a trigger that drops a change", func(t *testing.T) {
		_, answer := d.rows(t, http.StatusForbidden, "public/still", []admin.RowChange{{Op: "update", Key: values("id", "1"), Set: values("n", "2"), Was: values("n", "1")}})
		if !strings.Contains(answer.Body, "not_changed") {
			t.Errorf("answered %s", answer.Body)
		}
	})
	for name, test := range map[string]struct {
		table  string
		change admin.RowChange
		status int
		code   string
	}{
		"a NUL character":              {"public/keyless", admin.RowChange{Op: "insert", Set: map[string]*string{"b": text("a\x00b")}}, 400, "22021"},
		"a value that is none":         {"public/keyless", admin.RowChange{Op: "insert", Set: values("a", "one")}, 400, "22P02"},
		"an unknown column":            {"public/keyless", admin.RowChange{Op: "insert", Set: values("c", "1")}, 400, "42703"},
		"an unknown table":             {"public/none", admin.RowChange{Op: "insert"}, 404, "42P01"},
		"a table of the system":        {"basalt/administrators", admin.RowChange{Op: "delete", Key: values("role", "owner")}, 404, "42P01"},
		"an unknown change":            {"public/keyless", admin.RowChange{Op: "merge"}, 400, "bad_changes"},
		"an update without a key":      {"public/keyless", admin.RowChange{Op: "update", Set: values("a", "1")}, 400, "bad_changes"},
		"an update that sets nothing":  {"public/keyless", admin.RowChange{Op: "update", Key: values("a", "1")}, 400, "bad_changes"},
		"a twin of a primary key":      {"public/still", admin.RowChange{Op: "insert", Set: values("id", "1")}, 409, "23505"},
		"a key that is no value of it": {"public/still", admin.RowChange{Op: "delete", Key: values("id", "x")}, 400, "22P02"},
	} {
		t.Run(name, func(t *testing.T) {
			_, answer := d.rows(t, test.status, test.table, []admin.RowChange{test.change})
			if !strings.Contains(answer.Body, `"`+test.code+`"`) {
				t.Errorf("answered %s", answer.Body)
			}
		})
	}
}

func TestRowsAreChangedAsWhoIsViewedAs(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table notes (id int primary key, owner uuid default auth.uid(), body text);
		alter table notes enable row level security;
		create policy own on notes to authenticated using (owner = auth.uid()) with check (owner = auth.uid());
		grant all on notes to anon, authenticated`, administrator.Editor)
	_, ada := d.SignUp(t, "ada@example.com")
	_, bob := d.SignUp(t, "bob@example.com")
	as := func(user string) string { return "X-View-As-User: " + user }
	added, _ := d.rows(t, http.StatusOK, "public/notes", []admin.RowChange{{Op: "insert", Set: values("id", "1", "body", "of Ada")}}, as(ada))
	if named(added, 0)["owner"] != ada {
		t.Errorf("the owner is %v", named(added, 0))
	}
	_, answer := d.rows(t, http.StatusConflict, "public/notes", []admin.RowChange{{Op: "update", Key: values("id", "1"), Set: values("body", "of Bob")}}, as(bob))
	if strings.Contains(answer.Body, "of Ada") {
		t.Errorf("Bob is shown Ada's row: %s", answer.Body)
	}
	_, answer = d.rows(t, http.StatusForbidden, "public/notes", []admin.RowChange{{Op: "insert", Set: values("id", "2", "owner", ada)}}, as(bob))
	if !strings.Contains(answer.Body, `"42501"`) {
		t.Errorf("a policy refuses by %s", answer.Body)
	}
	d.rows(t, http.StatusForbidden, "public/notes", []admin.RowChange{{Op: "insert", Set: values("id", "2")}}, "X-View-As-Role: anon")
	d.rows(t, http.StatusOK, "public/notes", []admin.RowChange{{Op: "update", Key: values("id", "1"), Set: values("body", "by the owner")}})
	for header, status := range map[string]int{
		"X-View-As-Role: none": 400, "X-View-As-Role: no_such_role": 400, "X-View-As-User: x": 400,
		"X-View-As-User: 00000000-0000-0000-0000-000000000001": 404,
	} {
		d.rows(t, status, "public/notes", []admin.RowChange{{Op: "insert", Set: values("id", "9")}}, header)
	}
	var entries int
	err := d.Database.Pool.QueryRow(t.Context(), `select count(*) from basalt.administrator_audit where action = 'rows.change' and target = 'public.notes'`).Scan(&entries)
	if err != nil || entries != 2 {
		t.Errorf("%d changes of two are in the audit log, %v", entries, err)
	}
}

func TestManyRowsAreChangedTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table many (id int primary key)`, administrator.Editor)
	changes := make([]admin.RowChange, 1000)
	for i := range changes {
		changes[i] = admin.RowChange{Op: "insert", Set: values("id", fmt.Sprint(i))}
	}
	changes[999].Set = values("id", "1")
	d.rows(t, http.StatusConflict, "public/many", changes)
	changes[999].Set = values("id", "999")
	saved, _ := d.rows(t, http.StatusOK, "public/many", changes)
	d.rows(t, http.StatusOK, "public/many", saved.Undo)
	d.rows(t, http.StatusBadRequest, "public/many", append(changes, changes[0]))
	var left int
	if err := d.Database.Pool.QueryRow(t.Context(), `select count(*) from many`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d rows are left, %v", left, err)
	}
}
