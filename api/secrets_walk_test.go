package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/pquerna/otp/totp"
)

// walk takes the flows one after the other.
func (w *secretWalk) walk() {
	const verifier = "verifier-canary-of-forty-three-characters-or-more"
	digest := sha256.Sum256([]byte(verifier))
	challenge := base64.RawURLEncoding.EncodeToString(digest[:])
	first, second := w.knows("password", "Password-canary-1!"), w.knows("password", "Password-canary-2!")
	w.knows("verifier", verifier)

	// A sign-up, its confirmation, and refusals.
	w.do(200, "POST", "/signup", `{"email":"ann@example.com","password":"`+first+`"}`)
	w.do(400, "POST", "/token?grant_type=password", `{"email":"ann@example.com","password":"`+first+`"}`)
	_, fragment := w.follow(w.message("ann@example.com").Link)
	w.knows("access token of a link", fragment.Get("access_token"))
	w.knows("refresh token of a link", fragment.Get("refresh_token"))
	w.do(400, "POST", "/token?grant_type=password", `{"email":"ann@example.com","password":"`+w.knows("password", "Wrong-password-canary")+`"}`)
	w.do(400, "POST", "/signup", `{"email":"`+w.knows("broken body", "broken-body-canary"))
	s := w.session(w.do(200, "POST", "/token?grant_type=password", `{"email":"ann@example.com","password":"`+first+`"}`))
	s = w.session(w.do(200, "POST", "/token?grant_type=refresh_token", `{"refresh_token":"`+s.RefreshToken+`"}`))
	w.do(400, "POST", "/token?grant_type=refresh_token", `{"refresh_token":"`+w.knows("refresh token", "refresh-token-canary")+`"}`)
	w.do(403, "GET", "/user", "", "Authorization: Bearer "+w.knows("access token", "header.access-token-canary.signature"))

	// Codes and links by mail.
	w.do(200, "POST", "/otp", `{"email":"ann@example.com"}`)
	w.session(w.do(200, "POST", "/verify", `{"type":"email","email":"ann@example.com","token":"`+w.message("ann@example.com").Token+`"}`))
	w.do(200, "POST", "/magiclink", `{"email":"ann@example.com"}`)
	m := w.message("ann@example.com")
	hash := linkIn(w.t, m.Link).Query().Get("token")
	w.session(w.do(200, "POST", "/verify", `{"type":"magiclink","token_hash":"`+hash+`"}`))
	w.do(403, "POST", "/verify", `{"type":"magiclink","token_hash":"`+hash+`"}`)
	w.do(200, "POST", "/recover", `{"email":"ann@example.com","code_challenge":"`+challenge+`","code_challenge_method":"s256"}`)
	query, _ := w.follow(w.message("ann@example.com").Link)
	code := w.knows("authorization code", query.Get("code"))
	w.do(400, "POST", "/token?grant_type=pkce", `{"auth_code":"`+code+`","code_verifier":"`+w.knows("verifier", "wrong-verifier-canary-of-forty-three-characters")+`"}`)
	s = w.session(w.do(200, "POST", "/token?grant_type=pkce", `{"auth_code":"`+code+`","code_verifier":"`+verifier+`"}`))
	w.do(200, "PUT", "/user", `{"password":"`+second+`"}`, s.bearer())
	w.do(200, "PUT", "/user", `{"email":"new@example.com"}`, s.bearer())
	w.message("ann@example.com")
	w.message("new@example.com")

	// By an administrator.
	w.do(200, "POST", "/invite", `{"email":"invited@example.com"}`, w.s.Service())
	w.message("invited@example.com")
	var made struct {
		Link  string `json:"action_link"`
		Hash  string `json:"hashed_token"`
		Email string `json:"email_otp"`
	}
	w.do(200, "POST", "/admin/generate_link", `{"type":"magiclink","email":"ann@example.com"}`, w.s.Service()).JSON(w.t, &made)
	w.knows("token of a generated link", made.Hash)
	w.knows("code of a generated link", made.Email)

	// A telephone.
	w.do(200, "POST", "/otp", `{"phone":"4915123456789"}`)
	w.session(w.do(200, "POST", "/verify", `{"type":"sms","phone":"4915123456789","token":"`+w.message("4915123456789").Token+`"}`))

	// Second factors.
	s = w.session(w.do(200, "POST", "/token?grant_type=password", `{"email":"ann@example.com","password":"`+second+`"}`))
	var factor struct {
		ID   string
		TOTP struct{ Secret string }
	}
	w.do(200, "POST", "/factors", `{"factor_type":"totp","friendly_name":"app"}`, s.bearer()).JSON(w.t, &factor)
	w.knows("seed", factor.TOTP.Secret)
	var asked struct{ ID string }
	w.do(200, "POST", "/factors/"+factor.ID+"/challenge", `{}`, s.bearer()).JSON(w.t, &asked)
	shown, err := totp.GenerateCode(factor.TOTP.Secret, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	w.knows("code of an app", shown)
	s = w.session(w.do(200, "POST", "/factors/"+factor.ID+"/verify", fmt.Sprintf(`{"challenge_id":%q,"code":%q}`, asked.ID, shown), s.bearer()))
	var recovery struct{ Codes []string }
	w.do(200, "POST", "/factors/recovery-codes", "", s.bearer()).JSON(w.t, &recovery)
	for _, code := range recovery.Codes {
		w.knows("recovery code", code)
	}
	w.session(w.do(200, "POST", "/factors/recovery-codes/verify", fmt.Sprintf(`{"code":%q}`, recovery.Codes[0]), s.bearer()))
}
