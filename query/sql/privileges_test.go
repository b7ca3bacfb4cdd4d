package sql_test

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A write needs the rights for what it writes and what it shows, and no others.
func TestWritesNeedNoRightsBeyondWhatTheyWriteAndShow(t *testing.T) {
	s := newSample(t)
	role := "basalt_test_" + strings.ToLower(rand.Text())
	s.Exec(t, strings.ReplaceAll(`
create role $role;
grant usage on schema public to $role;
grant insert, update, delete on public.no_key to $role;
grant insert on public.keyed to $role;
grant select (id, code), update (id, code) on public.keyed to $role;
grant insert (id, name), select (id) on public.groups to $role;
grant insert, update, delete, select on public.customers, public.orders to $role;
grant insert on public.only_defaults to $role;
alter table public.customers enable row level security;
create policy insert_any on public.customers for insert to $role with check (true);
create policy see_own on public.customers for select to $role using (name = 'Mine');
create policy change_any on public.customers for update to $role using (true) with check (true)`, "$role", role))
	t.Cleanup(func() {
		// The test's own context has ended.
		for _, command := range []string{"drop owned by " + role, "drop role " + role} {
			if _, err := s.Pool.Exec(context.Background(), command); err != nil {
				t.Errorf("%s: %v", command, err)
			}
		}
	})
	const refused = "42501"
	s.with(t, func(conn *pgconn.PgConn) {
		for _, test := range []struct{ name, request, want string }{
			{"an insert without the right to read", "POST /no_key\n> {\"a\": 1}", ""},
			{"inserts without the right to read", "POST /no_key\n> [{\"a\": 1}, {\"a\": 2}]", ""},
			{"an insert that shows what may not be read", "POST /no_key # return=representation\n> {\"a\": 1}", refused},
			{"an insert that shows nothing of the row", "POST /no_key?select= # return=representation\n> {\"a\": 1}", ""},
			{"a change of all without the right to read", "PATCH /no_key\n> {\"a\": 1}", ""},
			{"a change of some without the right to read", "PATCH /no_key?a=eq.1\n> {\"a\": 1}", refused},
			{"a deletion of all without the right to read", "DELETE /no_key", ""},
			{"an insert that shows what may be read", "POST /keyed?select=id,code # return=representation\n> {\"id\": 7}", ""},
			{"an insert that orders by what may be read", "POST /keyed?select=id&order=code # return=representation\n> {\"id\": 7}", ""},
			{"an insert that shows all", "POST /keyed # return=representation\n> {\"id\": 7}", refused},
			{"an insert that orders by what may not be read", "POST /keyed?select=id&order=a # return=representation\n> {\"id\": 7}", refused},
			{"an insert that gives the key", "POST /keyed # return=headers-only\n> {\"id\": 7}", ""},
			{"a merge of what may be changed", "POST /keyed # resolution=merge\n> {\"id\": 1, \"code\": \"x\"}", ""},
			{"a merge of what may be changed and shown", "POST /keyed?select=code # resolution=merge return=representation\n> [{\"id\": 1, \"code\": \"x\"}]", ""},
			{"a merge of what may not be changed", "POST /keyed # resolution=merge\n> {\"id\": 1, \"a\": 1}", refused},
			{"PUT of what may be changed", "PUT /keyed?id=eq.1\n> {\"id\": 1, \"code\": \"x\"}", ""},
			{"an insert of single columns", "POST /groups\n> [{\"id\": 7, \"name\": \"x\"}]", ""},
			{"a deletion without the right to it", "DELETE /keyed?id=eq.1", refused},
			{"a row that the policy shows", "POST /customers # return=representation\n> {\"id\": 70, \"name\": \"Mine\"}", ""},
			{"a row that no policy shows, unseen", "POST /customers\n> {\"id\": 70, \"name\": \"Not mine\"}", ""},
			{"a row that no policy shows", "POST /customers?select=id # return=representation\n> {\"id\": 70, \"name\": \"Not mine\"}", refused},
			{"rows of which the policy shows one", "POST /customers?select=id # return=representation\n> [{\"id\": 70, \"name\": \"Mine\"}, {\"id\": 71, \"name\": \"x\"}]", refused},
			{"the key of a row that no policy shows", "POST /customers # return=headers-only\n> {\"id\": 70, \"name\": \"Not mine\"}", refused},
			{"rows whose embed would be hidden", "POST /orders?select=id,customers(name) # return=representation\n> {\"id\": 70, \"customer_id\": 1}", ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				request, statement, err := s.compile(test.request)
				if err != nil {
					t.Fatal(err)
				}
				inTransaction(t, conn, func() {
					exec(t, conn, "set local role "+role)
					if _, err := s.answer(t, conn, statement, request); sqlState(err) != test.want {
						t.Errorf("%s: %v, want %q\n%s", test.request, err, test.want, statement.SQL)
					}
				})
			})
		}
	})
}

