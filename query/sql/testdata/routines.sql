-- What is called.
create function public.add(a int, b int default 10) returns int language sql immutable as $$ select a + b $$;
create function public.nothing() returns void language sql as $$ select $$;
create function public.numbers(most int) returns setof int language sql stable as $$ select generate_series(1, most) $$;
create function public.as_json(a text) returns json language sql stable as $$ select json_build_object('a', a) $$;
create function public.moods() returns setof public.mood language sql stable as $$ select unnest(enum_range(null::public.mood)) $$;
create function public.interval_of(days int) returns interval language sql stable as $$ select make_interval(days => days) $$;
create function public.null_of() returns int language sql stable as $$ select null::int $$;
create function public.favorite() returns public.color language sql stable as $$ select 255::public.color $$;
create function public.middle(a public.point2, b public.point2) returns public.point2 language sql stable
as $$ select ((a.x + b.x) / 2, (a.y + b.y) / 2)::public.point2 $$;
create function public.points(places public.point2[]) returns setof public.point2 language sql stable
as $$ select * from unnest(places) $$;
create function public.customers_of(country text) returns setof public.customers language sql stable
as $$ select * from public.customers where country_code = country $$;
create function public.one_order(id bigint) returns public.orders language sql stable
as $$ select * from public.orders o where o.id = one_order.id $$;
create function public.totals(at_least numeric default 0) returns table (status text, total numeric) language sql stable
as $$ select o.status, sum(o.total) from public.orders o group by 1 having sum(o.total) >= at_least $$;
create function public.single_column() returns table (a text) language sql stable as $$ values ('x'), ('y') $$;
create function public.one_out(n int, out plus_one int) language sql stable as $$ select n + 1 $$;
create function public.unnamed_out(n int, out int) language sql stable as $$ select n + 1 $$;
create function public.unnamed_outs(n int, out int, out text) language sql stable as $$ select n, n::text $$;
create function public.several_out(n int, out low int, out high int) language sql stable as $$ select n - 1, n + 1 $$;
create function public.in_out(inout n int, inout word text default 'w') language sql stable as $$ select n + 1, word || n $$;
create function public.records() returns setof record language sql stable as $$ select id, name from public.groups $$;
create function public.a_record() returns record language sql stable as $$ select id, name from public.groups $$;
create function public.joined(separator text, variadic words text[] default '{}') returns text language sql stable
as $$ select array_to_string(words, separator) $$;
create function public.sum_up(variadic numbers int[]) returns bigint language sql stable
as $$ select sum(n) from unnest(numbers) n $$;
create function public.array_of(list int[], doc json default null, docb jsonb default '{}') returns text language sql stable
as $$ select list::text || coalesce(json_typeof(doc), 'none') || docb::text $$;
create function public.whole_json(json) returns json language sql stable as $$ select $1 $$;
create function public.whole_text(text) returns text language sql stable as $$ select $1 $$;
create function public.whole_xml(xml) returns xml language sql stable as $$ select $1 $$;
create function public.whole_bytea(bytea) returns bytea language sql stable as $$ select $1 $$;
create function public.over() returns int language sql stable as $$ select 0 $$;
create function public.over(a int, b int) returns int language sql stable as $$ select a + b $$;
create function public.over(a text, b text, c text) returns text language sql stable as $$ select a || b || c $$;
create function public.over(jsonb) returns text language sql stable as $$ select 'json ' || $1::text $$;
create function public.over(text) returns text language sql stable as $$ select 'text ' || $1 $$;
create function public.over(bytea) returns text language sql stable as $$ select 'bytes ' || length($1) $$;
create function public.alike(arg xml) returns int language sql stable as $$ select 1 $$;
create function public.alike(arg int) returns int language sql stable as $$ select 2 $$;
create function public.alike(arg text, num int default 0) returns int language sql stable as $$ select 3 $$;
create function public."Odd name"("The Arg" int, "sel""ect" text default null) returns text language sql stable
as $$ select "The Arg" || coalesce("sel""ect", '') $$;
create function public.named_like_aliases(a public.point2, t int, v int) returns int language sql stable
as $$ select a.x + t + v $$;
create function public.add_group(id bigint, name text) returns setof public.groups language sql volatile
as $$ insert into public.groups values (id, name) returning * $$;
create function public.word_of(w public.required) returns text language sql stable as $$ select w $$;
