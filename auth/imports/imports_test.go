package imports

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/password"
	"basalt/store/storetest"
)

const (
	samples    = "../../testdata/imports/"
	passphrase = "correct horse battery"
)

// target is a database that accounts are brought to.
type target struct {
	t       *testing.T
	db      *storetest.Database
	conn    *pgx.Conn
	service *auth.Service
}

func newTarget(t *testing.T) *target {
	t.Helper()
	t.Parallel()
	db := storetest.New(t)
	conn, err := pgx.Connect(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	keys, err := auth.LoadKeys(t.Context(), db.Pool, "")
	if err != nil {
		t.Fatal(err)
	}
	return &target{t, db, conn, auth.New(db.Pool, keys, auth.Options{
		LimitsOff: true, Passwords: password.Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1}, Log: zerolog.Nop(),
	})}
}

// run imports a source; refusals come as lines.
func (g *target) run(source Source, o Options) (Report, []string) {
	g.t.Helper()
	var lines []string
	o.Refused = func(r Refusal) { lines = append(lines, r.Place+": "+r.Reason) }
	report, err := Run(g.t.Context(), g.conn, source, o)
	if err != nil {
		g.t.Fatal(err)
	}
	return report, lines
}

func (g *target) want(got Report, want Report) {
	g.t.Helper()
	if got != want {
		g.t.Errorf("the report is %+v, not %+v", got, want)
	}
}

// text gives the one value of a query as text.
func (g *target) text(query string) string {
	g.t.Helper()
	var value *string
	if err := g.conn.QueryRow(g.t.Context(), `select (`+query+`)::text`).Scan(&value); err != nil {
		g.t.Fatalf("%s: %v", query, err)
	}
	if value == nil {
		return "NULL"
	}
	return *value
}

func (g *target) same(query, want string) {
	g.t.Helper()
	if got := g.text(query); got != want {
		g.t.Errorf("%s\ngives %s\nnot   %s", query, got, want)
	}
}

// signsIn tells with what code a sign-in is refused, "" when it is not.
func (g *target) signsIn(email, secret string) auth.Code {
	g.t.Helper()
	_, err := g.service.SignIn(g.t.Context(), auth.Caller{}, auth.Credentials{Email: email, Password: auth.Secret(secret)})
	var refusal *auth.Error
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	if err != nil {
		g.t.Error(err)
	}
	return ""
}

func (g *target) expectLines(got []string, want ...string) {
	g.t.Helper()
	if len(got) != len(want) {
		g.t.Errorf("%d rows are refused, not %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		return
	}
	for _, text := range want {
		if !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, text) }) {
			g.t.Errorf("no refusal says %q:\n%s", text, strings.Join(got, "\n"))
		}
	}
	for _, line := range got {
		if strings.Contains(line, "@") || strings.Contains(line, "$2a$") {
			g.t.Errorf("a refusal names an address or a hash: %s", line)
		}
	}
}

func TestASupabaseDumpBringsItsAccounts(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		lines []string
	}{
		"written with COPY": {"supabase.sql", []string{
			"000000000008): its e-mail address or phone number belongs", "000000000009): password hash that cannot be checked: the cost m=4194304",
			"000000000010): invalid input syntax for type timestamp", "it has 1 values for 2 columns",
		}},
		"written with INSERT": {"supabase-inserts.sql", []string{
			"000000000008): its e-mail address or phone number belongs", "000000000009): password hash that cannot be checked: the cost m=4194304",
			"000000000010): invalid input syntax for type timestamp",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newTarget(t)
			report, lines := g.run(Supabase(samples+c.file), Options{})
			g.want(report, Report{Imported: 6, Refused: len(c.lines), Identities: 5, Factors: 1})
			g.expectLines(lines, c.lines...)
			if code := g.signsIn("ada@example.com", passphrase); code != "" {
				t.Errorf("ada: %s", code)
			}
			if code := g.signsIn("ada@example.com", "wrong"); code != auth.CodeInvalidCredentials {
				t.Errorf("ada with another password: %s", code)
			}
			if code := g.signsIn("bob@example.com", passphrase); code != auth.CodeUserBanned {
				t.Errorf("bob: %s", code)
			}
			g.same(`select string_agg(provider, ',' order by provider) from auth.identities where user_id = '7c9e6679-7425-40de-944b-000000000001'`, "email,github")
			g.same(`select raw_user_meta_data from auth.users where email = 'bob@example.com'`, `{"name": "O'Hara\n\t\\"}`)
			g.same(`select created_at at time zone 'utc' from auth.users where email = 'bob@example.com'`, "2024-05-01 10:00:00.123456")
			g.same(`select phone || ' ' || (phone_confirmed_at is not null) from auth.users where phone is not null`, "15551234567 true")
			g.same(`select count(*) from auth.users where email = 'ada@example.com' and is_sso_user`, "1")
			g.same(`select count(*) from auth.users where is_anonymous`, "1")
			g.same(`select factor_type || ' ' || status from auth.mfa_factors where user_id = '7c9e6679-7425-40de-944b-000000000001'`, "totp verified")
			g.same(`select count(*) from auth.users where email like '%mallory%' or email not like '%@%'`, "0")

			again, _ := g.run(Supabase(samples+c.file), Options{})
			g.want(again, Report{Skipped: 6, Refused: len(c.lines)})
		})
	}
}

