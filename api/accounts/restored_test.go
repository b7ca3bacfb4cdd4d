package accounts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"basalt/migrations"
	"basalt/store/storetest"
)

// restore brings the sample of a Supabase project into a database, as a dump that its owner has kept.
func restore(t *testing.T, db *storetest.Database) {
	t.Helper()
	dir := t.TempDir()
	for i, name := range []string{"schema.sql", "data.sql"} {
		text, err := os.ReadFile(filepath.Join("../../testdata/supabase", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d_%s", i, name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(t.Context(), db.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := migrations.UserUp(t.Context(), conn, dir, migrations.UserOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestADatabaseRestoredFromASupabaseDumpSignsItsOldUsersIn(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	restore(t, db)
	s := startOver(t, db, options())
	const passphrase = "correct horse battery"

	// The session that Ada had goes on, with the refresh token that stands in the dump in clear.
	a := s.want(s.refresh("v2q7xk3p9mzt"), 200, "")
	if a.str("user.email") != "ada@example.com" || a.str("user.user_metadata.full_name") != "Ada; 'L'" {
		t.Errorf("the session is of %s", a.text)
	}
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")

	// Her password is good, and her second factor, whose secret is in clear there, still asked for.
	s.want(s.signIn("ada@example.com", passphrase+"!"), 400, "invalid_credentials")
	a = s.want(s.signIn("ada@example.com", passphrase), 200, "")
	ada := &factorUser{server: s, email: "ada@example.com", access: a.str("access_token"), refresh: a.str("refresh_token")}
	f := totpFactor{id: a.str("user.factors.0.id"), secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"}
	if level := ada.claims().str("aal"); level != "aal1" || f.id == "" {
		t.Errorf("she signs in at %s with %s", level, a.text)
	}
	ada.prove(f)
	if level := ada.claims().str("aal"); level != "aal2" {
		t.Errorf("with her factor she is at %s", level)
	}
	if n := s.count(`select count(*) from auth.users where encrypted_password like '$argon2id$%'`); n != 1 {
		t.Errorf("%d hashes have been replaced", n)
	}
	if n := s.count(`select count(*) from auth.mfa_factors where secret like 'enc:v1:%'`); n != 1 {
		t.Errorf("%d secrets are sealed", n)
	}

	// Bob has never confirmed his address.
	s.want(s.signIn("bob@example.com", passphrase), 400, "email_not_confirmed")
	s.want(s.admin("PUT", "/users/5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0002", `{"email_confirm":true}`), 200, "")
	s.want(s.signIn("bob@example.com", passphrase), 200, "")
}
