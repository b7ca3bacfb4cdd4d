package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/migrations"
	"basalt/store/storetest"
)

// ddl lists statements by whether a catalog that was loaded before is stale after.
var ddl = []struct {
	sql     string
	changes bool
}{
	{`create schema app`, true},
	{`create table app.a (id int primary key, note text)`, true},
	{`alter table app.a add column extra int`, true},
	{`alter table app.a alter column extra type bigint`, true},
	{`alter table app.a alter column extra set default 5`, true},
	{`alter table app.a alter column extra set not null`, true},
	{`alter table app.a rename column extra to more`, true},
	{`alter table app.a drop column more`, true},
	{`alter table app.a rename to b`, true},
	{`comment on column app.b.note is 'what it says'`, true},
	{`create table app.c (id int, b int references app.b)`, true},
	{`alter table app.c add constraint c_key unique (id)`, true},
	{`create unique index c_b on app.c (b)`, true},
	{`create view app.v as select id from app.b`, true},
	{`create or replace view app.v as select id, note from app.b`, true},
	{`create function app.f(a int) returns int language sql as 'select a'`, true},
	{`create or replace function app.f(a int default 1) returns int language sql as 'select a'`, true},
	{`create type app.mood as enum ('sad')`, true},
	{`alter type app.mood add value 'glad'`, true},
	{`create domain app.positive as int check (value > 0)`, true},
	{`create type app.pair as (x int, y int)`, true},
	{`alter type app.pair add attribute z int`, true},
	{`grant select on app.b to anon`, true},
	{`create materialized view app.m as select count(*) from app.b`, true},
	{`create table app.p (id int) partition by range (id)`, true},
	{`create table app.p1 partition of app.p for values from (0) to (10)`, true},
	{`alter table app.p detach partition app.p1`, true},
	{`create table public.x ()`, true},
	{`drop table public.x`, true},
	{`drop function app.f`, true},
	{`drop view app.v`, true},
	{`alter schema app rename to other`, true},

	{`insert into other.b values (1, 'x')`, false},
	{`analyze other.b`, false},
	{`vacuum other.b`, false},
	{`refresh materialized view other.m`, false},
	{`create temp table t (id int primary key, note text default 'x')`, false},
	{`create temp view tv as select * from t`, false},
	{`alter table t add column more int`, false},
	{`drop table t cascade`, false},
	{`create table public.undone ()`, false}, // rolled back
}

func catalogVersion(t *testing.T, conn *pgx.Conn) int64 {
	t.Helper()
	return one[int64](t, conn, migrations.CatalogVersion)
}

// execute runs a case and takes back what has to be undone.
func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if strings.Contains(sql, "undone") {
		sql = "begin; " + sql + "; rollback"
	}
	run(t, conn, sql)
}

func TestTheCatalogVersionDiffersAfterDDLAndOnlyThen(t *testing.T) {
	db := storetest.New(t)
	worker, poller := connect(t, db.URL), connect(t, db.URL)
	before := catalogVersion(t, poller)
	for _, c := range ddl {
		execute(t, worker, c.sql)
		after := catalogVersion(t, poller)
		if (after != before) != c.changes {
			t.Errorf("%s: changed %v, want %v", c.sql, after != before, c.changes)
		}
		before = after
	}
	for _, sql := range []string{`truncate other.c`, `vacuum full other.b`, `reindex table other.b`, `vacuum freeze`} {
		run(t, worker, sql)
		if catalogVersion(t, poller) != before {
			t.Errorf("%s counts as DDL", sql)
		}
	}
}

func TestTheCatalogVersionWaitsForTheCommit(t *testing.T) {
	db := storetest.New(t)
	worker, poller := connect(t, db.URL), connect(t, db.URL)
	before := catalogVersion(t, poller)
	run(t, worker, `begin; create table public.later ()`)
	if catalogVersion(t, poller) != before {
		t.Error("a table that is not committed counts")
	}
	run(t, worker, `commit`)
	if catalogVersion(t, poller) == before {
		t.Error("a committed table does not count")
	}
}

