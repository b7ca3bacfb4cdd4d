package admin_test

import (
	"net/http"
	"testing"

	"basalt/auth/administrator"
)

func TestASigningKeyIsNotKeptWithoutItsRowInTheAuditLog(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, ``, administrator.Owner)
	count := func(what string) (n int) {
		t.Helper()
		if err := d.Database.Pool.QueryRow(t.Context(), `select count(*) from `+what).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	d.Database.Exec(t, `create function lost() returns trigger language plpgsql as $$ begin raise exception 'no room' using errcode = '53100'; end $$;
		create trigger lost before insert on basalt.administrator_audit for each row execute function lost()`)
	if answer := d.call(t, "POST", "/signing-keys", `{"algorithm":"ES256"}`); answer.Status < 500 {
		t.Errorf("a change without its row in the log is answered %d %s", answer.Status, answer.Body)
	}
	if n := count("basalt.signing_keys"); n != 0 {
		t.Errorf("%d keys were kept", n)
	}
	d.Database.Exec(t, `drop trigger lost on basalt.administrator_audit`)
	if answer := d.call(t, "POST", "/signing-keys", `{"algorithm":"ES256"}`); answer.Status != http.StatusOK {
		t.Errorf("a key is answered %d %s", answer.Status, answer.Body)
	}
	if keys, told := count("basalt.signing_keys"), count("basalt.administrator_audit where action = 'signing_key.add'"); keys != 1 || told != 1 {
		t.Errorf("%d keys and %d rows in the log, not one each", keys, told)
	}
	if answer := d.call(t, "POST", "/signing-keys", `{"algorithm":"ES256"}`); answer.Status != http.StatusConflict {
		t.Errorf("a second standby key is answered %d %s", answer.Status, answer.Body)
	}
}
