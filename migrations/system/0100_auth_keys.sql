-- Secrets that all processes over one database share: made by the first, read by the rest.
-- Only the owner of the system schema reads them; no role of the API does.
create schema if not exists basalt;

create table basalt.secrets (
    name       text primary key,
    value      text not null,
    created_at timestamptz not null default now()
);

alter table basalt.secrets enable row level security;

revoke all
on basalt.secrets
from public, anon, authenticated, service_role;