// PostgreSQL's own refusals come through as they are.
func TestPostgreSQLRefusesWhatItsTablesForbid(t *testing.T) {
	s := newSample(t)
	s.with(t, func(conn *pgconn.PgConn) {
		for _, test := range []struct{ name, request, want string }{
			{"an identity that is always generated", "POST /strict\n> {\"id\": 7}", "428C9"},
			{"such identities among defaults", "POST /strict # missing=default\n> [{\"id\": 7}, {\"name\": \"x\"}]", "428C9"},
			{"a generated column", "PATCH /defaulted\n> {\"twice\": 7}", "428C9"},
			{"a key that is no constraint", "POST /keyed?on_conflict=a # resolution=merge\n> {\"id\": 7, \"a\": 1}", "42P10"},
			{"one key twice in a merge", "POST /keyed # resolution=merge\n> [{\"id\": 7}, {\"id\": 7}]", "21000"},
			{"a key that is there", "POST /keyed\n> {\"id\": 1}", "23505"},
			{"null for a domain without it", "POST /defaulted\n> {\"must\": null}", "23502"},
			{"nulls for a domain without it", "POST /defaulted # missing=default\n> [{\"must\": null}, {\"name\": \"x\"}]", "23502"},
			{"what a check forbids", "POST /kinds\n> [{\"id\": 1, \"a_positive\": 0}, {\"id\": 2, \"a_positive\": 1}]", "23514"},
			{"what is too long for a domain", "POST /kinds\n> [{\"id\": 1, \"a_short\": \"long\"}, {\"id\": 2, \"a_short\": \"x\"}]", "22001"},
			{"a partition that is not there", "POST /parts\n> {\"id\": 1, \"region\": \"west\"}", "23514"},
			{"a view whose trigger does not merge", "POST /announced?on_conflict=id # resolution=merge\n> {\"id\": 1}", "42P10"},
		} {
			t.Run(test.name, func(t *testing.T) {
				request, statement, err := s.compile(test.request)
				if err != nil {
					t.Fatal(err)
				}
				inTransaction(t, conn, func() {
					if _, err := s.answer(t, conn, statement, request); sqlState(err) != test.want {
						t.Errorf("%s: %v, want %q\n%s", test.request, err, test.want, statement.SQL)
					}
				})
			})
		}
	})
}

// Rows of a foreign table travel to its server.
func TestForeignTablesAreWritten(t *testing.T) {
	s := newSample(t)
	var available bool
	err := s.Pool.QueryRow(t.Context(), `select exists (select from pg_available_extensions where name = 'postgres_fdw')`).Scan(&available)
	if err != nil {
		t.Fatal(err)
	}
	if !available {
		t.Skip("this PostgreSQL has no postgres_fdw")
	}
	server := s.Pool.Config().ConnConfig
	quote := strings.NewReplacer("'", "''")
	s.Exec(t, `
create extension postgres_fdw;
create server self foreign data wrapper postgres_fdw options (dbname '`+quote.Replace(server.Database)+
		`', host '`+quote.Replace(server.Host)+`', port '`+strconv.Itoa(int(server.Port))+`');
create user mapping for current_user server self
options (user '`+quote.Replace(server.User)+`', password '`+quote.Replace(server.Password)+`');
create foreign table public.far_keyed (id int, code text, a int, b int) server self
options (schema_name 'public', table_name 'keyed')`)
	s.load(t)
	s.with(t, func(conn *pgconn.PgConn) {
		for _, test := range []struct{ request, want string }{
			{"POST /far_keyed?select=id,code # return=representation\n> [{\"id\": 7, \"code\": \"x\"}, {\"id\": 8, \"code\": \"y\"}]", `[{"id":7,"code":"x"},{"id":8,"code":"y"}]`},
			{"PATCH /far_keyed?id=eq.7&select=code # return=representation\n> {\"code\": \"z\"}", `[{"code":"z"}]`},
			{"POST /far_keyed # resolution=merge\n> {\"id\": 9}", `[]`},
			{"DELETE /far_keyed?id=gt.6&select=id&order=id # return=representation", `[{"id":7},{"id":8},{"id":9}]`},
		} {
			request, statement, err := s.compile(test.request)
			if err != nil {
				t.Fatal(err)
			}
			a, err := s.answer(t, conn, statement, request)
			if sqlState(err) == "08001" {
				t.Skip("this PostgreSQL cannot connect to itself")
			}
			if err != nil || compact(t, a.rows) != test.want {
				t.Errorf("%s: %s %v, want %s\n%s", test.request, a.rows, err, test.want, statement.SQL)
			}
		}
	})
}
