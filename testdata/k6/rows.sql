-- The rows of the tables of `basalt bench schema`: those that `basalt bench` makes, in the same numbers. Their owner is
-- the user bench-owner@example.com.
insert into public.bench_item (id, key, name, note, price, stock, active, extra, created_at, owner)
select n, gen_random_uuid(), 'item ' || n, 'a note about item ' || n, n * 1.25, n % 100, n % 2 = 0,
  jsonb_build_object('k', n, 'tags', jsonb_build_array('a', 'b')), now() - n * interval '1 minute', users.id
from generate_series(1, 20000) n, auth.users
where users.email = 'bench-owner@example.com';

insert into public.bench_part (id, item_id, name, weight, amount)
select row_number() over (order by item.id, n), item.id, 'part of item ' || item.id, item.id % 50 + 0.5, n
from public.bench_item item, generate_series(1, case when item.id <= 10000 then 10 else 5 end) n;

analyze public.bench_item, public.bench_part;
