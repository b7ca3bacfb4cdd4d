package accounts_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"basalt/auth"
	"basalt/auth/outgoing"
)

// startWithCaptcha runs accounts behind a provider that takes the token "solved".
func startWithCaptcha(t *testing.T) *server {
	t.Helper()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.PostFormValue("secret") != "captcha-secret" || r.PostFormValue("remoteip") == "" {
			t.Errorf("the provider was asked %s %v", r.Method, r.Form)
		}
		switch token := r.PostFormValue("response"); token {
		case "solved":
			_, _ = io.WriteString(w, `{"success":true,"hostname":"site.example"}`)
		case "broken":
			w.WriteHeader(http.StatusBadGateway)
		case "strange":
			_, _ = io.WriteString(w, `{"success":false,"error-codes":["bad\r\ncode <b>","timeout-or-duplicate"]}`)
		default:
			_, _ = io.WriteString(w, `{"success":false,"error-codes":["invalid-input-response"]}`)
		}
	}))
	t.Cleanup(provider.Close)
	o := options()
	o.Anonymous = true
	o.Captcha = auth.Captcha{
		Address: provider.URL + "/siteverify", Secret: "captcha-secret",
		Client: outgoing.New(outgoing.Options{Guard: outgoing.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}),
	}
	return start(t, o)
}

func TestCaptchasAreAskedForWhereMachinesDoHarm(t *testing.T) {
	s := startWithCaptcha(t)
	email := address()
	with := func(token string) string {
		return fmt.Sprintf(`{"email":%q,"password":%q,"gotrue_meta_security":{"captcha_token":%q}}`, email, goodPassword, token)
	}
	a := s.want(s.call("POST", "/signup", s.keys.AnonKey, with("solved")), 200, "")
	s.want(s.call("POST", "/token?grant_type=password", s.keys.AnonKey, with("solved")), 200, "")
	for _, path := range []string{"/signup", "/token?grant_type=password", "/token?grant_type=other", "/token"} {
		for _, test := range []struct {
			body    string
			status  int
			code    string
			message string
		}{
			{with("unsolved"), 400, "captcha_failed", "captcha protection: request disallowed (invalid-input-response)"},
			{with("strange"), 400, "captcha_failed", "captcha protection: request disallowed (timeout-or-duplicate)"},
			{with(" "), 400, "captcha_failed", "captcha protection: request disallowed (no captcha_token found)"},
			{`{}`, 400, "captcha_failed", "captcha protection: request disallowed (no captcha_token found)"},
			{``, 400, "captcha_failed", "captcha protection: request disallowed (no captcha_token found)"},
			{with(strings.Repeat("x", 20<<10)), 400, "captcha_failed", "captcha protection: request disallowed (the captcha_token is too long)"},
			{with("broken"), 500, "unexpected_failure", "captcha verification process failed"},
			{`{"gotrue_meta_security":7}`, 400, "bad_json", ""},
			{`[]`, 400, "bad_json", ""},
		} {
			refused := s.want(s.call("POST", path, s.keys.AnonKey, test.body), test.status, test.code)
			if test.message != "" && refused.str("msg") != test.message {
				t.Errorf("%s: %s", path, refused.text)
			}
		}
	}
	for _, path := range []string{"/otp", "/magiclink", "/recover", "/resend", "/sso", "/passkeys/authentication/options"} {
		s.want(s.call("POST", path, s.keys.AnonKey, `{"email":"ann@example.com","type":"signup"}`), 400, "captcha_failed")
	}
	t.Run("not for what was sent to people", func(t *testing.T) {
		s.want(s.call("POST", "/verify", s.keys.AnonKey, `{"type":"email","email":"ann@example.com","token":"123456"}`), 403, "otp_expired")
	})
	t.Run("not at a refresh", func(t *testing.T) { s.want(s.refresh(a.str("refresh_token")), 200, "") })
	t.Run("not of the service key", func(t *testing.T) {
		body := fmt.Sprintf(`{"email":%q,"password":%q}`, email, goodPassword)
		s.want(s.call("POST", "/token?grant_type=password", s.keys.ServiceKey.Reveal(), body), 200, "")
	})
	if strings.Contains(s.log.String(), "captcha-secret") {
		t.Error("the log holds the secret")
	}
}

func TestCaptchasOfAProviderThatCannotBeReachedAreNotTaken(t *testing.T) {
	o := options()
	o.Captcha = auth.Captcha{Address: "http://127.0.0.1:9/siteverify", Secret: "captcha-secret", Client: outgoing.New(outgoing.Options{Timeout: time.Second})}
	s := start(t, o)
	body := fmt.Sprintf(`{"email":%q,"password":%q,"gotrue_meta_security":{"captcha_token":"x"}}`, address(), goodPassword)
	s.want(s.call("POST", "/signup", s.keys.AnonKey, body), 500, "unexpected_failure")
	if n := s.count("select count(*) from auth.users"); n != 0 {
		t.Errorf("%d users", n)
	}
}
