package main

import (
	"strings"
	"testing"

	"basalt/api/admin"
	"basalt/auth"
	"basalt/auth/seal"
	"basalt/store/storetest"
)

func TestTheEncryptionKeyIsReplacedByCommand(t *testing.T) {
	db := storetest.New(t)
	old, fresh := strings.Repeat("old-key-", 5), strings.Repeat("new-key-", 5)
	place := seal.Cell{Table: "auth.mfa_factors", Row: "11111111-1111-4111-8111-111111111111", Column: "secret"}
	vault := func(texts ...string) *seal.Vault {
		var ring seal.Ring
		for _, text := range texts {
			ring = append(ring, seal.Derive(text, "basalt encryption key"))
		}
		return seal.NewVault(db.Pool, func() (seal.Ring, error) { return ring, nil })
	}
	text, err := vault(old).Seal(t.Context(), "JBSWY3DPEHPK3PXP", place)
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(t, `insert into auth.users (id, email) values ('22222222-2222-4222-8222-222222222222', 'a@example.com')`)
	if _, err := db.Pool.Exec(t.Context(), `
insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at, secret)
values ($1, '22222222-2222-4222-8222-222222222222', 'totp', 'verified', now(), now(), $2)`, place.Row, text); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := call(t, append([]string{"keys", "rotate-encryption", "--database-url", db.URL}, args...)...)
		if code != want || strings.Contains(errs, old) {
			t.Fatalf("%v: code %d: %s%s", args, code, out, errs)
		}
		return strings.TrimSpace(out + errs)
	}
	setting, err := vault(old).Seal(t.Context(), "smtp://ada:secret@mail.example", auth.SettingCell("smtp-url"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Pool.Exec(t.Context(), `insert into basalt.settings (name, value, secret) values ('smtp-url', '', $1), ('mail-from', 'a@shop.example', null)`, setting); err != nil {
		t.Fatal(err)
	}
	if out := run(0, "--encryption-key", fresh+","+old); out != "2 secrets encrypted under the new key" {
		t.Errorf("printed %q", out)
	}
	var now string
	if err := db.Pool.QueryRow(t.Context(), `select secret from auth.mfa_factors`).Scan(&now); err != nil || now == text {
		t.Fatalf("%q, %v", now, err)
	}
	if plain, stale, err := vault(fresh).Open(t.Context(), now, place); err != nil || stale || plain != "JBSWY3DPEHPK3PXP" {
		t.Errorf("%q, %v, %v", plain, stale, err)
	}
	if stored, err := admin.StoredSettings(t.Context(), db.Pool, vault(fresh)); err != nil || stored.Secrets["smtp-url"].Reveal() != "smtp://ada:secret@mail.example" || stored.Texts["mail-from"] != "a@shop.example" {
		t.Errorf("of the settings there is %v, %v", stored.Texts, err)
	}
	if out := run(1, "--encryption-key", old); !strings.Contains(out, "not known here") {
		t.Errorf("printed %q", out)
	}
	run(2, "--encryption-key", "short")
	run(2, "now")
}
