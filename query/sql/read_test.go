package sql_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/plan"
)

// Each request is answered by its compiled statement and the JSON writer; beside it stands PostgreSQL's own JSON of the
// rows that are meant.
var reads = []struct{ name, request, want string }{
	{"no select gives every column", "GET /countries?order=code",
		`select code, name from countries order by code`},
	{"an empty select gives empty objects", "GET /countries?select=&limit=2",
		`select from countries limit 2`},
	{"every column type", "GET /orders?order=id",
		`select * from orders order by id`},
	{"values inside of json", "GET /orders?select=id,data->a,data->b->>c,n:data->l->-1,raw->k,first:data->0&order=id",
		`select id, data->'a' a, data->'b'->>'c' c, data->'l'->-1 n, raw->'k' k, data->0 "first" from orders order by id`},
	{"values inside of arrays and composites", "GET /orders?select=tags->1,at->x,at->>y&order=id",
		`select to_jsonb(tags)->1 tags, to_jsonb(at)->'x' x, to_jsonb(at)->>'y' y from orders order by id`},
	{"casts", "GET /orders?select=total::text,day:placed::date,paid::int&order=id",
		`select total::text, placed::date as day, paid::int from orders order by id`},
	{"domains that have a json form of their own", "GET /customers?select=id,favorite,text:favorite::text&order=id",
		`select id, public.color_json(favorite) favorite, public.color_json(favorite)::text as text from customers order by id`},
	{"filters on such domains", "GET /customers?select=id&favorite=eq.%230000ff",
		`select id from customers where favorite = 255`},
	{"lists of such domains", "GET /customers?select=id&favorite=in.(%230000ff,%2300ff00)&order=id",
		`select id from customers where favorite in (255, 65280) order by id`},
	{"any of such domains", "GET /customers?select=id&favorite=eq(any).{%2300ff00}",
		`select id from customers where favorite = 65280`},
	{"computed columns", "GET /customers?select=name,label&label=like.*<>&order=label",
		`select name, public.label(c) label from customers c where email is null order by 2`},
	{"comparisons", "GET /orders?select=id&id=gt.1&total=lte.10.5&status=neq.void",
		`select id from orders where id > 1 and total <= 10.5 and status <> 'void'`},
	{"patterns", "GET /orders?select=id&status=like(any).{o*n,s*}&status=ilike.*E*&status=match.^[os]&order=id",
		`select id from orders where status in ('open', 'shipped') order by id`},
	{"lists with quotes", `GET /orders?select=id&tags=cs.{"big, one"}&status=in.("open","a,b","c\"d")`,
		`select id from orders where id = 1`},
	{"an empty list", "GET /orders?select=id&status=in.()", `select id from orders where false`},
	{"negation leaves null out", "GET /orders?select=id&paid=not.is.true&total=not.eq.5.25&order=id",
		`select id from orders where paid is not true and total <> 5.25 order by id`},
	{"logic", "GET /orders?select=id&or=(id.eq.1,and(status.eq.void,not.or(paid.is.true,total.gt.1)))&order=id",
		`select id from orders where id in (1) order by id`},
	{"ranges and documents", "GET /orders?select=id&valid=cs.[3,4)&document=fts.fox&status=plfts(simple).open",
		`select id from orders where id = 1`},
	{"json paths in filters", `GET /orders?select=id&data->a=eq.2&data->b->>c=eq.y&raw->>0=eq.1`,
		`select id from orders where id = 2`},
	{"json paths in orderings", `GET /orders?select=id&order=data->a.desc.nullslast,id`,
		`select id from orders order by data->'a' desc nulls last, id`},
	{"a column named like the alias", `GET /orders?select=t,"Odd \"name"&t=eq.x`,
		`select t, "Odd ""name" from orders where t = 'x'`},

	{"many to one", "GET /orders?select=id,customers(name,country_code)&order=id",
		`select id, (select row_to_json(x) from (select name, country_code from customers c where c.id = o.customer_id) x)
		   customers from orders o order by id`},
	{"one to many", "GET /customers?select=name,orders(id,placed,tags,valid)&order=id&orders.order=id.desc",
		`select name, (select coalesce(json_agg(x), '[]') from (select id, placed, tags, valid from orders o
		   where o.customer_id = c.id order by id desc) x) orders from customers c order by id`},
	{"limits of embeds", "GET /customers?select=name,orders(id)&order=id&orders.order=id&orders.limit=1&orders.offset=1",
		`select name, (select coalesce(json_agg(x), '[]') from (select id from orders o where o.customer_id = c.id
		   order by id limit 1 offset 1) x) orders from customers c order by id`},
	{"the server's limit of embeds", "GET /customers?select=name,orders(id)&order=id&orders.order=id&orders.limit=5 # max-rows=1",
		`select 'Ada' "name", json_build_array(json_build_object('id', 1)) orders`},
	{"one to one", "GET /customers?select=name,profiles(bio)&order=id",
		`select name, (select row_to_json(x) from (select bio from profiles p where p.customer_id = c.id) x) profiles
		   from customers c order by id`},
	{"many to many", "GET /customers?select=name,groups(name)&order=id&groups.order=name",
		`select name, (select coalesce(json_agg(x), '[]') from (select g.name from groups g join memberships m
		   on m.group_id = g.id where m.customer_id = c.id order by g.name) x) groups from customers c order by id`},
	{"three levels and a composite key", "GET /customers?select=id,orders(id,items(line,item_notes(note)))" +
		"&order=id&orders.order=id&orders.items.order=line&orders.items.item_notes.order=id",
		`select id, (select coalesce(json_agg(x), '[]') from (select id,
		   (select coalesce(json_agg(y), '[]') from (select line,
		     (select coalesce(json_agg(z), '[]') from (select note from item_notes n
		       where n.order_id = i.order_id and n.line = i.line order by n.id) z) item_notes
		     from items i where i.order_id = o.id order by line) y) items
		   from orders o where o.customer_id = c.id order by id) x) orders from customers c order by id`},
	{"both directions of a self reference", "GET /employees?select=name,manager_id(name),employees(name)&order=id&employees.order=id",
		`select name, (select row_to_json(x) from (select m.name from employees m where m.id = e.manager_id) x) manager_id,
		   (select coalesce(json_agg(x), '[]') from (select r.name from employees r where r.manager_id = e.id order by r.id) x)
		   employees from employees e order by id`},
	{"views", "GET /open_orders?select=id,customers(name,open_orders(id))&order=id&customers.open_orders.order=id",
		`select id, (select row_to_json(x) from (select name, (select coalesce(json_agg(y), '[]') from
		   (select id from open_orders p where p.customer_id = c.id order by id) y) open_orders
		   from customers c where c.id = o.customer_id) x) customers from open_orders o order by id`},
	{"computed relationships", "GET /customers?select=name,recent_orders(id),home(name)&order=id&recent_orders.order=id",
		`select name, (select coalesce(json_agg(x), '[]') from (select id from public.recent_orders(c) order by id) x)
		   recent_orders, (select row_to_json(x) from (select h.name from public.home(c) h) x) home from customers c order by id`},
	{"inner joins to one", "GET /orders?select=id,customers!inner(name)&customers.name=eq.Ada&order=id",
		`select o.id, json_build_object('name', c.name) customers from orders o join customers c on c.id = o.customer_id
		   where c.name = 'Ada' order by o.id`},
	{"inner joins to many", "GET /customers?select=id,orders!inner(id)&orders.status=eq.open&orders.order=id",
		`select 1 as id, json_build_array(json_build_object('id', 1), json_build_object('id', 2)) orders`},
	{"inner joins below inner joins", "GET /customers?select=id,orders!inner(id,items!inner(line))&orders.items.product=eq.map",
		`select 2 as id, json_build_array(json_build_object('id', 3, 'items', json_build_array(json_build_object('line', 1)))) orders`},
	{"embeds that must be empty", "GET /customers?select=id,orders()&orders=is.null",
		`select 3 as id`},
	{"embeds that must not be empty", "GET /customers?select=id,orders()&orders=not.is.null&orders.status=eq.open",
		`select 1 as id`},
	{"conditions on embeds in a tree", "GET /customers?select=id,orders(),profiles()&or=(orders.is.null,profiles.not.is.null)&order=id",
		`select id from customers where id in (1, 3) order by id`},
	{"a column is meant where an embed has its name", "GET /employees?select=id,manager_id(name)&manager_id=eq.2",
		`select 4 as id, json_build_object('name', 'Left') manager_id`},
	{"orderings by an embed", "GET /orders?select=id,customers(name)&order=customers(name).desc.nullslast,id",
		`select o.id, case when c.id is not null then json_build_object('name', c.name) end customers from orders o
		   left join customers c on c.id = o.customer_id order by c.name desc nulls last, o.id`},
	{"two embeds of one table", "GET /customers?select=id,a:orders(id),b:orders(id)&a.status=eq.open&b.status=eq.shipped&order=id&a.order=id",
		`select id, (select coalesce(json_agg(x), '[]') from (select id from orders o where o.customer_id = c.id
		   and status = 'open' order by id) x) a, (select coalesce(json_agg(x), '[]') from (select id from orders o
		   where o.customer_id = c.id and status = 'shipped') x) b from customers c order by id`},

	{"spreads to one", "GET /orders?select=id,...customers(customer:name,...countries(country:name),groups(name))&order=id&customers.groups.order=name",
		`select o.id, c.name customer, k.name country, case when c.id is not null then
		   (select coalesce(json_agg(x), '[]') from (select g.name from groups g join memberships m on m.group_id = g.id
		   where m.customer_id = c.id order by g.name) x) end groups
		   from orders o left join customers c on c.id = o.customer_id left join countries k on k.code = c.country_code order by o.id`},
	{"spreads to many within a spread to one", "GET /orders?select=id,...customers(...groups(name),...orders(tags))&order=id&customers.groups.order=name&customers.orders.order=id",
		`select o.id, case when c.id is not null then (select coalesce(json_agg(g.name order by g.name), '[]') from groups g join memberships m
		   on m.group_id = g.id where m.customer_id = c.id) end name, case when c.id is not null then (select coalesce(json_agg(b.tags order by b.id), '[]')
		   from orders b where b.customer_id = c.id) end tags from orders o left join customers c on c.id = o.customer_id order by o.id`},
	{"spreads to many", "GET /customers?select=id,...orders(ids:id,tags,at,valid)&order=id&orders.order=id.desc",
		`select id, (select coalesce(json_agg(o.id order by o.id desc), '[]') from orders o where o.customer_id = c.id) ids,
		   (select coalesce(json_agg(o.tags order by o.id desc), '[]') from orders o where o.customer_id = c.id) tags,
		   (select coalesce(json_agg(o.at order by o.id desc), '[]') from orders o where o.customer_id = c.id) at,
		   (select coalesce(json_agg(o.valid order by o.id desc), '[]') from orders o where o.customer_id = c.id) valid
		   from customers c order by id`},
	{"spreads below spreads", "GET /customers?select=id,...orders(ids:id,customers(name),...items(products:product,labels))" +
		"&id=eq.1&orders.order=id&orders.items.order=line",
		`select 1 as id, '[1,2]'::json ids, '[{"name":"Ada"},{"name":"Ada"}]'::json customers,
		   '[["pen","ink"],["pen"]]'::json products, '[[["a"],["a","b"]],[[]]]'::json labels`},

	{"aggregates", "GET /orders?select=status,count(),total.sum(),avg:total.avg()::int,total::int.max()&order=status",
		`select status, count(*), sum(total), avg(total)::int avg, max(total::int) from orders group by status order by status`},
	{"aggregates of all rows", "GET /orders?select=count(),total.min()", `select count(*), min(total) from orders`},
	{"groups by json paths", "GET /orders?select=data->>a,count()&order=data->>a",
		`select data->>'a' a, count(*) from orders group by 1 order by 1`},
	{"aggregates in embeds", "GET /customers?select=name,orders(status,count())&order=id&orders.order=status",
		`select name, (select coalesce(json_agg(x), '[]') from (select status, count(*) from orders o
		   where o.customer_id = c.id group by status order by status) x) orders from customers c order by id`},
	{"aggregates in spreads", "GET /orders?select=status,...customers(n:count(),joined.max())&order=status",
		`select status, count(c.id) n, max(joined) from orders o left join customers c on c.id = o.customer_id
		   group by status order by status`},
	{"groups by embeds", "GET /orders?select=customers(name,favorite,orders(valid,raw)),count()&order=count&customers.orders.order=id&id=in.(1,2,3)",
		`select * from (select json_build_object('name', c.name, 'favorite', public.color_json(c.favorite), 'orders',
		   (select json_agg(x) from (select valid::text, raw::jsonb from orders p where p.customer_id = c.id order by id) x)) customers,
		   (select count(*) from orders o where o.customer_id = c.id) count from customers c where id in (1, 2)) y order by count`},
}

