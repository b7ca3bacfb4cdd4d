package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/pquerna/otp/totp"

	"basalt/api/apitest"
	"basalt/auth/administrator"
	"basalt/auth/webauthntest"
)

// codes gives the code of now and the one behind it, both of which are good for a while.
func codes(t *testing.T, secret string) (now, next string) {
	t.Helper()
	at := time.Now()
	now, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	if next, err = totp.GenerateCode(secret, at.Add(30*time.Second)); err != nil {
		t.Fatal(err)
	}
	return now, next
}

func TestACodeOfTheTimeIsAskedForAndGoodOnce(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	ada, other := enter(t, s, "ada@example.com"), enter(t, s, "ada@example.com")
	ada.want(t, http.StatusConflict, `"totp_missing"`, "POST", "/me/totp/verify", `{"code":"123456"}`)
	ada.want(t, http.StatusConflict, `"totp_missing"`, "DELETE", "/me/totp", "")
	var drawn struct {
		Secret, URI string
		QRCode      string `json:"qr_code"`
	}
	ada.want(t, http.StatusOK, "", "POST", "/me/totp", "").JSON(t, &drawn)
	if !strings.HasPrefix(drawn.URI, "otpauth://totp/Basalt:ada") || !strings.HasPrefix(drawn.QRCode, "<svg") {
		t.Errorf("%+v", drawn)
	}
	enter(t, s, "ada@example.com") // what was not proved is not asked for
	ada.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/me/totp/verify", `{"code":"12345"}`)
	first, second := codes(t, drawn.Secret)
	ada.want(t, http.StatusOK, `"codes"`, "POST", "/me/totp/verify", `{"code":"`+first+`"}`)
	other.want(t, http.StatusUnauthorized, `"signed_out"`, "GET", "/session", "") // it was opened without a code
	ada.want(t, http.StatusConflict, `"totp_enabled"`, "POST", "/me/totp", "")
	ada.want(t, http.StatusOK, `"totp":true`, "GET", "/session", "")

	b := &browser{s: s}
	b.want(t, http.StatusUnauthorized, `"second_factor_needed"`, "POST", "/session", credentials("ada@example.com", ""))
	b.want(t, http.StatusUnauthorized, `"invalid_credentials"`, "POST", "/session", `{"email":"ada@example.com","password":"wrong","code":"`+second+`"}`)
	b.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/session", credentials("ada@example.com", `,"code":"`+first+`"`)) // used to set it up
	wantGoodOnce(t, s, credentials("ada@example.com", `,"code":"`+second+`"`))
	// Whoever has seen the code has nothing of it: not for a session, nor for more in one.
	b.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/session", credentials("ada@example.com", `,"code":"`+second+`"`))
	ada.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/session/elevate", `{"code":"`+second+`"}`)
	ada.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/session/elevate", `{"code":"`+first+`"}`)

	var sealed string
	if err := s.Database.Pool.QueryRow(t.Context(), `select totp_secret from basalt.administrators`).Scan(&sealed); err != nil || !strings.HasPrefix(sealed, "enc:v1:") || strings.Contains(sealed, drawn.Secret) {
		t.Errorf("the secret is kept as %q, %v", sealed, err)
	}
	// A secret that is moved to another row does not open there.
	hire(t, s, "eve@example.com", administrator.Viewer)
	if _, err := s.Database.Pool.Exec(t.Context(), `update basalt.administrators set totp_secret = $1, totp_verified_at = now() where email = 'eve@example.com'`, sealed); err != nil {
		t.Fatal(err)
	}
	b.want(t, http.StatusInternalServerError, `"internal_error"`, "POST", "/session", credentials("eve@example.com", `,"code":"`+second+`"`))
	if strings.Contains(s.Log.String(), drawn.Secret) {
		t.Error("the secret is in the log")
	}

	ada.want(t, http.StatusNoContent, "", "DELETE", "/me/totp", "")
	enter(t, s, "ada@example.com")
}

