-- What administrators have run and keep in the dashboard's SQL editor, each their own.

create table basalt.saved_queries (
  id uuid not null,
  administrator_id uuid not null,
  name text not null,
  sql text not null,
  role text not null default '',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint saved_queries_pkey primary key (id),
  constraint saved_queries_administrator_id_fkey foreign key (administrator_id)
    references basalt.administrators (id) on delete cascade
);

create index saved_queries_administrator_id_idx on basalt.saved_queries (administrator_id);

create table basalt.query_history (
  id bigint generated always as identity,
  administrator_id uuid not null,
  sql text not null,
  role text not null default '',
  ran_at timestamptz not null default now(),
  duration_ms double precision not null,
  -- '' when all statements have succeeded.
  failure text not null default '',
  constraint query_history_pkey primary key (id),
  constraint query_history_administrator_id_fkey foreign key (administrator_id)
    references basalt.administrators (id) on delete cascade
);

create index query_history_administrator_id_idx on basalt.query_history (administrator_id, id desc);

alter table basalt.saved_queries enable row level security;
alter table basalt.query_history enable row level security;
revoke all on basalt.saved_queries, basalt.query_history from public;