func TestReadsGiveTheRowsThatTheyName(t *testing.T) {
	s := newSample(t)
	s.with(t, func(conn *pgconn.PgConn) {
		for _, test := range reads {
			t.Run(test.name, func(t *testing.T) {
				request, statement, err := s.compile(test.request)
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.run(t, conn, statement, request)
				if err != nil {
					t.Fatalf("%v\n%s", err, statement.SQL)
				}
				want := jsonOf(t, conn, test.want)
				if compact(t, got) != want {
					t.Errorf("%s\ngot:  %s\nwant: %s\n%s", test.request, compact(t, got), want, statement.SQL)
				}
			})
		}
	})
}

// jsonOf gives the rows of a query as PostgreSQL writes them.
func jsonOf(t *testing.T, conn *pgconn.PgConn, query string) string {
	t.Helper()
	result, err := conn.Exec(t.Context(), "set search_path = public; set timezone = 'UTC'; "+
		"select coalesce(json_agg(row_to_json(_row)), '[]') from ("+query+") _row").ReadAll()
	if err != nil {
		t.Fatalf("%v\n%s", err, query)
	}
	return compact(t, result[len(result)-1].Rows[0][0])
}

// compact takes the white space out, so that only values and their order count.
func compact(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out.String()
}

func TestCountsAreOfTheRowsWithoutLimit(t *testing.T) {
	s := newSample(t)
	for _, test := range []struct{ request, want string }{
		{"GET /orders?select=id&limit=1 # count=exact", "4"},
		{"GET /orders?select=id&status=eq.open&limit=1 # count=exact", "2"},
		{"GET /orders?select=id # count=estimated max-rows=2", "3"},
		{"GET /orders?select=id # count=estimated", "4"},
		{"GET /orders?select=status,count() # count=exact", "3"},
		{"GET /orders?select=id,customers!inner(name)&customers.name=eq.Ada # count=exact", "2"},
		{"GET /customers?select=id,orders()&orders=is.null # count=exact", "1"},
	} {
		request, statement, err := s.compile(test.request)
		if err != nil {
			t.Fatal(err)
		}
		params, err := statement.Count.Bind(nil, request)
		if err != nil {
			t.Fatal(err)
		}
		s.with(t, func(conn *pgconn.PgConn) {
			result := conn.ExecParams(t.Context(), statement.Count.SQL, params, nil, nil, nil).Read()
			if result.Err != nil || string(result.Rows[0][0]) != test.want {
				t.Errorf("%s: %v, %v rows, want %s", test.request, result.Err, result.Rows, test.want)
			}
		})
	}
}

