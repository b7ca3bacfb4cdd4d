package main

import (
	"bytes"
	"strings"
	"testing"

	"basalt/store/storetest"
)

// typed runs a command with a text on its standard input.
func typed(t *testing.T, input string, args ...string) (code int, out, errs string) {
	t.Helper()
	root := command()
	root.SetIn(strings.NewReader(input))
	var stdout, stderr bytes.Buffer
	code = execute(t.Context(), root, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestAdministratorsByCommand(t *testing.T) {
	db := storetest.New(t)
	const secret = "correct horse battery\n"
	for _, test := range []struct {
		name, input, args string
		code              int
		out, errs         string
	}{
		{"nobody yet", "", "list", 0, "", ""},
		{"the first", secret, "create --email Ada@Example.com --password-stdin", 0, "ada@example.com is owner\n", ""},
		{"the same again", secret, "create --email ada@example.com --password-stdin", 1, "", "already"},
		{"a viewer", secret, "create --email bob@example.com --role viewer --password-stdin", 0, "bob@example.com is viewer\n", ""},
		{"a role that is none", secret, "create --email c@example.com --role king --password-stdin", 1, "", "owner, editor and viewer"},
		{"an address that is none", secret, "create --email c --password-stdin", 1, "", "no e-mail address"},
		{"a weak password", "12345678\n", "create --email c@example.com --password-stdin", 1, "", "weak"},
		{"no password", "", "create --email c@example.com --password-stdin", 1, "", "at least 8 characters"},
		{"no address", "", "create", 2, "", "--email is needed"},
		{"neither terminal nor standard input", "", "create --email c@example.com", 2, "", "--password-stdin"},
		{"all", "", "list", 0, "ada@example.com  owner   never signed in\nbob@example.com  viewer  never signed in\n", ""},
		{"another password", "another horse battery", "reset-password --email ada@example.com --remove-factors --password-stdin", 0, "ada@example.com has a new password\n", ""},
		{"another password of nobody", secret, "reset-password --email c@example.com --password-stdin", 1, "", "no such administrator"},
		{"the last owner goes", "", "delete --email ada@example.com", 1, "", "last owner"},
		{"the viewer goes", "", "delete --email bob@example.com", 0, "bob@example.com is deleted\n", ""},
		{"the viewer goes again", "", "delete --email bob@example.com", 1, "", "no such administrator"},
		{"a command that is none", "", "promote", 2, "", "promote"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"admin"}, strings.Fields(test.args)...)
			if test.name != "a command that is none" {
				args = append(args, "--database-url", db.URL)
			}
			code, out, errs := typed(t, test.input, args...)
			if code != test.code || out != test.out || !strings.Contains(errs, test.errs) {
				t.Errorf("code %d, output %q, errors %q", code, out, errs)
			}
			if strings.Count(strings.TrimSpace(errs), "\n") > 0 {
				t.Errorf("more than a line on stderr: %q", errs)
			}
		})
	}
	var actions int
	if err := db.Pool.QueryRow(t.Context(), `select count(*) from basalt.administrator_audit where email = 'command line' and administrator_id is null`).Scan(&actions); err != nil || actions != 5 {
		t.Errorf("%d changes are in the audit log, %v", actions, err)
	}
}
