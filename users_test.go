package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"basalt/store/storetest"
)

func TestUsersAreImportedByCommand(t *testing.T) {
	db := storetest.New(t)
	const folder = "testdata/imports/"
	for _, test := range []struct {
		name string
		args []string
		code int
		out  string
		errs []string
	}{
		{"a dry run", []string{"--from", "supabase", "--dry-run", folder + "supabase-inserts.sql"}, 1,
			"6 would be imported, 0 skipped because they are there, 3 refused\n", []string{"refused: line ", "3 rows were refused"}},
		{"Supabase", []string{"--from", "supabase", folder + "supabase-inserts.sql"}, 1,
			"6 imported, 0 skipped because they are there, 3 refused\n", []string{"refused: line ", "its e-mail address or phone number belongs to another account\n", "3 rows were refused"}},
		{"the same again", []string{folder + "supabase-inserts.sql", "--from=supabase"}, 1,
			"0 imported, 6 skipped because they are there, 3 refused\n", []string{"refused: "}},
		{"Firebase without its parameters", []string{"--from", "firebase", folder + "firebase.json"}, 1, "", []string{"--hash-config FILE"}},
		{"Firebase", []string{"--from", "firebase", folder + "firebase.json", "--hash-config", folder + "firebase.hash_config.txt"}, 1,
			"3 imported, 0 skipped because they are there, 6 refused\n", []string{"refused: account 7 (twice"}},
		{"a file that is not there", []string{"--from", "pocketbase", folder + "none.db"}, 1, "", []string{"no such file"}},
		{"no file", []string{"--from", "supabase"}, 2, "", []string{"FILE"}},
		{"two files", []string{"--from", "supabase", "a", "b"}, 2, "", []string{"FILE"}},
		{"no system", []string{"a"}, 2, "", []string{"--from", "supabase, firebase, pocketbase"}},
		{"a system that nobody knows", []string{"--from", "parse", "a"}, 2, "", []string{"parse"}},
		{"a flag of another system", []string{"--from", "supabase", "--rounds", "8", "a"}, 2, "", []string{"--rounds", "firebase"}},
		{"a key that is none", []string{"--from", "firebase", "--hash-key", "*", "a"}, 2, "", []string{"base64"}},
		{"parameters twice", []string{"--from", "firebase", "--hash-key", "AAAA", "--hash-config", folder + "firebase.hash_config.txt", "a"}, 2, "", []string{"--hash-config and --hash-key"}},
		{"parameters that are not there", []string{"--from", "firebase", "--hash-config", folder + "none", "a"}, 2, "", []string{"no such file"}},
		{"a database that is none", []string{"--from", "supabase", "--database-url", "x", "a"}, 2, "", []string{"--database-url"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"users", "import"}, test.args...)
			if !strings.Contains(strings.Join(args, " "), "--database-url") {
				args = append(args, "--database-url", db.URL)
			}
			code, out, errs := call(t, args...)
			if code != test.code || out != test.out {
				t.Errorf("code %d, output %q, errors %s", code, out, errs)
			}
			for _, text := range test.errs {
				if !strings.Contains(errs, text) {
					t.Errorf("stderr does not say %q: %s", text, errs)
				}
			}
		})
	}
	t.Run("with the key in a file, and nothing to refuse", func(t *testing.T) {
		dir := t.TempDir()
		key, accounts := filepath.Join(dir, "key"), filepath.Join(dir, "accounts.json")
		for path, text := range map[string]string{
			key:      "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==\n",
			accounts: `{"users":[{"localId":"one","email":"one@example.com","passwordHash":"lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==","salt":"42xEC+ixf3L2lw=="}]}`,
		} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, out, errs := call(t, "users", "import", "--from", "firebase", "--hash-key", "@"+key, accounts, "--database-url", db.URL)
		if code != 0 || out != "1 imported, 0 skipped because they are there, 0 refused\n" || errs != "" {
			t.Errorf("code %d, output %q, errors %q", code, out, errs)
		}
	})
}
