-- Authorization codes that have been exchanged, by their hash: who brings one again ends the
-- session that it gave (RFC 6749 §4.1.2). Rows are of use as long as a code may still be around.

create table if not exists basalt.exchanged_codes (
  code_hash text not null,
  session_id uuid not null,
  exchanged_at timestamptz not null default now(),
  constraint exchanged_codes_pkey primary key (code_hash)
);

create index if not exists exchanged_codes_exchanged_at_idx on basalt.exchanged_codes (exchanged_at);

alter table basalt.exchanged_codes enable row level security;
revoke all on basalt.exchanged_codes from public;
