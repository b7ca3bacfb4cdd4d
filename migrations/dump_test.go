package migrations_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"basalt/migrations"
	"basalt/store/managed"
	"basalt/store/storetest"
)

// tool finds psql or pg_dump; the fetched servers come without them.
func tool(t *testing.T, name string) string {
	t.Helper()
	if found, err := managed.FindBinaries(t.Context(), managed.Options{DataDir: filepath.Join(t.TempDir(), "none"), NoFetch: true}); err == nil {
		if path := filepath.Join(found.BinDir, name); exec.Command(path, "--version").Run() == nil {
			return path
		}
	}
	// Debian has wrappers that are there without the program.
	path, err := exec.LookPath(name)
	if err != nil || exec.Command(path, "--version").Run() != nil {
		t.Skipf("no %s on this machine", name)
	}
	return path
}

var majorVersion = regexp.MustCompile(`\) (\d+)`)

func majorOf(t *testing.T, tool string) int {
	t.Helper()
	out, err := exec.Command(tool, "--version").Output()
	match := majorVersion.FindSubmatch(out)
	if err != nil || match == nil {
		t.Fatalf("%s --version: %q, %v", tool, out, err)
	}
	major, err := strconv.Atoi(string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	return major
}

// psql runs a script and returns what it says on stderr.
func psql(t *testing.T, url, script string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool(t, "psql"), append([]string{"-X", "-q", "-d", url}, args...)...)
	cmd.Stdin = strings.NewReader(script)
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	return said.String(), err
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestADumpOfASupabaseProjectRestores(t *testing.T) {
	db := storetest.New(t)
	for _, file := range []string{"schema.sql", "data.sql"} {
		if said, err := psql(t, db.URL, read(t, filepath.Join(sample, file)), "-v", "ON_ERROR_STOP=1"); err != nil {
			t.Fatalf("%s: %v\n%s", file, err, said)
		}
	}
	conn := connect(t, db.URL)
	if got := one[string](t, conn, `
		select u.email || ' ' || i.email || ' ' || p.username || ' ' || s.aal || ' ' || (u.confirmed_at is not null)
		from auth.users u
		join auth.identities i on i.user_id = u.id
		join auth.sessions s on s.user_id = u.id
		join auth.refresh_tokens r on r.session_id = s.id
		join public.profiles p on p.id = u.id`); got != "ada@example.com ada@example.com ada aal1 true" {
		t.Errorf("got %s", got)
	}
	// The trigger that the dump put on auth.users works for new accounts, and the
	// identity columns go on where they ended.
	run(t, conn, `insert into auth.users (id, email, raw_user_meta_data)
		values ('5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0003', 'eve@example.com', '{"username": "eve"}');
		insert into auth.refresh_tokens (token) values ('x')`)
	if got := one[string](t, conn, `select (select count(*) from public.profiles) || ' ' || max(id) from auth.refresh_tokens`); got != "3 42" {
		t.Errorf("profiles and refresh token: %s", got)
	}
	// Policies of the dump know the caller.
	run(t, conn, `set role authenticated; set request.jwt.claims = '{"sub":"5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0002"}'`)
	if got := one[string](t, conn, `select string_agg(task, ',') from public.todos`); got != "Read the notes" {
		t.Errorf("bob sees %s", got)
	}
	run(t, conn, `reset role`)
	if report := up(t, conn); len(report.Applied) != 0 || len(report.Missing) != 0 {
		t.Errorf("the restored database lacks %+v", report)
	}
}

func TestTheSameDumpIsAlsoAMigration(t *testing.T) {
	conn := connect(t, storetest.New(t).URL)
	dir := folder(t, "1_schema.sql", read(t, filepath.Join(sample, "schema.sql")), "2_data.sql", read(t, filepath.Join(sample, "data.sql")))
	userUp(t, conn, dir)
	if n := one[int](t, conn, `select count(*)::int from auth.users`); n != 2 {
		t.Errorf("%d users", n)
	}
}

// A full dump, schema auth and all, goes into an empty database as well as over a
// fresh one of Basalt's, where only what is there already is refused.
func TestAFullDumpMadeByPgDumpRestores(t *testing.T) {
	source := storetest.New(t)
	userUp(t, connect(t, source.URL), sample+"/migrations")
	source.Exec(t, `insert into auth.users (id, email, raw_user_meta_data)
		values ('5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0009', 'eve@example.com', '{"username": "evelyn"}')`)
	tool := tool(t, "pg_dump")
	if major := one[int](t, connect(t, source.URL), `select current_setting('server_version_num')::int / 10000`); major > majorOf(t, tool) {
		t.Skipf("pg_dump is older than the server, PostgreSQL %d", major)
	}
	dump := func(t *testing.T, args ...string) string {
		t.Helper()
		var said bytes.Buffer
		cmd := exec.CommandContext(t.Context(), tool, append([]string{"-d", source.URL}, args...)...)
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("pg_dump: %v\n%s", err, said.String())
		}
		return string(out)
	}
	check := func(t *testing.T, url string) {
		t.Helper()
		conn := connect(t, url)
		if report := up(t, conn); len(report.Missing) != 0 {
			t.Errorf("missing %+v", report.Missing)
		}
		if name := one[string](t, conn, `select p.username from public.profiles p join auth.users u using (id)`); name != "evelyn" {
			t.Errorf("the profile of %q came along", name)
		}
		if done := userUp(t, conn, sample+"/migrations"); len(done) != 0 {
			t.Errorf("migrations of the dump ran again: %q", done)
		}
	}
	t.Run("into an empty database", func(t *testing.T) {
		// As a Supabase project would be dumped: with its own schemas, without ours.
		empty := storetest.NewEmpty(t)
		text := dump(t, "--exclude-schema=basalt")
		text = regexp.MustCompile(`(?s)CREATE EVENT TRIGGER basalt_\w+.*?;\n`).ReplaceAllString(text, "")
		text = regexp.MustCompile(`ALTER EVENT TRIGGER basalt_\w+.*?;\n`).ReplaceAllString(text, "")
		if said, err := psql(t, empty.URL, text, "-v", "ON_ERROR_STOP=1"); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		check(t, empty.URL)
	})
	t.Run("over a fresh database", func(t *testing.T) {
		fresh := storetest.New(t)
		said, _ := psql(t, fresh.URL, dump(t, "--schema-only", "--schema=public", "--no-publications"))
		for line := range strings.Lines(said) {
			if strings.Contains(line, "ERROR") && !strings.Contains(line, `schema "public" already exists`) {
				t.Error(line)
			}
		}
		data := dump(t, "--data-only", "--disable-triggers", "--schema=auth", "--schema=public", "--schema=supabase_migrations")
		if said, err := psql(t, fresh.URL, data, "-v", "ON_ERROR_STOP=1"); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		check(t, fresh.URL)
	})
}

