-- Windows of the rate limits, shared by all processes. Unlogged: a crash of the server may
-- forget them, and no sign-in waits for a disk.
create unlogged table basalt.rate_limits (
    key       text primary key,
    hits      integer not null,
    resets_at timestamptz not null
)
with (fillfactor = 70);

create index rate_limits_resets_at_idx
on basalt.rate_limits (resets_at);

alter table basalt.rate_limits enable row level security;

revoke all
on basalt.rate_limits
from public, anon, authenticated, service_role;
