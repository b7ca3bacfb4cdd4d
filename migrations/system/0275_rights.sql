-- What the server keeps for itself stays its own, also in databases whose owner grants by default what is made in them
-- ("alter default privileges"). Row level security without a policy hides the rows, but neither TRUNCATE nor sequences
-- ask it. Supabase's own tables keep the rights that a project has given on them, and a dump may have brought the tables
-- of recovery codes with another owner, or taken them away.

alter table basalt.migrations enable row level security;
alter table basalt.user_migrations enable row level security;

do $$
declare
  target record;
begin
  for target in
    select c.relkind = 'S' as sequence, c.oid::regclass as name, r.grantee
    from pg_catalog.pg_class c
    cross join (
      select 'public' as grantee
      union all
      select quote_ident(rolname)
      from pg_catalog.pg_roles
      where rolname in ('anon', 'authenticated')
    ) as r
    where c.relkind in ('r', 'S')
      and (
        c.relnamespace = 'basalt'::regnamespace
        or c.relnamespace = 'auth'::regnamespace and c.relname in ('mfa_recovery_code_sets', 'mfa_recovery_codes')
      )
      and pg_has_role(c.relowner, 'usage')
  loop
    execute format(
      'revoke all on %s %s from %s',
      case when target.sequence then 'sequence' else 'table' end, target.name, target.grantee
    );
  end loop;
end
$$;