func TestEventTriggersNotifyAtTheCommitOfDDL(t *testing.T) {
	db := storetest.New(t)
	worker, listener := connect(t, db.URL), connect(t, db.URL)
	run(t, listener, `listen basalt_ddl; listen fence`)
	// notices counts what came before a fence that is sent after the statement: the
	// order of commits is the order of delivery.
	notices := func() (count int) {
		run(t, worker, `notify fence`)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for {
			n, err := listener.WaitForNotification(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if n.Channel == "fence" {
				return count
			}
			count++
		}
	}
	for _, c := range ddl {
		execute(t, worker, c.sql)
		if got := notices(); (got > 0) != c.changes {
			t.Errorf("%s: %d notices, want some: %v", c.sql, got, c.changes)
		}
	}
	run(t, worker, `begin; create table public.m1 (); create table public.m2 (); drop table public.m1; commit`)
	if got := notices(); got != 1 {
		t.Errorf("%d notices of one transaction", got)
	}
	// A role without any right on schema basalt makes DDL and temporary tables.
	run(t, worker, `grant create on schema other to anon; set role anon;
		create table other.of_anon (); create temp table mine (id int); drop table mine; reset role`)
	if got := notices(); got == 0 {
		t.Error("no notice of the DDL of anon")
	}
}

func BenchmarkCatalogVersionOfAThousandTables(b *testing.B) {
	db := storetest.New(b)
	db.Exec(b, `do $$
begin
  for i in 1..1000 loop
    execute format('create table public.t%s (id bigint generated by default as identity primary key, a text, b int, c timestamptz default now(), d jsonb, e uuid references auth.users)', i);
    if i % 100 = 0 then
      commit;
    end if;
  end loop;
end $$`)
	db.Exec(b, `vacuum analyze`)
	conn, err := pgx.Connect(b.Context(), db.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(b.Context(), `set jit = off`); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var version int64
		if err := conn.QueryRow(b.Context(), migrations.CatalogVersion).Scan(&version); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAPIRolesReachNothingInTheSchemasOfTheServer(t *testing.T) {
	db := storetest.New(t)
	conn := connect(t, db.URL)
	run(t, conn, `create extension dblink with schema extensions`)
	reach := one[string](t, conn, `
		select coalesce(string_agg(r.name || ' ' || c.oid::regclass, ', '), '')
		from (values ('anon'), ('authenticated'), ('service_role')) as r (name)
		cross join pg_class c
		where c.relnamespace in ('auth'::regnamespace, 'basalt'::regnamespace, 'storage'::regnamespace,
		  'realtime'::regnamespace, 'supabase_migrations'::regnamespace)
		  and c.relkind in ('r', 'v', 'm', 'p', 'f')
		  and (has_table_privilege(r.name, c.oid, 'select') or has_table_privilege(r.name, c.oid, 'insert')
		    or has_table_privilege(r.name, c.oid, 'update') or has_table_privilege(r.name, c.oid, 'delete')
		    or has_table_privilege(r.name, c.oid, 'truncate') or has_table_privilege(r.name, c.oid, 'references')
		    or has_table_privilege(r.name, c.oid, 'trigger'))`)
	if reach != "" {
		t.Errorf("reachable: %s", reach)
	}
	for _, sql := range []string{
		`select * from basalt.migrations`, `select basalt.notice_ddl()`, `select * from auth.users`,
		`update pg_catalog.pg_class set relname = relname`, `select pg_read_file('/etc/passwd')`,
		`copy (select 1) to program 'true'`, `create table auth.x ()`, `create schema x`,
		`select nextval('auth.refresh_tokens_id_seq')`, `set role postgres`, `create role x`,
	} {
		for _, role := range []string{"anon", "authenticated"} {
			err := pgx.BeginFunc(t.Context(), connect(t, db.URL), func(tx pgx.Tx) error {
				if _, err := tx.Exec(t.Context(), `set local session authorization `+role); err != nil {
					t.Fatal(err)
				}
				_, err := tx.Exec(t.Context(), sql)
				return errors.Join(err, tx.Rollback(t.Context()))
			})
			if err == nil || !strings.Contains(err.Error(), "SQLSTATE 42501") {
				t.Errorf("%s as %s: %v", sql, role, err)
			}
		}
	}
}

func TestHelpersReadTheClaimsOfTheRequest(t *testing.T) {
	db := storetest.New(t)
	conn := connect(t, db.URL)
	const id = "5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001"
	ask := `select concat_ws('|', coalesce(auth.uid()::text, '-'), coalesce(auth.role(), '-'), coalesce(auth.email(), '-'), coalesce(auth.jwt()->>'k', '-'))`
	for _, c := range []struct{ name, set, want string }{
		{"nothing is set", ``, "-|-|-|-"},
		{"all in one", fmt.Sprintf(`set request.jwt.claims = '{"sub":"%s","role":"authenticated","email":"a@b.c","k":"v"}'`, id), id + "|authenticated|a@b.c|v"},
		{"one by one, as database tests do", fmt.Sprintf(`set request.jwt.claim.sub = '%s'; set request.jwt.claim.role = 'anon'; set request.jwt.claim.email = 'x@y.z'`, id), id + "|anon|x@y.z|-"},
		{"empty after a request", `set request.jwt.claims = ''; set request.jwt.claim.sub = ''`, "-|-|-|-"},
		{"a token without a subject", `set request.jwt.claims = '{"role":"anon"}'`, "-|anon|-|-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, conn, "reset all; set role anon;"+c.set)
			if got := one[string](t, conn, ask); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
