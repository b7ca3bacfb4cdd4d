-- A row beside every account; the account's metadata fills it at sign-up.
create table profiles (
  id uuid primary key references auth.users on delete cascade,
  username text unique,
  full_name text,
  updated_at timestamptz,
  constraint username_length check (char_length(username) >= 3)
);

alter table profiles enable row level security;

create policy "Profiles are visible to everyone" on profiles
  for select using (true);

create policy "People insert their own profile" on profiles
  for insert with check ((select auth.uid()) = id);

create policy "People update their own profile" on profiles
  for update using ((select auth.uid()) = id);

create function public.handle_new_user()
returns trigger
set search_path = ''
as $$
begin
  insert into public.profiles (id, username, full_name)
  values (new.id, new.raw_user_meta_data->>'username', new.raw_user_meta_data->>'full_name');
  return new;
end;
$$ language plpgsql security definer;

create trigger on_auth_user_created
  after insert on auth.users
  for each row execute procedure public.handle_new_user();
