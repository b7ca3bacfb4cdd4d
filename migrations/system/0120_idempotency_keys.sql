-- The answers to requests that carried an Idempotency-Key, to be given again to whoever repeats them. A row is written
-- in the transaction of its request, so it stands exactly when what the request has done stands.
--
-- Only the functions below reach the table. They are for the user that requests connect as, which runs them in its own
-- name before and behind a request; no API role enters this schema.

create table basalt.idempotency_keys (
  caller bytea not null,
  key text not null,
  request bytea not null,
  status integer,
  headers text,
  body bytea,
  expires_at timestamptz not null,
  constraint idempotency_keys_pkey primary key (caller, key)
);

create index idempotency_keys_expires_at_idx on basalt.idempotency_keys (expires_at);

alter table basalt.idempotency_keys enable row level security;
revoke all on basalt.idempotency_keys from public;

-- Takes a key, or fails with BKEY1 when it was used before. While another transaction holds the key this waits for its
-- end: PostgreSQL lets no two insert the same one.
create function basalt.claim_idempotency_key(asker bytea, token text, asked bytea, lifetime interval)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  -- Whoever writes takes some of what has expired away. What a serializable transaction reads here would make others
  -- fail, and a conflict over what is to be thrown away must not fail the request.
  if pg_catalog.current_setting('transaction_isolation') <> 'serializable' then
    begin
      delete from basalt.idempotency_keys
      where (caller, key) in (
        select k.caller, k.key
        from basalt.idempotency_keys as k
        where k.expires_at <= pg_catalog.clock_timestamp()
        order by k.expires_at
        limit 100
        for update skip locked
      );
    exception when serialization_failure then
      null;
    end;
  end if;
  insert into basalt.idempotency_keys as k (caller, key, request, expires_at)
  values (asker, token, asked, pg_catalog.clock_timestamp() + lifetime)
  on conflict (caller, key) do update
  set request = excluded.request, status = null, headers = null, body = null, expires_at = excluded.expires_at
  where k.expires_at <= pg_catalog.clock_timestamp();
  if not found then
    raise exception 'the key was used before' using errcode = 'BKEY1';
  end if;
end
$$;

create function basalt.keep_idempotent_answer(asker bytea, token text, answered integer, with_headers text, with_body bytea)
returns void
language sql
security definer
set search_path = ''
as $$
  update basalt.idempotency_keys
  set status = answered, headers = with_headers, body = with_body
  where caller = asker
    and key = token
$$;

create function basalt.idempotent_answer(asker bytea, token text)
returns table (request bytea, status integer, headers text, body bytea)
language sql
stable
security definer
set search_path = ''
as $$
  select k.request, k.status, k.headers, k.body
  from basalt.idempotency_keys as k
  where k.caller = asker
    and k.key = token
    and k.status is not null
    and k.expires_at > pg_catalog.clock_timestamp()
$$;

revoke all on function
  basalt.claim_idempotency_key(bytea, text, bytea, interval),
  basalt.keep_idempotent_answer(bytea, text, integer, text, bytea),
  basalt.idempotent_answer(bytea, text)
from public;
