-- What policies, defaults, views and functions of users ask about the caller.
-- The server sets request.jwt.claims per request; request.jwt.claim.<name> is
-- the older spelling that database tests still set. "parallel safe" lets
-- PostgreSQL run parallel plans under policies that call them.

create or replace function auth.jwt()
returns jsonb
language sql
stable
parallel safe
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claims', true), ''),
    nullif(current_setting('request.jwt.claim', true), '')
  )::jsonb
$$;

create or replace function auth.uid()
returns uuid
language sql
stable
parallel safe
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub',
    nullif(current_setting('request.jwt.claim.sub', true), '')
  )::uuid
$$;

create or replace function auth.role()
returns text
language sql
stable
parallel safe
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role',
    nullif(current_setting('request.jwt.claim.role', true), '')
  )
$$;

create or replace function auth.email()
returns text
language sql
stable
parallel safe
as $$
  select coalesce(
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'email',
    nullif(current_setting('request.jwt.claim.email', true), '')
  )
$$;

comment on function auth.jwt() is 'The claims of the caller''s token.';
comment on function auth.uid() is 'The caller''s user id. In a policy write (select auth.uid()) so that it is computed once per statement.';
comment on function auth.role() is 'The role claim of the caller''s token. Prefer "to <role>" in policies.';
comment on function auth.email() is 'The e-mail claim of the caller''s token. Prefer auth.jwt() ->> ''email''.';
