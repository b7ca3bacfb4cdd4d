package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"basalt/auth/outgoing"
)

// Captcha is who tells people from machines.
type Captcha struct {
	// Address is where tokens are checked; empty asks for none.
	Address string
	Secret  Secret
	// Client has to be a guarded one.
	Client *http.Client
}

// CaptchaAddress gives where a provider checks tokens: hcaptcha or turnstile.
func CaptchaAddress(provider string) (string, bool) {
	switch provider {
	case "hcaptcha":
		return "https://api.hcaptcha.com/siteverify", true
	case "turnstile":
		return "https://challenges.cloudflare.com/turnstile/v0/siteverify", true
	}
	return "", false
}

// maxCaptchaToken is far above what providers issue, in bytes.
const maxCaptchaToken = 16 << 10

// CaptchaRequired tells whether CheckCaptcha asks for anything.
func (s *Service) CaptchaRequired() bool { return s.options.Captcha.Address != "" }

// CheckCaptcha refuses requests of machines: those without a token that the provider says is good. Trusted callers are
// machines that may.
func (s *Service) CheckCaptcha(ctx context.Context, caller Caller, token string) error {
	if !s.CaptchaRequired() || caller.Trusted {
		return nil
	}
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return captchaFailed("no captcha_token found")
	case len(token) > maxCaptchaToken:
		return captchaFailed("the captcha_token is too long")
	}
	answer, err := s.askCaptcha(ctx, caller, token)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, outgoing.ErrBusy):
		return &Error{Code: CodeOverRequestRateLimit, Message: "Too many captchas are being checked, try again later", RetryAfter: time.Second, Cause: err}
	case err != nil:
		return unexpected("captcha verification process failed", err)
	case !answer.Success:
		return captchaFailed(strings.Join(answer.codes(token, s.options.Captcha.Secret.Reveal()), ", "))
	}
	return nil
}

func captchaFailed(why string) *Error {
	return refuse(CodeCaptchaFailed, "captcha protection: request disallowed ("+why+")")
}

// captchaAnswer is what both providers answer.
type captchaAnswer struct {
	Success bool     `json:"success"`
	Codes   []string `json:"error-codes"`
}

// codes are those that look like codes, which have no business to be long or many, or to repeat what was asked.
func (a captchaAnswer) codes(asked ...string) []string {
	var codes []string
	for _, code := range a.Codes {
		plain := !strings.ContainsFunc(code, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && r != '_' })
		repeats := slices.ContainsFunc(asked, func(secret string) bool { return strings.Contains(code, secret) })
		if plain && !repeats && len(code) <= 64 && len(codes) < 8 {
			codes = append(codes, code)
		}
	}
	return codes
}

func (s *Service) askCaptcha(ctx context.Context, caller Caller, token string) (captchaAnswer, error) {
	var answer captchaAnswer
	form := url.Values{"secret": {s.options.Captcha.Secret.Reveal()}, "response": {token}}
	if ip := caller.origin(); ip != "" {
		form.Set("remoteip", ip)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.options.Captcha.Address, strings.NewReader(form.Encode()))
	if err != nil {
		return answer, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := s.options.Captcha.Client.Do(request)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return answer, fmt.Errorf("the provider answered %d without JSON: %w", response.StatusCode, err)
	}
	return answer, nil
}
