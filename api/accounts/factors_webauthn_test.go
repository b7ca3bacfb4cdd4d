package accounts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/google/uuid"

	"basalt/auth/webauthntest"
)

// keyFactor is a factor with the authenticator that proves it.
type keyFactor struct {
	*factorUser
	id     string
	holder *holder
}

func (u *factorUser) enrollKey(name string) *keyFactor {
	u.t.Helper()
	a := u.want(u.do("POST", "/factors", fmt.Sprintf(`{"factor_type":"webauthn","friendly_name":%q}`, name)), 200, "")
	if a.str("type") != "webauthn" || a.str("friendly_name") != name || a.get("totp") != nil {
		u.t.Errorf("the factor is %s", a.text)
	}
	return &keyFactor{factorUser: u, id: a.str("id"), holder: u.server.holder()}
}

func (k *keyFactor) ask(of string) answer {
	k.t.Helper()
	a := k.want(k.do("POST", "/factors/"+k.id+"/challenge", `{"factorId":"x","webauthn":{"rpId":"app.example.com","rpOrigins":["https://app.example.com"]}}`), 200, "")
	if a.str("type") != "webauthn" || a.str("webauthn.type") != of || a.get("expires_at") == nil {
		k.t.Fatalf("the challenge is %s", a.text)
	}
	return a
}

// sign makes the answer of the authenticator to a challenge.
func (k *keyFactor) sign(asked answer) string {
	k.t.Helper()
	var challenge struct {
		WebAuthn struct {
			Type    string          `json:"type"`
			Options json.RawMessage `json:"credential_options"`
		} `json:"webauthn"`
	}
	if err := json.Unmarshal([]byte(asked.text), &challenge); err != nil {
		k.t.Fatal(err)
	}
	h := k.holder
	response := ""
	if challenge.WebAuthn.Type == "create" {
		options, err := virtualwebauthn.ParseAttestationOptions(string(challenge.WebAuthn.Options))
		if err != nil {
			k.t.Fatal(err)
		}
		response = virtualwebauthn.CreateAttestationResponse(h.page, h.authenticator, h.key, *options)
	} else {
		options, err := virtualwebauthn.ParseAssertionOptions(string(challenge.WebAuthn.Options))
		if err != nil {
			k.t.Fatal(err)
		}
		if !h.key.IsAllowedForAssertion(*options) {
			k.t.Errorf("the key is not asked for in %s", asked.text)
		}
		response = virtualwebauthn.CreateAssertionResponse(h.page, h.authenticator, h.key, *options)
	}
	return fmt.Sprintf(`{"challenge_id":%q,"webauthn":{"type":%q,"credential_response":%s}}`, asked.str("id"), challenge.WebAuthn.Type, response)
}

func (k *keyFactor) answerTo(asked answer) answer {
	k.t.Helper()
	return k.do("POST", "/factors/"+k.id+"/verify", k.sign(asked))
}

func TestAnAuthenticatorIsASecondFactor(t *testing.T) {
	s := start(t, passkeyOptions())
	u := s.newFactorUser()
	k := u.enrollKey("yubikey")
	asked := k.ask("create")
	if asked.str("webauthn.credential_options.publicKey.rp.id") != "app.example.com" || asked.str("webauthn.credential_options.publicKey.user.name") != u.email {
		t.Errorf("the options are %s", asked.text)
	}
	k.adopt(k.answerTo(asked))
	if c := u.claims(); c.str("aal") != "aal2" || !strings.Contains(c.text, `"mfa/webauthn"`) {
		t.Errorf("the claims are %s", c.text)
	}
	k.want(k.answerTo(asked), 422, "mfa_challenge_expired")

	later := &keyFactor{factorUser: u.again(s), id: k.id, holder: k.holder}
	if later.claims().str("aal") != "aal1" {
		t.Error("a password alone gives aal2")
	}
	later.want(later.do("DELETE", "/factors/"+k.id, ""), 422, "insufficient_aal")
	later.holder.key.Counter = 4
	later.adopt(later.answerTo(later.ask("request")))
	if later.claims().str("aal") != "aal2" {
		t.Error("the authenticator does not raise the session")
	}

	t.Run("by one that is not a clone", func(t *testing.T) {
		k.holder.key.Counter = 4
		later.want(later.answerTo(later.ask("request")), 422, "mfa_verification_failed")
		if !strings.Contains(s.log.String(), "may have been cloned") {
			t.Error("nobody is told")
		}
	})
	for name, change := range map[string]func(h *holder){
		"on its own site":    func(h *holder) { h.page.Origin = "https://evil.example" },
		"with its own key":   func(h *holder) { h.key.Key = webauthntest.NewCredential().Key },
		"in its user's hand": func(h *holder) { h.authenticator.Options.UserNotPresent = true },
	} {
		t.Run(name, func(t *testing.T) {
			changed := *later.holder
			changed.key.Counter = 50
			change(&changed)
			wrong := &keyFactor{factorUser: later.factorUser, id: k.id, holder: &changed}
			wrong.want(wrong.answerTo(wrong.ask("request")), 422, "mfa_verification_failed")
		})
	}
	t.Run("but not the same one twice", func(t *testing.T) {
		other := later.enrollKey("the same")
		asked := other.ask("create")
		if asked.str("webauthn.credential_options.publicKey.excludeCredentials.0.id") == "" {
			t.Errorf("the key that there is, is not excluded: %s", asked.text)
		}
	})
	t.Run("that signs for its factor alone", func(t *testing.T) {
		other := later.enrollKey("second")
		other.holder.key.Counter = 1
		other.adopt(other.answerTo(other.ask("create")))
		asked := other.ask("request")
		mixed := &keyFactor{factorUser: other.factorUser, id: k.id, holder: other.holder}
		mixed.want(mixed.answerTo(asked), 422, "mfa_factor_not_found")
		body := strings.Replace(other.sign(asked), `"type":"request"`, `"type":"create"`, 1)
		other.want(other.do("POST", "/factors/"+other.id+"/verify", body), 422, "mfa_verification_failed")
	})
	t.Run("with a body that says what it is", func(t *testing.T) {
		id := uuid.NewString()
		for _, body := range []string{
			`{"challenge_id":"` + id + `","code":"123456"}`,
			`{"challenge_id":"` + id + `","webauthn":{"type":"x","credential_response":{}}}`,
			`{"challenge_id":"` + id + `","webauthn":{"type":"request"}}`,
			`{"challenge_id":"` + id + `","webauthn":{"type":"request","credential_response":null}}`,
		} {
			later.want(later.do("POST", "/factors/"+k.id+"/verify", body), 400, "validation_failed")
		}
	})
	later.want(later.do("DELETE", "/factors/"+k.id, ""), 200, "")
}

