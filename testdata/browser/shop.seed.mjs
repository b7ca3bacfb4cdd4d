// A record shop: rows of all common types, relations, functions and a user with sessions, for screens that show data.
export const grace = '33333333-3333-4333-8333-333333333333'

export function seed(world) {
  return world.sql(`
    create type public.medium as enum ('vinyl', 'cd', 'download');
    create table public.artists (id bigint generated always as identity primary key, name text not null unique, country text, founded date);
    create table public.albums (
      id bigint generated always as identity primary key,
      title text not null,
      artist_id bigint not null references public.artists,
      medium public.medium not null default 'vinyl',
      price numeric(8, 2) not null,
      released date,
      in_stock boolean not null default true,
      tags text[] not null default '{}',
      details jsonb,
      description text,
      sku uuid not null default gen_random_uuid(),
      created_at timestamptz not null default now()
    );
    comment on table public.albums is 'What the shop sells';
    insert into public.artists (name, country, founded)
    select (array['Miles', 'Nina', 'Ella', 'Duke', 'Etta', 'Otis', 'Aretha', 'Sam'])[1 + i % 8] || ' ' || (array['Rivers', 'Stone', 'Field', 'Marsh', 'Woods'])[1 + i / 8], (array['PT', 'US', 'FR', null])[1 + i % 4], date '1955-03-01' + i * 211
    from generate_series(0, 39) i;
    insert into public.albums (title, artist_id, medium, price, released, in_stock, tags, details, description)
    select (array['Blue Hour', 'Live at the Harbour', 'Second Nature', 'The Quiet Room', 'Northern Lines', 'Paper Boats'])[1 + i % 6] || case when i > 5 then ', vol. ' || i / 6 + 1 else '' end,
      1 + i % 40, (array['vinyl', 'cd', 'download'])[1 + i % 3]::public.medium, 9.90 + i % 17, date '1961-01-09' + i * 37, i % 5 > 0, array['jazz', (array['live', 'studio'])[1 + i % 2]],
      jsonb_build_object('tracks', 8 + i % 5, 'label', 'Basalt Records'), case when i % 3 > 0 then 'Recorded in two days, mixed in one, and played ever since by those who found it.' end
    from generate_series(0, 1239) i;
    create function public.albums_of(artist text, most integer default 10) returns setof public.albums language sql stable
      as 'select a.* from public.albums a join public.artists b on b.id = a.artist_id where b.name = artist order by a.released limit most';
    comment on function public.albums_of is 'The albums of an artist, the oldest first';
    grant select on public.artists, public.albums to anon, authenticated;
    alter table public.artists enable row level security;
    create policy "Everybody reads" on public.artists for select using (true);
    insert into auth.users (id, aud, role, email, created_at, last_sign_in_at, email_confirmed_at, raw_user_meta_data, raw_app_meta_data)
    values ('${grace}', 'authenticated', 'authenticated', 'grace@example.com', now() - interval '90 days', now() - interval '2 hours', now() - interval '90 days', '{"name": "Grace Rivers", "newsletter": true}', '{"provider": "email", "providers": ["email"]}');
    analyze public.artists, public.albums;
    notify pgrst, 'reload schema'`)
}

/** A file of albums, as the dialog of the import takes it. */
export const albumsFile = { name: 'albums.csv', mimeType: 'text/csv', buffer: Buffer.from(`title,artist,price,Medium,released
Blue Hour,1,12.90,vinyl,1961-01-09
"Live, at the Harbour",2,14.50,cd,1962-04-11
Second Nature,3,9.90,download,1963-10-02
`) }
