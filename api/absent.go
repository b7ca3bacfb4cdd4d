package api

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"
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
  )`

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
	var params [][]byte
	for _, text := range []string{schemas, s.RestAnonRole, before.Name, path, root.Name, schemas} {
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

// setting tells where a setting comes from.
func (a *absences) setting(flag string) string {
	if taken := a.settings.Taken; taken != nil && taken.origins[flag] != "" {
		return "--" + flag + ", " + taken.origins[flag]
	}
	return "--" + flag
}
