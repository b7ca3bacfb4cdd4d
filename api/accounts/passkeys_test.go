package accounts_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/webauthntest"
)

// passkeyOptions are those of a project with passkeys.
func passkeyOptions() auth.Options {
	o := options()
	o.Passkeys = true
	o.SiteURL = "https://app.example.com/welcome"
	o.RelyingParty = auth.RelyingParty{Name: "Example"}
	return o
}

// holder is a browser with an authenticator, on a page of the site.
type holder struct {
	*server
	page          virtualwebauthn.RelyingParty
	authenticator virtualwebauthn.Authenticator
	key           virtualwebauthn.Credential
}

func (s *server) holder() *holder {
	return &holder{
		server:        s,
		page:          virtualwebauthn.RelyingParty{ID: "app.example.com", Origin: "https://app.example.com"},
		authenticator: virtualwebauthn.NewAuthenticator(),
		key:           webauthntest.NewCredential(),
	}
}

// inner gives the JSON of a member of an answer.
func (a answer) inner(name string) string {
	var members map[string]json.RawMessage
	_ = json.Unmarshal([]byte(a.text), &members)
	return string(members[name])
}

func proof(challenge, credential string) string {
	return fmt.Sprintf(`{"challenge_id":%q,"credential":%s}`, challenge, credential)
}

// create answers options for a registration with a new key pair.
func (h *holder) create(asked answer) string {
	h.t.Helper()
	options, err := virtualwebauthn.ParseAttestationOptions(asked.inner("options"))
	if err != nil {
		h.t.Fatalf("%v in %s", err, asked.text)
	}
	h.authenticator.Options.UserHandle = []byte(options.UserID)
	return proof(asked.str("challenge_id"), virtualwebauthn.CreateAttestationResponse(h.page, h.authenticator, h.key, *options))
}

func (h *holder) register(token string) answer {
	h.t.Helper()
	asked := h.want(h.call("POST", "/passkeys/registration/options", token, `{}`), 200, "")
	return h.call("POST", "/passkeys/registration/verify", token, h.create(asked))
}

// ask begins a sign-in.
func (h *holder) ask() answer {
	h.t.Helper()
	return h.want(h.call("POST", "/passkeys/authentication/options", "", `{"gotrue_meta_security":{}}`), 200, "")
}

// prove signs the challenge of a sign-in.
func (h *holder) prove(asked answer) string {
	h.t.Helper()
	options, err := virtualwebauthn.ParseAssertionOptions(asked.inner("options"))
	if err != nil {
		h.t.Fatalf("%v in %s", err, asked.text)
	}
	return proof(asked.str("challenge_id"), virtualwebauthn.CreateAssertionResponse(h.page, h.authenticator, h.key, *options))
}

func (h *holder) enter() answer {
	h.t.Helper()
	return h.call("POST", "/passkeys/authentication/verify", "", h.prove(h.ask()))
}

func TestAPasskeyIsTheOnlyCredential(t *testing.T) {
	s := start(t, passkeyOptions())
	h := s.holder()
	email := address()
	token := s.signUp(email).str("access_token")

	asked := s.want(s.call("POST", "/passkeys/registration/options", token, `{}`), 200, "")
	for path, want := range map[string]string{
		"options.rp.id": "app.example.com", "options.rp.name": "Example", "options.user.name": email,
		"options.authenticatorSelection.residentKey":      "required",
		"options.authenticatorSelection.userVerification": "required",
		"options.attestation":                             "none",
	} {
		if asked.str(path) != want {
			t.Errorf("%s is %q, not %q", path, asked.str(path), want)
		}
	}
	made := s.want(s.call("POST", "/passkeys/registration/verify", token, h.create(asked)), 200, "")
	if made.str("friendly_name") != "Passkey" || made.str("id") == "" || !strings.HasSuffix(made.str("created_at"), "Z") {
		t.Errorf("the passkey is %s", made.text)
	}

	asked = h.ask()
	if asked.str("options.rpId") != "app.example.com" || asked.str("options.userVerification") != "required" || asked.get("options.allowCredentials") != nil {
		t.Errorf("the options are %s", asked.text)
	}
	session := s.want(h.enter(), 200, "")
	if session.str("user.email") != email {
		t.Errorf("the session is of %s", session.text)
	}
	claims := claimsOf(t, session.str("access_token"))
	if amr := fmt.Sprint(claims["amr"]); claims["aal"] != "aal1" || !strings.Contains(amr, "method:passkey") {
		t.Errorf("the claims are %v", claims)
	}
	s.want(s.refresh(session.str("refresh_token")), 200, "")

	list := s.want(s.call("GET", "/passkeys", token, ""), 200, "")
	if list.str("0.id") != made.str("id") || list.str("0.last_used_at") == "" {
		t.Errorf("the list is %s", list.text)
	}
	again := s.want(s.call("POST", "/passkeys/registration/options", token, `{}`), 200, "")
	if again.str("options.excludeCredentials.0.id") == "" {
		t.Errorf("the passkey that there is, is not excluded: %s", again.text)
	}
	s.want(s.call("POST", "/passkeys/registration/verify", token, h.create(again)), 422, "webauthn_credential_exists")
	renamed := s.want(s.call("PATCH", "/passkeys/"+made.str("id"), token, `{"friendly_name":"Mein Schlüssel"}`), 200, "")
	if renamed.str("friendly_name") != "Mein Schlüssel" || renamed.str("last_used_at") == "" {
		t.Errorf("the passkey is %s", renamed.text)
	}
	s.want(s.call("DELETE", "/passkeys/"+made.str("id"), token, ""), 204, "")
	s.want(s.call("DELETE", "/passkeys/"+made.str("id"), token, ""), 404, "validation_failed")
	s.want(h.enter(), 400, "webauthn_verification_failed")
	if text := s.call("GET", "/passkeys", token, "").text; strings.TrimSpace(text) != "[]" {
		t.Errorf("the list is %s", text)
	}
}

