package imports

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// file writes a file of the test's own.
func (g *target) file(name, text string) string {
	g.t.Helper()
	path := filepath.Join(g.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
	return path
}

const (
	hostID   = "7c9e6679-7425-40de-944b-0000000000a1"
	factorID = "7c9e6679-7425-40de-944b-0000000000f1"
	hostRow  = "COPY auth.users (id, email, email_confirmed_at, created_at, updated_at) FROM stdin;\n" +
		hostID + "\thost@example.com\t2024-05-01 10:00:00+00\t2024-05-01 10:00:00+00\t2024-05-01 10:00:00.5+00\n\\.\n"
	hostDetails = "COPY auth.identities (provider_id, user_id, identity_data, provider) FROM stdin;\n" +
		"9001\t" + hostID + "\t{\"sub\": \"9001\"}\tgithub\n9002\t" + hostID + "\t{\"sub\": \"9002\"}\tgoogle\n\\.\n" +
		"COPY auth.mfa_factors (id, user_id, factor_type, status, secret, created_at, updated_at) FROM stdin;\n" +
		factorID + "\t" + hostID + "\ttotp\tverified\tJBSWY3DPEHPK3PXP\t2024-05-01 10:00:00+00\t2024-05-01 10:00:00+00\n\\.\n"
)

// What a file says about an account that it did not bring, or that somebody has used since, is no way into it.
func TestIdentitiesAndFactorsComeWithTheirAccountsAlone(t *testing.T) {
	const ways = `(select count(*) from auth.identities) + (select count(*) from auth.mfa_factors)`
	for _, c := range []struct {
		name, before, file, ways string
	}{
		{"of an account of the file", ``, hostRow + hostDetails, "3"},
		{"of an account that the file names alone", `insert into auth.users (id, email) values ('` + hostID + `', 'host@example.com')`, hostRow + hostDetails, "0"},
		{"of an account that is not in the file", `insert into auth.users (id, email) values ('` + hostID + `', 'host@example.com')`,
			strings.ReplaceAll(hostRow, hostID, "7c9e6679-7425-40de-944b-0000000000b2") + hostDetails, "0"},
		{"of an account with another address", `insert into auth.users (id, email, updated_at) values ('` + hostID + `', 'other@example.com', '2024-05-01 10:00:00.5+00')`, hostRow + hostDetails, "0"},
		{"of an import that was broken off", `insert into auth.users (id, email, updated_at) values ('` + hostID + `', 'host@example.com', '2024-05-01 10:00:00.5+00');
			insert into auth.identities (provider_id, user_id, identity_data, provider) values ('9001', '` + hostID + `', '{}', 'github')`, hostRow + hostDetails, "3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newTarget(t)
			if c.before != "" {
				g.db.Exec(t, c.before)
			}
			g.run(Supabase(g.file("dump.sql", c.file)), Options{})
			g.same(`select `+ways, c.ways)
		})
	}
	t.Run("that were taken away since", func(t *testing.T) {
		g := newTarget(t)
		source := Supabase(g.file("dump.sql", hostRow+hostDetails))
		g.run(source, Options{})
		g.db.Exec(t, `update auth.users set updated_at = now(); delete from auth.identities where provider = 'google'; delete from auth.mfa_factors`)
		g.run(source, Options{})
		g.same(`select `+ways, "1")
	})
}

