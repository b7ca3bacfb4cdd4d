-- What the server keeps for itself stays its own, also in databases whose owner grants by default what is made in them
-- ("alter default privileges"). Row level security without a policy hides the rows, but neither TRUNCATE nor sequences
-- ask it. Supabase's own tables keep the rights that a project has given on them.

alter table basalt.migrations enable row level security;
alter table basalt.user_migrations enable row level security;

do $$
declare
  grantee text;
begin
  for grantee in
    select 'public'
    union all
    select quote_ident(rolname)
    from pg_catalog.pg_roles
    where rolname in ('anon', 'authenticated')
  loop
    execute 'revoke all on auth.mfa_recovery_code_sets, auth.mfa_recovery_codes from ' || grantee;
    execute 'revoke all on all tables in schema basalt from ' || grantee;
    execute 'revoke all on all sequences in schema basalt from ' || grantee;
  end loop;
end
$$;