func TestPlansAreReadByThePlanner(t *testing.T) {
	s := newSample(t)
	request, statement, err := s.compile("GET /orders?select=id&status=eq.open&limit=1 # count=planned")
	if err != nil {
		t.Fatal(err)
	}
	params, err := statement.Plan.Bind(nil, request)
	if err != nil {
		t.Fatal(err)
	}
	s.with(t, func(conn *pgconn.PgConn) {
		if _, err := prepare(t, conn, statement.Plan); err != nil {
			t.Fatal(err)
		}
		result := conn.ExecPrepared(t.Context(), "", params, statement.Formats, []int16{1}).Read()
		if result.Err != nil || !strings.Contains(string(result.Rows[0][0]), `"Plan Rows"`) {
			t.Errorf("%v %s", result.Err, result.Rows)
		}
	})
}

func TestUnknownColumnsAreReportedInPostgreSQLsWords(t *testing.T) {
	s := newSample(t)
	for _, column := range []string{"totl", "idd", "nope", "stat", "statuss", "custmer_id", "ding_id", "ID", "Total", "x"} {
		_, _, err := s.compile("GET /orders?select=" + column)
		var got *plan.Error
		if !errors.As(err, &got) {
			t.Fatalf("%s: %v", column, err)
		}
		s.with(t, func(conn *pgconn.PgConn) {
			result := conn.ExecParams(t.Context(), `select orders."`+column+`" from public.orders`, nil, nil, nil, nil).Read()
			var want *pgconn.PgError
			if !errors.As(result.Err, &want) {
				t.Fatalf("%s: %v", column, result.Err)
			}
			if got.Code != want.Code || got.Message != want.Message || got.Hint != want.Hint {
				t.Errorf("%s: %s %s %s, want %s %s %s", column, got.Code, got.Message, got.Hint, want.Code, want.Message, want.Hint)
			}
		})
	}
}
