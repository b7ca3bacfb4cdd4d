package main

import (
	"strings"
	"testing"

	"basalt/store/storetest"
)

func TestSigningKeysByCommand(t *testing.T) {
	db := storetest.New(t)
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := call(t, append(append([]string{"keys", "signing"}, args...), "--database-url", db.URL)...)
		if code != want || (code != 0) != (errs != "") {
			t.Fatalf("%v: code %d: %s%s", args, code, out, errs)
		}
		return strings.TrimSpace(out + errs)
	}
	if out := run(0, "list"); out != "" {
		t.Errorf("listed %q", out)
	}
	run(2, "add", "--algorithm", "HS256")
	run(2, "revoke")
	run(2, "rotate")
	if out := run(1, "promote"); !strings.Contains(out, "add one first") {
		t.Error(out)
	}
	first := run(0, "add")
	if out := run(1, "add"); !strings.Contains(out, "standby key already") {
		t.Error(out)
	}
	if out := run(1, "promote"); !strings.Contains(out, "--now") {
		t.Error(out)
	}
	if out := run(0, "promote", "--now"); out != first {
		t.Errorf("promoted %q, not %q", out, first)
	}
	second := run(0, "add", "--algorithm", "EdDSA")
	run(0, "promote", "--now")
	lines := strings.Split(run(0, "list"), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], second+"  EdDSA  current") || !strings.HasPrefix(lines[1], first+"  ES256  previous") {
		t.Errorf("listed %q", lines)
	}
	run(1, "revoke", second)
	run(0, "revoke", first)
	if out := run(0, "list"); strings.Contains(out, first) {
		t.Errorf("listed %q", out)
	}
}