func TestRowsThatWouldDoHarmAreRefused(t *testing.T) {
	row := func(column, value string) string {
		return "COPY auth.users (id, email, " + column + ") FROM stdin;\n" + hostID + "\thost@example.com\t" + value + "\n\\.\n"
	}
	for _, c := range []struct{ name, file, text, says string }{
		{"the role of the service key", "dump.sql", row("role", "service_role"), "its role service_role may do everything"},
		{"the role of administrators", "users.csv", "id,email,role\n" + hostID + ",host@example.com,supabase_admin\n", "its role supabase_admin may do everything"},
		{"the role of the service key in JSON", "users.json", `[{"id":"` + hostID + `","email":"host@example.com","role":"service_role"}]`, "its role service_role may do everything"},
		{"a number of a hundred thousand digits", "dump.sql", row("raw_user_meta_data", `{"n": 1e100000}`), "a number that is too large"},
		{"more app_metadata than a token holds", "dump.sql", row("raw_app_meta_data", `{"n": "`+strings.Repeat("x", 9000)+`"}`), "app_metadata must not be larger"},
		{"another encoding", "dump.sql", row("raw_user_meta_data", "{\"n\": \"\xe9\"}"), "UTF-8"},
		{"another encoding in JSON", "users.json", "[{\"id\":\"" + hostID + "\",\"email\":\"host@example.com\",\"raw_user_meta_data\":{\"n\":\"\xe9\"}}]", "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newTarget(t)
			report, lines := g.run(Supabase(g.file(c.file, c.text)), Options{})
			if report.Imported != 0 || report.Refused != 1 || len(lines) != 1 || !strings.Contains(lines[0], c.says) {
				t.Errorf("the report is %+v, %q", report, lines)
			}
		})
	}
	t.Run("an identity that says a number of a hundred thousand digits", func(t *testing.T) {
		g := newTarget(t)
		report, lines := g.run(Supabase(g.file("dump.sql", hostRow+strings.Replace(hostDetails, `"9001"}`, `9e100000}`, 1))), Options{})
		if report.Imported != 1 || report.Identities != 1 || report.Refused != 1 || !strings.Contains(lines[0], "a number that is too large") {
			t.Errorf("the report is %+v, %q", report, lines)
		}
	})
	t.Run("an identity in another encoding", func(t *testing.T) {
		g := newTarget(t)
		report, lines := g.run(Supabase(g.file("dump.sql", hostRow+strings.Replace(hostDetails, "9001\t", "\xe9\t", 1))), Options{})
		if report.Identities != 1 || report.Refused != 1 || !strings.Contains(lines[0], "UTF-8") {
			t.Errorf("the report is %+v, %q", report, lines)
		}
	})
}

// An address that is folded to another one was proved by its own reader, who may be somebody else.
func TestAnAddressThatIsWrittenAlikeIsNotConfirmed(t *testing.T) {
	g := newTarget(t)
	text := "id,email,email_confirmed_at,encrypted_password\n"
	for i, email := range []string{"ⓥictim@example.com", "Ada@Example.com"} {
		text += fmt.Sprintf("7c9e6679-7425-40de-944b-0000000000%02d,%s,2024-05-01,$2a$10$QvSiDg7L9aQ4GGjFkMxlWu0zOlTBoxIzE9aQzEAwhIrIUmoPn8oLu\n", i, email)
	}
	report, lines := g.run(Supabase(g.file("users.csv", text)), Options{Confirm: true})
	if report.Imported != 2 {
		t.Fatalf("the report is %+v, %q", report, lines)
	}
	g.same(`select string_agg(email || ' ' || (email_confirmed_at is not null) || ' ' || (coalesce(encrypted_password, '') <> ''), ', ' order by email) from auth.users`,
		"ada@example.com true true, victim@example.com false false")
	g.same(`select identity_data ->> 'email_verified' from auth.identities where email = 'victim@example.com'`, "false")
}

func TestAFileWithOneRowThatDoesNotEndIsNotReadWhole(t *testing.T) {
	g := newTarget(t)
	long := strings.Repeat("x", 3*mostOfRow)
	firebase, err := Firebase(g.file("firebase.json", `{"users":[{"localId":"`+long), HashConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]Source{
		"CSV": Supabase(g.file("users.csv", "id,email\n\""+long)), "JSON": Supabase(g.file("users.json", `[{"id":"`+long)),
		"JSON before the accounts": Supabase(g.file("other.json", `{"other":"`+long)), "an export of Firebase": firebase,
	} {
		_, err := Run(t.Context(), g.conn, source, Options{Refused: func(Refusal) {}})
		if err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = Run(t.Context(), g.conn, Supabase(g.file("users.csv", "id,email\na\"b,c\n")), Options{Refused: func(Refusal) {}})
	if err == nil || !strings.Contains(err.Error(), "is no CSV") {
		t.Errorf("a quote where none may be: %v", err)
	}
	var many strings.Builder
	many.WriteString(`[`)
	for i := range 5 {
		if i > 0 {
			many.WriteString(",")
		}
		fmt.Fprintf(&many, `{"id":"7c9e6679-7425-40de-944b-00000000000%d","email":"many-%d@example.com","note":"%s"}`, i, i, long[:mostOfRow-200])
	}
	many.WriteString(`]`)
	if report, lines := g.run(Supabase(g.file("users.json", many.String())), Options{}); report.Imported != 5 {
		t.Errorf("the report is %+v, %q", report, lines)
	}
}
