-- The requests of the app, kept for as long as --log-requests says: without queries, bodies and headers, which may hold
-- secrets and data.

create table basalt.requests (
  id bigint generated always as identity,
  at timestamptz not null,
  duration_us bigint not null,
  status smallint not null,
  bytes bigint not null,
  method text not null,
  path text not null,
  route text not null,
  ip text not null,
  role text not null,
  request_id text not null,
  code text not null,
  constraint requests_pkey primary key (id)
);

create index requests_at_idx on basalt.requests (at);

alter table basalt.requests enable row level security;
revoke all on basalt.requests from public;