func TestUsersOfSupabaseAloneGetTheirIdentities(t *testing.T) {
	for name, file := range map[string]string{"as CSV": "supabase.csv", "as JSON": "supabase.json"} {
		t.Run(name, func(t *testing.T) {
			g := newTarget(t)
			report, lines := g.run(Supabase(samples+file), Options{})
			g.want(report, Report{Imported: 6, Refused: 3})
			g.expectLines(lines, "belongs to another account", "m=4194304", "invalid input syntax for type timestamp")
			if code := g.signsIn("ada@example.com", passphrase); code != "" {
				t.Errorf("ada: %s", code)
			}
			g.same(`select string_agg(provider, ',' order by provider, user_id) from auth.identities`, "email,email,email,phone")
			g.same(`select raw_user_meta_data from auth.users where email = 'bob@example.com'`, `{"name": "O'Hara\n\t\\"}`)
		})
	}
}

func firebaseSample(t *testing.T) Source {
	t.Helper()
	text, err := os.ReadFile(samples + "firebase.hash_config.txt")
	if err != nil {
		t.Fatal(err)
	}
	config, err := ParseHashConfig(string(text))
	if err != nil {
		t.Fatal(err)
	}
	source, err := Firebase(samples+"firebase.json", config)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestAnExportOfFirebaseBringsItsAccounts(t *testing.T) {
	g := newTarget(t)
	report, lines := g.run(firebaseSample(t), Options{})
	g.want(report, Report{Imported: 6, Refused: 3})
	g.expectLines(lines, "account 7 (twice0000000000000000000000001): its e-mail address or phone number belongs",
		"account 8 (broken000000000000000000000001): its e-mail address is not valid", "account 9 (broken000000000000000000000002): password hash that cannot be checked: the hash is not base64")
	if code := g.signsIn("ada@example.com", passphrase); code != "" {
		t.Errorf("ada: %s", code)
	}
	g.same(`select encrypted_password like '$argon2id$%' from auth.users where email = 'ada@example.com'`, "true")
	if code := g.signsIn("bob@example.com", passphrase); code != auth.CodeEmailNotConfirmed {
		t.Errorf("bob: %s", code)
	}
	g.same(`select raw_app_meta_data from auth.users where email = 'ada@example.com'`,
		`{"team": "engines", "admin": true, "provider": "email", "providers": ["email", "google"], "firebase_id": "aZ3kLmN0pQrStUvWxYz12345AbC1"}`)
	g.same(`select raw_user_meta_data from auth.users where email = 'ada@example.com'`,
		`{"name": "Ada Lovelace", "full_name": "Ada Lovelace", "avatar_url": "https://example.com/ada.png"}`)
	g.same(`select identity_data ->> 'email_verified' from auth.identities where provider = 'email' and email = 'bob@example.com'`, "false")
	g.same(`select last_sign_in_at at time zone 'utc' from auth.identities where provider = 'google'`, "2024-05-01 10:00:00.123")
	g.same(`select phone from auth.users where phone is not null`, "15551234567")
	g.same(`select provider_id from auth.identities where provider = 'github'`, "4242")
	g.same(`select banned_until from auth.users where email = 'carl@example.com'`, "infinity")
	g.same(`select count(*) from auth.users where is_anonymous`, "1")
	before := g.text(`select string_agg(id::text, ',' order by id) from auth.users`)
	again, _ := g.run(firebaseSample(t), Options{})
	g.want(again, Report{Skipped: 6, Refused: 3})
	g.same(`select string_agg(id::text, ',' order by id) from auth.users`, before)
}

func TestAddressesCanBeTakenForConfirmed(t *testing.T) {
	g := newTarget(t)
	g.run(firebaseSample(t), Options{Confirm: true})
	if code := g.signsIn("bob@example.com", passphrase); code != "" {
		t.Errorf("bob: %s", code)
	}
	g.same(`select identity_data ->> 'email_verified' from auth.identities where provider = 'email' and email = 'bob@example.com'`, "true")
}

func TestPasswordsOfFirebaseNeedItsParameters(t *testing.T) {
	g := newTarget(t)
	source, err := Firebase(samples+"firebase.json", HashConfig{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), g.conn, source, Options{Refused: func(Refusal) {}})
	if wrong := new(FileError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "--hash-config") {
		t.Errorf("it says %v", err)
	}
	g.same(`select count(*) from auth.users`, "0")
	for name, config := range map[string]HashConfig{
		"a key that is no base64": {SignerKey: "*", Rounds: 8, MemoryCost: 14},
		"a key that is too short": {SignerKey: "AAAA", Rounds: 8, MemoryCost: 14},
		"4 GiB of memory":         {SignerKey: strings.Repeat("A", 88), Rounds: 8, MemoryCost: 22},
		"no rounds":               {SignerKey: strings.Repeat("A", 88), MemoryCost: 14},
	} {
		if _, err := Firebase(samples+"firebase.json", config); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	for name, text := range map[string]string{
		"no key":            "hash_config { rounds: 8 }",
		"another algorithm": "algorithm: BCRYPT,\nbase64_signer_key: AAAA",
		"no number":         "base64_signer_key: AAAA,\nrounds: eight",
	} {
		if _, err := ParseHashConfig(text); err == nil {
			t.Errorf("a block with %s is taken", name)
		}
	}
}

// pocketBaseSample makes the database of the sample.
func pocketBaseSample(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(samples + "pocketbase.sql")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pb data?#%", "data.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "data.db")
	db, err := sql.Open("sqlite", plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(plain, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestADatabaseOfPocketBaseBringsItsAccounts(t *testing.T) {
	g := newTarget(t)
	path := pocketBaseSample(t)
	report, lines := g.run(PocketBase(path, "users"), Options{})
	g.want(report, Report{Imported: 3, Refused: 2})
	g.expectLines(lines, "account 4 (twice0000000004): its e-mail address or phone number belongs",
		"account 5 (nobody000000005): it has neither")
	if code := g.signsIn("ada@example.com", passphrase); code != "" {
		t.Errorf("ada: %s", code)
	}
	if code := g.signsIn("bob@example.com", passphrase); code != auth.CodeEmailNotConfirmed {
		t.Errorf("bob: %s", code)
	}
	g.same(`select raw_app_meta_data from auth.users where email = 'ada@example.com'`,
		`{"provider": "email", "providers": ["email", "google", "azure"], "pocketbase_id": "ada0000000000a1"}`)
	g.same(`select raw_user_meta_data from auth.users where email = 'ada@example.com'`,
		`{"age": 36, "name": "Ada", "newsletter": true, "preferences": {"theme": "dark"}}`)
	g.same(`select string_agg(provider, ',' order by provider) from auth.identities`, "azure,email,email,github,google")
	g.same(`select updated_at at time zone 'utc' from auth.users where raw_user_meta_data ->> 'name' = 'Only GitHub'`, "2024-05-02 11:00:00.123")
	g.same(`select count(*) from auth.users where raw_user_meta_data::text like '%secret%' or raw_app_meta_data::text like '%secret%'`, "0")

	staff, _ := g.run(PocketBase(path, "staff"), Options{})
	g.want(staff, Report{Imported: 1})
	again, _ := g.run(PocketBase(path, "users"), Options{})
	g.want(again, Report{Skipped: 3, Refused: 2})
	_, err := Run(t.Context(), g.conn, PocketBase(path, "customers"), Options{})
	if err == nil || !strings.Contains(err.Error(), "staff, users") {
		t.Errorf("of a collection that is not there it says %v", err)
	}
}

func TestADryRunTellsAllAndWritesNothing(t *testing.T) {
	g := newTarget(t)
	g.db.Exec(t, `
create function refuse() returns trigger language plpgsql as $$
begin
  if new.email = 'ada@example.com' then
    raise exception 'no % here', split_part(new.email, '@', 1);
  end if;
  return new;
end $$;
create trigger refuse after insert on auth.users for each row execute function refuse();`)
	report, lines := g.run(Supabase(samples+"supabase.sql"), Options{DryRun: true})
	g.want(report, Report{Imported: 4, Refused: 6, Identities: 3})
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "no ada here") }) {
		t.Errorf("the trigger's word is not told: %s", lines)
	}
	g.same(`select count(*) from auth.users`, "0")
	for i := range 2 {
		report, _ = g.run(Supabase(samples+"supabase.sql"), Options{})
		g.want(report, []Report{{Imported: 4, Refused: 6, Identities: 3}, {Skipped: 4, Refused: 6}}[i])
	}
}

func TestManyAccountsComeInBatchesAndAnImportGoesOn(t *testing.T) {
	g := newTarget(t)
	const accounts = 2500
	var text strings.Builder
	text.WriteString("COPY auth.users (id, email, encrypted_password, created_at) FROM stdin;\n")
	for i := range accounts {
		created := "2024-05-01 10:00:00+00"
		if i%700 == 3 {
			created = "never"
		}
		fmt.Fprintf(&text, "00000000-0000-4000-8000-%012d\tuser-%d@example.com\t\\N\t%s\n", i+1, i, created)
	}
	text.WriteString("\\.\n")
	path := filepath.Join(t.TempDir(), "dump.sql.gz")
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text.String())); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	// Some are there, as after an import that was broken off.
	g.db.Exec(t, `insert into auth.users (id, email) select ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, 'user-' || i - 1 || '@example.com' from generate_series(1, 600) i where i <> 4`)
	var last, total int64
	report, lines := g.run(Supabase(path), Options{Progress: func(done, of int64) {
		if done < last {
			t.Errorf("the progress goes back from %d to %d", last, done)
		}
		last, total = done, of
	}})
	g.want(report, Report{Imported: accounts - 599 - 4, Skipped: 599, Refused: 4})
	g.expectLines(lines, "line 5 ", "line 705 ", "line 1405 ", "line 2105 ")
	if last != total || total == 0 {
		t.Errorf("the progress ends at %d of %d", last, total)
	}
	g.same(`select count(*) from auth.users`, fmt.Sprint(accounts-4))
}

