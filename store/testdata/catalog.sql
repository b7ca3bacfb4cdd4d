-- A schema with one of everything that the catalog tells apart. private is not exposed; second is, beside public.
create schema private;
create schema second;
comment on schema public is 'The shop';

create type mood as enum ('sad', 'ok', 'happy');
create type point3 as (x int, y int, z numeric(10, 2));
create domain email as text not null default 'nobody@example.com' check (value like '%@%');
create domain work_email as email;
create domain colour as int;
create function colour_to_json(colour) returns json language sql immutable as $$ select to_json('#' || to_hex($1::int)) $$;
create function colour_from_text(text) returns colour language sql immutable as $$ select 0::colour $$;
create function colour_from_json(json) returns colour language sql immutable as $$ select colour_from_text($1 #>> '{}') $$;
create cast (colour as json) with function colour_to_json(colour) as implicit;
create cast (text as colour) with function colour_from_text(text) as implicit;
create cast (json as colour) with function colour_from_json(json) as implicit;
create type span as range (subtype = int);

create table kinds (
  id int generated always as identity primary key,
  small smallserial,
  label varchar(20) not null default 'none',
  code char(3),
  bits bit(4),
  open_bits bit varying,
  amount numeric(10, 2),
  doubled numeric generated always as (amount * 2) stored,
  mood mood default 'ok',
  moods mood[],
  place point3,
  spots point3[],
  mail email,
  work work_email,
  tint colour,
  life span,
  lives int4multirange,
  vec int2vector,
  note text
);
alter table kinds add column gone int;
alter table kinds drop column gone;
alter table kinds add column late timestamptz;
comment on table kinds is 'All kinds';
comment on column kinds.label is 'What it is called';

-- Composite keys, listed against the order of the columns.
create table regions (
  name text,
  country text,
  code text unique,
  primary key (country, name)
);
create table towns (
  id int primary key,
  region text,
  country text,
  capital_of text unique references regions (code),
  constraint towns_region foreign key (country, region) references regions (country, name)
);

-- Two keys to the same table, one to itself, one that is one-to-one.
create table people (
  id int primary key,
  name text not null,
  boss int references people,
  home int constraint people_home references towns,
  work int constraint people_work references towns,
  badge_of int
);
create table badges (
  person int primary key references people on delete cascade,
  number text
);

-- Junctions: one whose primary key holds both keys, one that has a primary key of its own.
create table clubs (
  id int primary key,
  title text
);
create table members (
  person int references people,
  club int references clubs,
  since date,
  primary key (person, club)
);
create table visits (
  id int primary key,
  person int references people,
  club int references clubs
);
create table friends (
  a int constraint friends_a references people,
  b int constraint friends_b references people,
  primary key (a, b)
);

create table private.ledger (
  id int primary key,
  person int constraint ledger_person references public.people,
  secret text
);
create table second.letters (
  id int primary key,
  author int constraint letters_author references public.people
);
create table second.people (
  id int primary key
);

-- A partitioned table with keys in both directions.
create table events (
  id int,
  day date,
  person int constraint events_person references people,
  primary key (id, day)
) partition by range (day);
create table events_2024 partition of events for values from ('2024-01-01') to ('2025-01-01');
create table events_2025 partition of events for values from ('2025-01-01') to ('2026-01-01');
create table remarks (
  id int primary key,
  event int,
  day date,
  constraint remarks_event foreign key (event, day) references events (id, day)
);

-- Views, views of views, one over a table that is not exposed.
create view people_view as
select p.name as full_name, p.id as person_id, p.home as house, p.boss, upper(p.name) as loud
from people p
where p.id > 0;
create view people_again as
select v.person_id as "Person Id", v.house
from people_view v;
create view no_keys as
select name
from people;
create view ledger as
select id as entry, person
from private.ledger;
create view towns_of_people as
select t.id as town, p.id as person, t.country
from people p
join towns t on t.id = p.home;
create view members_view as
select person, club
from members;
create view with_subquery as
with chosen as (
  select *
  from (select id, home from people limit 10) inner_people
)
select c.home as h, (select max(id) from clubs) as top
from chosen c;
create view both_halves as
select id from people
union
select id from towns;
create view half_a_key as
select id, country
from towns;
create view twice as
select id as a, id as b, home
from people;
create materialized view people_kept as
select id, home
from people;
create view odd_names as
select "id" as "a ""quoted"" (name) {with} \brackets", home as " ,:x "
from people;
create view triggered as
select count(*) as n
from people;
create function take_row() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger takes instead of insert on triggered for each row execute function take_row();

create extension if not exists file_fdw;
create server files foreign data wrapper file_fdw;
create foreign table passwd (line text) server files options (filename '/dev/null');
-- A wrapper without a handler: there are such where an extension was taken away.
create foreign data wrapper handless;
create server nowhere foreign data wrapper handless;
create foreign table unreachable (line text) server nowhere;

create table "Mixed Case" (
  "Primary Key" int primary key,
  "Other.Column" text,
  "To people" int constraint "Odd ""constraint""" references people
);

-- Routines.
create function add(a int, b int default 1) returns int language sql immutable as 'select a + b';
create function add(a text, b text) returns text language sql stable as 'select a || b';
comment on function add(int, int) is 'Adds';
create function total(variadic numbers int[]) returns bigint language sql as 'select sum(n) from unnest(numbers) n';
create function halves(n int, out low int, out high int) language sql as 'select n / 2, n - n / 2';
create function bump(inout n int) language sql as 'select n + 1';
create function listed(prefix text) returns table (id int, name text) language sql stable rows 7
  as 'select id, name from people where name like prefix';
create function everyone() returns setof people language sql stable as 'select * from people';
create function someone(wanted int) returns people language sql stable set statement_timeout = '5s' set "my.flag" = 'a=b'
  as 'select * from people where id = wanted';
create function from_body(json) returns json language sql as 'select $1';
create function ledger_rows() returns setof private.ledger language sql as 'select * from private.ledger';
create function ping() returns void language sql as 'select';
create procedure never() language sql as 'select 1';
create function private.hidden() returns int language sql as 'select 1';
create domain people_alias as people;
create function aliased() returns people_alias language sql as 'select null::people_alias';

-- Computed columns and relationships.
create function shout(people) returns text language sql stable as 'select upper($1.name)';
create function several(people) returns setof text language sql stable as 'select $1.name';
create function neighbours(people) returns setof people language sql stable rows 3
  as 'select p.* from people p where p.home = $1.home';
create function captain(clubs) returns setof people language sql stable rows 1
  as 'select p.* from people p limit 1';
create function deputy(clubs) returns people language sql stable as 'select p from people p limit 1';
create function visits(people) returns setof visits language sql stable as 'select * from visits v where v.person = $1.id';
create function extensions.initials(people) returns text language sql stable as 'select left($1.name, 1)';
create function extensions.unrelated(int) returns int language sql as 'select $1';