func TestAnAnswerThatProvesNothingIsRefused(t *testing.T) {
	s := start(t, passkeyOptions())
	owner := s.signUp(address())
	h := s.holder()
	s.want(h.register(owner.str("access_token")), 200, "")
	stranger := s.signUp(address())

	for name, change := range map[string]func(h *holder){
		"from another site":                  func(h *holder) { h.page.Origin = "https://evil.example" },
		"from a page without encryption":     func(h *holder) { h.page.Origin = "http://app.example.com" },
		"for another relying party":          func(h *holder) { h.page.ID = "example.com" },
		"without the user's verification":    func(h *holder) { h.authenticator.Options.UserNotVerified = true },
		"without the user's presence":        func(h *holder) { h.authenticator.Options.UserNotPresent = true },
		"with another key":                   func(h *holder) { h.key.Key = webauthntest.NewCredential().Key },
		"with an unknown credential":         func(h *holder) { h.key.ID = []byte("unknown") },
		"without a user handle":              func(h *holder) { h.authenticator.Options.UserHandle = nil },
		"with a user handle that is no UUID": func(h *holder) { h.authenticator.Options.UserHandle = []byte("root") },
		"with the user handle of another":    func(h *holder) { h.authenticator.Options.UserHandle = []byte(stranger.str("user.id")) },
		"as if it could be backed up now":    func(h *holder) { h.authenticator.Options.BackupEligible = true },
	} {
		t.Run(name, func(t *testing.T) {
			changed := *h
			change(&changed)
			s.want(changed.enter(), 400, "webauthn_verification_failed")
		})
	}
	t.Run("of another challenge", func(t *testing.T) {
		first, second := h.ask(), h.ask()
		body := strings.Replace(h.prove(first), first.str("challenge_id"), second.str("challenge_id"), 1)
		s.want(s.call("POST", "/passkeys/authentication/verify", "", body), 400, "webauthn_verification_failed")
	})
	t.Run("and uses the challenge up", func(t *testing.T) {
		asked := h.ask()
		wrong := *h
		wrong.page.Origin = "https://evil.example"
		s.want(s.call("POST", "/passkeys/authentication/verify", "", wrong.prove(asked)), 400, "webauthn_verification_failed")
		s.want(s.call("POST", "/passkeys/authentication/verify", "", h.prove(asked)), 400, "webauthn_challenge_not_found")
	})
	t.Run("after five minutes", func(t *testing.T) {
		asked := h.ask()
		if _, err := s.db.Pool.Exec(t.Context(), `update auth.webauthn_challenges set expires_at = now() where id = $1`, asked.str("challenge_id")); err != nil {
			t.Fatal(err)
		}
		s.want(s.call("POST", "/passkeys/authentication/verify", "", h.prove(asked)), 400, "webauthn_challenge_expired")
	})
	t.Run("for a registration by another", func(t *testing.T) {
		fresh := s.holder()
		asked := s.call("POST", "/passkeys/registration/options", owner.str("access_token"), `{}`)
		s.want(s.call("POST", "/passkeys/registration/verify", stranger.str("access_token"), fresh.create(asked)), 400, "webauthn_challenge_not_found")
		s.want(s.call("POST", "/passkeys/registration/verify", owner.str("access_token"), fresh.create(asked)), 200, "")
	})
	t.Run("for a registration by a sign-in's challenge", func(t *testing.T) {
		fresh := s.holder()
		asked := s.call("POST", "/passkeys/registration/options", owner.str("access_token"), `{}`)
		body := strings.Replace(fresh.create(asked), asked.str("challenge_id"), h.ask().str("challenge_id"), 1)
		s.want(s.call("POST", "/passkeys/registration/verify", owner.str("access_token"), body), 400, "webauthn_challenge_not_found")
	})
	t.Run("for a registration without the user's verification", func(t *testing.T) {
		fresh := s.holder()
		fresh.authenticator.Options.UserNotVerified = true
		s.want(fresh.register(owner.str("access_token")), 400, "webauthn_verification_failed")
	})
	s.want(h.enter(), 200, "")
}

