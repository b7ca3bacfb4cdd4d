package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"basalt/store/storetest"
)

// call runs a command line in a process without settings of its own.
func call(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	for _, name := range []string{"DATABASE_URL", "JWT_SECRET", "BASALT_DATABASE_URL", "BASALT_DATA"} {
		t.Setenv(name, "")
	}
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestExitCodes(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	odd := filepath.Join(t.TempDir(), "postgrest.conf")
	if err := os.WriteFile(odd, []byte("db-uri = \"postgres://u:hidden-password@h/d\"\ndb-channel = \"hidden-password\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := "postgres://u:hidden-password@127.0.0.1:1/db"
	for _, test := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"help", []string{"help"}, 0, ""},
		{"help of a command", []string{"help", "migrate", "up"}, 0, ""},
		{"a flag for help", []string{"serve", "--help"}, 0, ""},
		{"nothing", nil, 0, ""},
		{"the version", []string{"version"}, 0, ""},
		{"an unknown command", []string{"fly"}, 2, "fly"},
		{"an unknown command below another", []string{"migrate", "sideways"}, 2, "sideways"},
		{"help of an unknown command", []string{"help", "fly"}, 2, "fly"},
		{"an unknown flag", []string{"serve", "--fly"}, 2, "--fly"},
		{"an argument that nobody takes", []string{"keys", "x"}, 2, "x"},
		{"an argument that is missing", []string{"migrate", "new"}, 2, "NAME"},
		{"a language that there is not", []string{"types", "--lang", "cobol"}, 2, "only in: ts"},
		{"types of a database that is not there", []string{"types", "--database-url", nowhere}, 1, "connect"},
		{"a mode that there is not", []string{"serve", "--openapi-mode", "all"}, 2, "--openapi-mode"},
		{"a root function that is none", []string{"serve", "--rest-root-function", "welcome()"}, 2, "--rest-root-function"},
		{"an address of the API that is none", []string{"serve", "--openapi-server-proxy-uri", "api"}, 2, "--openapi-server-proxy-uri"},
		{"a switch with a value that stands alone", []string{"serve", "--require-filters", "false"}, 2, "=false"},
		{"a port that is none", []string{"serve", "--postgres-port", "99999"}, 2, "--postgres-port"},
		{"an empty data folder", []string{"serve", "--data", ""}, 2, "--data"},
		{"a malformed flag", []string{"serve", "--max-rows", "many"}, 2, "--max-rows"},
		{"a setting that cannot be", []string{"serve", "--jwt-secret", "short"}, 2, "--jwt-secret"},
		{"a configuration of PostgREST that is not there", []string{"serve", "--postgrest-config", filepath.Join(t.TempDir(), "none")}, 2, "--postgrest-config"},
		{"a configuration of PostgREST that cannot be", []string{"serve", "--postgrest-config", odd}, 2, "line 2: db-channel: it is not supported"},
		{"settings that contradict each other", []string{"serve", "--database-url", nowhere, "--postgres-port", "5"}, 2, "--postgres-port"},
		{"a database that is no URL", []string{"keys", "--database-url", "x"}, 2, "--database-url"},
		{"a database that is not there", []string{"keys", "--database-url", nowhere}, 1, "connect"},
		{"a managed database that does not run", []string{"keys", "--data", filepath.Join(t.TempDir(), "none")}, 1, "there is no database in "},
		{"an address that is taken", []string{"serve", "--listen", taken.Addr().String(), "--database-url", nowhere}, 1, "--listen"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, out, errs := call(t, test.args...)
			if code != test.code || !strings.Contains(errs, test.says) {
				t.Errorf("code %d, want %d: %s", code, test.code, errs)
			}
			if code != 0 && (out != "" || strings.Count(errs, "\n") != 1) {
				t.Errorf("a failure says one line on stderr and nothing else: %q, %q", out, errs)
			}
			if strings.Contains(errs+out, "hidden-password") {
				t.Errorf("a password is shown: %s", errs)
			}
		})
	}
}

func TestHelpHasAnExampleForEachCommand(t *testing.T) {
	for _, command := range command().Commands() {
		if command.Name() == "completion" || command.Hidden {
			continue
		}
		if _, out, _ := call(t, "help", command.Name()); !strings.Contains(out, "Examples:") {
			t.Errorf("no example in the help of %s:\n%s", command.Name(), out)
		}
	}
}

