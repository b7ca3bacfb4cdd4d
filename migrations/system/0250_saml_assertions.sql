-- Assertions of identity providers that have been used, by the hash of who made them and their
-- id, for as long as they would be good again.

create table if not exists basalt.saml_assertions (
  digest bytea not null,
  good_until timestamptz not null,
  constraint saml_assertions_pkey primary key (digest)
);

create index if not exists saml_assertions_good_until_idx on basalt.saml_assertions (good_until);

alter table basalt.saml_assertions enable row level security;
revoke all on basalt.saml_assertions from public;
