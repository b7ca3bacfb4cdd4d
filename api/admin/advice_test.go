package admin_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

// adviser is a dashboard beside an app with a connection of its own, whose statements are counted.
type adviser struct {
	*dashboard
	app     *pgx.Conn
	weighed bool // hypopg is there
}

func openAdviser(t *testing.T, sql string) *adviser {
	t.Helper()
	a := &adviser{dashboard: openDashboard(t, sql, administrator.Editor)}
	if _, err := a.Database.Pool.Exec(t.Context(), `create extension pg_stat_statements`); err != nil {
		t.Skip("this PostgreSQL has no pg_stat_statements")
	}
	var state admin.StatementsBody
	if a.call(t, "GET", "/performance/statements", nil).JSON(t, &state); state.State == "not_loaded" {
		t.Skip("this PostgreSQL does not load pg_stat_statements")
	}
	_, err := a.Database.Pool.Exec(t.Context(), `create extension hypopg`)
	a.weighed = err == nil
	if a.app, err = pgx.Connect(t.Context(), a.Database.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.app.Close(t.Context()) })
	return a
}

// about gives the advice on a statement that the app has run as a role.
func (a *adviser) about(t *testing.T, role, sql string) admin.AdviceBody {
	t.Helper()
	return a.aboutChanged(t, role, "", sql, "")
}

// aboutChanged is about with something done before the statement is run, and something else between that and the advice.
func (a *adviser) aboutChanged(t *testing.T, role, before, sql, between string) (body admin.AdviceBody) {
	t.Helper()
	const constants = `\$\d+|''[^'']*''|\m\d+\M`
	// PostgreSQL counts so many statements of all databases, and forgets some to make room for others.
	apitest.Until(t, "the statement is counted", func() bool {
		a.Database.Exec(t, before)
		for _, statement := range []string{"set role " + role, sql, "reset role"} {
			if _, err := a.app.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
				t.Fatalf("%.100s: %v", statement, err)
			}
		}
		var id string
		err := a.Database.Pool.QueryRow(t.Context(), `
select queryid::text || '_' || userid::text
from pg_stat_statements
where dbid = (select oid from pg_database where datname = current_database())
and userid = $1::regrole
and regexp_replace(query, '`+constants+`', '?', 'g') = regexp_replace($2, '`+constants+`', '?', 'g')`, role, sql).Scan(&id)
		if err != nil {
			return false
		}
		a.Database.Exec(t, between)
		answer := a.call(t, "POST", "/performance/advice", admin.AdviceAskBody{Statement: id})
		if answer.Status == http.StatusNotFound {
			return false
		}
		if answer.Status != http.StatusOK {
			t.Fatalf("%.100s: %d %.500s", sql, answer.Status, answer.Body)
		}
		answer.JSON(t, &body)
		return true
	})
	return body
}

// suggested are the indexes of an answer.
func suggested(body admin.AdviceBody) []string {
	var indexes []string
	for _, s := range body.Suggestions {
		indexes = append(indexes, fmt.Sprintf("%s(%s)", s.Table, strings.Join(s.Columns, ", ")))
	}
	return indexes
}

const advisedShop = `
create table customers (id int primary key, name varchar(80) not null, city text, email text);
create table orders (id int primary key, customer_id int not null, total numeric not null, placed_at timestamptz not null, shop int not null, half int not null, note text);
create index on orders (shop);
insert into customers select i, 'Customer ' || i, 'City ' || i % 500, i || '@example.com' from generate_series(1, 5000) i;
insert into orders select i, i % 5000, i % 700, '2030-01-01'::timestamptz + i * interval '1 minute', i % 2000, i % 2, 'x' from generate_series(1, 40000) i;
create table "Odd ""t" ("a.b" int, "order" int, "C" varchar(20));
insert into "Odd ""t" select i, i % 300, 'c' || i from generate_series(1, 20000) i;
create table few (id int, kind int);
insert into few select i, i from generate_series(1, 100) i;
create table notes (id int primary key, owner text not null, body text);
insert into notes select i, 'user ' || i % 4000, 'note' from generate_series(1, 20000) i;
alter table notes enable row level security;
create policy own on notes for select to authenticated using (owner = current_setting('request.jwt.claim.sub', true));
create table entries (id int primary key, author uuid not null, body text, team int);
insert into entries select i, gen_random_uuid(), 'x', i % 1000 from generate_series(1, 20000) i;
create function my_team() returns int language plpgsql stable as $$ begin return (select count(*) from few where kind < 3); end $$;
alter table entries enable row level security;
create policy own on entries for select to authenticated using (author = auth.uid() and team = my_team());
create table parts (id int, kind int) partition by range (id);
create table parts_1 partition of parts for values from (0) to (10000);
create table parts_2 partition of parts for values from (10000) to (20000);
insert into parts select i, i % 3000 from generate_series(0, 19999) i;
analyze;
grant select on all tables in schema public to anon, authenticated;`

