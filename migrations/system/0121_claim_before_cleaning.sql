-- Takes a key before it cleans up. In the other order two requests, each with a key among the expired ones that the other
-- had taken away, waited for each other. Now nothing is locked while one waits for a key, and the cleaning waits for
-- nobody.

create or replace function basalt.claim_idempotency_key(asker bytea, token text, asked bytea, lifetime interval)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into basalt.idempotency_keys as k (caller, key, request, expires_at)
  values (asker, token, asked, pg_catalog.clock_timestamp() + lifetime)
  on conflict (caller, key) do update
  set request = excluded.request, status = null, headers = null, body = null, expires_at = excluded.expires_at
  where k.expires_at <= pg_catalog.clock_timestamp();
  if not found then
    raise exception 'the key was used before' using errcode = 'BKEY1';
  end if;
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
end
$$;
