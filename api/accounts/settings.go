package accounts

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/token"
)

func (f *face) settingsRoutes() routes {
	return routes{
		"/health":                {http.MethodGet: f.health},
		"/settings":              {http.MethodGet: f.settings},
		"/.well-known/jwks.json": {http.MethodGet: f.jwks},
	}
}

type healthBody struct {
	Version     string `json:"version"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// health answers GET /health from memory: it says that this process listens, not more.
func (f *face) health(c echo.Context) error {
	return c.JSON(http.StatusOK, healthBody{
		Version: f.options.Version, Name: "Basalt Auth", Description: "Accounts and sessions of a Basalt project",
	})
}

type settingsBody struct {
	External           map[string]bool `json:"external"`
	DisableSignup      bool            `json:"disable_signup"`
	MailerAutoconfirm  bool            `json:"mailer_autoconfirm"`
	PhoneAutoconfirm   bool            `json:"phone_autoconfirm"`
	SMSProvider        string          `json:"sms_provider"`
	SAMLEnabled        bool            `json:"saml_enabled"`
	SAMLNextConfigured bool            `json:"saml_private_key_next_configured"`
	PasskeysEnabled    bool            `json:"passkeys_enabled"`
}

// settings answers GET /settings: what a sign-in form may offer.
func (f *face) settings(c echo.Context) error {
	s := f.service.Settings()
	external := map[string]bool{"email": true, "anonymous_users": s.Anonymous, "phone": s.Phone}
	for _, provider := range []string{
		"apple", "azure", "bitbucket", "discord", "facebook", "figma", "fly", "github", "gitlab", "google",
		"kakao", "keycloak", "linkedin", "linkedin_oidc", "notion", "slack", "slack_oidc", "snapchat", "spotify",
		"twitch", "twitter", "workos", "zoom",
	} {
		external[provider] = false
	}
	providers, err := f.service.Providers(c.Request().Context())
	if err != nil {
		return err
	}
	for _, provider := range providers {
		external[provider] = true
	}
	return c.JSON(http.StatusOK, settingsBody{
		External: external, DisableSignup: s.DisableSignup, MailerAutoconfirm: s.Autoconfirm, PhoneAutoconfirm: s.PhoneAutoconfirm,
		SMSProvider: s.SMSProvider, PasskeysEnabled: s.Passkeys, SAMLEnabled: s.SAML,
	})
}

type jwksBody struct {
	Keys []token.PublicJWK `json:"keys"`
}

// jwks answers GET /.well-known/jwks.json with the public halves of the signing keys, those that do not sign yet and not
// any more too. A shared secret has none: where it signs, the set may be empty.
func (f *face) jwks(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(auth.JWKSLife.Seconds())))
	return c.JSON(http.StatusOK, jwksBody{Keys: f.service.PublicKeys()})
}