// Whoever knew the password before its owner had a second factor may have enrolled one of another kind and waited.
func TestAFactorThatWaitedIsNoWayPastTheProvedOne(t *testing.T) {
	s := start(t, passkeyOptions())
	u := s.newFactorUser()
	thief := u.again(s)
	waiting := thief.enrollKey("waiting")
	app := u.enroll("phone app")
	u.prove(app)

	waiting.factorUser = u.again(s)
	s.want(waiting.answerTo(waiting.ask("create")), 403, "insufficient_aal")
	if level := waiting.claims().str("aal"); level != "aal1" {
		t.Errorf("the session stands at %s", level)
	}
	waiting.factorUser = u
	u.adopt(waiting.answerTo(waiting.ask("create")))
}

// A session that looks at its account before the owner proves a factor and answers after that is too late.
func TestTwoFirstFactorsAtOnceAreNotBothProvedAtAAL1(t *testing.T) {
	s := start(t, passkeyOptions())
	u := s.newFactorUser()
	app := u.enroll("phone app")
	keys := []*keyFactor{u.again(s).enrollKey("a"), u.again(s).enrollKey("b")}
	answers := make([]answer, 3)
	challenge, code := u.challenge(app), u.code(app, 0)
	asked := []answer{keys[0].ask("create"), keys[1].ask("create")}
	var all sync.WaitGroup
	for i, k := range keys {
		all.Go(func() { answers[i] = k.answerTo(asked[i]) })
	}
	all.Go(func() { answers[2] = u.verify(app, challenge, code) })
	all.Wait()
	proved := 0
	for _, a := range answers {
		if a.status == 200 {
			proved++
		}
	}
	if n := s.count(`select count(*) from auth.mfa_factors where status = 'verified'`); proved != 1 || n != 1 {
		t.Errorf("%d sessions are raised, %d factors are proved", proved, n)
	}
}

func TestAnAuthenticatorsAnswerIsGoodOnce(t *testing.T) {
	s := start(t, passkeyOptions())
	second := startOver(t, s.db, passkeyOptions())
	k := s.newFactorUser().enrollKey("key")
	together := func(bodies ...string) (accepted int) {
		t.Helper()
		var mu sync.Mutex
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				on := *k.factorUser
				if i%2 == 1 {
					on.server = second
				}
				a := on.do("POST", "/factors/"+k.id+"/verify", bodies[i%len(bodies)])
				mu.Lock()
				defer mu.Unlock()
				switch {
				case a.status == 200:
					accepted++
					k.access = a.str("access_token")
				case a.status >= 500:
					t.Errorf("the answer is %s", a.text)
				}
			})
		}
		group.Wait()
		return accepted
	}
	t.Run("when it makes a key pair", func(t *testing.T) {
		var bodies []string
		for range 5 {
			k.holder = s.holder()
			bodies = append(bodies, k.sign(k.ask("create")))
		}
		if n := together(bodies...); n != 1 {
			t.Errorf("%d were accepted", n)
		}
	})
	t.Run("when it signs", func(t *testing.T) {
		k := s.newFactorUser().enrollKey("key")
		k.adopt(k.answerTo(k.ask("create")))
		body := k.sign(k.ask("request"))
		var mu sync.Mutex
		var group sync.WaitGroup
		accepted := 0
		for range 20 {
			group.Go(func() {
				a := k.do("POST", "/factors/"+k.id+"/verify", body)
				mu.Lock()
				defer mu.Unlock()
				if a.status == 200 {
					accepted++
				}
			})
		}
		group.Wait()
		if accepted != 1 {
			t.Errorf("%d were accepted", accepted)
		}
	})
	t.Run("and one count of signatures once", func(t *testing.T) {
		k := s.newFactorUser().enrollKey("key")
		k.holder.key.Counter = 1
		k.adopt(k.answerTo(k.ask("create")))
		k.holder.key.Counter = 2
		var bodies []string
		for range 10 {
			bodies = append(bodies, k.sign(k.ask("request")))
		}
		var mu sync.Mutex
		var group sync.WaitGroup
		accepted := 0
		for _, body := range bodies {
			group.Go(func() {
				a := k.do("POST", "/factors/"+k.id+"/verify", body)
				mu.Lock()
				defer mu.Unlock()
				if a.status == 200 {
					accepted++
				}
			})
		}
		group.Wait()
		if accepted != 1 {
			t.Errorf("%d were accepted", accepted)
		}
	})
}

func TestAnAuthenticatorNeedsADomain(t *testing.T) {
	o := passkeyOptions()
	o.SiteURL = "http://127.0.0.1:3000"
	s := start(t, o)
	u := s.newFactorUser()
	u.want(u.do("POST", "/factors", `{"factor_type":"webauthn","friendly_name":"key"}`), 422, "feature_disabled")
}
