-- Identities that a user has proved at a provider and that are added to their account when the app
-- that asked for it brings the flow's code: whoever follows a link that somebody else has begun has
-- not asked for it.

create table if not exists basalt.pending_identities (
  flow_id uuid not null,
  provider text not null,
  subject text not null,
  email text not null,
  verified boolean not null,
  data jsonb not null,
  created_at timestamptz not null default now(),
  constraint pending_identities_pkey primary key (flow_id)
);

create index if not exists pending_identities_created_at_idx on basalt.pending_identities (created_at);

alter table basalt.pending_identities enable row level security;
revoke all on basalt.pending_identities from public;
