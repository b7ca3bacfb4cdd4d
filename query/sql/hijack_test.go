package sql_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// overloads fit the types of the sample better than PostgreSQL's own functions, which take any type.
const overloads = `
create function public.hijacked() returns text language plpgsql as $$
begin
  raise exception 'a function of the schema was called';
end
$$;
create function public.to_json(money) returns json language sql as $$ select hijacked()::json $$;
create function public.to_jsonb(money) returns jsonb language sql as $$ select hijacked()::jsonb $$;
create function public.to_jsonb(point_of_overloads) returns jsonb language sql as $$ select hijacked()::jsonb $$;
create function public.unnest(text[]) returns setof text language sql as $$ select hijacked() $$;
create function public.unnest(boolean[]) returns setof boolean language sql as $$ select hijacked()::boolean $$;
create function public.count_step(bigint, integer) returns bigint language sql as $$ select hijacked()::bigint $$;
create aggregate public.count(integer) (sfunc = count_step, stype = bigint);
create function public.varchar_equals(varchar, varchar) returns boolean language sql as $$ select hijacked()::boolean $$;
create operator public.= (leftarg = varchar, rightarg = varchar, function = varchar_equals);
create operator public.<> (leftarg = varchar, rightarg = varchar, function = varchar_equals);
create operator public.~~ (leftarg = varchar, rightarg = varchar, function = varchar_equals);
create operator public.~ (leftarg = varchar, rightarg = varchar, function = varchar_equals);
create function public.numbers_equal(integer[], integer[]) returns boolean language sql as $$ select hijacked()::boolean $$;
create operator public.= (leftarg = integer[], rightarg = integer[], function = numbers_equal);
create aggregate public.array_agg(integer) (sfunc = count_step, stype = bigint);
`

// Names of functions without a schema would let whoever may create a function run it as each caller.
func TestFunctionsOfTheSchemaDoNotStandInForPostgreSQLsOwn(t *testing.T) {
	s := newSample(t)
	s.Exec(t, `
create type point_of_overloads as (x integer);
create table overloaded (
  id integer primary key,
  price money,
  place point_of_overloads,
  parent integer references overloaded
);
insert into overloaded values (1, null, row(7), null), (2, null, null, 1), (3, null, null, 1);
create table worded (id varchar(10) primary key, numbers integer[], parent varchar(10) references worded);
insert into worded values ('a', '{1}', null), ('b', null, 'a');
`+overloads)
	s.load(t)
	s.with(t, func(conn *pgconn.PgConn) {
		for _, request := range []string{
			"GET /overloaded?select=price",
			"GET /overloaded?select=price,parent:overloaded!parent(price)",
			"GET /overloaded?select=price,count()",
			"GET /overloaded?select=id.count()",
			"GET /overloaded?select=place->x",
			"GET /overloaded?select=id,...overloaded!parent(ids:id)",
			"GET /worded?id=eq.a",
			"GET /worded?id=neq.a",
			"GET /worded?id=in.(a,b)",
			"GET /worded?id=like.a*",
			"GET /worded?id=like(any).{a*}",
			"GET /worded?id=match.a",
			"GET /worded?numbers=eq.{1}",
			"GET /worded?select=id,parent:worded!parent(id),children:worded!parent(id)",
			"PUT /worded?id=eq.c\n> {\"id\": \"c\", \"numbers\": [1], \"parent\": \"a\"}",
			"POST /overloaded?columns=id,parent\n> [{\"id\": 5}, {\"id\": 6}]",
			"POST /overloaded?select=price\n> {\"id\": 5}",
		} {
			t.Run(request, func(t *testing.T) {
				r, statement, err := s.compile(request)
				if err != nil {
					t.Fatal(err)
				}
				inTransaction(t, conn, func() {
					if _, err := s.answer(t, conn, statement, r); err != nil {
						t.Errorf("%v\n%s", err, statement.SQL)
					}
				})
			})
		}
	})
}
