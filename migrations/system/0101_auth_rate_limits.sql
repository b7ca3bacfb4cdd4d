-- Windows of the rate limits, shared by all processes. Unlogged: a crash of PostgreSQL may
-- forget them, and no sign-in waits for a disk. Free space in the pages keeps the
-- counting updates in place.

create unlogged table if not exists basalt.rate_limits (
  key text not null,
  hits integer not null,
  resets_at timestamptz not null,
  constraint rate_limits_pkey primary key (key)
) with (fillfactor = 70);

create index if not exists rate_limits_resets_at_idx on basalt.rate_limits (resets_at);

alter table basalt.rate_limits enable row level security;
revoke all on basalt.rate_limits from public;
