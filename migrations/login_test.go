package migrations_test

import (
	"net/url"
	"testing"

	"basalt/migrations"
	"basalt/store/storetest"
)

// A function that a request runs may say "reset role".
func TestTheUserOfRequestsHasNoPowerOfItsOwn(t *testing.T) {
	database := storetest.New(t)
	owner := connect(t, database.URL)
	up(t, owner)
	for range 2 {
		if err := migrations.RequestLogin(t.Context(), owner, "a-password_1"); err != nil {
			t.Fatal(err)
		}
	}
	address, err := url.Parse(database.URL)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(migrations.RequestUser, "a-password_1")
	conn := connect(t, address.String())
	for _, role := range []string{"anon", "authenticated", "service_role"} {
		run(t, conn, "set role "+role)
		run(t, conn, "reset role")
	}
	if one[bool](t, conn, `
select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls or rolreplication or rolinherit
from pg_roles
where rolname = current_user`) {
		t.Error("it has power of its own")
	}
	if err := conn.PgConn().Exec(t.Context(), "select from auth.users").Close(); err == nil {
		t.Error("it reads accounts")
	}
}
