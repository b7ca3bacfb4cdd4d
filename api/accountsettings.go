package api

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/outgoing"
	"basalt/auth/password"
	"basalt/auth/sso"
)

// AccountSettings are the settings of accounts and sessions.
type AccountSettings struct {
	SiteURL       string   `flag:"site-url" default:"http://localhost:3000" title:"Site URL" help:"where mails lead back to"`
	RedirectURLs  []string `flag:"redirect-urls" title:"Redirect URLs" help:"where mails and sign-ins may lead back to beside --site-url, comma-separated; * any characters but dots and slashes, ** any, ? one, such as https://*.example.com/**, http://localhost:3000/** or myapp://callback"`
	PKCEPlain     bool     `flag:"pkce-plain" default:"false" title:"Plain PKCE challenges" help:"allow the code challenge method plain, which some clients without WebCrypto fall back to and which protects less"`
	AutoConfirm   string   `flag:"autoconfirm" default:"auto" title:"Automatic e-mail confirmation" help:"sign-ups need no e-mail confirmation: true, false, or auto (true on the managed database)"`
	DisableSignup bool     `flag:"disable-signup" default:"false" title:"Closed sign-up" help:"refuse new accounts but for those that administrators make or invite"`
	Anonymous     bool     `flag:"anonymous-sign-ins" default:"false" title:"Anonymous sign-ins" help:"let people in without any credential; an address makes a lasting account of theirs"`
	Limits        string   `flag:"limits" start:"true" default:"on" title:"Rate limits" help:"rate limits of sign-ups, sign-ins and mails: on or off (for tests)"`

	MessageSettings
	PasswordSettings

	TokenLife         time.Duration `flag:"access-token-life" default:"1h" title:"Access token: life" help:"how long an access token is good"`
	ReuseInterval     time.Duration `flag:"refresh-reuse-interval" default:"10s" title:"Refresh token: reuse interval" help:"how long a used refresh token still gives its successor; later its use ends the session"`
	SessionTimebox    time.Duration `flag:"session-timebox" default:"0" title:"Session: longest life" help:"longest life of a session; 0: no limit"`
	SessionInactivity time.Duration `flag:"session-inactivity" default:"0" title:"Session: longest inactivity" help:"longest time from one refresh of a session to the next; 0: no limit"`
	SessionLowAAL     time.Duration `flag:"session-low-aal" default:"0" title:"Session: longest time without the second factor" help:"longest time that a session may stay without the second factor that its account has; 0: no limit"`
	SingleSession     bool          `flag:"single-session" default:"false" title:"Single session" help:"let only the newest session of an account live"`
	StrictSessions    bool          `flag:"strict-sessions" default:"false" title:"Strict sessions" help:"let the REST API refuse tokens of ended sessions and of banned or deleted users within a second, not when they expire; costs a look-up of each session and a connection that listens"`

	JWTSigningKeys auth.Secret `flag:"jwt-signing-keys" start:"true" title:"JWT signing keys" help:"JSON Web Keys with their private halves that tokens are signed with (ES256, RS256, EdDSA), a set or an array; the one with \"status\": \"current\" signs, standby and previous ones are published and verify; @FILE reads them from a file; empty: those of basalt keys signing, else HS256 with the JWT secret"`

	MFAFactors    []string    `flag:"mfa-factors" default:"totp,webauthn,recovery_code" title:"Second factors" help:"kinds of second factors that may be enrolled and verified, comma-separated: totp, phone (needs a way to send text messages), webauthn, recovery_code"`
	EncryptionKey auth.Secret `flag:"encryption-key" start:"true" title:"Encryption keys" help:"keys that secrets at rest are encrypted under, 32 bytes or more each, comma-separated, the current one first; @FILE reads them from a file; empty: a file in --data for the managed database, else derived from the JWT secret by HKDF"`

	HookSettings
	CaptchaSettings
	AuditSettings
	OAuthServerSettings
	WebAuthnSettings
	SAMLSettings
	LinkSettings
}

// maxTokenLife is a week: what a token says about its user gets old.
const maxTokenLife = 7 * 24 * time.Hour