func TestKeysAreLinesForAShell(t *testing.T) {
	db := storetest.New(t)
	code, out, errs := call(t, "keys", "--env", "--database-url", db.URL, "--public-url", "https://api.example.com/a'b")
	if code != 0 || errs != "" {
		t.Fatalf("code %d: %s", code, errs)
	}
	var names []string
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
		if !regexp.MustCompile(`^[A-Z_]+=(([A-Za-z0-9_./:@%+=,-]+)|('.*'))\n$`).MatchString(line) {
			t.Errorf("no line for a shell: %q", line)
		}
	}
	if got := strings.Join(names, " "); got != "API_URL ANON_KEY SERVICE_ROLE_KEY JWT_SECRET DATABASE_URL" {
		t.Errorf("names %s", got)
	}
	if !strings.Contains(out, `API_URL='https://api.example.com/a'\''b'`) {
		t.Errorf("a quote breaks out: %s", out)
	}
	_, again, _ := call(t, "keys", "--env", "--database-url", db.URL, "--public-url", "https://api.example.com/a'b")
	if again != out {
		t.Error("the keys change from call to call")
	}
	_, plain, _ := call(t, "keys", "--database-url", db.URL)
	if strings.Contains(plain, "JWT_SECRET") || !strings.Contains(plain, "SERVICE_ROLE_KEY") {
		t.Errorf("keys without --env: %s", plain)
	}
}

func TestCommandsTakeAConfigurationOfPostgREST(t *testing.T) {
	db := storetest.New(t)
	db.Exec(t, `
create schema shop;
create table shop.orders (id int primary key);
do $$ begin
  execute format('alter role authenticator in database %I set pgrst.db_schemas = %L', current_database(), 'shop');
end $$;`)
	file := filepath.Join(t.TempDir(), "postgrest.conf")
	const secret = "a-secret-of-more-than-thirty-two-bytes"
	text := "db-uri = \"" + db.URL + "\"\nserver-port = 3456\njwt-secret = \"" + secret + "\""
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, "keys", "--env", "--postgrest-config", file)
	if code != 0 || !strings.Contains(out, "JWT_SECRET="+secret+"\n") || !strings.Contains(out, "API_URL=http://127.0.0.1:3456\n") {
		t.Errorf("keys: %d %s%s", code, errs, out)
	}
	if code, out, errs := call(t, "types", "--postgrest-config", file); code != 0 || !strings.Contains(out, "orders: {") {
		t.Errorf("types: %d %s%s", code, errs, out)
	}
	if code, _, errs := call(t, "migrate", "status", "--dir", t.TempDir(), "--postgrest-config", file); code != 0 {
		t.Errorf("migrate: %d %s", code, errs)
	}
	if code, out, errs := call(t, "psql", "--postgrest-config", file, "-qAtc", "select 1 from shop.orders union select 2"); code != 0 || out != "2\n" {
		t.Errorf("psql: %d %s%s", code, errs, out)
	}
}

func TestTypesAreThoseOfTheSchemasNamed(t *testing.T) {
	db := storetest.New(t)
	db.Exec(t, `create table cities (id int primary key); create schema shop; create table shop.orders (id int primary key)`)
	for _, test := range []struct {
		args          string
		cities, order bool
	}{
		{"", true, false},
		{"--lang ts --schema shop", false, true},
		{"--schema public --schema shop", true, true},
	} {
		code, out, errs := call(t, append(strings.Fields("types "+test.args), "--database-url", db.URL)...)
		if code != 0 || errs != "" || strings.Contains(out, "cities: {") != test.cities || strings.Contains(out, "orders: {") != test.order {
			t.Errorf("%q: %d %q\n%s", test.args, code, errs, out)
		}
	}
	t.Setenv("BASALT_SCHEMAS", "shop,public")
	if _, out, _ := call(t, "types", "--database-url", db.URL); !strings.Contains(out, "orders: {") {
		t.Errorf("the exposed schemas are not printed: %s", out)
	}
	if code, out, errs := call(t, "types", "--schema", "nowhere", "--database-url", db.URL); code != 1 || out != "" || !strings.Contains(errs, "nowhere") {
		t.Errorf("a schema that is not there: %d %q", code, errs)
	}
}

func TestServeAnnouncesItselfAndEndsWithItsContext(t *testing.T) {
	db := storetest.New(t)
	for _, name := range []string{"DATABASE_URL", "JWT_SECRET"} {
		t.Setenv(name, "")
	}
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--database-url", db.URL, "--log-level", "error", "--log-format", "console"}, writer, io.Discard)
		writer.Close()
	}()
	var text strings.Builder
	block := regexp.MustCompile(`API URL +(http://\S+)`)
	buffer := make([]byte, 4096)
	for block.FindStringSubmatch(text.String()) == nil {
		n, err := reader.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			t.Fatalf("serve ended with %d: %s", <-done, text.String())
		}
	}
	url := block.FindStringSubmatch(text.String())[1]
	response, err := http.Get(url + "/health/ready")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("ready: %v %v", response, err)
	}
	response.Body.Close()
	for _, want := range []string{"Dashboard    " + url + "/admin/", "Set it up    " + url + "/admin/setup#token=", "Anon key", os.Args[0] + " keys --database-url … --listen 127.0.0.1:0\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the block lacks %q: %s", want, text.String())
		}
	}
	cancel()
	select {
	case code := <-done:
		if code != 0 {
			t.Errorf("ended with %d", code)
		}
	case <-time.After(time.Minute):
		t.Fatal("serve goes on")
	}
}