func TestAClonedAuthenticatorIsRefused(t *testing.T) {
	s := start(t, passkeyOptions())
	h := s.holder()
	h.key.Counter = 5
	s.want(h.register(s.signUp(address()).str("access_token")), 200, "")
	h.key.Counter = 6
	s.want(h.enter(), 200, "")
	for _, count := range []uint32{6, 5, 0} {
		h.key.Counter = count
		s.want(h.enter(), 400, "webauthn_verification_failed")
	}
	if !strings.Contains(s.log.String(), "may have been cloned") {
		t.Error("nobody is told")
	}
	h.key.Counter = 7
	s.want(h.enter(), 200, "")
}

func TestAChallengeIsGoodOnce(t *testing.T) {
	s := start(t, passkeyOptions())
	second := startOver(t, s.db, passkeyOptions())
	h := s.holder()
	token := s.signUp(address()).str("access_token")
	asked := s.want(s.call("POST", "/passkeys/registration/options", token, `{}`), 200, "")
	together := func(path, bearer, body string) {
		t.Helper()
		var mu sync.Mutex
		var group sync.WaitGroup
		outcomes := map[int]int{}
		for i := range 20 {
			group.Go(func() {
				on := s
				if i%2 == 1 {
					on = second
				}
				a := on.call("POST", path, bearer, body)
				mu.Lock()
				defer mu.Unlock()
				outcomes[a.status]++
			})
		}
		group.Wait()
		if outcomes[200] != 1 || outcomes[400] != 19 {
			t.Errorf("%s by 20 at once is answered %v", path, outcomes)
		}
	}
	together("/passkeys/registration/verify", token, h.create(asked))
	together("/passkeys/authentication/verify", "", h.prove(h.ask()))
	if n := s.count(`select count(*) from auth.webauthn_credentials`); n != 1 {
		t.Errorf("there are %d passkeys", n)
	}
}

