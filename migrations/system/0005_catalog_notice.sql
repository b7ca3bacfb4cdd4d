-- Called by the event triggers (a standing step: making those needs a superuser).
-- Both are "security definer" with an empty search_path because they run inside
-- whatever session makes DDL, as any role: that one may lack every right here.
-- A constant payload lets PostgreSQL fold the notices of one transaction into one.

create or replace function basalt.notice_ddl()
returns event_trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  -- These change nothing that a request is planned by, and run often.
  if tg_tag in (
    'REFRESH MATERIALIZED VIEW', 'REINDEX', 'CREATE STATISTICS', 'ALTER STATISTICS',
    'CREATE POLICY', 'ALTER POLICY', 'CREATE PUBLICATION', 'ALTER PUBLICATION',
    'CREATE SUBSCRIPTION', 'ALTER SUBSCRIPTION'
  ) then
    return;
  end if;
  if exists (
    select
    from pg_catalog.pg_event_trigger_ddl_commands() as command
    where command.schema_name is distinct from 'pg_temp'
      and coalesce(command.object_identity, '') not like 'pg\_temp%'
  ) then
    perform pg_catalog.pg_notify('basalt_ddl', '');
  end if;
end
$$;

create or replace function basalt.notice_drop()
returns event_trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  -- What other commands drop, ddl_command_end tells. Only the object that was named
  -- is looked at: with a temporary table go parts that are not called temporary.
  if tg_tag like 'DROP %' and exists (
    select
    from pg_catalog.pg_event_trigger_dropped_objects() as dropped
    where dropped.original
      and not dropped.is_temporary
      and dropped.object_type <> 'policy'
      and dropped.object_identity not like '% on pg\_temp.%'
  ) then
    perform pg_catalog.pg_notify('basalt_ddl', '');
  end if;
end
$$;

revoke all on all functions in schema basalt from public;
