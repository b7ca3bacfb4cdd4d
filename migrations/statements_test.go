package migrations_test

import (
	"testing"

	"basalt/migrations"
	"basalt/store/storetest"
)

func TestStatementsAreCountedWhereTheLibraryIsLoadedAndTheAPIRolesDoNotSeeThem(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	up(t, conn)
	for range 2 {
		if err := migrations.CountStatements(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
	}
	loaded := one[bool](t, conn, `select current_setting('pg_stat_statements.max', true) is not null`)
	if made := one[bool](t, conn, `select exists (select from pg_extension where extname = 'pg_stat_statements')`); made != loaded {
		t.Fatalf("the library is loaded: %v, the extension made: %v", loaded, made)
	}
	if !loaded {
		t.Skip("this PostgreSQL does not load pg_stat_statements")
	}
	for _, role := range []string{"anon", "authenticated", "service_role"} {
		run(t, conn, "set role "+role)
		for _, sql := range []string{
			"table pg_stat_statements", "select from pg_stat_statements(true)", "table pg_stat_statements_info", "select pg_stat_statements_info()",
		} {
			if err := conn.PgConn().Exec(t.Context(), "set search_path = public, extensions; "+sql).Close(); err == nil {
				t.Errorf("%s may run: %s", role, sql)
			}
		}
		run(t, conn, "reset role")
	}
}

// What stands is left as it is: it may be where its owner wants it, and who reads it is theirs to say.
func TestCountingOfStatementsThatWasMadeBeforeIsLeftAlone(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	up(t, conn)
	if one[bool](t, conn, `select not exists (select from pg_available_extensions where name = 'pg_stat_statements')`) {
		t.Skip("this PostgreSQL has no pg_stat_statements")
	}
	run(t, conn, `create schema monitoring; create extension pg_stat_statements with schema monitoring`)
	if err := migrations.CountStatements(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	if !one[bool](t, conn, `select has_table_privilege('anon', 'monitoring.pg_stat_statements', 'select')`) {
		t.Error("it is not as it was")
	}
}
