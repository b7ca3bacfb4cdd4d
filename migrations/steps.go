package migrations

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A step is something that has to hold in the database at every start and that
// the connecting user may lack the right to bring about.
type step struct {
	what     string
	optional bool
	// afterRoles: without the API roles the step has no meaning and is passed over.
	afterRoles bool
	// done is a query with one boolean. It also guards against a GRANT by somebody
	// without the right, which PostgreSQL answers with a mere warning.
	done string
	// apply may run more than once and at the same time in another database of the
	// cluster.
	apply string
}

const apiRoles = "the API roles"

// authenticator is the role that a server of PostgREST connects as by custom. Nothing can be granted to itself.
const authenticator = "authenticator"

// apiRoleRows is what makes a request's identity; see Supabase's documentation of
// its roles for their meaning.
const apiRoleRows = `
      ('anon', 'nologin noinherit'),
      ('authenticated', 'nologin noinherit'),
      ('service_role', 'nologin noinherit'),
      ('authenticator', 'login noinherit')`

// dumpRoles are owners and grantees that dumps of Supabase projects name. Those that
// are made here hold no power of their own.
var dumpRoles = [...]string{
	"postgres", "supabase_admin", "supabase_auth_admin", "supabase_storage_admin", "supabase_realtime_admin", "dashboard_user",
}

func dumpRoleRows() string {
	var rows strings.Builder
	for i, role := range dumpRoles {
		if i > 0 {
			rows.WriteByte(',')
		}
		fmt.Fprintf(&rows, "\n      ('%s', 'nologin noinherit')", role)
	}
	return rows.String()
}

func rolesExist(rows string) string {
	return `
select not exists (
  select
  from (values` + rows + `
  ) as wanted (name, attributes)
  where to_regrole(wanted.name) is null
)`
}

func createRoles(rows string) string {
	return `do $$
declare
  wanted record;
begin
  for wanted in
    select *
    from (values` + rows + `
    ) as t (name, attributes)
    where to_regrole(name) is null
  loop
    begin
      execute format('create role %I %s', wanted.name, wanted.attributes);
    exception when duplicate_object or unique_violation then
      null; -- made meanwhile from another database of this cluster
    end;
  end loop;
end
$$;`
}

