begin;

create table if not exists public.messages (
  id uuid primary key default uuid_generate_v4(),
  secret text not null default encode(gen_random_bytes(8), 'hex'),
  author uuid not null references public.profiles (id) on delete cascade default auth.uid(),
  body text not null default ';'
);

alter publication supabase_realtime add table public.messages;

alter table public.messages enable row level security;
create policy "Authors see their messages" on public.messages
  using ((select auth.jwt() ->> 'sub')::uuid = author);

-- What the dashboard of a hosted project writes for a database webhook or hook.
grant usage on schema public to supabase_auth_admin;

create or replace function public.custom_access_token_hook(event jsonb)
returns jsonb
language sql
stable
begin atomic
  select jsonb_set(event, '{claims,team}', to_jsonb(case when event ? 'user_id' then 'known' else 'unknown' end));
end;

grant execute on function public.custom_access_token_hook to supabase_auth_admin;
revoke execute on function public.custom_access_token_hook from authenticated, anon, public;

commit;