func TestIndexesAreSuggestedForAStatement(t *testing.T) {
	t.Parallel()
	a := openAdviser(t, advisedShop)
	for _, test := range []struct {
		name, role, sql string
		wanted          string
		tried           bool // whether hypopg can
	}{
		{"what is equal before what is not", "anon", `select * from orders where placed_at > '2030-01-28' and customer_id = 7`, "orders(customer_id, placed_at)", true},
		{"a list of values", "anon", `select note from orders where customer_id in (7, 8)`, "orders(customer_id)", true},
		{"a varchar, which is compared as text", "anon", `select id from customers where name = 'x'`, "customers(name)", true},
		{"the first of an order", "anon", `select * from orders order by placed_at desc limit 10`, "orders(placed_at)", true},
		{"behind an index that finds too much", "anon", `select * from orders where shop < 1900 and total = 12345`, "orders(total, shop)", true},
		{"a join", "anon", `select o.* from customers c join orders o on o.customer_id = c.id where c.email = '7@example.com'`, "orders(customer_id)", true},
		{"odd names", "anon", `select 1 from "Odd ""t" "the t" where "the t"."order" = 5 and "a.b" < 70`, `Odd "t(order, a.b)`, true},
		{"a policy", "authenticated", `select * from notes`, "notes(owner)", true},
		{"a policy that calls functions", "authenticated", `select body from entries`, "entries(author, team)", false},
		{"a change", "postgres", `update customers set city = 'x' where email = 'nobody'`, "customers(email)", true},
		{"a partitioned table", "anon", `select * from parts where kind = 9`, "parts(kind)", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			role := test.role
			if role == "postgres" {
				role = a.owner(t)
			}
			body := a.about(t, role, test.sql)
			at := slices.Index(suggested(body), test.wanted)
			if at < 0 || body.Reason != "" || body.Hypothetical != a.weighed || body.Cost <= 0 {
				t.Fatalf("%v: %+v", suggested(body), body)
			}
			s := body.Suggestions[at]
			if weighed := s.After != nil && s.Bytes != nil && *s.Bytes > 0 && *s.After < body.Cost; weighed != (a.weighed && test.tried) || s.Schema != "public" || s.Share <= 0 || s.Share > 1 {
				t.Errorf("%+v of %v", s, body.Cost)
			}
		})
	}
}

