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