func TestOneCountOfSignaturesSignsInOnce(t *testing.T) {
	s := start(t, passkeyOptions())
	h := s.holder()
	h.key.Counter = 1
	s.want(h.register(s.signUp(address()).str("access_token")), 200, "")
	h.key.Counter = 2
	var bodies []string
	for range 10 {
		bodies = append(bodies, h.prove(h.ask()))
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	entered := 0
	for _, body := range bodies {
		group.Go(func() {
			a := s.call("POST", "/passkeys/authentication/verify", "", body)
			mu.Lock()
			defer mu.Unlock()
			if a.status == 200 {
				entered++
			} else if a.code() != "webauthn_verification_failed" {
				t.Errorf("the answer is %s", a.text)
			}
		})
	}
	group.Wait()
	if entered != 1 {
		t.Errorf("%d came in", entered)
	}
}

func TestPasskeysHaveABound(t *testing.T) {
	o := passkeyOptions()
	o.MaxPasskeys = 2
	s := start(t, o)
	token := s.signUp(address()).str("access_token")
	bodies := map[string]bool{}
	for range 6 {
		asked := s.want(s.call("POST", "/passkeys/registration/options", token, `{}`), 200, "")
		bodies[s.holder().create(asked)] = true
	}
	var group sync.WaitGroup
	for body := range bodies {
		group.Go(func() {
			if a := s.call("POST", "/passkeys/registration/verify", token, body); a.status != 200 && a.code() != "too_many_passkeys" {
				t.Errorf("the answer is %s", a.text)
			}
		})
	}
	group.Wait()
	if n := s.count(`select count(*) from auth.webauthn_credentials`); n != 2 {
		t.Errorf("there are %d passkeys", n)
	}
	s.want(s.call("POST", "/passkeys/registration/options", token, `{}`), 422, "too_many_passkeys")
}

func TestPasskeysAreRefusedToWhoMayNotHaveThem(t *testing.T) {
	o := passkeyOptions()
	o.Anonymous = true
	s := start(t, o)
	change := func(sql string, args ...any) {
		t.Helper()
		if _, err := s.db.Pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("an anonymous user", func(t *testing.T) {
		token := s.call("POST", "/signup", s.keys.AnonKey, `{}`).str("access_token")
		s.want(s.call("POST", "/passkeys/registration/options", token, `{}`), 403, "no_authorization")
	})
	t.Run("a user of single sign-on", func(t *testing.T) {
		a := s.signUp(address())
		change(`update auth.identities set provider = $2 where user_id = $1`, a.str("user.id"), "sso:"+uuid.NewString())
		s.want(s.call("POST", "/passkeys/registration/options", a.str("access_token"), `{}`), 422, "validation_failed")
	})
	t.Run("a session below the user's second factor", func(t *testing.T) {
		a := s.signUp(address())
		h := s.holder()
		made := s.want(h.register(a.str("access_token")), 200, "")
		change(`insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at, secret) values ($1, $2, 'totp', 'verified', now(), now(), 'x')`, uuid.New(), a.str("user.id"))
		s.want(s.call("POST", "/passkeys/registration/options", a.str("access_token"), `{}`), 403, "insufficient_aal")
		s.want(s.call("DELETE", "/passkeys/"+made.str("id"), a.str("access_token"), ""), 403, "insufficient_aal")
		s.want(h.enter(), 200, "")
	})
	t.Run("nobody", func(t *testing.T) {
		s.want(s.call("POST", "/passkeys/registration/options", "", `{}`), 401, "no_authorization")
		s.want(s.call("GET", "/passkeys", s.keys.AnonKey, ""), 403, "bad_jwt")
	})
	t.Run("a session that has ended meanwhile", func(t *testing.T) {
		a := s.signUp(address())
		h := s.holder()
		asked := s.want(s.call("POST", "/passkeys/registration/options", a.str("access_token"), `{}`), 200, "")
		change(`delete from auth.sessions where user_id = $1`, a.str("user.id"))
		s.want(s.call("POST", "/passkeys/registration/verify", a.str("access_token"), h.create(asked)), 403, "session_not_found")
		if n := s.count(`select count(*) from auth.webauthn_credentials where user_id = $1`, a.str("user.id")); n != 0 {
			t.Error("the passkey was written")
		}
	})
	t.Run("an account that is shut", func(t *testing.T) {
		a := s.signUp(address())
		h := s.holder()
		s.want(h.register(a.str("access_token")), 200, "")
		id := a.str("user.id")
		change(`update auth.users set banned_until = 'infinity' where id = $1`, id)
		s.want(h.enter(), 403, "user_banned")
		change(`update auth.users set banned_until = null, email_confirmed_at = null where id = $1`, id)
		s.want(h.enter(), 403, "email_not_confirmed")
		change(`update auth.users set email_confirmed_at = now(), deleted_at = now() where id = $1`, id)
		s.want(h.enter(), 400, "webauthn_verification_failed")
	})
	t.Run("all, when they are switched off", func(t *testing.T) {
		off := passkeyOptions()
		off.Passkeys = false
		without := startOver(t, s.db, off)
		a := s.signUp(address())
		for _, endpoint := range []string{
			"POST /passkeys/authentication/options", "POST /passkeys/authentication/verify", "POST /passkeys/registration/options",
			"POST /passkeys/registration/verify", "GET /passkeys", "PATCH /passkeys/" + uuid.NewString(), "DELETE /passkeys/" + uuid.NewString(),
		} {
			method, path, _ := strings.Cut(endpoint, " ")
			body := fmt.Sprintf(`{"challenge_id":%q,"credential":{},"friendly_name":"x"}`, uuid.New())
			without.want(without.call(method, path, a.str("access_token"), body), 404, "passkey_disabled")
		}
		if without.call("GET", "/settings", "", "").get("passkeys_enabled") != false || s.call("GET", "/settings", "", "").get("passkeys_enabled") != true {
			t.Error("the settings do not tell")
		}
	})
}

func TestTheServiceKeyManagesPasskeys(t *testing.T) {
	s := start(t, passkeyOptions())
	a := s.signUp(address())
	made := s.want(s.holder().register(a.str("access_token")), 200, "")
	path := "/users/" + a.str("user.id") + "/passkeys"
	if list := s.want(s.admin("GET", path, ""), 200, ""); list.str("0.id") != made.str("id") {
		t.Errorf("the list is %s", list.text)
	}
	s.want(s.call("GET", "/admin"+path, a.str("access_token"), ""), 403, "not_admin")
	s.want(s.admin("DELETE", path+"/"+uuid.NewString(), ""), 404, "validation_failed")
	s.want(s.admin("DELETE", path+"/none", ""), 404, "validation_failed")
	s.want(s.admin("DELETE", "/users/"+uuid.NewString()+"/passkeys/"+made.str("id"), ""), 404, "user_not_found")
	s.want(s.admin("DELETE", path+"/"+made.str("id"), ""), 204, "")
	if list := s.admin("GET", path, ""); strings.TrimSpace(list.text) != "[]" {
		t.Errorf("the list is %s", list.text)
	}
}

func TestBadPasskeyRequestsAreRefused(t *testing.T) {
	s := start(t, passkeyOptions())
	a := s.signUp(address())
	token := a.str("access_token")
	id := uuid.NewString()
	long := strings.Repeat("ä", 121)
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code               string
	}{
		"no body":                {"POST", "/passkeys/authentication/verify", ``, 400, "bad_json"},
		"no challenge":           {"POST", "/passkeys/authentication/verify", `{"credential":{}}`, 400, "validation_failed"},
		"a bad challenge":        {"POST", "/passkeys/authentication/verify", `{"challenge_id":"x","credential":{}}`, 400, "validation_failed"},
		"no credential":          {"POST", "/passkeys/authentication/verify", `{"challenge_id":"` + id + `"}`, 400, "validation_failed"},
		"an empty credential":    {"POST", "/passkeys/authentication/verify", `{"challenge_id":"` + id + `","credential":{}}`, 400, "webauthn_verification_failed"},
		"a credential of no use": {"POST", "/passkeys/registration/verify", `{"challenge_id":"` + id + `","credential":[1]}`, 400, "webauthn_verification_failed"},
		"no name":                {"PATCH", "/passkeys/" + id, `{}`, 400, "validation_failed"},
		"a long name":            {"PATCH", "/passkeys/" + id, `{"friendly_name":"` + long + `"}`, 400, "validation_failed"},
		"a name with a NUL":      {"PATCH", "/passkeys/" + id, `{"friendly_name":"a\u0000"}`, 400, "validation_failed"},
		"the passkey of nobody":  {"PATCH", "/passkeys/" + id, `{"friendly_name":"a"}`, 404, "validation_failed"},
		"an id that is none":     {"DELETE", "/passkeys/..", ``, 404, "validation_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s.want(s.call(c.method, c.path, token, c.body), c.status, c.code)
		})
	}
	if a := s.call("GET", "/passkeys/authentication/options", "", ""); a.status != http.StatusMethodNotAllowed {
		t.Errorf("the answer is %d %s", a.status, a.text)
	}
}

func TestPasskeyChallengesAreLimited(t *testing.T) {
	o := passkeyOptions()
	o.LimitsOff = false
	s := start(t, o)
	for range 30 {
		s.want(s.call("POST", "/passkeys/authentication/options", "", `{}`, "X-Forwarded-For", "203.0.113.7"), 200, "")
	}
	refused := s.want(s.call("POST", "/passkeys/authentication/options", "", `{}`, "X-Forwarded-For", "203.0.113.7"), 429, "over_request_rate_limit")
	if refused.header.Get("Retry-After") == "" {
		t.Error("nobody is told when to come again")
	}
	s.want(s.call("POST", "/passkeys/authentication/options", "", `{}`, "X-Forwarded-For", "203.0.113.8"), 200, "")
	token := s.signUp(address()).str("access_token")
	for range 30 {
		s.want(s.call("POST", "/passkeys/registration/options", token, `{}`), 200, "")
	}
	s.want(s.call("POST", "/passkeys/registration/options", token, `{}`), 429, "over_request_rate_limit")
}