// steps lists the standing steps in the order in which they depend on each other,
// for a connection as user.
func steps(user string) []step {
	me := pgx.Identifier{user}.Sanitize()
	return []step{
		{
			what:  apiRoles,
			done:  rolesExist(apiRoleRows),
			apply: createRoles(apiRoleRows),
		},
		{
			// Only a superuser may give this, whom managed clouds keep to themselves:
			// without it service_role sees what policies let it see.
			what:       "service_role passes row level security",
			optional:   true,
			afterRoles: true,
			done:       `select rolbypassrls from pg_roles where rolname = 'service_role'`,
			apply:      `alter role service_role bypassrls;`,
		},
		{
			what:       "authenticator may become the API roles",
			afterRoles: true,
			done: `
select count(distinct m.roleid) = 3
from pg_auth_members m
where m.member = 'authenticator'::regrole
  and m.roleid in ('anon'::regrole, 'authenticated'::regrole, 'service_role'::regrole)`,
			apply: `grant anon, authenticated, service_role to authenticator;`,
		},
		{
			// One membership is enough: it also reaches every custom role that is
			// later granted to authenticator.
			what:       "the connecting user may become what authenticator may become",
			afterRoles: true,
			done:       `select ` + canBecome(user, "to_regrole('authenticator')"),
			apply:      fmt.Sprintf(`grant authenticator to %s;`, me),
		},
		{
			what:       "the API roles enter the schemas public, auth and extensions",
			afterRoles: true,
			done: `
select bool_and(has_schema_privilege(r.name, s.name, 'usage'))
from (values ('anon'), ('authenticated'), ('service_role')) as r (name)
cross join (values ('public'), ('auth'), ('extensions')) as s (name)`,
			apply: `grant usage on schema public, auth, extensions to anon, authenticated, service_role;`,
		},
		{
			// An owner may grant by default what is made ("alter default privileges"). Row level security hides the
			// rows, but neither TRUNCATE nor sequences ask it.
			what:       "what the server keeps for itself stays its own",
			optional:   true,
			afterRoles: true,
			done: `
select not exists (
  select
  from pg_class c
  cross join (values ('anon'), ('authenticated')) as r (name)
  where c.relnamespace = 'basalt'::regnamespace
    and case
      when c.relkind = 'S' then has_sequence_privilege(r.name, c.oid, 'usage, select, update')
      when c.relkind = 'r' then
        has_table_privilege(r.name, c.oid, 'select, insert, update, delete, truncate, references, trigger')
    end
)`,
			apply: `revoke all on all tables in schema basalt from public, anon, authenticated;
revoke all on all sequences in schema basalt from public, anon, authenticated;`,
		},
		defaultPrivileges(user, false),
		{
			what:     "the roles that dumps of Supabase projects name",
			optional: true,
			done:     rolesExist(dumpRoleRows()),
			apply:    createRoles(dumpRoleRows()),
		},
		{
			// Never the power of a superuser, which "postgres" mostly is.
			what:     "the connecting user may give objects to the roles that dumps name",
			optional: true,
			done:     `select not exists (` + dumpRolesOutOfReach(user) + `)`,
			apply: `do $$
declare
  wanted name;
begin
  for wanted in` + dumpRolesOutOfReach(user) + `
  loop
    execute format('grant %I to %I', wanted, ` + quoteLiteral(user) + `);
  end loop;
end
$$;`,
		},
		{
			what:     "the owners that dumps name reach the schemas public, auth and extensions",
			optional: true,
			done: `
select bool_and(coalesce(
  case when r.name = 'postgres' then has_schema_privilege(r.name, 'public', 'create') else true end
  and has_schema_privilege(r.name, 'auth', 'usage')
  and has_schema_privilege(r.name, 'extensions', 'usage')
  and not exists (
    select
    from pg_class c
    where c.relnamespace = 'auth'::regnamespace
      and c.relkind = 'r'
      and not (has_table_privilege(r.name, c.oid, 'select') and has_table_privilege(r.name, c.oid, 'insert')
        and has_table_privilege(r.name, c.oid, 'update') and has_table_privilege(r.name, c.oid, 'delete'))
  ), false))
from (values ('postgres'), ('supabase_auth_admin'), ('dashboard_user')) as r (name)
where to_regrole(r.name) is not null`,
			apply: `grant all on schema public to postgres;
grant usage on schema auth, extensions to postgres, supabase_auth_admin, dashboard_user;
grant all on all tables in schema auth to postgres, supabase_auth_admin, dashboard_user;
grant all on all sequences in schema auth to postgres, supabase_auth_admin, dashboard_user;`,
		},
		defaultPrivileges("postgres", true),
		defaultPrivileges("supabase_admin", true),
		extension("pgcrypto"),
		extension("uuid-ossp"),
		eventTrigger("basalt_ddl", "ddl_command_end", "basalt.notice_ddl"),
		eventTrigger("basalt_drop", "sql_drop", "basalt.notice_drop"),
	}
}

// dumpRolesOutOfReach selects the names of the roles that the user cannot become.
func dumpRolesOutOfReach(user string) string {
	return `
    select r.rolname
    from pg_roles r
    join (values` + dumpRoleRows() + `
    ) as wanted (name, attributes) on wanted.name = r.rolname
    where not r.rolsuper
      and not ` + canBecome(user, "r.oid")
}

// canBecome is a condition: may the user "set role" to that role? Since PostgreSQL
// 16 a membership may lack the SET option.
func canBecome(user, role string) string {
	return `pg_has_role(` + quoteLiteral(user) + `, ` + role + `,
        case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)`
}

func defaultPrivileges(owner string, optional bool) step {
	role := pgx.Identifier{owner}.Sanitize()
	return step{
		what:       fmt.Sprintf("what %s makes in public is granted to the API roles", owner),
		optional:   optional,
		afterRoles: true,
		done: fmt.Sprintf(`
select count(distinct (d.defaclobjtype, g.grantee)) = 9
from pg_default_acl d
cross join lateral aclexplode(d.defaclacl) g
where d.defaclrole = to_regrole(%s)
  and d.defaclnamespace = 'public'::regnamespace
  and d.defaclobjtype in ('r', 'S', 'f')
  and g.grantee in ('anon'::regrole, 'authenticated'::regrole, 'service_role'::regrole)`, quoteLiteral(role)),
		apply: fmt.Sprintf(`alter default privileges for role %[1]s in schema public
grant all on tables to anon, authenticated, service_role;
alter default privileges for role %[1]s in schema public
grant all on sequences to anon, authenticated, service_role;
alter default privileges for role %[1]s in schema public
grant all on functions to anon, authenticated, service_role;`, role),
	}
}

