-- Schemas of the house and the places that a Supabase dump expects to find.
-- Only what the owner of a database may do stands in numbered files; roles,
-- memberships, grants and event triggers are standing steps (see steps.go),
-- because they may become possible long after the first start.

create schema if not exists auth;
create schema if not exists extensions;
create schema if not exists storage;
create schema if not exists realtime;

comment on schema basalt is 'Basalt: state of the server itself. No API role enters here.';

-- Dumps and migrations of Supabase projects say "alter publication
-- supabase_realtime add table …" and never create it.
do $$
begin
  if not exists (select from pg_publication where pubname = 'supabase_realtime') then
    create publication supabase_realtime;
  end if;
end
$$;