func TestMigrationsByCommand(t *testing.T) {
	db := storetest.New(t)
	dir := filepath.Join(t.TempDir(), "migrations")
	code, out, errs := call(t, "migrate", "new", "add_cities", "--dir", dir)
	if code != 0 {
		t.Fatal(errs)
	}
	file := strings.TrimSpace(out)
	if err := os.WriteFile(file, []byte("create table public.cities (id int primary key);"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs = call(t, "migrate", "status", "--dir", dir, "--database-url", db.URL); code != 0 || !strings.Contains(out, "add_cities") {
		t.Fatalf("status: %d %s %s", code, out, errs)
	}
	if code, out, errs = call(t, "migrate", "up", "--dir", dir, "--database-url", db.URL); code != 0 || out != "1 applied\n" {
		t.Fatalf("up: %d %s %s", code, out, errs)
	}
	if code, out, errs = call(t, "migrate", "up", "--dir", dir, "--database-url", db.URL); code != 0 || out != "0 applied\n" {
		t.Fatalf("up again: %d %s %s", code, out, errs)
	}
}

func TestMigrationsTellWhatIsWrong(t *testing.T) {
	db := storetest.New(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	gone := write("1_gone.sql", "create table public.gone (id int);")
	code, _, errs := call(t, "migrate", "up", "--dir", dir, "--database-url", db.URL)
	if code != 0 || !regexp.MustCompile(`^applied +1_gone.sql \(\d+ ms\)\n$`).MatchString(errs) {
		t.Errorf("up: %d %q", code, errs)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if _, out, _ := call(t, "migrate", "status", "--dir", dir, "--database-url", db.URL); !strings.Contains(out, "absent     1_gone (") {
		t.Errorf("an absent migration has no name: %q", out)
	}
	write("2_wrong.sql", "select 1;\nselect nothing from public.gone;")
	code, _, errs = call(t, "migrate", "up", "--dir", dir, "--database-url", db.URL)
	if code != 1 || !strings.HasPrefix(errs, "basalt: 2_wrong.sql:2:8: ") || !strings.Contains(errs, "| select nothing from public.gone") {
		t.Errorf("a wrong statement: %d %q", code, errs)
	}
}

func TestADatabaseThatBasaltHasNeverSeenIsNamed(t *testing.T) {
	db := storetest.New(t)
	db.Exec(t, "drop schema basalt cascade")
	for _, args := range [][]string{{"keys"}, {"migrate", "status", "--dir", t.TempDir()}} {
		code, _, errs := call(t, append(args, "--database-url", db.URL)...)
		if code != 1 || !strings.Contains(errs, "basalt serve") {
			t.Errorf("%v: %d %q", args, code, errs)
		}
	}
}

func TestPsqlTakesOurFlagsFirstAndHandsOnTheRest(t *testing.T) {
	for _, test := range []struct{ args, own, rest string }{
		{"", "", ""},
		{"-c select", "", "-c select"},
		{"--data x -c select", "--data x", "-c select"},
		{"--data=x -c select", "--data=x", "-c select"},
		{"--database-url u --data d -A", "--database-url u --data d", "-A"},
		{"-A --data x", "", "-A --data x"},
		{"--csv", "", "--csv"},
	} {
		cmd := psqlCommand()
		own, rest := splitFlags(cmd.Flags(), strings.Fields(test.args))
		if strings.Join(own, " ") != test.own || strings.Join(rest, " ") != test.rest {
			t.Errorf("%q: %v and %v", test.args, own, rest)
		}
	}
	environment, err := psqlEnvironment("postgres://u:p%40ss@localhost:5433/db")
	if err != nil || strings.Join(environment, " ") != "PGHOST=localhost PGPORT=5433 PGDATABASE=db PGUSER=u PGPASSWORD=p@ss" {
		t.Errorf("%v %v", environment, err)
	}
	for _, text := range []string{
		"postgres://u@h/db?sslmode=verify-full&sslrootcert=%2Fa%20b",
		`host=h user=u dbname=db sslmode = verify-full sslrootcert='/a b'`,
	} {
		if got := parameter(text, "sslmode") + " " + parameter(text, "sslrootcert"); got != "verify-full /a b" {
			t.Errorf("%s: %q", text, got)
		}
	}
}
