// Tables whose policies are worth a look.
export const ada = '11111111-1111-4111-8111-111111111111'
export const bob = '22222222-2222-4222-8222-222222222222'

export async function seed(world) {
  await world.sql(`
    create table if not exists todos (id int primary key, owner uuid default auth.uid(), title text, done boolean not null default false);
    insert into auth.users (id, instance_id, aud, role, email) values
      ('${ada}', '00000000-0000-0000-0000-000000000000', 'authenticated', 'authenticated', 'ada@app.example'),
      ('${bob}', '00000000-0000-0000-0000-000000000000', 'authenticated', 'authenticated', 'bob@app.example') on conflict do nothing;
    insert into todos values (1, '${ada}', 'write', false), (2, '${bob}', 'read', false), (3, '${ada}', 'calculate', true), (4, null, 'of nobody', false) on conflict do nothing;
    grant all on todos to anon, authenticated;
    create table if not exists profiles (id uuid primary key, name text, api_key text);
    insert into profiles values ('${ada}', 'Ada', 'k-1'), ('${bob}', 'Bob', 'k-2') on conflict do nothing;
    alter table profiles enable row level security;
    drop policy if exists "Everybody reads" on profiles;
    create policy "Everybody reads" on profiles for select using (true);
    create table if not exists notes (id int primary key, body text);
    alter table notes enable row level security;
    create or replace view open_profiles as select * from profiles;
    grant select on profiles, open_profiles to anon, authenticated`)
}
