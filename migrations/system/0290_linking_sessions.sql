-- Which session has begun the linking of an identity: it is linked only while that session lives. Rows
-- are of use as long as a linking may take.

create table if not exists basalt.linking_sessions (
  flow_id uuid not null,
  session_id uuid not null,
  created_at timestamptz not null default now(),
  constraint linking_sessions_pkey primary key (flow_id)
);

create index if not exists linking_sessions_created_at_idx on basalt.linking_sessions (created_at);

alter table basalt.linking_sessions enable row level security;
revoke all on basalt.linking_sessions from public;
