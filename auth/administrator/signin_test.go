package administrator_test

import (
	"errors"
	"strings"
	"testing"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/password"
	"basalt/store/storetest"
)

const secret auth.Secret = "correct horse battery"

var cheap = password.Parameters{MemoryKiB: 64, Passes: 1, Lanes: 1}

func service(db *storetest.Database, o administrator.Options) *administrator.Service {
	if o.Passwords == (password.Parameters{}) {
		o.Passwords = cheap
	}
	o.LimitsOff = true
	return administrator.New(db.Pool, o)
}

func create(t *testing.T, s *administrator.Service, email string) *administrator.Administrator {
	t.Helper()
	a, err := s.Create(t.Context(), administrator.Shell(), email, administrator.Owner, secret)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func signIn(t *testing.T, s *administrator.Service, email string, secret auth.Secret) (*administrator.Opened, error) {
	t.Helper()
	return s.SignIn(t.Context(), auth.Caller{}, administrator.Credentials{Email: email, Password: secret}, "")
}

func code(err error) administrator.Code {
	var refusal *administrator.Error
	if !errors.As(err, &refusal) {
		return ""
	}
	return refusal.Code
}

func TestEveryRefusedSignInCostsOneHash(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	gate := password.NewGate(password.GateOptions{})
	s := service(db, administrator.Options{Gate: gate})
	create(t, s, "ada@example.com")
	if _, _, err := s.Invite(t.Context(), administrator.Shell(), "bob@example.com", administrator.Viewer); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, email string
		secret      auth.Secret
	}{
		{"a wrong password", "ada@example.com", "wrong horse battery"},
		{"nobody's address", "nobody@example.com", secret},
		{"no address", "nobody", secret},
		{"who has not joined", "bob@example.com", secret},
		{"no password", "ada@example.com", ""},
		{"a password that is too long", "ada@example.com", auth.Secret(strings.Repeat("a", password.MaxBytes+1))},
	} {
		before := gate.Stats().Done
		if _, err := signIn(t, s, test.email, test.secret); code(err) != administrator.CodeInvalidCredentials {
			t.Errorf("%s: %v", test.name, err)
		}
		if hashes := gate.Stats().Done - before; hashes != 1 {
			t.Errorf("%s costs %d hashes", test.name, hashes)
		}
	}
}

func TestAHashOfOtherCostsIsRenewedAtTheSignIn(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	create(t, service(db, administrator.Options{}), "ada@example.com")
	dearer := cheap
	dearer.Passes = 2
	s := service(db, administrator.Options{Passwords: dearer})
	stored := func() (hash string) {
		if err := db.Pool.QueryRow(t.Context(), `select password_hash from basalt.administrators`).Scan(&hash); err != nil {
			t.Fatal(err)
		}
		return hash
	}
	if _, err := signIn(t, s, "ada@example.com", secret); err != nil {
		t.Fatal(err)
	}
	renewed := stored()
	if !strings.Contains(renewed, "t=2") {
		t.Errorf("the hash is %s", renewed)
	}
	if _, err := signIn(t, s, "ada@example.com", secret); err != nil || stored() != renewed {
		t.Errorf("it is renewed once more, or opens no more: %v", err)
	}
}

func TestAnAdministratorHasNotMoreThanSoManySessions(t *testing.T) {
	t.Parallel()
	s := service(storetest.New(t), administrator.Options{})
	a := create(t, s, "ada@example.com")
	var first, last *administrator.Opened
	for range 52 {
		opened, err := signIn(t, s, "ada@example.com", secret)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = opened
		}
		last = opened
	}
	list, err := s.Sessions(t.Context(), a.ID)
	if err != nil || len(list) != 50 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
	if _, err := s.Session(t.Context(), first.Token); code(err) != administrator.CodeSignedOut {
		t.Errorf("the oldest goes on: %v", err)
	}
	if _, err := s.Session(t.Context(), last.Token); err != nil {
		t.Errorf("the newest does not: %v", err)
	}
}

func TestAdministratorsNeedEightCharactersWhateverUsersMayHave(t *testing.T) {
	t.Parallel()
	s := service(storetest.New(t), administrator.Options{Policy: password.Policy{MinLength: 1}})
	if _, err := s.Create(t.Context(), administrator.Shell(), "ada@example.com", administrator.Owner, "xq7"); code(err) != administrator.CodeWeakPassword {
		t.Errorf("%v", err)
	}
}

func TestRolesIncludeThoseBelow(t *testing.T) {
	t.Parallel()
	const owner, editor, viewer = administrator.Owner, administrator.Editor, administrator.Viewer
	for _, test := range []struct {
		role, least administrator.Role
		may         bool
	}{
		{owner, owner, true}, {owner, viewer, true}, {editor, owner, false}, {editor, editor, true}, {editor, viewer, true},
		{viewer, editor, false}, {viewer, viewer, true}, {"", viewer, false}, {"king", viewer, false}, {"", "", false},
	} {
		if test.role.Includes(test.least) != test.may {
			t.Errorf("%q may do what %q may: %t", test.role, test.least, !test.may)
		}
	}
}
