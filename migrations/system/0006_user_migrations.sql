-- Which of the user's migrations have been applied stands where Supabase's own
-- command line keeps it, so that a dump brings its history along. What only Basalt
-- knows about them stands beside it.

create schema if not exists supabase_migrations;

create table if not exists supabase_migrations.schema_migrations (
  version text not null primary key,
  statements text[],
  name text
);
alter table supabase_migrations.schema_migrations add column if not exists statements text[];
alter table supabase_migrations.schema_migrations add column if not exists name text;

create table basalt.user_migrations (
  version text not null primary key,
  file text not null,
  checksum text not null,
  -- Of a file that runs statement by statement: how many are done, and a checksum
  -- over those, because the rest may still be corrected.
  done integer not null default 0,
  done_checksum text not null default '',
  -- The statement that was begun outside of a transaction and not seen to end.
  begun integer,
  started_at timestamptz not null default now(),
  finished_at timestamptz
);
