-- The dashboard lists accounts newest first, page by page, and finds them by the beginning of an address. The rare kinds
-- have indexes of their own, so that a page of them does not read all the others.

create index if not exists users_listed_idx on auth.users ((coalesce(created_at, '-infinity'::timestamptz)), id);
create index if not exists users_listed_unconfirmed_idx on auth.users ((coalesce(created_at, '-infinity'::timestamptz)), id) where confirmed_at is null;
create index if not exists users_listed_banned_idx on auth.users ((coalesce(created_at, '-infinity'::timestamptz)), id) where banned_until is not null;
create index if not exists users_listed_anonymous_idx on auth.users ((coalesce(created_at, '-infinity'::timestamptz)), id) where is_anonymous;
create index if not exists users_listed_sso_idx on auth.users ((coalesce(created_at, '-infinity'::timestamptz)), id) where is_sso_user;
create index if not exists users_email_beginning_idx on auth.users (email varchar_pattern_ops);
create index if not exists users_phone_beginning_idx on auth.users (phone text_pattern_ops);
create index if not exists identities_provider_idx on auth.identities (provider, user_id);