func TestCodesAreGuessedSlowly(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", limited)
	hire(t, s, "ada@example.com", administrator.Owner)
	ada := enter(t, s, "ada@example.com")
	var drawn struct{ Secret string }
	ada.want(t, http.StatusOK, "", "POST", "/me/totp", "").JSON(t, &drawn)
	first, _ := codes(t, drawn.Secret)
	ada.want(t, http.StatusOK, `"codes"`, "POST", "/me/totp/verify", `{"code":"`+first+`"}`)
	refused := 0
	b := &browser{s: s}
	for range 12 {
		answer := b.do(t, "POST", "/session", credentials("ada@example.com", `,"code":"000000"`))
		if answer.Status == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != "" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("none of 12 codes is refused")
	}
}

func TestAnOwnerTakesLostFactorsAway(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	bob := hire(t, s, "bob@example.com", administrator.Viewer)
	b := enter(t, s, "bob@example.com")
	var drawn struct{ Secret string }
	b.want(t, http.StatusOK, "", "POST", "/me/totp", "").JSON(t, &drawn)
	code, _ := codes(t, drawn.Secret)
	b.want(t, http.StatusOK, `"codes"`, "POST", "/me/totp/verify", `{"code":"`+code+`"}`)
	ada := enter(t, s, "ada@example.com")

	// A link stands for the password, not for the second factor.
	var reset struct{ Link string }
	ada.want(t, http.StatusOK, "", "POST", "/administrators/"+bob.ID.String()+"/reset-link", "").JSON(t, &reset)
	joining := &browser{s: s}
	joining.want(t, http.StatusUnauthorized, `"second_factor_needed"`, "POST", "/join", join(joinToken(t, s, reset.Link), secret))
	if joining.cookie != "" {
		t.Error("the link opens a session without the second factor")
	}
	b.want(t, http.StatusUnauthorized, `"signed_out"`, "GET", "/session", "")
	joining.want(t, http.StatusUnauthorized, `"second_factor_needed"`, "POST", "/session", credentials("bob@example.com", ""))

	ada.want(t, http.StatusNoContent, "", "DELETE", "/administrators/"+bob.ID.String()+"/factors", "")
	ada.want(t, http.StatusOK, "", "GET", "/session", "")
	enter(t, s, "bob@example.com")
}

// key is an authenticator with a key pair, at a page.
type key struct {
	page          virtualwebauthn.RelyingParty
	authenticator virtualwebauthn.Authenticator
	pair          virtualwebauthn.Credential
}

func newKey(s *apitest.Server) *key {
	return &key{
		page:          virtualwebauthn.RelyingParty{ID: "localhost", Origin: s.URL},
		authenticator: virtualwebauthn.NewAuthenticator(), pair: webauthntest.NewCredential(),
	}
}

type challenge struct {
	ChallengeID string `json:"challenge_id"`
	Options     json.RawMessage
}

// register makes a key pair for whom a browser is signed in as.
func (k *key) register(t *testing.T, b *browser) string {
	t.Helper()
	var asked challenge
	b.want(t, http.StatusOK, "", "POST", "/me/passkeys/options", "").JSON(t, &asked)
	options, err := virtualwebauthn.ParseAttestationOptions(string(asked.Options))
	if err != nil {
		t.Fatalf("%v in %s", err, asked.Options)
	}
	k.authenticator.Options.UserHandle = []byte(options.UserID)
	return fmt.Sprintf(`{"challenge_id":%q,"name":"Laptop","credential":%s}`, asked.ChallengeID,
		virtualwebauthn.CreateAttestationResponse(k.page, k.authenticator, k.pair, *options))
}

