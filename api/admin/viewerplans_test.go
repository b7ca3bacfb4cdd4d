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
