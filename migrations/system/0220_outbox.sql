-- Messages to people, mails and text messages, from the transaction that writes their tokens until they are delivered.
--
-- queued: a process with a way to send takes it when it is due. Taking it moves due_at behind the end of the lease, and
-- counts an attempt by which a process that comes too late finds that the message is no longer its own.
-- held: there is no way to send it; an administrator reads it. failed: it was given up.
--
-- Bodies hold links and codes that sign people in; they are sealed, with id and channel bound to them. Only the owner
-- reads the table: no role of the API may enter this schema, and row level security without a policy hides the rows.

create table basalt.outbox (
  id uuid not null,
  channel text not null,
  kind text not null,
  user_id uuid,
  body text not null,
  state text not null,
  created_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  expires_at timestamptz not null,
  attempts integer not null default 0,
  failure text,
  constraint outbox_pkey primary key (id),
  constraint outbox_channel_check check (channel in ('email', 'sms', 'whatsapp')),
  constraint outbox_state_check check (state in ('queued', 'held', 'failed'))
);

create index outbox_due_at_idx on basalt.outbox (due_at) where state = 'queued';
create index outbox_created_at_idx on basalt.outbox (created_at) where state <> 'queued';

alter table basalt.outbox enable row level security;
revoke all on basalt.outbox from public;

-- Fails, with the given SQLSTATE, when as many messages wait as may.
create function basalt.check_outbox(most integer, full_state text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if most <= (
    select pg_catalog.count(*)
    from (
      select
      from basalt.outbox
      where state = 'queued'
      limit most
    ) as waiting
  ) then
    raise exception 'too many messages wait to be sent' using errcode = full_state;
  end if;
end
$$;

-- Keeps a message that cannot be sent. Of those only the newest are kept.
create function basalt.hold_message(message uuid, via text, about text, owner uuid, sealed text, expires timestamptz, most integer)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into basalt.outbox (id, channel, kind, user_id, body, state, expires_at)
  values (message, via, about, owner, sealed, 'held', expires);
  delete from basalt.outbox
  where id in (
    select o.id
    from basalt.outbox as o
    where o.id in (
      select old.id
      from basalt.outbox as old
      where old.state <> 'queued'
      order by old.created_at desc
      offset most
      limit 100
    )
    for update skip locked
  );
end
$$;

revoke all on function
  basalt.check_outbox(integer, text),
  basalt.hold_message(uuid, text, text, uuid, text, timestamptz, integer)
from public;
