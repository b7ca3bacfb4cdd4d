package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/auth/administrator"
)

func (d *dashboard) queries(t *testing.T) (body admin.QueriesBody) {
	t.Helper()
	d.call(t, "GET", "/queries", nil).JSON(t, &body)
	return body
}

func TestEachAdministratorKeepsTheirOwnQueries(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Editor)
	other := &dashboard{d.Server, d.Administrator(t, administrator.Viewer)}
	var saved admin.SavedQueryBody
	d.call(t, "POST", "/queries", admin.SaveQueryBody{Name: text("all ünï"), SQL: text("select 1")}).JSON(t, &saved)
	if answer := other.call(t, "PATCH", "/queries/"+saved.ID.String(), admin.SaveQueryBody{Name: text("mine")}); answer.Status != http.StatusNotFound {
		t.Errorf("another's query is changed: %d", answer.Status)
	}
	if answer := other.call(t, "DELETE", "/queries/"+saved.ID.String(), nil); answer.Status != http.StatusNotFound || len(other.queries(t).Saved) != 0 {
		t.Errorf("another's query is deleted: %d", answer.Status)
	}
	d.call(t, "PATCH", "/queries/"+saved.ID.String(), admin.SaveQueryBody{SQL: text("select 2")})
	if kept := d.queries(t).Saved; len(kept) != 1 || kept[0].SQL != "select 2" || kept[0].Name != "all ünï" {
		t.Errorf("kept %+v", kept)
	}
	if answer := d.call(t, "POST", "/queries", admin.SaveQueryBody{Name: text(" "), SQL: text("x")}); answer.Status != http.StatusBadRequest {
		t.Errorf("a query without a name: %d", answer.Status)
	}
	d.Database.Exec(t, `insert into basalt.saved_queries (id, administrator_id, name, sql)
		select gen_random_uuid(), administrator_id, 'n', '' from basalt.saved_queries, generate_series(1, 499)`)
	if answer := d.call(t, "POST", "/queries", admin.SaveQueryBody{Name: text("x"), SQL: text("x")}); answer.Status != http.StatusConflict {
		t.Errorf("one query too many: %d", answer.Status)
	}
	if answer := d.call(t, "DELETE", "/queries/"+saved.ID.String(), nil); answer.Status != http.StatusNoContent {
		t.Errorf("delete: %d", answer.Status)
	}
}

func TestWhatWasRunIsRemembered(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Editor)
	d.run(t, admin.SQLBody{SQL: "select 1"})
	d.run(t, admin.SQLBody{SQL: "select nothing", Role: "anon"})
	role := passingRole()
	d.run(t, admin.SQLBody{SQL: "begin; create role " + role + " with password 'very secret'; rollback"})
	past := d.queries(t).History
	if len(past) != 2 || past[1].SQL != "select 1" || past[1].Failure != "" || past[0].Role != "anon" || !strings.Contains(past[0].Failure, "nothing") {
		t.Errorf("remembered %+v", past)
	}
	d.Database.Exec(t, `insert into basalt.query_history (administrator_id, sql, duration_ms)
		select distinct h.administrator_id, 'old', 1 from basalt.query_history h;
		insert into basalt.query_history (administrator_id, sql, duration_ms)
		select h.administrator_id, 'old', 1 from (select administrator_id from basalt.query_history limit 1) h, generate_series(1, 600)`)
	d.run(t, admin.SQLBody{SQL: "select 3"})
	var kept int
	if err := d.Database.Pool.QueryRow(t.Context(), `select count(*) from basalt.query_history`).Scan(&kept); err != nil || kept != 500 {
		t.Errorf("%d are kept, %v", kept, err)
	}
	d.call(t, "DELETE", "/queries/history", nil)
	if past := d.queries(t).History; len(past) != 0 {
		t.Errorf("after it was cleared there are %d", len(past))
	}
}
