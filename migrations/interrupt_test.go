package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/migrations"
	"basalt/store/storetest"
)

// killing lets a session end itself at the n-th place that asks: statements of a
// migration call kill_at, and so do the expression of an index, in the middle of
// its making, and the record that Basalt keeps.
const killing = `
create table public.kill (place int);
insert into public.kill values (0);

create function public.kill_at(place int)
returns int
language plpgsql
immutable
as $$
begin
  if place = (select k.place from public.kill k) then
    perform pg_terminate_backend(pg_backend_pid());
    perform pg_sleep(60); -- until the signal is there
  end if;
  return 1;
end
$$;

create function public.kill_at_record()
returns trigger
language plpgsql
as $$
begin
  perform public.kill_at(100 + new.done);
  perform public.kill_at(case when new.finished_at is not null then 200 end);
  return new;
end
$$;

create trigger kill
before insert or update on basalt.user_migrations
for each row execute function public.kill_at_record();

create table public.rows (id int);
insert into public.rows values (1), (2);
`

// interrupted runs dir in a session of its own and tells whether that was cut off.
func interrupted(t *testing.T, db *storetest.Database, dir string) bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	_, err = migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{})
	if err == nil {
		return false
	}
	var refused *migrations.StatementError
	if errors.As(err, &refused) && refused.Refusal.Code != "57P01" {
		t.Fatal(refused.Explain())
	}
	return true
}

func TestAFileInOneTransactionIsAllThereOrNotWhereverItIsInterrupted(t *testing.T) {
	db := storetest.New(t)
	db.Exec(t, killing)
	dir := folder(t, "1_a.sql", `
		create table public.a (id int);
		select public.kill_at(1);
		insert into public.a values (1);
		select public.kill_at(2);
		create view public.b as select * from public.a;
		select public.kill_at(3);`)
	conn := connect(t, db.URL)
	for _, place := range []int{1, 2, 3, 100, 200} {
		run(t, conn, fmt.Sprintf(`update public.kill set place = %d`, place))
		if !interrupted(t, db, dir) {
			t.Fatalf("place %d was not reached", place)
		}
		if got := states(t, conn, dir); got != "1 pending" {
			t.Errorf("place %d: %s", place, got)
		}
		if one[bool](t, conn, `select to_regclass('public.a') is not null`) {
			t.Errorf("place %d: the table is there", place)
		}
		run(t, conn, `update public.kill set place = 0`)
		userUp(t, conn, dir)
		if n := one[int](t, conn, `select count(*)::int from public.b`); n != 1 {
			t.Errorf("place %d: %d rows after the second run", place, n)
		}
		run(t, conn, `drop table public.a cascade; delete from basalt.user_migrations; delete from supabase_migrations.schema_migrations`)
	}
}

func TestAFileThatRunsStepByStepIsFinishedByTheNextRun(t *testing.T) {
	db := storetest.New(t)
	db.Exec(t, killing)
	dir := folder(t, "1_a.sql", `-- basalt: no-transaction
		set search_path = public;
		create table a (id int);
		insert into a values (1);
		begin;
		insert into a values (2);
		select kill_at(1);
		insert into a values (3);
		commit;
		create index concurrently "rows Idx" on rows ((kill_at(id + 1)));
		insert into a values (4);
		drop index concurrently "rows Idx";
		create index concurrently if not exists rows_idx on rows ((kill_at(id + 3)), id);
		vacuum rows;
		insert into a values (5);`)
	const steps = 10
	places := []int{1, 2, 3, 4, 5, 200}
	for done := range steps + 1 {
		places = append(places, 100+done)
	}
	conn := connect(t, db.URL)
	for _, place := range places {
		run(t, conn, fmt.Sprintf(`update public.kill set place = %d`, place))
		if !interrupted(t, db, dir) {
			t.Fatalf("place %d was not reached", place)
		}
		if got := states(t, conn, dir); got != "1 partial" && got != "1 pending" {
			t.Errorf("place %d: %s", place, got)
		}
		run(t, conn, `update public.kill set place = 0`)
		userUp(t, conn, dir)
		if got := one[string](t, conn, `select string_agg(id::text, ',' order by id) from public.a`); got != "1,2,3,4,5" {
			t.Errorf("place %d: rows %s after the second run", place, got)
		}
		if got := one[string](t, conn, `select string_agg(c.relname || ' ' || i.indisvalid, ', ') from pg_index i
			join pg_class c on c.oid = i.indexrelid where i.indrelid = 'public.rows'::regclass`); got != "rows_idx true" {
			t.Errorf("place %d: indexes %s after the second run", place, got)
		}
		if got := states(t, conn, dir); got != "1 applied" {
			t.Errorf("place %d: %s", place, got)
		}
		run(t, conn, `drop table public.a cascade; drop index public.rows_idx;
			delete from basalt.user_migrations; delete from supabase_migrations.schema_migrations`)
	}
}

func TestAStepThatFailedMayBeCorrectedAndTheStepsBeforeMayNot(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	run(t, conn, `create table public.rows (id int); insert into public.rows values (1), (1)`)
	const head = "-- basalt: no-transaction\ncreate table public.a (id int);\n"
	dir := folder(t, "1_a.sql", head+"create unique index concurrently rows_key on public.rows (id);\n")
	_, err := migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{})
	var refused *migrations.StatementError
	if !errors.As(err, &refused) || refused.Refusal.Code != "23505" || refused.Line != 3 {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(refused.Advice, "1 of 2") {
		t.Errorf("advice %q does not say how far the file came", refused.Advice)
	}
	all, err := migrations.UserStatus(t.Context(), conn, dir)
	if err != nil || all[0].State != migrations.Partial || all[0].Statements != 1 {
		t.Fatalf("%+v, %v", all, err)
	}

	write(t, dir, "1_a.sql", "-- basalt: no-transaction\ncreate table public.b (id int);\nselect 1;")
	_, err = migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{})
	var changed *migrations.ChangedError
	if !errors.As(err, &changed) {
		t.Errorf("a done step was changed: %v", err)
	}

	run(t, conn, `delete from public.rows`)
	write(t, dir, "1_a.sql", head+"create unique index concurrently rows_key on public.rows (id);\nselect 2;")
	userUp(t, conn, dir)
	if !one[bool](t, conn, `select indisvalid from pg_index where indexrelid = 'public.rows_key'::regclass`) {
		t.Error("the index is still invalid")
	}
}

func TestAStepThatNeedsTheSettingsOfEarlierStepsFindsThemAgain(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	run(t, conn, `create schema app`)
	dir := folder(t, "1_a.sql", "-- basalt: no-transaction\nset search_path = app;\ncreate table a (id int);\nselect 1/0;")
	if _, err := migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{}); err == nil {
		t.Fatal("a division by zero passed")
	}
	write(t, dir, "1_a.sql", "-- basalt: no-transaction\nset search_path = app;\ncreate table a (id int);\ncreate table b (id int);")
	userUp(t, conn, dir)
	if !one[bool](t, conn, `select to_regclass('app.b') is not null`) {
		t.Error("b was made elsewhere")
	}
}
