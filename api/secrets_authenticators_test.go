package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/descope/virtualwebauthn"

	"basalt/api/apitest"
	"basalt/auth/webauthntest"
)

// passkeys goes through a registration and sign-ins.
func (w *elsewhere) passkeys(s walkSession) {
	w.t.Helper()
	page := virtualwebauthn.RelyingParty{ID: "site.example", Origin: "https://site.example"}
	authenticator := virtualwebauthn.NewAuthenticator()
	key := webauthntest.NewCredential()
	type ceremony struct {
		ID      string `json:"challenge_id"`
		Options struct {
			Challenge string
			User      struct{ ID string }
		}
	}
	proof := func(asked ceremony, credential string) string {
		return fmt.Sprintf(`{"challenge_id":%q,"credential":%s}`, asked.ID, credential)
	}
	options := func(a *apitest.Answer) string {
		_, rest, _ := strings.Cut(a.Body, `"options":`)
		return `{"publicKey":` + rest
	}
	var asked ceremony
	a := w.do(200, "POST", "/passkeys/registration/options", `{}`, s.bearer())
	a.JSON(w.t, &asked)
	created, err := virtualwebauthn.ParseAttestationOptions(options(a))
	if err != nil {
		w.t.Fatalf("%v in %s", err, a.Body)
	}
	authenticator.Options.UserHandle = []byte(created.UserID)
	w.do(200, "POST", "/passkeys/registration/verify", proof(asked, virtualwebauthn.CreateAttestationResponse(page, authenticator, key, *created)), s.bearer())
	for _, status := range []int{200, 400} {
		a := w.do(200, "POST", "/passkeys/authentication/options", human(`"none":0`))
		a.JSON(w.t, &asked)
		wanted, err := virtualwebauthn.ParseAssertionOptions(options(a))
		if err != nil {
			w.t.Fatalf("%v in %s", err, a.Body)
		}
		if status == 400 {
			page.Origin = "https://evil.example"
		}
		credential := virtualwebauthn.CreateAssertionResponse(page, authenticator, key, *wanted)
		w.knows("signature", regexp.MustCompile(`"signature":"([^"]+)"`).FindStringSubmatch(credential)[1])
		a = w.do(status, "POST", "/passkeys/authentication/verify", proof(asked, credential))
		if status == 200 {
			w.session(a)
		}
	}
}

// factors goes through the second factors that a message and an authenticator prove.
func (w *elsewhere) factors(s walkSession) {
	w.t.Helper()
	var made struct{ ID string }
	w.do(200, "POST", "/factors", `{"factor_type":"phone","friendly_name":"p","phone":"4915123456780"}`, s.bearer()).JSON(w.t, &made)
	var asked struct{ ID string }
	w.do(200, "POST", "/factors/"+made.ID+"/challenge", `{}`, s.bearer()).JSON(w.t, &asked)
	code := w.knows("code of a text", codeIn(w.texts.Wait(w.t, 2)[1].Get("Body")))
	wrong := w.knows("code that is wrong", code[1:]+string((code[0]-'0'+1)%10+'0'))
	w.do(422, "POST", "/factors/"+made.ID+"/verify", fmt.Sprintf(`{"challenge_id":%q,"code":%q}`, asked.ID, wrong), s.bearer())
	s = w.session(w.do(200, "POST", "/factors/"+made.ID+"/verify", fmt.Sprintf(`{"challenge_id":%q,"code":%q}`, asked.ID, code), s.bearer()))

	w.do(200, "POST", "/factors", `{"factor_type":"webauthn","friendly_name":"k"}`, s.bearer()).JSON(w.t, &made)
	page := virtualwebauthn.RelyingParty{ID: "site.example", Origin: "https://site.example"}
	authenticator := virtualwebauthn.NewAuthenticator()
	key := webauthntest.NewCredential()
	for _, kind := range []string{"create", "request"} {
		var challenge struct {
			ID       string
			WebAuthn struct {
				Options json.RawMessage `json:"credential_options"`
			} `json:"webauthn"`
		}
		w.do(200, "POST", "/factors/"+made.ID+"/challenge", `{"webauthn":{"rpId":"site.example","rpOrigins":["https://site.example"]}}`, s.bearer()).JSON(w.t, &challenge)
		credential := ""
		if options := string(challenge.WebAuthn.Options); kind == "create" {
			created, err := virtualwebauthn.ParseAttestationOptions(options)
			if err != nil {
				w.t.Fatalf("%v in %s", err, options)
			}
			credential = virtualwebauthn.CreateAttestationResponse(page, authenticator, key, *created)
		} else {
			wanted, err := virtualwebauthn.ParseAssertionOptions(options)
			if err != nil {
				w.t.Fatalf("%v in %s", err, options)
			}
			credential = virtualwebauthn.CreateAssertionResponse(page, authenticator, key, *wanted)
			w.knows("signature", regexp.MustCompile(`"signature":"([^"]+)"`).FindStringSubmatch(credential)[1])
		}
		body := fmt.Sprintf(`{"challenge_id":%q,"webauthn":{"type":%q,"credential_response":%s}}`, challenge.ID, kind, credential)
		s = w.session(w.do(200, "POST", "/factors/"+made.ID+"/verify", body, s.bearer()))
	}
}
