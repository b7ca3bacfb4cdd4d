package admin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

// run runs SQL and gives the lines of the answer.
func (d *dashboard) run(t *testing.T, body admin.SQLBody) []admin.SQLLine {
	t.Helper()
	if body.ID == uuid.Nil {
		body.ID = uuid.New()
	}
	answer := d.call(t, "POST", "/sql", body)
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	var lines []admin.SQLLine
	for line := range strings.Lines(answer.Body) {
		var one admin.SQLLine
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		lines = append(lines, one)
	}
	if last := lines[len(lines)-1]; last.Finished == nil {
		t.Fatalf("the answer has no end: %s", answer.Body)
	}
	return lines
}

// told is the answer in short, a word for each line.
func told(lines []admin.SQLLine) string {
	var words []string
	for _, line := range lines {
		switch {
		case line.Statement != nil:
			words = append(words, fmt.Sprintf("%d:%d-%d", line.Statement.Index, line.Statement.Start, line.Statement.End))
		case line.Columns != nil:
			for _, column := range line.Columns {
				words = append(words, column.Name+":"+column.Type)
			}
		case line.Rows != nil:
			for _, row := range line.Rows {
				cells := make([]string, len(row))
				for i, cell := range row {
					cells[i] = "null"
					if cell != nil {
						cells[i] = *cell
					}
				}
				words = append(words, "("+strings.Join(cells, ",")+")")
			}
		case line.Plan != nil:
			words = append(words, "plan")
		case line.Notice != nil:
			words = append(words, line.Notice.Severity+":"+line.Notice.Message)
		case line.Complete != nil:
			words = append(words, "["+line.Complete.Tag+"]")
			if line.Complete.Truncated {
				words = append(words, "truncated")
			}
		case line.Error != nil:
			words = append(words, fmt.Sprintf("%s@%d", line.Error.Code, line.Error.Position))
		case line.Finished != nil && line.Finished.RolledBack:
			words = append(words, "rolled back")
		}
	}
	return strings.Join(words, " ")
}

func TestStatementsRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table cities (id int primary key, name text); create type mood as enum ('glad')`, administrator.Editor)
	for _, test := range []struct{ name, sql, want string }{
		{"a value of each kind", `select 9223372036854775807, null, 'a"b', 'glad'::mood, 1.50, true`,
			`0:0-65 ?column?:bigint ?column?:text ?column?:text mood:mood ?column?:numeric ?column?:boolean (9223372036854775807,null,a"b,glad,1.50,t) [SELECT 1]`},
		{"semicolons in strings, bodies and comments", "select ';' ; /* ; /* ; */ */ do $$ begin raise notice 'é;'; end $$; -- ;\nselect 'ü', $x$;$x$",
			"0:0-10 ?column?:text (;) [SELECT 1] 1:29-66 NOTICE:é; [DO] 2:73-92 ?column?:text ?column?:text (ü,;) [SELECT 1]"},
		{"a failure is the end", "select 1 as a; select 'ü', nothing; select 2", "0:0-13 a:integer (1) [SELECT 1] 1:15-34 42703@28"},
		{"an error of syntax", "select 1 as a;\n\nselect ('é') frm;\nselect 2 +;", "0:0-13 a:integer (1) [SELECT 1] 1:16-32 frm:text (é) [SELECT 1] 2:34-44 42601@45"},
		{"what changes something", "insert into cities values (1, 'Oslo') returning id; update cities set name = 'x' where id = 2; delete from cities",
			"0:0-50 id:integer (1) [INSERT 0 1] 1:52-93 [UPDATE 0] 2:95-113 [DELETE 1]"},
		{"a transaction that is left open", "begin; insert into cities values (3, 'left')", "0:0-5 [BEGIN] 1:7-44 [INSERT 0 1] rolled back"},
		{"and nothing of it is there", "select count(*) from cities", "0:0-27 count:bigint (0) [SELECT 1]"},
		{"what cannot be in a transaction", "create index concurrently on cities (name); vacuum cities", "0:0-42 [CREATE INDEX] 1:44-57 [VACUUM]"},
		{"nothing", " -- only a comment", ""},
		{"a result without columns", "select from cities", "0:0-18 [SELECT 0]"},
		{"rows for a table", "copy cities from stdin;\n7\tHamar\n\\.\nselect name from cities", "0:0-22 [COPY 1] 1:35-58 name:text (Hamar) [SELECT 1]"},
		{"rows for a table without any", "copy cities from stdin", "0:0-22 42601@1"},
		{"no rows for a table", "copy cities from stdin;\n\\.\n", "0:0-22 [COPY 0]"},
		{"rows of a table", "copy (values (1, 'a'), (2, null)) to stdout; copy (select 'x' as a) to stdout (format csv, header)", `0:0-43 copy:text (1	a) (2	\N) [COPY 2] 1:45-98 copy:text (a) (x) [COPY 1]`},
		{"rows of a table in binary", "copy (select 1) to stdout (format binary)", "0:0-41 0A000@0"},
		{"a command of psql", `select 1 as a; \dt`, "0:0-13 a:integer (1) [SELECT 1] 1:15-18 42601@16"},
		{"a parameter", "select $1::int", "0:0-14 $1:integer 08P01@0"},
		{"settings do not outlive their run", "set role anon; set statement_timeout = '1s'; listen x; create temp table t (); select pg_advisory_lock(1)", "0:0-13 [SET] 1:15-43 [SET] 2:45-53 [LISTEN] 3:55-77 [CREATE TABLE] 4:79-105 pg_advisory_lock:void () [SELECT 1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := told(d.run(t, admin.SQLBody{SQL: test.sql}))
			if test.name == "a parameter" {
				got = strings.Replace(got, "int4:integer", "$1:integer", 1)
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	t.Run("whoever comes next finds a clean session", func(t *testing.T) {
		for range 8 {
			got := told(d.run(t, admin.SQLBody{SQL: `select current_user = session_user, to_regclass('pg_temp.t') is null, (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()), current_setting('request.jwt.claims', true)`}))
			if !strings.Contains(got, "(t,t,0,)") && !strings.Contains(got, "(t,t,0,null)") {
				t.Errorf("got %s", got)
			}
		}
	})
	t.Run("no more rows than asked for", func(t *testing.T) {
		got := told(d.run(t, admin.SQLBody{SQL: "select generate_series(1, 1000000000) as n; select 1 as last", MaxRows: 2}))
		if want := "0:0-42 n:integer (1) (2) [SELECT] truncated 1:44-60 last:integer (1) [SELECT 1]"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		got = told(d.run(t, admin.SQLBody{SQL: "begin; insert into cities select n, '' from generate_series(100, 199) n returning id; commit; select count(*) from cities where id >= 100", MaxRows: 1}))
		if !strings.Contains(got, "(100) [INSERT 0 100] truncated") && !strings.Contains(got, "(100) [SELECT] truncated") || !strings.Contains(got, "count:bigint (100)") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("no more lines of a COPY than asked for", func(t *testing.T) {
		got := told(d.run(t, admin.SQLBody{SQL: "copy (select generate_series(1, 1000)) to stdout", MaxRows: 2}))
		if want := "0:0-48 copy:text (1) (2) [COPY 1000] truncated"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("data of a COPY that do not come", func(t *testing.T) {
		answer := d.call(t, "POST", "/sql", admin.SQLBody{ID: uuid.New(), SQL: "copy cities from stdin;"})
		if answer.Status != 400 || !strings.Contains(answer.Body, `"42601"`) || !strings.Contains(answer.Body, "import of Tables") {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
	t.Run("a string without an end", func(t *testing.T) {
		answer := d.call(t, "POST", "/sql", admin.SQLBody{ID: uuid.New(), SQL: "select 'é', 'x"})
		var body admin.ErrorBody
		answer.JSON(t, &body)
		if answer.Status != 400 || body.Code != "42601" || body.Position != 13 {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
}

func TestSQLRunsAsWhoIsChosen(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create table notes (id int, owner uuid);
		alter table notes enable row level security;
		create policy own on notes using (owner = auth.uid());
		grant all on notes to anon, authenticated`, administrator.Editor)
	_, ada := d.SignUp(t, "ada@example.com")
	d.Database.Exec(t, `insert into notes values (1, '`+ada+`'), (2, null)`)
	const seen = "select current_user, id from notes"
	for _, test := range []struct {
		name string
		body admin.SQLBody
		want string
	}{
		{"the owner", admin.SQLBody{SQL: seen}, "(postgres,1) (postgres,2) [SELECT 2]"},
		{"anon", admin.SQLBody{SQL: seen, Role: "anon"}, "id:integer [SELECT 0]"},
		{"a user", admin.SQLBody{SQL: seen, User: ada}, "(authenticated,1) [SELECT 1]"},
		{"a user with another role", admin.SQLBody{SQL: "select current_user, auth.role(), auth.uid() is not null", User: ada, Role: "anon"}, "(anon,anon,t)"},
		{"an unknown role", admin.SQLBody{SQL: seen, Role: "nobody"}, ""},
		{"read-only", admin.SQLBody{SQL: "delete from notes", ReadOnly: true}, "25006@0"},
		{"for a time", admin.SQLBody{SQL: "select pg_sleep(60)", TimeoutMS: 20}, "57014@0"},
		{"its plan", admin.SQLBody{SQL: "select * from notes; delete from notes", Explain: "plan"}, "plan [EXPLAIN] 1:21-38 plan [EXPLAIN]"},
		{"its plan, carried out", admin.SQLBody{SQL: "delete from notes", Explain: "analyze"}, "plan [EXPLAIN]"},
		{"and rolled back", admin.SQLBody{SQL: "select count(*) from notes"}, "(2)"},
		{"no plan of a failure", admin.SQLBody{SQL: "select 1; select nothing", Explain: "analyze"}, "1:10-24 42703@18"},
		{"no options of its own", admin.SQLBody{SQL: "analyze delete from notes", Explain: "plan"}, "42601@"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want == "" {
				test.body.ID = uuid.New()
				if answer := d.call(t, "POST", "/sql", test.body); answer.Status != 400 {
					t.Errorf("%d %s", answer.Status, answer.Body)
				}
				return
			}
			if got := told(d.run(t, test.body)); !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestViewersSeePlansAndRunNothing(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `create table notes (id int)`, administrator.Viewer)
	for _, body := range []admin.SQLBody{{SQL: "select 1"}, {SQL: "delete from notes", Explain: "analyze"}} {
		body.ID = uuid.New()
		if answer := d.call(t, "POST", "/sql", body); answer.Status != http.StatusForbidden {
			t.Errorf("%+v is answered %d %s", body, answer.Status, answer.Body)
		}
	}
	if got := told(d.run(t, admin.SQLBody{SQL: "select * from notes", Explain: "plan"})); !strings.Contains(got, "plan") {
		t.Errorf("got %s", got)
	}
	for _, sql := range []string{"analyze select 1", "(analyze) select 1", "select 1; drop table notes", "select current_setting('is_superuser')"} {
		d.call(t, "POST", "/sql", admin.SQLBody{ID: uuid.New(), SQL: sql, Explain: "plan"})
	}
	if answer := d.Do(t, "GET", "/rest/v1/notes", "", d.Service()); answer.Status != 200 {
		t.Errorf("the table is gone: %s", answer.Body)
	}
}

// running counts the sessions in which a statement runs.
func (d *dashboard) running(t *testing.T, statement string) (n int) {
	t.Helper()
	err := d.Database.Pool.QueryRow(t.Context(), `
		select count(*)
		from pg_stat_activity
		where datname = current_database() and state = 'active' and query like $1 and pid <> pg_backend_pid()`, "%"+statement+"%").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatRunsCanBeCancelled(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Editor)
	other := &dashboard{d.Server, d.Administrator(t, administrator.Editor)}
	second := apitest.Over(t, d.Database, apitest.Settings(t, d.Database.URL)) // another process over the same database
	for _, test := range []struct {
		name   string
		cancel func(t *testing.T, id uuid.UUID, leave func())
	}{
		{"by its id", func(t *testing.T, id uuid.UUID, _ func()) {
			if answer := other.call(t, "DELETE", "/sql/"+id.String(), nil); answer.Status != http.StatusNotFound {
				t.Errorf("another administrator cancels it: %d", answer.Status)
			}
			if answer := d.call(t, "DELETE", "/sql/"+id.String(), nil); answer.Status != http.StatusNoContent {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		}},
		{"by its id, on another process", func(t *testing.T, id uuid.UUID, _ func()) {
			if answer := (&dashboard{second, d.headers}).call(t, "DELETE", "/sql/"+id.String(), nil); answer.Status != http.StatusNoContent {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		}},
		{"by leaving", func(_ *testing.T, _ uuid.UUID, leave func()) { leave() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			id, mark := uuid.New(), strings.ReplaceAll(uuid.NewString(), "-", "")
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			body, _ := json.Marshal(admin.SQLBody{ID: id, SQL: "select pg_sleep(300) as s" + mark})
			request, _ := http.NewRequestWithContext(ctx, "POST", d.URL+"/admin/api/sql", strings.NewReader(string(body)))
			for _, header := range append(d.headers, "Content-Type: application/json") {
				name, value, _ := strings.Cut(header, ": ")
				request.Header.Set(name, value)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			apitest.Until(t, "it runs", func() bool { return d.running(t, mark) == 1 })
			test.cancel(t, id, leave)
			apitest.Until(t, "it runs no more", func() bool { return d.running(t, mark) == 0 })
			if ctx.Err() != nil {
				return
			}
			var last []byte
			lines := bufio.NewScanner(response.Body)
			told := ""
			for lines.Scan() {
				last = append(last[:0], lines.Bytes()...)
				told += lines.Text() + "\n"
			}
			if !strings.Contains(told, `"57014"`) || !strings.Contains(string(last), `"ok":false`) {
				t.Errorf("told %s", told)
			}
		})
	}
}

func TestTheEndOfASessionCancelsWhatItRuns(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Editor)
	mark := strings.ReplaceAll(uuid.NewString(), "-", "")
	ended := make(chan *apitest.Answer, 1)
	go func() {
		ended <- d.call(t, "POST", "/sql", admin.SQLBody{ID: uuid.New(), SQL: "select pg_sleep(300) as s" + mark})
	}()
	apitest.Until(t, "it runs", func() bool { return d.running(t, mark) == 1 })
	if answer := d.call(t, "DELETE", "/session", nil); answer.Status >= 300 {
		t.Fatalf("sign out: %d %s", answer.Status, answer.Body)
	}
	select {
	case answer := <-ended:
		if !strings.Contains(answer.Body, "signed_out") {
			t.Errorf("answered %s", answer.Body)
		}
	case <-time.After(time.Minute):
		t.Fatal("it runs on")
	}
}
