-- Administrators of the dashboard. They are none of the app's users: neither a key nor a token of the app counts for
-- them, and no session of theirs counts in the app.

create table basalt.administrators (
  id uuid not null,
  email text not null,
  role text not null,
  -- None until an invitation is accepted.
  password_hash text,
  -- Sealed; it counts once a code has proved it.
  totp_secret text,
  totp_verified_at timestamptz,
  -- The newest time-step whose code was accepted: no code of it, nor of an older one, is accepted again (RFC 6238 §5.2).
  totp_last_step bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_sign_in_at timestamptz,
  constraint administrators_pkey primary key (id),
  constraint administrators_email_key unique (email),
  constraint administrators_role_check check (role in ('owner', 'editor', 'viewer'))
);

alter table basalt.administrators enable row level security;
revoke all on basalt.administrators from public;

-- A session is found by the hash of its token. The token is random, so that a plain hash hides it.
create table basalt.administrator_sessions (
  id uuid not null,
  administrator_id uuid not null,
  token_hash bytea not null,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Until then secrets may be shown and factors changed: who sits there has just proved who they are.
  elevated_until timestamptz not null,
  ip inet,
  user_agent text not null default '',
  constraint administrator_sessions_pkey primary key (id),
  constraint administrator_sessions_token_hash_key unique (token_hash),
  constraint administrator_sessions_administrator_id_fkey foreign key (administrator_id) references basalt.administrators (id) on delete cascade
);

create index administrator_sessions_administrator_id_idx on basalt.administrator_sessions (administrator_id);

alter table basalt.administrator_sessions enable row level security;
revoke all on basalt.administrator_sessions from public;

-- Links that are good once: to make the first administrator, to accept an invitation, to set a new password.
create table basalt.administrator_links (
  token_hash bytea not null,
  purpose text not null,
  administrator_id uuid,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint administrator_links_pkey primary key (token_hash),
  constraint administrator_links_purpose_check check (purpose in ('setup', 'invite', 'reset')),
  constraint administrator_links_whose_check check ((purpose = 'setup') = (administrator_id is null)),
  constraint administrator_links_administrator_id_fkey foreign key (administrator_id) references basalt.administrators (id) on delete cascade
);

create index administrator_links_administrator_id_idx on basalt.administrator_links (administrator_id);

alter table basalt.administrator_links enable row level security;
revoke all on basalt.administrator_links from public;

create table basalt.administrator_passkeys (
  id uuid not null,
  administrator_id uuid not null,
  name text not null,
  -- The domain that the key pair was made for.
  relying_party text not null,
  credential_id bytea not null,
  public_key bytea not null,
  attestation_type text not null,
  aaguid uuid,
  sign_count bigint not null,
  transports jsonb not null,
  backup_eligible boolean not null,
  backed_up boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  constraint administrator_passkeys_pkey primary key (id),
  constraint administrator_passkeys_credential_id_key unique (credential_id),
  constraint administrator_passkeys_administrator_id_fkey foreign key (administrator_id) references basalt.administrators (id) on delete cascade
);

create index administrator_passkeys_administrator_id_idx on basalt.administrator_passkeys (administrator_id);

alter table basalt.administrator_passkeys enable row level security;
revoke all on basalt.administrator_passkeys from public;

-- What the answers of authenticators are checked against. Of nobody: to sign in.
create table basalt.administrator_challenges (
  id uuid not null,
  administrator_id uuid,
  session_data jsonb not null,
  expires_at timestamptz not null,
  constraint administrator_challenges_pkey primary key (id),
  constraint administrator_challenges_administrator_id_fkey foreign key (administrator_id) references basalt.administrators (id) on delete cascade
);

create index administrator_challenges_administrator_id_idx on basalt.administrator_challenges (administrator_id);
create index administrator_challenges_expires_at_idx on basalt.administrator_challenges (expires_at);

alter table basalt.administrator_challenges enable row level security;
revoke all on basalt.administrator_challenges from public;

-- Who has changed what. An entry outlives the administrator whom it names.
create table basalt.administrator_audit (
  id bigint generated always as identity,
  at timestamptz not null default now(),
  administrator_id uuid,
  email text not null,
  action text not null,
  target text not null,
  before jsonb,
  after jsonb,
  ip inet,
  request_id text not null default '',
  constraint administrator_audit_pkey primary key (id)
);

create index administrator_audit_target_idx on basalt.administrator_audit (target, id);
create index administrator_audit_administrator_id_idx on basalt.administrator_audit (administrator_id, id);

alter table basalt.administrator_audit enable row level security;
revoke all on basalt.administrator_audit from public;
