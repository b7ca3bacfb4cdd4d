-- Secrets that all processes over one database share: made by the first, read by the rest.
-- Only the owner reads them: no role of the API may enter this schema, and row level
-- security without a policy hides the rows from whoever is let in by mistake.

create table if not exists basalt.secrets (
  name text not null,
  value text not null,
  created_at timestamptz not null default now(),
  constraint secrets_pkey primary key (name)
);

alter table basalt.secrets enable row level security;
revoke all on basalt.secrets from public;