// prove signs the challenge of a sign-in.
func (k *key) prove(t *testing.T, b *browser) string {
	t.Helper()
	var asked challenge
	b.want(t, http.StatusOK, "", "POST", "/session/passkey/options", "").JSON(t, &asked)
	options, err := virtualwebauthn.ParseAssertionOptions(string(asked.Options))
	if err != nil {
		t.Fatalf("%v in %s", err, asked.Options)
	}
	return fmt.Sprintf(`{"challenge_id":%q,"credential":%s}`, asked.ChallengeID,
		virtualwebauthn.CreateAssertionResponse(k.page, k.authenticator, k.pair, *options))
}

func TestAPasskeySignsIn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	numbers := &browser{s: &apitest.Server{URL: s.URL, Keys: s.Keys, Database: s.Database}}
	s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1) // passkeys are bound to a name
	hire(t, s, "ada@example.com", administrator.Owner)
	ada := enter(t, s, "ada@example.com")
	numbers.want(t, http.StatusUnprocessableEntity, `"domain_needed"`, "POST", "/session/passkey/options", "")
	k := newKey(s)
	made := k.register(t, ada)
	ada.want(t, http.StatusOK, `"name":"Laptop","domain":"localhost"`, "POST", "/me/passkeys/verify", made)
	ada.want(t, http.StatusConflict, `"challenge_gone"`, "POST", "/me/passkeys/verify", made)
	ada.want(t, http.StatusConflict, `"passkey_exists"`, "POST", "/me/passkeys/verify", k.register(t, ada))

	b := &browser{s: s}
	k.pair.Counter = 1
	proof := k.prove(t, b)
	b.want(t, http.StatusOK, `"passkeys":1`, "POST", "/session/passkey/verify", proof)
	thief := &browser{s: s}
	thief.want(t, http.StatusConflict, `"challenge_gone"`, "POST", "/session/passkey/verify", proof)
	for name, change := range map[string]func(k *key){
		"of another page":       func(k *key) { k.page.Origin = "https://evil.example" },
		"for another domain":    func(k *key) { k.page.ID = "evil.example" },
		"with a key of its own": func(k *key) { k.pair.Key = webauthntest.NewCredential().Key },
		"with an old count":     func(k *key) { k.pair.Counter = 1 },
		"of nobody":             func(k *key) { k.authenticator.Options.UserHandle = []byte("x") },
		"without its user":      func(k *key) { k.authenticator.Options.UserNotVerified = true },
	} {
		forged := *k
		forged.pair.Counter = 2
		change(&forged)
		if answer := thief.do(t, "POST", "/session/passkey/verify", forged.prove(t, thief)); answer.Status != http.StatusUnauthorized || thief.cookie != "" {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	for _, body := range []string{`{"challenge_id":"00000000-0000-0000-0000-000000000000","credential":{}}`, `{"challenge_id":"00000000-0000-0000-0000-000000000000","credential":7}`} {
		thief.want(t, http.StatusUnauthorized, `"passkey_refused"`, "POST", "/session/passkey/verify", body)
	}
	var list struct{ Passkeys []struct{ ID string } }
	b.want(t, http.StatusOK, "", "GET", "/me/passkeys", "").JSON(t, &list)
	b.want(t, http.StatusNoContent, "", "DELETE", "/me/passkeys/"+list.Passkeys[0].ID, "")
	b.want(t, http.StatusNotFound, "", "DELETE", "/me/passkeys/"+list.Passkeys[0].ID, "")
	k.pair.Counter = 3
	thief.want(t, http.StatusUnauthorized, `"passkey_refused"`, "POST", "/session/passkey/verify", k.prove(t, thief))
}

// wantGoodOnce has eight browsers sign in at the same moment with the same credentials, whose code is good once.
func wantGoodOnce(t *testing.T, s *apitest.Server, credentials string) {
	t.Helper()
	statuses := make([]int, 8)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i] = (&browser{s: s}).do(t, "POST", "/session", credentials).Status })
	}
	all.Wait()
	good := 0
	for _, status := range statuses {
		if status == http.StatusOK {
			good++
		}
	}
	if good != 1 {
		t.Errorf("one code was good %d times: %v", good, statuses)
	}
}