// checkAccounts refuses settings of accounts that cannot work.
func (s *Settings) checkAccounts() error {
	if err := checkWebURL("site-url", s.SiteURL); err != nil {
		return err
	}
	if _, err := s.redirectURLs(); err != nil {
		return err
	}
	if _, err := s.givenEncryptionKeys(); err != nil {
		return &SettingError{"encryption-key", err.Error()}
	}
	if _, err := s.signingKeys(); err != nil {
		return &SettingError{"jwt-signing-keys", err.Error()}
	}
	if err := s.checkLinks(); err != nil {
		return err
	}
	if err := s.checkMessages(); err != nil {
		return err
	}
	if err := s.checkPasswords(); err != nil {
		return err
	}
	if s.TokenLife < time.Minute || s.TokenLife > maxTokenLife {
		return &SettingError{"access-token-life", fmt.Sprintf("%s is not between 1m and %s", s.TokenLife, maxTokenLife)}
	}
	for _, kind := range s.MFAFactors {
		if err := (choice{"mfa-factors", kind, auth.AllFactors()}).check(); err != nil {
			return err
		}
	}
	if _, err := s.providerOptions("http://localhost"); err != nil { // the address is not known before the server listens
		return err
	}
	for _, choice := range []choice{
		{"limits", s.Limits, []string{"on", "off"}},
		{"autoconfirm", s.AutoConfirm, []string{"auto", "true", "false"}},
	} {
		if err := choice.check(); err != nil {
			return err
		}
	}
	if _, err := s.hooks(); err != nil {
		return err
	}
	if _, err := s.captcha(); err != nil {
		return err
	}
	if err := s.checkOAuthServer(); err != nil {
		return err
	}
	if err := s.checkSAML(); err != nil {
		return err
	}
	return s.checkWebAuthn()
}

// redirectURLs reads the list of --redirect-urls.
func (s *Settings) redirectURLs() ([]auth.RedirectPattern, error) {
	var patterns []auth.RedirectPattern
	for _, text := range s.RedirectURLs {
		p, err := auth.ParseRedirectPattern(text)
		if err != nil {
			return nil, &SettingError{"redirect-urls", err.Error()}
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// sessionLimits are how long sessions last.
func (s *Settings) sessionLimits() auth.SessionLimits {
	return auth.SessionLimits{
		Timebox: s.SessionTimebox, Inactivity: s.SessionInactivity, LowAAL: s.SessionLowAAL, Single: s.SingleSession,
	}
}

// autoconfirm tells whether a sign-up needs no confirmation.
func (s *Settings) autoconfirm() bool {
	return s.AutoConfirm == "true" || s.AutoConfirm == "auto" && s.overManaged()
}

// accountsOf makes the rules of accounts as the settings ask. Errors are of settings that Check has refused.
func accountsOf(p *Project, s *Settings, apiURL string, log zerolog.Logger) (*auth.Service, error) {
	issuer := apiURL + "/auth/v1"
	o := auth.Options{
		Issuer: issuer, SiteURL: s.SiteURL, PlainChallenges: s.PKCEPlain, Autoconfirm: s.autoconfirm(), LimitsOff: s.Limits == "off", Log: log,
		DisableSignup: s.DisableSignup, Anonymous: s.Anonymous,
		PasswordPolicy: s.PasswordPolicy(), Passwords: s.passwordParameters(), Gate: password.GateOptions{Slots: s.processors},
		Hashes: s.hashes,
	}
	var err error

	if o.RedirectURLs, err = s.redirectURLs(); err != nil {
		return nil, err
	}

	if o.Providers, err = s.providerOptions(issuer); err != nil {
		return nil, err
	}

	if o.Hooks, err = s.hooks(); err != nil {
		return nil, err
	}

	o.Audit = auth.AuditOptions{Off: !s.AuditLog, Retention: s.AuditRetention}
	if o.Captcha, err = s.captcha(); err != nil {
		return nil, err
	}

	if o.Notify, err = s.notices(); err != nil {
		return nil, err
	}
	o.OAuthServer = s.oauthServer()
	o.Outbound, o.SMSProvider = p.Outbox, s.smsProvider()

	if o.SSO.SAML, err = s.samlProvider(issuer); err != nil {
		return nil, err
	}
	if o.SSO.Client, err = s.outgoingClient(outgoing.Options{Timeout: auth.MetadataPatience, MaxAnswer: sso.MaxMetadata}); err != nil {
		return nil, err
	}
	o.SSO.IdPInitiated = s.SAMLIdPInitiated

	o.Passkeys, o.MaxPasskeys, o.RelyingParty = s.Passkeys, s.MaxPasskeys, s.relyingParty()

	o.TokenLife, o.ReuseInterval, o.Sessions = s.TokenLife, max(s.ReuseInterval, time.Nanosecond), s.sessionLimits()

	o.EncryptionKeys, o.Factors = s.EncryptionKeys(p.Keys.Secret), append([]string{}, s.MFAFactors...)

	o.Links = s.links()

	return auth.New(p.DB.Pool(), p.Keys, o), nil
}
