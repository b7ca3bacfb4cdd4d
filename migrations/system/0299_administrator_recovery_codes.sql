-- Codes that stand in for an administrator's authenticator app, each once. They are random, so that a plain hash hides them.

create table basalt.administrator_recovery_codes (
  administrator_id uuid not null,
  code_hash text not null,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  constraint administrator_recovery_codes_pkey primary key (administrator_id, code_hash),
  constraint administrator_recovery_codes_administrator_id_fkey foreign key (administrator_id) references basalt.administrators (id) on delete cascade
);

alter table basalt.administrator_recovery_codes enable row level security;
revoke all on basalt.administrator_recovery_codes from public;
