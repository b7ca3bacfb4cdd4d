-- The keys that secrets at rest are encrypted under, themselves sealed under a master key that is kept outside of the
-- database. The current one is the newest that is not retired; retired ones still open what was sealed before.

create table basalt.encryption_keys (
  id text not null,
  sealed text not null,
  number bigint generated always as identity,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  constraint encryption_keys_pkey primary key (id)
);

alter table basalt.encryption_keys enable row level security;
revoke all on basalt.encryption_keys from public;
