package accounts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"basalt/auth/password"
)

// Hashes of other systems, made with their own tools, and the passwords behind them.
const (
	// From the README of github.com/firebase/scrypt.
	firebaseHash     = "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
	firebasePassword = "user1password"
	// From the documentation of passlib.
	pbkdf2Hash     = "$pbkdf2-sha256$6400$.6UI/S.nXIk8jcbdHx3Fhg$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44"
	pbkdf2Password = "password"
	// From the tests of the reference implementation.
	argon2iHash     = "$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA"
	argon2iPassword = "password"
)

func bcryptOf(t *testing.T, secret string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(secret), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

// bring makes an account with the hash of another system.
func (s *server) bring(email, hash string) answer {
	s.t.Helper()
	return s.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"password_hash":%q,"email_confirm":true}`, email, hash))
}

func (s *server) storedHash(email string) string {
	s.t.Helper()
	var hash string
	if err := s.db.Pool.QueryRow(s.t.Context(), `select coalesce(encrypted_password, '') from auth.users where email = $1`, email).Scan(&hash); err != nil {
		s.t.Fatal(err)
	}
	return hash
}

func TestAccountsFromElsewhereSignInAndMoveOnToOurHash(t *testing.T) {
	s := start(t, options())
	other, err := password.Parameters{MemoryKiB: 128, Passes: 3, Lanes: 2}.Hash(goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ hash, password string }{
		"bcrypt":                    {bcryptOf(t, goodPassword), goodPassword},
		"Firebase's scrypt":         {firebaseHash, firebasePassword},
		"PBKDF2":                    {pbkdf2Hash, pbkdf2Password},
		"Argon2i":                   {argon2iHash, argon2iPassword},
		"Argon2id of other costs":   {other, goodPassword},
		"bcrypt of decomposed text": {bcryptOf(t, "Cafe\u0301 au lait"), "Cafe\u0301 au lait"},
	} {
		email := address()
		s.want(s.bring(email, c.hash), http.StatusOK, "")
		s.want(s.signIn(email, c.password+"!"), http.StatusBadRequest, "invalid_credentials")
		if got := s.storedHash(email); got != c.hash {
			t.Errorf("%s: a wrong password has changed the hash", name)
		}
		s.want(s.signIn(email, c.password), http.StatusOK, "")
		if got := s.storedHash(email); !strings.HasPrefix(got, "$argon2id$v=19$m=64,t=1,p=1$") {
			t.Errorf("%s: the hash has become %s", name, got)
		}
		s.want(s.signIn(email, c.password), http.StatusOK, "")
		s.want(s.signIn(email, c.password+"!"), http.StatusBadRequest, "invalid_credentials")
	}
	// What was decomposed is hashed in its normal form now: other keyboards are welcome.
	s.want(s.bring("decomposed@example.com", bcryptOf(t, "Cafe\u0301 au lait")), http.StatusOK, "")
	s.want(s.signIn("decomposed@example.com", "Caf\u00e9 au lait"), http.StatusBadRequest, "invalid_credentials")
	s.want(s.signIn("decomposed@example.com", "Cafe\u0301 au lait"), http.StatusOK, "")
	s.want(s.signIn("decomposed@example.com", "Caf\u00e9 au lait"), http.StatusOK, "")
}

func TestHashesThatAskForTooMuchAreRefusedAndNeverComputed(t *testing.T) {
	s := start(t, options())
	greedy := "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAcOFRwjKjE4P0ZNVFtiaXB3foWMk5qhqK+2vcTL0tk"
	a := s.want(s.bring(address(), greedy), http.StatusBadRequest, "validation_failed")
	if !strings.Contains(a.str("msg"), "m=4194304") {
		t.Errorf("the refusal does not say why: %s", a.text)
	}
	// One that came by a dump cannot be refused; nobody computes it, and nobody can tell.
	email := address()
	s.want(s.bring(email, bcryptOf(t, goodPassword)), http.StatusOK, "")
	s.db.Exec(t, fmt.Sprintf(`update auth.users set encrypted_password = '%s'`, greedy))
	before := s.service.Gate().Stats().Done
	s.want(s.signIn(email, goodPassword), http.StatusBadRequest, "invalid_credentials")
	if n := s.service.Gate().Stats().Done - before; n != 1 {
		t.Errorf("%d passwords were checked", n)
	}
}

// The kinds of hashes that are computed for known and for unknown addresses are told apart by nothing: each refusal
// computes one, and that of an unknown address is of a kind that accounts have, drawn as often (see auth.decoys).
func TestRefusalsOfKnownAndUnknownAddressesDoTheSameWork(t *testing.T) {
	s := start(t, options())
	for range 6 {
		s.want(s.bring(address(), bcryptOf(t, goodPassword)), http.StatusOK, "")
	}
	for range 3 {
		s.signUp(address())
	}
	s.want(s.bring("firebase@example.com", firebaseHash), http.StatusOK, "")
	s.want(s.bring("plain@example.com", bcryptOf(t, goodPassword)), http.StatusOK, "")
	s.db.Exec(t, `update auth.users set encrypted_password = 'nonsense' where email = 'plain@example.com'`)
	s.want(s.bring("invited@example.com", bcryptOf(t, goodPassword)), http.StatusOK, "")
	s.db.Exec(t, `update auth.users set encrypted_password = null where email = 'invited@example.com'`)

	for name, email := range map[string]string{
		"nobody": "nobody@example.com", "Firebase": "firebase@example.com", "an unreadable hash": "plain@example.com",
		"no password": "invited@example.com", "no address": "not an address",
	} {
		before := s.service.Gate().Stats().Done
		s.want(s.signIn(email, "wrong password"), http.StatusBadRequest, "invalid_credentials")
		if n := s.service.Gate().Stats().Done - before; n != 1 {
			t.Errorf("%s: %d hashes were computed", name, n)
		}
	}

	var text []byte
	if err := s.db.Pool.QueryRow(t.Context(), `select decoys from basalt.password_survey`).Scan(&text); err != nil {
		t.Fatal(err)
	}
	var survey map[string]int
	if err := json.Unmarshal(text, &survey); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for decoy, accounts := range survey {
		if err := password.Check(decoy); err != nil {
			t.Errorf("%s cannot be computed: %v", decoy, err)
		}
		if strings.Contains(decoy, "42xEC") || strings.Contains(decoy, "lSrfV") {
			t.Errorf("the survey has somebody's salt or key: %s", decoy)
		}
		kind, _, _ := strings.Cut(decoy[1:], "$")
		kinds[kind] += accounts
	}
	want := map[string]int{"2a": 6, "argon2id": 3, "fbscrypt": 1}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("the survey counts %v, not %v", kinds, want)
	}
}

func TestWeakPasswordsAreToldWithTheirReasons(t *testing.T) {
	o := options()
	o.PasswordPolicy = password.Policy{MinLength: 10, Required: []string{"abcdefghijklmnopqrstuvwxyz", "0123456789"}}
	s := start(t, o)
	session := s.want(s.call("POST", "/signup", s.keys.AnonKey, `{"email":"strong@example.com","password":"velvet rope 7"}`), http.StatusOK, "")
	if session.get("weak_password") != nil {
		t.Errorf("a good password is called weak: %s", session.text)
	}
	token := session.str("access_token")
	for _, c := range []struct{ secret, reasons string }{
		{"aB3$xY7", "[length]"},
		{"AB$XY", "[length characters]"},
		{"1234567890", "[characters pwned]"},
		{"qwertyuiop1", "[pwned]"},
		{"rope of velvet", "[characters]"},
	} {
		for path, a := range map[string]answer{
			"sign-up":      s.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":%q,"password":%q}`, address(), c.secret)),
			"change":       s.call("PUT", "/user", token, fmt.Sprintf(`{"password":%q}`, c.secret)),
			"admin create": s.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"password":%q}`, address(), c.secret)),
		} {
			s.want(a, http.StatusUnprocessableEntity, "weak_password")
			if got := fmt.Sprint(a.get("weak_password.reasons")); got != c.reasons {
				t.Errorf("%s with %q: %s, not %s", path, c.secret, got, c.reasons)
			}
		}
	}
	// A password from before the rules opens the door, and the client is told.
	s.want(s.bring("early@example.com", bcryptOf(t, "secret")), http.StatusOK, "")
	a := s.want(s.signIn("early@example.com", "secret"), http.StatusOK, "")
	if got := fmt.Sprint(a.get("weak_password.reasons")); got != "[length characters pwned]" || a.str("weak_password.message") == "" {
		t.Errorf("the session says %s", a.text)
	}
	if a := s.refresh(a.str("refresh_token")); a.status != http.StatusOK || a.get("weak_password") != nil {
		t.Errorf("the refresh says %d %s", a.status, a.text)
	}
	if a := s.signIn("strong@example.com", "velvet rope 7"); a.status != http.StatusOK || a.get("weak_password") != nil {
		t.Errorf("a good password gives %d %s", a.status, a.text)
	}
}

func TestPasswordsBeyondSeventyTwoBytesCountWhole(t *testing.T) {
	s := start(t, options())
	long := strings.Repeat("velvet rope ", 10)
	s.want(s.call("POST", "/signup", s.keys.AnonKey, fmt.Sprintf(`{"email":"long@example.com","password":%q}`, long+"A")), http.StatusOK, "")
	s.want(s.signIn("long@example.com", long+"A"), http.StatusOK, "")
	s.want(s.signIn("long@example.com", long+"B"), http.StatusBadRequest, "invalid_credentials")
	s.want(s.signIn("long@example.com", long[:72]), http.StatusBadRequest, "invalid_credentials")
}