func extension(name string) step {
	return step{
		what:     "extension " + name,
		optional: true,
		done:     fmt.Sprintf(`select exists (select from pg_extension where extname = %s)`, quoteLiteral(name)),
		apply:    fmt.Sprintf(`create extension if not exists %s with schema extensions;`, pgx.Identifier{name}.Sanitize()),
	}
}

func eventTrigger(name, event, function string) step {
	return step{
		what:     fmt.Sprintf("event trigger %s (without it a change of the schema is noticed by polling)", name),
		optional: true,
		done: fmt.Sprintf(`select exists (select from pg_event_trigger where evtname = %s and evtfoid = to_regprocedure(%s))`,
			quoteLiteral(name), quoteLiteral(function+"()")),
		apply: fmt.Sprintf("drop event trigger if exists %[1]s;\ncreate event trigger %[1]s on %[2]s execute function %[3]s();", name, event, function),
	}
}

func quoteLiteral(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// mayCreateSchemas lists what is missing before anything can begin, nothing when the connecting user may create schemas:
// they are asked for by files that run once, and without them nothing else has a place.
func mayCreateSchemas(ctx context.Context, conn *pgx.Conn) ([]Missing, error) {
	var may bool
	var sql string
	err := conn.QueryRow(ctx, `
select
  has_database_privilege(current_database(), 'create'),
  format('grant create on database %I to %I;', current_database(), current_user)`).Scan(&may, &sql)
	if err != nil {
		return nil, fmt.Errorf("read the rights on the database: %w", err)
	}
	if may {
		return nil, nil
	}
	return []Missing{{
		What: "the connecting user may create schemas in this database",
		Why:  "permission denied for database; what else is missing is told at the next start",
		SQL:  sql,
	}}, nil
}

// stand brings about every step that does not hold yet and lists those that the
// connecting user has no right to.
func stand(ctx context.Context, conn *pgx.Conn) ([]Missing, error) {
	var user string
	if err := conn.QueryRow(ctx, `select current_user`).Scan(&user); err != nil {
		return nil, fmt.Errorf("read the connecting user: %w", err)
	}
	var missing []Missing
	haveRoles := true
	for _, s := range steps(user) {
		if s.afterRoles && !haveRoles {
			continue
		}
		why, err := bringAbout(ctx, conn, s)
		if err != nil {
			return missing, fmt.Errorf("%s: %w", s.what, err)
		}
		if why == "" {
			continue
		}
		if s.what == apiRoles {
			haveRoles = false
			// The later steps need the roles; those that ask for the same user's
			// power are told in one go, the rest follows by itself at the next start.
			s.apply += "\nalter role service_role bypassrls;" +
				"\ngrant anon, authenticated, service_role to authenticator;"
			if user != authenticator {
				s.apply += fmt.Sprintf("\ngrant authenticator to %s;", pgx.Identifier{user}.Sanitize())
			}
			why += "; grants follow by themselves at the next start"
		}
		missing = append(missing, Missing{What: s.what, Why: why, SQL: s.apply, Optional: s.optional})
	}
	return missing, nil
}

// bringAbout answers why a step does not hold after trying; empty when it does.
func bringAbout(ctx context.Context, conn *pgx.Conn, s step) (why string, err error) {
	const tries = 20
	for try := 1; ; try++ {
		var done *bool
		if err := conn.QueryRow(ctx, s.done).Scan(&done); err != nil {
			return "", err
		}
		if done != nil && *done {
			return "", nil
		}
		err := exec(ctx, conn, s.apply)
		var refusal *pgconn.PgError
		switch {
		case err == nil:
			if err := conn.QueryRow(ctx, s.done).Scan(&done); err != nil {
				return "", err
			}
			if done != nil && *done {
				return "", nil
			}
			return "PostgreSQL granted nothing: the connecting user is not the owner", nil
		case !errors.As(err, &refusal):
			return "", err
		case try == tries || !racing(refusal):
			return refusal.Message, nil
		}
		// Roles belong to the cluster: another database's start is at the same
		// rows, and no lock spans databases.
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Duration(try) * 5 * time.Millisecond):
		}
	}
}

// racing tells the errors that two sessions meet which change the same role or
// membership at once.
func racing(e *pgconn.PgError) bool {
	switch e.Code {
	case "23505", "42710", "40001", "40P01":
		return true
	case "XX000":
		return strings.Contains(e.Message, "concurrently")
	}
	return false
}
