package store_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"basalt/query/catalog"
	"basalt/store"
	"basalt/store/storetest"
)

func TestCatalogTellsRoutinesThatSetTheResponse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, sql string
		want      bool
	}{
		{"none", "", false},
		{"in the source", `create schema inner_api; create function inner_api.f() returns void language plpgsql as
			$$ begin perform set_config('response.status', '201', true); end $$`, true},
		{"in a standard body", `create function f() returns text begin atomic
			select set_config('response.headers', '[]', true); end`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := storetest.NewEmpty(t)
			db.Exec(t, test.sql)
			if got := load(t, db.URL, richOptions).SetsResponse; got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}

func TestCatalogHoldsTheRolesThatAuthenticatorMayBecome(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	role := storetestRole(t, db)
	db.Exec(t, fmt.Sprintf(`grant %[1]s to authenticator;
		alter role %[1]s set statement_timeout = '3s';
		alter role %[1]s set "my.setting" = 'a, b';
		alter role %[1]s set log_statement = 'all';
		alter role %[1]s set role = 'anon';
		alter role %[1]s in database %[2]s set statement_timeout = '2s'`, role, databaseName(t, db)))
	c := load(t, db.URL, richOptions)
	for _, name := range []string{"anon", "authenticated", "service_role"} {
		if c.Role(name) == nil {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"authenticator", "postgres", "pg_monitor", "nobody"} {
		if c.Role(name) != nil {
			t.Errorf("%s is there", name)
		}
	}
	got := c.Role(role)
	if got == nil {
		t.Fatal("the role is missing")
	}
	want := []catalog.Setting{{Name: "statement_timeout", Value: "2s"}, {Name: "my.setting", Value: "a, b"}}
	if !slices.Equal(got.Settings, want) {
		t.Errorf("settings %v, want %v", got.Settings, want)
	}
}

func TestRolesAreThoseThatAuthenticatorMayBecome(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	role := storetestRole(t, db)
	for _, step := range []struct {
		name, statement string
		want            bool
	}{
		{"a role of its own", "select", false},
		{"a member", "grant %s to authenticator", true},
		{"a superuser", "alter role %s superuser", false},
		{"none any more", "alter role %s nosuperuser", true},
		{"the membership is gone", "revoke %s from authenticator", false},
	} {
		db.Exec(t, strings.ReplaceAll(step.statement, "%s", role))
		if got := load(t, db.URL, store.CatalogOptions{Schemas: []string{"public"}}).Role(role) != nil; got != step.want {
			t.Errorf("%s: found is %t", step.name, got)
		}
	}
	if load(t, db.URL, store.CatalogOptions{Schemas: []string{"public"}}).Role("authenticator") != nil {
		t.Error("authenticator itself is among them")
	}
}

// storetestRole makes a role of the test's own; roles belong to the server, not to the database.
func storetestRole(t *testing.T, db *storetest.Database) string {
	t.Helper()
	name := databaseName(t, db) + "_role"
	db.Exec(t, "create role "+name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := db.Pool.Exec(ctx, "drop owned by "+name); err != nil {
			t.Errorf("drop what the role owns: %v", err)
		}
		if _, err := db.Pool.Exec(ctx, "drop role "+name); err != nil {
			t.Errorf("drop the role: %v", err)
		}
	})
	return name
}

func databaseName(t *testing.T, db *storetest.Database) (name string) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), "select current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestCatalogLoadsForAUserWithoutRights(t *testing.T) {
	t.Parallel()
	db := richDatabase(t)
	role := storetestRole(t, db)
	db.Exec(t, "alter role "+role+" login password 'secret'; revoke all on schema public, private, second from public, "+role)
	everything := load(t, db.URL, richOptions)
	as, err := url.Parse(db.URL)
	if err != nil {
		t.Fatal(err)
	}
	as.User = url.UserPassword(role, "secret")
	got := load(t, as.String(), richOptions)
	for _, schema := range richOptions.Schemas {
		if len(got.Relations(schema)) != len(everything.Relations(schema)) {
			t.Errorf("%s has %d relations, want %d", schema, len(got.Relations(schema)), len(everything.Relations(schema)))
		}
		if len(got.RoutinesOf(schema)) != len(everything.RoutinesOf(schema)) {
			t.Errorf("%s has %d routines, want %d", schema, len(got.RoutinesOf(schema)), len(everything.RoutinesOf(schema)))
		}
	}
	if got.Relation(public("people_view")).Insertable != true {
		t.Error("what can be written depends on who asks")
	}
	if got.Role("anon") == nil {
		t.Error("roles are missing")
	}
}

func TestAFailedLoadLeavesTheConnectionUsable(t *testing.T) {
	t.Parallel()
	conn := connect(t, storetest.NewEmpty(t).URL)
	ctx := t.Context()
	if _, err := conn.Exec(ctx, "begin; set local statement_timeout = 0; do $$ begin raise exception 'no'; end $$").ReadAll(); err == nil {
		t.Fatal("the preparation was meant to fail")
	}
	if _, err := store.LoadCatalog(ctx, conn, richOptions, 1); err == nil {
		t.Error("a load in a failed transaction succeeded")
	}
	if _, err := store.LoadCatalog(ctx, conn, richOptions, 1); err != nil {
		t.Errorf("the next load: %v", err)
	}
}
