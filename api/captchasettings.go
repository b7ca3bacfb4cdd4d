package api

import (
	"fmt"

	"basalt/auth"
	"basalt/auth/outgoing"
)

// CaptchaSettings are the settings of the protection from machines.
type CaptchaSettings struct {
	CaptchaProvider string      `flag:"captcha-provider" title:"Captcha provider" help:"who checks the captchas of sign-ups, sign-ins by password, and requests for mails and codes: hcaptcha or turnstile; empty: none are asked for"`
	CaptchaSecret   auth.Secret `flag:"captcha-secret" title:"Captcha secret key" help:"secret key of the captcha's site"`
	CaptchaURL      string      `flag:"captcha-url" start:"true" title:"Captcha URL" help:"where captchas are checked; empty: the provider's own address"`
}

// captcha is what the settings ask for. The error names the setting that is wrong.
func (s *Settings) captcha() (auth.Captcha, error) {
	var c auth.Captcha
	if s.CaptchaProvider == "" {
		if s.CaptchaSecret != "" || s.CaptchaURL != "" {
			return c, &SettingError{"captcha-provider", "it is needed with --captcha-secret and --captcha-url"}
		}
		return c, nil
	}
	address, known := auth.CaptchaAddress(s.CaptchaProvider)
	switch {
	case !known:
		return c, &SettingError{"captcha-provider", fmt.Sprintf("%q is none of hcaptcha, turnstile", s.CaptchaProvider)}
	case s.CaptchaSecret == "":
		return c, &SettingError{"captcha-secret", "it is needed with --captcha-provider"}
	}
	if s.CaptchaURL != "" {
		u, err := outgoing.ParseURL(s.CaptchaURL)
		if err != nil {
			return c, &SettingError{"captcha-url", err.Error()}
		}
		address = u.String()
	}
	client, err := s.outgoingClient(outgoing.Options{MaxAnswer: 64 << 10})
	return auth.Captcha{Address: address, Secret: s.CaptchaSecret, Client: client}, err
}
