package admin_test

import (
	"strings"
	"testing"

	"basalt/auth/administrator"
)

func TestPlansOfViewersTellNoValues(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table readers (id int primary key, name text);
		insert into readers select i, i::text from generate_series(1, 100) i;
		analyze readers;
		create schema hidden;
		create table hidden.vault (secret text);
		insert into hidden.vault values ('a-value-to-hide')`, administrator.Viewer)
	for _, sql := range []string{
		`select * from readers where id = table_to_xml('hidden.vault'::regclass, true, false, '')::text::int`,
		`select * from readers where id = (table_to_xml('hidden.vault'::regclass, true, false, '')::text)::regclass::oid::int`,
	} {
		answer := d.call(t, "POST", "/sql", map[string]any{"id": "7c6f2f3a-0000-4000-8000-000000000001", "sql": sql, "explain": "plan"})
		if strings.Contains(answer.Body, "a-value-to-hide") {
			t.Errorf("%s: %d %s", sql, answer.Status, answer.Body)
		}
	}
	answer := d.call(t, "POST", "/sql", map[string]any{"id": "7c6f2f3a-0000-4000-8000-000000000001", "sql": "select nothing from readers", "explain": "plan"})
	if !strings.Contains(answer.Body, `column \"nothing\" does not exist`) {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}

// A function that is not volatile is carried out while its call is planned. One that carries out its argument must not lead
// out of the role: the session is the owner's.
func TestPlansOfViewersAreMadeWithNoWayBackToTheOwner(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table readers (id int primary key, name text);
		create schema hidden;
		create table hidden.vault (secret text);
		insert into hidden.vault values ('a-value-to-hide');
		create function answer_of(query text) returns text language plpgsql immutable as $$
		declare
		  answer text;
		begin
		  execute query into answer;
		  return answer;
		end
		$$`, administrator.Viewer)
	plan := func(sql string) string {
		return d.call(t, "POST", "/sql", map[string]any{"id": "7c6f2f3a-0000-4000-8000-000000000002", "sql": sql, "explain": "plan"}).Body
	}
	for _, leaving := range []string{
		`select set_config('role', 'none', false)`,
		`select set_config('role', session_user, true)`,
		`select set_config('session_authorization', session_user, false)`,
	} {
		answer := plan(`select answer_of($q$` + leaving + `$q$), answer_of('select secret from hidden.vault')`)
		if strings.Contains(answer, "a-value-to-hide") || !strings.Contains(answer, `within security-definer function`) {
			t.Errorf("%s: %s", leaving, answer)
		}
	}
	for _, sql := range []string{
		`select answer_of('select set_config(''transaction_read_only'', ''off'', false)')`,
		`select answer_of('insert into readers values (1) returning id')`,
	} {
		if answer := plan(sql); strings.Contains(answer, `"plan"`) {
			t.Errorf("%s: %s", sql, answer)
		}
	}
	if answer := plan(`select answer_of('select current_user')`); !strings.Contains(answer, `'service_role'::text`) {
		t.Errorf("who plans: %s", answer)
	}
}

func TestErrorsOfViewersPlansAreThoseOfTheirStatements(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table readers (id int primary key, name text);
		create function broken() returns int language plpgsql immutable as $$ begin raise notice 'it breaks'; return 1 / 0; end $$`, administrator.Viewer)
	for sql, wanted := range map[string]string{
		`select 1; select nothing from readers`: `"error":{"code":"42703","message":"column \"nothing\" does not exist","details":"","hint":"","position":18}`,
		`selec 1`:                               `"error":{"code":"42601","message":"syntax error at or near \"selec\"","details":"","hint":"","position":1}`,
		`select lo_export(1, 'x')`:              `"error":{"code":"42501","message":"permission denied for function lo_export","details":"","hint":""}`,
		`select $1::int`:                        `"error":{"code":"42P02","message":"there is no parameter $1","details":"","hint":"","position":8}`,
		`select broken()`:                       `"where":"SQL expression \"1 / 0\"\nPL/pgSQL function broken() line 1 at RETURN"}`,
		`select  broken()`:                      `"message":"it breaks"`,
		`select 'it''s\'`:                       `"Output":["'it''s\\'::text"]`,
		`select 1 from readers -- to the end`:   `"Relation Name":"readers"`,
	} {
		answer := d.call(t, "POST", "/sql", map[string]any{"id": "7c6f2f3a-0000-4000-8000-000000000003", "sql": sql, "explain": "plan"})
		if !strings.Contains(answer.Body, wanted) {
			t.Errorf("%s: %s", sql, answer.Body)
		}
	}
}
