-- Asymmetric keys that tokens are signed with. One at most signs (current); the next one is
-- published before it does (standby), and those before it go on to verify (previous) until they
-- are revoked, which deletes them.

create table if not exists basalt.signing_keys (
  id text not null,
  algorithm text not null,
  state text not null,
  -- The public half as a JSON Web Key, and the whole key as one, sealed.
  public_key jsonb not null,
  private_key text not null,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  constraint signing_keys_pkey primary key (id),
  constraint signing_keys_algorithm_check check (algorithm in ('ES256', 'RS256', 'EdDSA')),
  constraint signing_keys_state_check check (state in ('standby', 'current', 'previous'))
);

create unique index if not exists signing_keys_one_current_idx on basalt.signing_keys (state) where state = 'current';
create unique index if not exists signing_keys_one_standby_idx on basalt.signing_keys (state) where state = 'standby';

alter table basalt.signing_keys enable row level security;
revoke all on basalt.signing_keys from public;

-- Servers that refuse tokens of ended sessions at once (--strict-sessions) keep this lease while they
-- run; without one nobody listens, and the end of a session costs no notice.

create table if not exists basalt.session_watch (
  only_row boolean not null default true,
  until timestamptz not null,
  constraint session_watch_pkey primary key (only_row),
  constraint session_watch_only_row_check check (only_row)
);

alter table basalt.session_watch enable row level security;
revoke all on basalt.session_watch from public;

-- "security definer" with an empty search_path: whoever ends a session, by whatever way, may have no
-- rights in schema basalt.

create or replace function basalt.notice_sessions()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if not exists (select from basalt.session_watch where until > pg_catalog.clock_timestamp()) then
    return null;
  end if;
  if (select pg_catalog.count(*) from (select from gone limit 101) as few) > 100 then
    perform pg_catalog.pg_notify('basalt_sessions', 'all');
  else
    perform pg_catalog.pg_notify('basalt_sessions', 'session ' || gone.id) from gone;
  end if;
  return null;
end
$$;

create or replace function basalt.notice_session()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if exists (select from basalt.session_watch where until > pg_catalog.clock_timestamp()) then
    perform pg_catalog.pg_notify('basalt_sessions', tg_argv[0] || ' ' || new.id);
  end if;
  return null;
end
$$;

-- The triggers are made by the first server that wants the notices, as their owner. Where none does,
-- schema auth has nothing that a dump without schema basalt would lack.

create or replace function basalt.watch_sessions()
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('basalt.watch_sessions'));
  if (
    select pg_catalog.count(*) = 3
    from pg_catalog.pg_trigger
    where tgname in ('basalt_sessions_gone', 'basalt_session_ended', 'basalt_user_barred')
      and tgrelid in ('auth.sessions'::pg_catalog.regclass, 'auth.users'::pg_catalog.regclass)
  ) then
    return;
  end if;
  create or replace trigger basalt_sessions_gone
  after delete on auth.sessions
  referencing old table as gone
  for each statement
  execute function basalt.notice_sessions();

  create or replace trigger basalt_session_ended
  after update of not_after on auth.sessions
  for each row
  when (new.not_after is distinct from old.not_after)
  execute function basalt.notice_session('session');

  create or replace trigger basalt_user_barred
  after update of banned_until, deleted_at on auth.users
  for each row
  when (new.banned_until is distinct from old.banned_until or new.deleted_at is distinct from old.deleted_at)
  execute function basalt.notice_session('user');
end
$$;

revoke all on function basalt.notice_sessions(), basalt.notice_session(), basalt.watch_sessions() from public;
