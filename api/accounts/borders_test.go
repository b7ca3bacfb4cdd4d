package accounts_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"basalt/auth"
)

// endpoint is a row of the table in the package's documentation, which TestTheTableOfEndpointsIsWhole holds to what is served.
type endpoint struct{ method, path, asker string }

func endpoints(t *testing.T) (all []endpoint) {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^//\t([A-Z]+) +(/\S+) +(?:([UA])  )?Test`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, endpoint{found[1], found[2], found[3]})
	}
	if len(all) < 50 {
		t.Fatalf("the table has %d endpoints", len(all))
	}
	return all
}

// at is the path with an identifier for each name in it.
func (e endpoint) at(id string) string {
	path := regexp.MustCompile(`:\w+`).ReplaceAllString(e.path, id)
	if e.path == "/user/identities/authorize" {
		path += "?provider=google"
	}
	if e.path == "/user/oauth/grants" {
		path += "?client_id=" + id
	}
	return path
}

// A key of the project is nobody's session, and a user is no administrator, whatever their token says of them.
func TestEachEndpointRefusesTokensOfTheWrongKind(t *testing.T) {
	o := ssoOptions(t)
	o.Passkeys, o.RelyingParty = true, auth.RelyingParty{Name: "Example"}
	o.OAuthServer = auth.OAuthServer{On: true, ConsentPath: "/oauth/consent"}
	o.Providers.ManualLinking = true
	s := start(t, o)
	a := s.signUp(address())
	id, exp := a.str("user.id"), time.Now().Add(time.Hour).Unix()
	before := s.count(`select count(*) from auth.users`)
	keys := map[string]string{
		"the anon key":             s.keys.AnonKey,
		"the service key":          s.keys.ServiceKey.Reveal(),
		"a key of another role":    s.sign(`{"role":"supabase_admin","exp":%d}`, exp),
		"a token that has expired": s.sign(`{"sub":%q,"role":"authenticated","exp":%d}`, id, time.Now().Add(-time.Minute).Unix()),
		"no token":                 "",
		"nonsense":                 "nonsense",
	}
	users := map[string]string{
		"a user":                     a.str("access_token"),
		"the anon key":               s.keys.AnonKey,
		"a user who says so":         s.sign(`{"sub":%q,"role":"authenticated","app_metadata":{"role":"service_role"},"user_metadata":{"role":"service_role"},"is_admin":true,"exp":%d}`, id, exp),
		"a role of another spelling": s.sign(`{"role":"SERVICE_ROLE","exp":%d}`, exp),
		"several roles":              s.sign(`{"role":["service_role"],"exp":%d}`, exp),
		"a key that has expired":     s.sign(`{"role":"service_role","exp":%d}`, time.Now().Add(-time.Minute).Unix()),
		"no token":                   "",
		"nonsense":                   "nonsense",
	}
	// A body that cannot be read may be refused before its sender is.
	whole := fmt.Sprintf(`{"email":"borders@example.com","password":"Secret-pass-1","type":"magiclink","factor_type":"totp","challenge_id":%q,
		"code":"000000","friendly_name":"borders","action":"approve","credential":{"id":"AA","type":"public-key"}}`, uuid.New())
	bodies := map[string][]string{"U": {whole}, "A": {whole, `{}`, ``}}
	asked := 0
	for _, e := range endpoints(t) {
		tokens := map[string]map[string]string{"U": keys, "A": users}[e.asker]
		for name, bearer := range tokens {
			for _, body := range bodies[e.asker] {
				got := s.call(e.method, e.at(uuid.NewString()), bearer, body, "Content-Type", "application/json")
				if got.status != 401 && got.status != 403 {
					t.Errorf("%s %s with %s and %q is answered %d %s", e.method, e.path, name, body, got.status, got.text)
				}
				asked++
			}
		}
	}
	if asked < 400 {
		t.Errorf("only %d requests were made", asked)
	}
	if n := s.count(`select count(*) from auth.users`); n != before {
		t.Errorf("%d accounts were made", n-before)
	}
	s.want(s.call("GET", "/user", a.str("access_token"), ""), 200, "")
}

// A client library sends the token that it has, good or not, along with a sign-in.
func TestATokenThatHasExpiredDoesNotHinderASignIn(t *testing.T) {
	s, p := mailing(t, linkOptions())
	email := address()
	id := s.confirmed(email).str("user.id")
	for name, bearer := range map[string]string{
		"an expired token": s.sign(`{"sub":%q,"role":"authenticated","exp":%d}`, id, time.Now().Add(-time.Minute).Unix()),
		"nonsense":         "nonsense",
		"no token":         "",
	} {
		t.Run(name, func(t *testing.T) {
			for _, ask := range []struct{ path, body string }{
				{"/signup", fmt.Sprintf(`{"email":%q,"password":%q}`, address(), goodPassword)},
				{"/token?grant_type=password", fmt.Sprintf(`{"email":%q,"password":%q}`, email, goodPassword)},
				{"/otp", fmt.Sprintf(`{"email":%q}`, email)},
				{"/magiclink", fmt.Sprintf(`{"email":%q}`, email)},
				{"/resend", fmt.Sprintf(`{"type":"signup","email":%q}`, email)},
				{"/recover", fmt.Sprintf(`{"email":%q}`, email)},
			} {
				if got := s.call("POST", ask.path, bearer, ask.body); got.status != 200 {
					t.Errorf("%s is answered %d %s", ask.path, got.status, got.text)
				}
			}
			if p.sent() == 0 || strings.Contains(s.log.String(), `"level":"error"`) {
				t.Errorf("%d mails were sent; the log is %s", p.sent(), s.log)
			}
		})
	}
}
