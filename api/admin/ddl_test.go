package admin_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/api"
	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
	"basalt/migrations"
)

// passingRole names a role that a test makes and drops in one go: roles belong to the whole server, which tests share.
func passingRole() string { return "passing_" + strings.ReplaceAll(uuid.NewString(), "-", "") }

func TestAChangeOfTheStructureIsMadeWholeAndNoted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	role := passingRole()
	s := apitest.Start(t, `create table cities (id int primary key); create view all_cities as select * from cities;
		create table streets (id int primary key, city int references cities (id))`, func(s *api.Settings) { s.MigrationsDir = dir })
	d := &dashboard{s, s.Administrator(t, administrator.Editor)}
	for _, test := range []struct {
		name   string
		body   admin.DDLBody
		status int
		want   string
	}{
		{"a failure undoes all", admin.DDLBody{Statements: []string{"create table a ()", "create table b (id int); ", "alter table a add column nothing nothing"}}, 400, `"42704"`},
		{"and says which statement", admin.DDLBody{Statements: []string{"create table a ()", "create table a ()"}, Migration: "twice"}, 400, `"index":1`},
		{"several in place of one", admin.DDLBody{Statements: []string{"create table a (); create table b ()"}}, 400, `"42601"`},
		{"the end of the transaction", admin.DDLBody{Statements: []string{"commit"}}, 400, `"bad_statements"`},
		{"none", admin.DDLBody{}, 400, `"bad_statements"`},
		{"what cannot be in a transaction", admin.DDLBody{Statements: []string{"create index concurrently on cities (id)"}}, 400, `"25001"`},
		{"by itself it can", admin.DDLBody{Statements: []string{"create index concurrently on cities (id)"}, Concurrently: true, Summary: "index"}, 200, `"migration":""`},
		{"saved as a migration", admin.DDLBody{Statements: []string{"create table a (id int) -- with; a comment", "alter table a add column s text default 'x;y';"}, Migration: "Add table a", Summary: "add a"}, 200, `_add_table_a.sql"`},
		{"with a password", admin.DDLBody{Statements: []string{"create role " + role + " password 'very secret'", "drop role " + role}, Summary: "rotate"}, 200, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := d.call(t, "POST", "/ddl", test.body)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files are %v, %v", files, err)
	}
	if saved, _ := os.ReadFile(files[0]); string(saved) != "create table a (id int) -- with; a comment\n;\n\nalter table a add column s text default 'x;y';\n" {
		t.Errorf("saved %q", saved)
	}
	conn, err := pgx.Connect(t.Context(), s.Database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if done, err := migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{}); err != nil || len(done) != 0 {
		t.Errorf("the migration is applied again: %v, %v", done, err)
	}
	var noted, secrets int
	err = s.Database.Pool.QueryRow(t.Context(), `
		select count(*), count(*) filter (where after::text like '%secret%')
		from basalt.administrator_audit where action = 'structure.change'`).Scan(&noted, &secrets)
	if err != nil || noted != 3 || secrets != 0 {
		t.Errorf("%d changes of 3 are noted, %d with a secret, %v", noted, secrets, err)
	}
	t.Run("what a change would meet", func(t *testing.T) {
		tx, err := s.Database.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(t.Context()) }()
		if _, err := tx.Exec(t.Context(), `lock table cities in share mode`); err != nil {
			t.Fatal(err)
		}
		answer := d.call(t, "GET", "/ddl/impact?schema=public&table=cities", nil)
		var body admin.ImpactBody
		answer.JSON(t, &body)
		if len(body.Dependents) != 2 || body.Dependents[0].Kind != "foreign_key" || body.Dependents[1].Name != "all_cities" ||
			len(body.Holders) != 1 || body.Holders[0].Mode != "ShareLock" {
			t.Errorf("%s", answer.Body)
		}
		answer = d.call(t, "POST", "/ddl", admin.DDLBody{Statements: []string{"alter table cities add column x int"}, LockTimeoutMS: 50})
		if answer.Status != http.StatusConflict || !strings.Contains(answer.Body, `"55P03"`) || !strings.Contains(answer.Body, "Somebody else") {
			t.Errorf("%d %s", answer.Status, answer.Body)
		}
	})
}

func TestMigrationsAreSavedWhereThereIsAFolder(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Editor)
	answer := d.call(t, "POST", "/ddl", admin.DDLBody{Statements: []string{"create table a ()"}, Migration: "a"})
	if answer.Status != http.StatusConflict || !strings.Contains(answer.Body, "--migrations-dir") {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}

func TestWhatDependsOnSomethingIsTold(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, `
		create type mood as enum ('sad');
		create table people (id int primary key, mood mood, score int, secret text, check (score > 0));
		create index people_score on people (score);
		create function worth(p int) returns int language sql immutable return p + 1;
		create function of_person(p people) returns text language sql as 'select 1::text';
		create table letters (id int primary key, person int references people (id), worth int default worth(1));
		create policy own on people using (secret = 's');
		create policy by_person on letters using (exists (select from people where people.id = letters.person));
		create view moods as select mood from people;
		create view "it's" as select worth(score) from people`, administrator.Viewer)
	for _, test := range []struct {
		name, query string
		want        []admin.DependentBody
	}{
		{"a table", "table=people", []admin.DependentBody{
			{Kind: "foreign_key", Schema: "public", Name: "letters.letters_person_fkey", Blocks: true},
			{Kind: "function", Schema: "public", Name: "of_person(p public.people)", Blocks: true},
			{Kind: "policy", Schema: "public", Name: "letters.by_person", Blocks: true},
			{Kind: "view", Schema: "public", Name: "it's", Blocks: true},
			{Kind: "view", Schema: "public", Name: "moods", Blocks: true},
		}},
		{"a column", "table=people&column=score", []admin.DependentBody{
			{Kind: "check", Schema: "public", Name: "people.people_score_check"},
			{Kind: "index", Schema: "public", Name: "people_score"},
			{Kind: "view", Schema: "public", Name: "it's", Blocks: true},
		}},
		{"a column of a policy", "table=people&column=secret", []admin.DependentBody{{Kind: "policy", Schema: "public", Name: "people.own", Blocks: true}}},
		{"a constraint", "table=people&constraint=people_pkey", []admin.DependentBody{{Kind: "foreign_key", Schema: "public", Name: "letters.letters_person_fkey", Blocks: true}}},
		{"an enum", "type=mood", []admin.DependentBody{
			{Kind: "column", Schema: "public", Name: "people.mood", Blocks: true},
			{Kind: "view", Schema: "public", Name: "moods", Blocks: true},
		}},
		{"a function", "function=worth&arguments=p+integer", []admin.DependentBody{
			{Kind: "default", Schema: "public", Name: "letters.worth", Blocks: true},
			{Kind: "view", Schema: "public", Name: "it's", Blocks: true},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var body admin.ImpactBody
			answer := d.call(t, "GET", "/ddl/impact?schema=public&"+test.query, nil)
			answer.JSON(t, &body)
			if !slices.Equal(body.Dependents, test.want) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	for query, code := range map[string]string{
		"table=nobody": "42P01", "table=people&column=none": "42703", "table=people&constraint=none": "42704", "type=none": "42704", "function=worth&arguments=": "42883", "": "bad_target",
	} {
		if answer := d.call(t, "GET", "/ddl/impact?schema=public&"+query, nil); answer.Status/100 != 4 || !strings.Contains(answer.Body, `"`+code+`"`) {
			t.Errorf("%s: %d %s", query, answer.Status, answer.Body)
		}
	}
}
