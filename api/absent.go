package api

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"basalt/auth/hook"
)

// absentNames are what settings name and the database has not: the flag, the name, what is wrong. Lists have commas
// between their names, as in the settings.
const absentNames = `
select
  'schemas',
  wanted,
  'there is no such schema'
from unnest(string_to_array($1::text, ',')) as _ (wanted)
where not exists (
  select
  from pg_namespace n
  where n.nspname = wanted
)
union all
select
  'rest-anon-role',
  $2::text,
  case
    when exists (select from pg_roles r where r.rolname = $2::text) then 'authenticator may not become this role: grant it to authenticator'
    else 'there is no such role'
  end
where $2::text <> ''
  and not exists (
    select
    from pg_roles a
    join pg_roles r on r.rolname = $2::text
    where a.rolname = 'authenticator'
      and pg_has_role(
        a.oid,
        r.oid,
        case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end
      )
  )
union all
select
  flag,
  wanted,
  'there is no such function without arguments in ' || schemas
from (values ('rest-pre-request', $3::text, $4::text), ('rest-root-function', $5, $6)) as _ (flag, wanted, schemas)
where wanted <> ''
  and not exists (
    select
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where p.proname = wanted
      and n.nspname = any (string_to_array(schemas, ','))
      and p.prokind = 'f'
      and p.pronargs = p.pronargdefaults
  )
union all
select
  h.flag,
  h.schema || '.' || h.name,
  case
    when f.oid is null then 'there is no such function with one argument: accounts fail where it is to be asked'
    else caller.name || ' may not run this function: grant usage on its schema and execute on it to ' || caller.name
  end
from unnest(string_to_array($7::text, ','), string_to_array($8::text, ','), string_to_array($9::text, ',')) as h (flag, schema, name)
cross join (
  select coalesce(
    (
      select r.rolname
      from pg_roles r
      where r.rolname = 'supabase_auth_admin'
        and pg_has_role(r.oid, 'member')
    ),
    current_user
  ) as name
) as caller
left join lateral (
  select p.oid, p.pronamespace
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = h.schema
    and p.proname = h.name
    and p.prokind = 'f'
    and p.pronargs >= 1
    and p.pronargs - p.pronargdefaults <= 1
  limit 1
) as f on true
where f.oid is null
  or not has_schema_privilege(caller.name, f.pronamespace, 'usage')
  or not has_function_privilege(caller.name, f.oid, 'execute')`

// absences warns of settings that name what the database has not. Such a server would answer with nothing but refusals
// that tell of each request, not of the setting. Each is told when it begins, and again when it does so anew.
type absences struct {
	settings *Settings
	log      zerolog.Logger
	told     []absence
}

// absence is a name that a setting has and the database has not.
type absence struct{ flag, name, reason string }

// look is called with each new catalog, on the connection that has loaded it.
func (a *absences) look(ctx context.Context, conn *pgconn.PgConn) {
	s := a.settings
	before, root := functionName(s.RestPreRequest), functionName(s.RestRootFunction)
	schemas := strings.Join(s.Schemas, ",")
	path := before.Schema
	if path == "" {
		path = strings.Join(slices.Concat(s.Schemas, s.ExtraSearchPath, []string{"pg_catalog"}), ",")
	}
	hooks := hookFunctions(s)
	var params [][]byte
	for _, text := range []string{schemas, s.RestAnonRole, before.Name, path, root.Name, schemas, hooks[0], hooks[1], hooks[2]} {
		params = append(params, []byte(text))
	}
	found := conn.ExecParams(ctx, absentNames, params, nil, nil, nil).Read()
	if found.Err != nil {
		a.log.Warn().Err(found.Err).Msg("cannot look for what settings name")
		return
	}
	var absent []absence
	for _, row := range found.Rows {
		one := absence{string(row[0]), string(row[1]), string(row[2])}
		if absent = append(absent, one); !slices.Contains(a.told, one) {
			a.log.Warn().Str("setting", a.setting(one.flag)).Str("name", one.name).Msg(one.reason)
		}
	}
	for _, one := range a.told {
		if !slices.Contains(absent, one) {
			a.log.Info().Str("setting", a.setting(one.flag)).Str("name", one.name).Msg("what was missing is there")
		}
	}
	a.told = absent
}

// hookFunctions are the flags of hooks that are functions, and the schemas and names of these, each as a list.
func hookFunctions(s *Settings) (lists [3]string) {
	var all [3][]string
	for _, h := range s.hookSettings() {
		if schema, name, ok := hook.Function(h.uri); ok {
			all[0], all[1], all[2] = append(all[0], h.flag), append(all[1], schema), append(all[2], name)
		}
	}
	for i, list := range all {
		lists[i] = strings.Join(list, ",")
	}
	return lists
}

// setting tells where a setting comes from.
func (a *absences) setting(flag string) string {
	if taken := a.settings.Taken; taken != nil && taken.origins[flag] != "" {
		return "--" + flag + ", " + taken.origins[flag]
	}
	return "--" + flag
}
