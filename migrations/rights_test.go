package migrations_test

import (
	"testing"

	"basalt/store/storetest"
)

func TestTheRolesOfTheAPIReachNothingThatTheServerKeepsForItself(t *testing.T) {
	t.Parallel()
	storetest.New(t) // with the roles, which all databases of a server share
	for name, test := range map[string]struct{ defaults, tables string }{
		"where nothing is granted by default": {``, `true`},
		"where an owner grants to all what is made": {`
alter default privileges grant all on tables to public;
alter default privileges grant all on sequences to public;`, ownTables},
		"where an owner grants to the roles of the API what is made": {`
alter default privileges grant all on tables to anon, authenticated;
alter default privileges grant all on sequences to anon, authenticated;`, ownTables},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := connect(t, storetest.NewEmpty(t).URL)
			run(t, conn, test.defaults)
			up(t, conn)
			for what, sql := range map[string]string{
				"tables": openTables + " and " + test.tables, "functions": openFunctions, "tables without row level security": unguarded,
			} {
				if open := one[string](t, conn, sql); open != "" {
					t.Errorf("%s: %s", what, open)
				}
			}
		})
	}
}

const (
	// ownTables are those that are not in Supabase's schema from its beginning: what a project grants on those is its own.
	ownTables = `(c.relnamespace = 'basalt'::regnamespace or c.relname like 'mfa\_recovery\_%')`

	openTables = `
select coalesce(string_agg(r.name || ' ' || c.oid::regclass, ', ' order by c.oid::regclass::text, r.name), '')
from pg_class c
cross join (values ('public'), ('anon'), ('authenticated')) as r (name)
where c.relnamespace in ('auth'::regnamespace, 'basalt'::regnamespace)
  and case
    when c.relkind = 'S' then has_sequence_privilege(r.name, c.oid, 'usage, select, update')
    when c.relkind in ('r', 'p', 'v', 'm') then
      has_table_privilege(r.name, c.oid, 'select, insert, update, delete, truncate, references, trigger')
      or has_any_column_privilege(r.name, c.oid, 'select, insert, update, references')
  end`

	// Policies ask these four who somebody is.
	openFunctions = `
select coalesce(string_agg(r.name || ' ' || p.oid::regprocedure, ', ' order by p.oid::regprocedure::text, r.name), '')
from pg_proc p
cross join (values ('anon'), ('authenticated')) as r (name)
where p.pronamespace in ('auth'::regnamespace, 'basalt'::regnamespace)
  and has_schema_privilege(r.name, p.pronamespace, 'usage')
  and has_function_privilege(r.name, p.oid, 'execute')
  and p.oid::regprocedure::text not in ('auth.uid()', 'auth.role()', 'auth.email()', 'auth.jwt()')`

	unguarded = `
select coalesce(string_agg(c.oid::regclass::text, ', ' order by c.oid::regclass::text), '')
from pg_class c
where c.relnamespace in ('auth'::regnamespace, 'basalt'::regnamespace)
  and c.relkind in ('r', 'p')
  and not c.relrowsecurity`
)