func TestASchemaAuthFromAnOlderDumpIsCompleted(t *testing.T) {
	db := storetest.NewEmpty(t)
	db.Exec(t, `
		create schema auth;
		create type auth.aal_level as enum ('aal1', 'aal2', 'aal3');
		create table auth.users (
		  instance_id uuid, id uuid primary key, aud varchar(255), role varchar(255), email varchar(255) unique,
		  encrypted_password varchar(255), email_confirmed_at timestamptz, invited_at timestamptz,
		  confirmation_token varchar(255), confirmation_sent_at timestamptz, recovery_token varchar(255),
		  recovery_sent_at timestamptz, email_change_token_new varchar(255), email_change varchar(255),
		  email_change_sent_at timestamptz, last_sign_in_at timestamptz, raw_app_meta_data jsonb,
		  raw_user_meta_data jsonb, is_super_admin boolean, created_at timestamptz, updated_at timestamptz,
		  phone varchar(15) unique, phone_confirmed_at timestamptz, phone_change varchar(15),
		  phone_change_token varchar(255), phone_change_sent_at timestamptz,
		  email_change_token_current varchar(255), email_change_confirm_status smallint,
		  banned_until timestamptz, reauthentication_token varchar(255), reauthentication_sent_at timestamptz
		);
		create table auth.sessions (
		  id uuid primary key, user_id uuid not null references auth.users, created_at timestamptz, updated_at timestamptz
		);
		insert into auth.users (id, email) values ('5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0009', 'old@example.com');`)
	conn := connect(t, db.URL)
	if _, err := migrations.Up(t.Context(), conn, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	if !one[bool](t, conn, `select not is_anonymous and not is_sso_user and confirmed_at is null from auth.users`) {
		t.Error("the account of the dump lacks new columns")
	}
	run(t, conn, `insert into auth.sessions (id, user_id, aal, not_after) select gen_random_uuid(), id, 'aal2', now() from auth.users`)
}
