-- The tables that `basalt bench` reads and writes. 20,000 items behind row-level security; ten parts to each of the
-- first 10,000 items and five to the others; entries come and go.
create table public.bench_item (
  id bigint primary key,
  key uuid not null,
  name text not null,
  note text,
  price numeric not null,
  stock int not null,
  active boolean not null,
  extra jsonb not null,
  created_at timestamptz not null,
  owner uuid not null
);
create index on public.bench_item (stock, price);
alter table public.bench_item enable row level security;
create policy own on public.bench_item using (owner = (select auth.uid()));

create table public.bench_part (
  id bigint primary key,
  item_id bigint not null references public.bench_item,
  name text not null,
  weight numeric,
  amount int
);
create index on public.bench_part (item_id);

create table public.bench_entry (
  id bigint generated always as identity primary key,
  run uuid not null,
  body text not null,
  amount int not null
);

-- As many rows as are asked for, made on the way: what a stream sends. In FROM itself generate_series would write all of
-- its numbers down before the first row.
create function public.bench_rows(n int) returns setof public.bench_item
language sql stable
as $$
  select g::bigint, '00000000-0000-4000-8000-000000000001'::uuid, 'item ' || g, null, g * 1.25, g % 100, g % 2 = 0,
    jsonb_build_object('k', g), now(), '00000000-0000-4000-8000-000000000001'::uuid
  from (select generate_series(1, n) as g) s
$$;

grant select on public.bench_item, public.bench_part to authenticated;
grant select, insert, update, delete on public.bench_entry to authenticated;
grant all on public.bench_item, public.bench_part, public.bench_entry to service_role;
revoke execute on function public.bench_rows(int) from public, anon;
grant execute on function public.bench_rows(int) to authenticated, service_role;