func TestFilesThatAreNotWhatTheyShouldBeAreRefused(t *testing.T) {
	g := newTarget(t)
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	firebase := func(path string) Source {
		source, err := Firebase(path, HashConfig{})
		if err != nil {
			t.Fatal(err)
		}
		return source
	}
	for name, c := range map[string]struct {
		source Source
		says   string
	}{
		"a file that is not there":        {Supabase(filepath.Join(folder, "none")), "no such file"},
		"a folder":                        {Supabase(folder), "is not a file"},
		"nothing":                         {Supabase(write("nothing", " \n")), "is empty"},
		"a dump in pg_dump's own format":  {Supabase(write("custom", "PGDMP\x01\x0e")), "pg_restore"},
		"a dump without accounts":         {Supabase(write("public.sql", "COPY public.x (id) FROM stdin;\n1\n\\.\n")), "no rows of auth.users"},
		"a dump that is cut in its rows":  {Supabase(write("cut.sql", "COPY auth.users (id) FROM stdin;\n")), "is it all there"},
		"a dump that is cut in a text":    {Supabase(write("text.sql", "INSERT INTO auth.users (id) VALUES ('7c9e")), "is it all there"},
		"values that are computed":        {Supabase(write("computed.sql", "INSERT INTO auth.users (id) VALUES (gen_random_uuid());")), "stands where a value should"},
		"JSON that is cut":                {Supabase(write("cut.json", `[{"id":"x"`)), "no whole JSON document"},
		"JSON with other things":          {Supabase(write("other.json", `{"orders":[]}`)), `no "users"`},
		"a gzip file that is cut":         {Supabase(write("cut.gz", "\x1f\x8b\x08")), "gzip"},
		"CSV of Firebase":                 {firebase(write("firebase.csv", "a,b,c\n")), "--format=json"},
		"an archive of PocketBase":        {PocketBase(write("pb.zip", "PK\x03\x04"), "users"), "pb_data/data.db"},
		"a database of something else":    {PocketBase(write("other.db", "SQLite format 3\x00 and no more"), "users"), "cannot be read as PocketBase's"},
		"an empty file for a PocketBase":  {PocketBase(write("empty.db", ""), "users"), "pb_data/data.db"},
		"no file for a PocketBase at all": {PocketBase(filepath.Join(folder, "none"), "users"), "no such file"},
	} {
		_, err := Run(t.Context(), g.conn, c.source, Options{Refused: func(Refusal) {}})
		if wrong := new(FileError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	g.same(`select count(*) from auth.users`, "0")
}