// owner is the role that the server connects as.
func (a *adviser) owner(t *testing.T) (name string) {
	t.Helper()
	if err := a.app.QueryRow(t.Context(), `select session_user`).Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWhereNoIndexIsSuggestedItIsSaidWhy(t *testing.T) {
	t.Parallel()
	a := openAdviser(t, advisedShop)
	owner := a.owner(t)
	var utilities bool
	if err := a.app.QueryRow(t.Context(), `select current_setting('pg_stat_statements.track_utility')::bool`).Scan(&utilities); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, role, sql string
		reason, message string
	}{
		{"the index is there", "anon", `select note from orders where shop = 7`, "indexed", ""},
		{"the key is used", "anon", `select note from orders where id = 7`, "indexed", ""},
		{"the whole table is wanted", "anon", `select sum(total) from orders`, "whole", ""},
		{"the table is small", "anon", `select * from few where kind = 7`, "small", ""},
		{"no column is compared as it is", "anon", `select * from customers where lower(email) = 'x'`, "no_column", ""},
		{"a part of a text", "anon", `select * from customers where email like '%x%'`, "no_column", ""},
		{"no table is read", "anon", `select current_date`, "no_table", ""},
		{"only catalogs are read", "anon", `select count(*) from pg_class where reltuples = 77`, "no_table", ""},
		{"no plan", owner, `create table if not exists made (id int)`, "utility", ""},
		{"no plan, and a secret", owner, `comment on table few is 'a-value-to-hide'`, "utility", ""},
		{"a type that the text does not tell", "anon", `select interval '1 day', count(*) from orders`, "not_planned", "syntax error"},
		{"a text without end", "anon", `select 7 /* ` + strings.Repeat("x", 100_000) + ` */ from orders`, "too_long", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.reason == "utility" && !utilities {
				t.Skip("this PostgreSQL counts no utility statements")
			}
			body := a.about(t, test.role, test.sql)
			if body.Reason != test.reason || !strings.Contains(body.Message, test.message) || (body.Message == "") != (test.message == "") || len(body.Suggestions) > 0 {
				t.Errorf("%+v", body)
			}
		})
	}
	t.Run("the table is gone", func(t *testing.T) {
		if _, err := a.app.Exec(t.Context(), `create temp table passing (id int)`); err != nil {
			t.Fatal(err)
		}
		if body := a.about(t, owner, `select * from passing where id = 7`); body.Reason != "not_planned" || body.Message != `relation "passing" does not exist` {
			t.Errorf("%+v", body)
		}
	})
	t.Run("nothing is gained", func(t *testing.T) {
		if !a.weighed {
			t.Skip("this PostgreSQL has no hypopg")
		}
		if body := a.about(t, "anon", `select note from orders where half = 1`); body.Reason != "no_gain" || len(body.Suggestions) > 0 {
			t.Errorf("%+v", body)
		}
	})
	if answer := a.call(t, "POST", "/performance/advice", `{"statement":"1_1"}`); answer.Status != http.StatusNotFound {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	a.Database.Exec(t, `drop extension pg_stat_statements`)
	if answer := a.call(t, "POST", "/performance/advice", `{"statement":"1_1"}`); answer.Status != http.StatusConflict || !strings.Contains(answer.Body, `"not_counted"`) {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if strings.Contains(a.Log.String(), "a-value-to-hide") {
		t.Error("a password is in the log")
	}
}

// A function that is not volatile is carried out while its call is planned: by whoever asks for advice, on what somebody of
// less power has written, who may have put another function in its place since.
func TestAdviceOnAStatementGivesItNoMoreThanItsRoleHas(t *testing.T) {
	t.Parallel()
	a := openAdviser(t, advisedShop+`
create table kept (what text);
revoke all on kept from anon;
create schema lure;
grant usage on schema lure to anon;
create function lure.pg_partition_root(oid) returns regclass language plpgsql as $$ begin raise exception 'carried out as %', current_user; end $$;
create function write() returns void language sql security definer as $$ insert into kept values ('written') $$;`)
	for sql, message := range map[string]string{
		`perform set_config('role', 'none', false)`:                       "within security-definer function",
		`perform set_config('session_authorization', session_user, true)`: "within security-definer function",
		`perform what from kept`:                                          "permission denied",
		`perform write()`:                                                 "read-only transaction",
		`perform set_config('transaction_read_only', 'off', false)`:       "read-write mode",
		`perform pg_sleep(60)`:                                            "statement timeout",
		`perform set_config('search_path', 'lure, pg_catalog', false)`:    "",
	} {
		answer := func(body string) string {
			return `create or replace function answer() returns int language plpgsql immutable as $$ begin ` + body + `; return 1; end $$`
		}
		body := a.aboutChanged(t, "anon", answer("null"), `select note from orders where customer_id = answer()`, answer(sql))
		if message == "" {
			if body.Reason != "no_gain" && !slices.Contains(suggested(body), "orders(customer_id)") {
				t.Errorf("%s: %+v", sql, body)
			}
		} else if body.Reason != "not_planned" || !strings.Contains(body.Message, message) {
			t.Errorf("%s: %+v", sql, body)
		}
	}
}
