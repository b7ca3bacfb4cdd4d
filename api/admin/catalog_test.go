package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

func (d *dashboard) catalog(t *testing.T) *admin.CatalogBody {
	t.Helper()
	answer := d.call(t, "GET", "/catalog", nil)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	var body admin.CatalogBody
	decoder := json.NewDecoder(strings.NewReader(answer.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil {
		t.Fatal(err)
	}
	return &body
}

func relation(t *testing.T, body *admin.CatalogBody, schema, name string) *admin.RelationBody {
	t.Helper()
	for _, r := range body.Relations {
		if r.Schema == schema && r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no %s.%s", schema, name)
	return nil
}

func TestTheCatalogTellsAllThatIsDefined(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create schema "Öde";
		create type "Öde".mood as enum ('sad', 'glad', 'it''s "ok"');
		create domain positive as int check (value > 0);
		create table customers (id bigint generated always as identity primary key, name text not null unique check (name <> ''));
		comment on table customers is 'who buys';
		comment on column customers.name is 'as they write it';
		create table "Öde"."my orders" (
			id uuid default gen_random_uuid() primary key,
			customer bigint not null references customers (id) on delete cascade,
			moods "Öde".mood[],
			amount numeric(10, 2) default 0,
			n positive,
			twice numeric generated always as (amount * 2) stored,
			during tstzrange
		);
		create index on "Öde"."my orders" (customer) where amount > 0;
		alter table "Öde"."my orders" enable row level security;
		create policy "only own" on "Öde"."my orders" for select to authenticated using (customer = 1);
		create view names with (security_invoker = true) as select name from customers;
		create function add(a int, b int default 1) returns int language sql immutable as 'select a + b';
		create function noop() returns trigger language plpgsql as 'begin return new; end';
		create trigger touch before update on customers for each row execute function noop();
		create table parts (at date) partition by range (at);
		create table parts_1 partition of parts for values from ('2024-01-01') to ('2025-01-01');
		create table closed (id int, secret text);
		revoke all on closed from anon, authenticated, service_role;
		grant select (id) on closed to anon;
		grant select (id, secret) on closed to authenticated`, administrator.Viewer)
	body := d.catalog(t)
	orders := relation(t, body, "Öde", "my orders")
	columns := map[string]admin.ColumnBody{}
	for _, column := range orders.Columns {
		columns[column.Name] = column
	}
	moods := columns["moods"]
	if moods.TypeKind != "array" || moods.Element == nil || *moods.Element != `"Öde".mood` || !slices.Equal(moods.EnumValues, []string{"sad", "glad", `it's "ok"`}) {
		t.Errorf("moods is %+v", moods)
	}
	if amount := columns["amount"]; amount.Type != "numeric(10,2)" || amount.Default == nil || *amount.Default != "0" || amount.TypeKind != "base" {
		t.Errorf("amount is %+v", amount)
	}
	if twice := columns["twice"]; twice.Generated == nil || twice.Default != nil {
		t.Errorf("twice is %+v", twice)
	}
	if columns["n"].TypeKind != "domain" || columns["during"].TypeKind != "range" {
		t.Errorf("n is %+v, during is %+v", columns["n"], columns["during"])
	}
	if key := orders.ForeignKeys; len(key) != 1 || key[0].RefTable != "customers" || key[0].OnDelete != "cascade" || key[0].Columns[0] != "customer" {
		t.Errorf("foreign keys: %+v", key)
	}
	if !orders.RLS || len(orders.Policies) != 1 || orders.Policies[0].Roles[0] != "authenticated" || orders.Policies[0].Command != "select" {
		t.Errorf("policies: %+v", orders.Policies)
	}
	if len(orders.Indexes) != 2 || !slices.Equal(orders.PrimaryKey, []string{"id"}) {
		t.Errorf("indexes: %+v, key %v", orders.Indexes, orders.PrimaryKey)
	}
	customers := relation(t, body, "public", "customers")
	if customers.Comment != "who buys" || customers.Columns[0].Identity != "always" || customers.Columns[1].Comment != "as they write it" ||
		len(customers.Uniques) != 1 || len(customers.Checks) != 1 || len(customers.Triggers) != 1 {
		t.Errorf("customers is %+v", customers)
	}
	names := relation(t, body, "public", "names")
	if names.Kind != "view" || names.ViewDefinition == nil || !names.SecurityInvoker || !names.Updatable {
		t.Errorf("names is %+v", names)
	}
	if readers := relation(t, body, "public", "closed").Readers; !slices.Equal(readers, []string{"authenticated"}) {
		t.Errorf("%q read all of a table of which anon is granted one column, authenticated each", readers)
	}
	if readers := customers.Readers; !slices.Contains(readers, "service_role") {
		t.Errorf("%q read a table of the app", readers)
	}
	if readers := relation(t, body, "auth", "refresh_tokens").Readers; len(readers) != 0 {
		t.Errorf("%q read the tokens of users", readers)
	}
	if part := relation(t, body, "public", "parts_1"); part.PartitionOf != "public.parts" {
		t.Errorf("parts_1 is a partition of %q", part.PartitionOf)
	}
	if !slices.ContainsFunc(body.Functions, func(f admin.FunctionBody) bool {
		return f.Name == "add" && f.Arguments == "a integer, b integer DEFAULT 1" && f.Volatility == "immutable" && strings.HasPrefix(f.Definition, "CREATE OR REPLACE FUNCTION")
	}) {
		t.Error("the function is not told of")
	}
	for _, r := range body.Relations {
		if r.Schema == "basalt" || strings.HasPrefix(r.Schema, "pg_") {
			t.Errorf("%s.%s is the system's own", r.Schema, r.Name)
		}
	}
}

func TestTheCatalogIsSentWhenItHasChanged(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table a (id int primary key)`, administrator.Viewer)
	first := d.call(t, "GET", "/catalog", nil)
	tag := first.Header.Get("ETag")
	d.Database.Exec(t, `insert into a select generate_series(1, 1000); analyze a`)
	if again := d.call(t, "GET", "/catalog", nil, "If-None-Match: "+tag); again.Status != http.StatusNotModified || again.Body != "" {
		t.Errorf("unchanged definitions are answered %d", again.Status)
	}
	d.Database.Exec(t, `create policy p on a using (true)`)
	if again := d.call(t, "GET", "/catalog", nil, "If-None-Match: "+tag); again.Status != http.StatusOK || again.Header.Get("ETag") == tag {
		t.Errorf("a new policy is answered %d", again.Status)
	}
}

func TestTheCatalogTellsOfRowsWrittenSinceTheLastAnalyze(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table a (id int primary key) with (autovacuum_enabled = false); insert into a values (1), (2), (3); analyze a`, administrator.Viewer)
	d.Database.Exec(t, `insert into a select generate_series(4, 1000)`)
	apitest.Until(t, "the catalog tells of 1000 rows", func() bool {
		rows := relation(t, d.catalog(t), "public", "a").EstimatedRows
		return rows != nil && *rows == 1000
	})
}

func TestTheCatalogOfManyTablesIsWhole(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		do $$ begin
			for i in 1..1000 loop
				execute format('create table t_%s (id bigint primary key, a text, b int, c timestamptz)', i);
			end loop;
		end $$`, administrator.Viewer)
	body := d.catalog(t)
	for i := range 1000 {
		if r := relation(t, body, "public", fmt.Sprintf("t_%d", i+1)); len(r.Columns) != 4 {
			t.Errorf("t_%d has %d columns", i+1, len(r.Columns))
		}
	}
}
