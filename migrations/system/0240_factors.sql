-- What second factors need beside Supabase's own tables.

-- The keys that secrets at rest are encrypted under, themselves sealed under a master key that is kept outside of the
-- database. The current one is the newest that is not retired; retired ones still open what was sealed before.
create table basalt.encryption_keys (
  id text not null,
  sealed text not null,
  number bigint generated always as identity,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  constraint encryption_keys_pkey primary key (id)
);

alter table basalt.encryption_keys enable row level security;
revoke all on basalt.encryption_keys from public;

-- The newest time-step whose code was accepted for a factor: no code of it, nor of an older one, is accepted again
-- (RFC 6238 §5.2).
create table basalt.totp_steps (
  factor_id uuid not null,
  last_step bigint not null,
  constraint totp_steps_pkey primary key (factor_id),
  constraint totp_steps_factor_id_fkey foreign key (factor_id) references auth.mfa_factors (id) on delete cascade
);

alter table basalt.totp_steps enable row level security;
revoke all on basalt.totp_steps from public;

-- Recovery codes, in the columns of Supabase's own tables, so that dumps load.
alter type auth.factor_type add value if not exists 'recovery_code';

create table if not exists auth.mfa_recovery_code_sets (
  id uuid not null,
  user_id uuid not null,
  mfa_factor_id uuid not null,
  failed_verification_count integer not null default 0,
  verification_locked_until timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint mfa_recovery_code_sets_pkey primary key (id),
  constraint mfa_recovery_code_sets_user_id_key unique (user_id),
  constraint mfa_recovery_code_sets_mfa_factor_id_key unique (mfa_factor_id),
  constraint mfa_recovery_code_sets_user_id_fkey foreign key (user_id) references auth.users (id) on delete cascade,
  constraint mfa_recovery_code_sets_mfa_factor_id_fkey foreign key (mfa_factor_id) references auth.mfa_factors (id) on delete cascade
);

create table if not exists auth.mfa_recovery_codes (
  id uuid not null,
  mfa_recovery_code_set_id uuid not null,
  code_hash text not null,
  consumed_at timestamptz,
  created_at timestamptz not null default now(),
  constraint mfa_recovery_codes_pkey primary key (id),
  constraint mfa_recovery_codes_set_id_fkey foreign key (mfa_recovery_code_set_id) references auth.mfa_recovery_code_sets (id) on delete cascade
);

create index if not exists mfa_recovery_codes_set_id_idx on auth.mfa_recovery_codes (mfa_recovery_code_set_id);

alter table auth.mfa_recovery_code_sets enable row level security;
alter table auth.mfa_recovery_codes enable row level security;
