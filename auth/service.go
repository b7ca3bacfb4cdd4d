package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"basalt/auth/limit"
	"basalt/auth/outgoing"
	"basalt/auth/password"
	"basalt/auth/seal"
	"basalt/auth/sso"
	"basalt/auth/token"
)

// Options are the settings of a project's accounts.
type Options struct {
	// Issuer is the public URL of the accounts API, `https://host/auth/v1`: the `iss` of
	// tokens and the base of the links in mails.
	Issuer string
	// SiteURL is where links in mails lead back to.
	SiteURL string
	// RedirectURLs are the places beside the site that links and sign-ins may lead back to.
	RedirectURLs []RedirectPattern
	// PlainChallenges lets clients use the method plain of RFC 7636, which shows the verifier to who sees the challenge.
	PlainChallenges bool
	// Autoconfirm makes sign-ups and new addresses good without a mail.
	Autoconfirm bool
	// DisableSignup refuses new accounts.
	DisableSignup bool
	// Anonymous allows accounts without any credential.
	Anonymous bool
	// PasswordPolicy is what is asked of passwords.
	PasswordPolicy password.Policy
	// Passwords are Argon2id's costs; the zero value is password.Recommended.
	Passwords password.Parameters
	// Gate bounds the hashing.
	Gate password.GateOptions
	// TokenLife is how long an access token is good; 0 is an hour.
	TokenLife time.Duration
	// ReuseInterval is how long a used refresh token still gives its successor; 0 is ten seconds.
	ReuseInterval time.Duration
	// Factors are the kinds of second factors that may be enrolled and verified; nil are DefaultFactors.
	Factors []string
	// EncryptionKeys are the master keys of secrets at rest; nil derives one from the JWT secret.
	EncryptionKeys seal.Masters
	// Providers are the settings of sign-ins at other servers.
	Providers ProviderOptions
	// Links are the settings of what is mailed and texted to prove who reads it.
	Links LinkOptions
	// Sessions are how long sessions last; the zero value lets them last until they are ended.
	Sessions SessionLimits
	// OAuthServer lets third parties have this project's users sign in at them.
	OAuthServer OAuthServer
	// LimitsOff lets everybody try as often as they like. For tests.
	LimitsOff bool
	// Passkeys lets users sign in with passkeys.
	Passkeys bool
	// MaxPasskeys is how many an account may have; 0 is ten.
	MaxPasskeys int
	// RelyingParty is who authenticators make key pairs for.
	RelyingParty RelyingParty
	// SSO is single sign-on.
	SSO SSOOptions
	// Outbound takes mails and text messages; nil sends none.
	Outbound Outbound
	// Audit is the audit log.
	Audit AuditOptions
	// Captcha keeps machines out; the zero value asks for none.
	Captcha Captcha
	// Hooks are called in the flows.
	Hooks Hooks
	// SMSProvider is the name of who sends text messages; "" is nobody.
	SMSProvider string
	// Notify are the kinds of mails by which users are told of changes of their accounts.
	Notify []MailKind
	// Log takes the events of accounts.
	Log zerolog.Logger
}

const (
	defaultTokenLife     = time.Hour
	defaultReuseInterval = 10 * time.Second

	// audience is of all users: there is one instance.
	audience = "authenticated"
)

// Service runs the flows of one project's accounts.
type Service struct {
	pool     *pgxpool.Pool
	lookups  *lookups
	customs  customs
	keys     *Keys
	options  Options
	gate     *password.Gate
	dummy    string
	decoys   *decoys
	limits   *limit.Limiter
	chainKey []byte
	hooks    hooks
	audits   audits
	linkKey  []byte
	links    LinkOptions
	vault    *seal.Vault
	signer   atomic.Pointer[token.Signer]
	signing  atomic.Pointer[SigningSet]
	log      zerolog.Logger
}

// New makes the service over a pool that connects as the owner of schema auth.
func New(pool *pgxpool.Pool, keys *Keys, o Options) *Service {
	if o.Passwords == (password.Parameters{}) {
		o.Passwords = password.Recommended()
	}
	if o.Providers.Client == nil {
		o.Providers.Client = outgoing.New(outgoing.Options{})
	}
	if o.TokenLife <= 0 {
		o.TokenLife = defaultTokenLife
	}
	if o.ReuseInterval <= 0 {
		o.ReuseInterval = defaultReuseInterval
	}
	if o.SSO.Client == nil {
		o.SSO.Client = outgoing.New(outgoing.Options{MaxAnswer: sso.MaxMetadata, Timeout: MetadataPatience})
	}
	if o.Factors == nil {
		o.Factors = DefaultFactors()
	}
	derived := func(purpose string) []byte {
		key := hmac.New(sha256.New, []byte(keys.Secret.Reveal()))
		key.Write([]byte(purpose))
		return key.Sum(nil)
	}
	s := &Service{
		pool:     pool,
		lookups:  newLookups(pool).limited(o.Sessions),
		keys:     keys,
		options:  o,
		gate:     password.NewGate(o.Gate),
		dummy:    o.Passwords.Dummy(),
		decoys:   newDecoys(keys.Secret.Reveal(), o.Passwords.Dummy()),
		limits:   &limit.Limiter{Off: o.LimitsOff},
		hooks:    hooks{Hooks: o.Hooks},
		audits:   audits{queue: make(chan auditEntry, mostAudits)},
		chainKey: derived("basalt refresh token chain"),
		linkKey:  derived("basalt one-time tokens"),
		links:    o.Links.withDefaults(),
		vault:    seal.NewVault(pool, encryptionKeys(o.EncryptionKeys, keys)),
		log:      o.Log,
	}
	s.UseKeys(*keys)
	return s
}

// Issuer is the public URL of the accounts API.
func (s *Service) Issuer() string { return s.options.Issuer }

// UseKeys has tokens signed with other keys from now on.
func (s *Service) UseKeys(keys Keys) {
	s.signer.Store(keys.Signer())
	s.signing.Store(keys.Signing)
}

// PublicKeys are what everybody may know of the keys that tokens are signed with.
func (s *Service) PublicKeys() []token.PublicJWK { return s.signing.Load().Public() }

// Gate is where password hashes wait for their turn.
func (s *Service) Gate() *password.Gate { return s.gate }

// Vault seals secrets at rest.
func (s *Service) Vault() *seal.Vault { return s.vault }

// Settings are what clients may know about how accounts are set up.
type Settings struct {
	DisableSignup bool
	Autoconfirm   bool
	Anonymous     bool
	SMSProvider   string
	Passkeys      bool
	SAML          bool
	Phone         bool
	// PhoneAutoconfirm is Autoconfirm for telephone numbers.
	PhoneAutoconfirm bool
	// ConfirmPage tells whether a page stands between a link and what it does.
	ConfirmPage bool
}

// Settings gives what clients may know.
func (s *Service) Settings() Settings {
	return Settings{
		DisableSignup: s.options.DisableSignup,
		Autoconfirm:   s.options.Autoconfirm,
		Anonymous:     s.options.Anonymous,
		SMSProvider:   s.options.SMSProvider,
		Passkeys:      s.options.Passkeys,
		SAML:          s.options.SSO.SAML != nil,
		Phone:         s.links.Phone, PhoneAutoconfirm: s.links.PhoneAutoconfirm,
		ConfirmPage: s.links.ConfirmPage,
	}
}

// Caller is where a request comes from.
type Caller struct {
	IP        netip.Addr
	UserAgent string
	RequestID string
	// Trusted callers, those with the service key, are never limited.
	Trusted bool
}

// Addr is the caller's address for a column of type inet; NULL when it is unknown.
func (c Caller) Addr() *netip.Addr {
	if !c.IP.IsValid() {
		return nil
	}
	addr := c.IP.Unmap().WithZone("")
	return &addr
}

// place is the network place of the caller for a column of type inet; NULL when it is unknown. A customer of an IPv6
// network owns all addresses of a /64, and changes among them.
func (c Caller) place() *netip.Prefix {
	addr := c.Addr()
	if addr == nil {
		return nil
	}
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	prefix := netip.PrefixFrom(*addr, bits).Masked()
	return &prefix
}

// Network is what is counted as one caller: their place.
func (c Caller) Network() string {
	place := c.place()
	switch {
	case place == nil:
		return "unknown"
	case place.IsSingleIP():
		return place.Addr().String()
	}
	return place.String()
}

const maxUserAgent = 512

// Agent is the user agent in a form that a text column takes.
func (c Caller) Agent() string {
	text := strings.ReplaceAll(strings.ToValidUTF8(c.UserAgent, ""), "\x00", "")
	if len(text) > maxUserAgent {
		text = strings.ToValidUTF8(text[:maxUserAgent], "")
	}
	return text
}

// now is the time that one flow writes everywhere: rows, tokens, answers.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// send runs a batch in one flight and one transaction.
func (s *Service) send(ctx context.Context, batch *pgx.Batch) error {
	return s.pool.SendBatch(ctx, batch).Close()
}

// hash hashes a new password when its turn has come.
func (s *Service) hash(ctx context.Context, secret Secret) (string, error) {
	var encoded string
	var err error
	if refusal := s.gated(ctx, func() { encoded, err = s.options.Passwords.Hash(secret.Reveal()) }); refusal != nil {
		return "", refusal
	}
	if err != nil {
		return "", unexpected("The password could not be hashed", err)
	}
	return encoded, nil
}

// matches checks a password when its turn has come. Without a stored hash it takes as long and fails.
func (s *Service) matches(ctx context.Context, stored string, secret Secret) (bool, error) {
	if stored == "" || !password.Readable(stored) || len(secret) > password.MaxBytes {
		stored, secret = s.dummy, ""
	}
	var ok bool
	var err error
	if refusal := s.gated(ctx, func() { ok, err = password.Verify(stored, secret.Reveal()) }); refusal != nil {
		return false, refusal
	}
	if err != nil {
		return false, unexpected("The password could not be checked", err)
	}
	return ok, nil
}

func (s *Service) gated(ctx context.Context, work func()) error {
	err := s.gate.Do(ctx, work)
	if errors.Is(err, password.ErrBusy) {
		return &Error{
			Code:       CodeOverRequestRateLimit,
			Message:    "Too many sign-ins at once, try again later",
			RetryAfter: s.gate.RetryAfter(),
		}
	}
	return err
}

// event writes one line for what happened to an account. It names the user by id alone. Why
// something failed is logged where the failure is answered.
func (s *Service) event(caller Caller, what string, user uuid.UUID, err error) {
	result := "ok"
	var refusal *Error
	switch {
	case errors.As(err, &refusal):
		result = string(refusal.Code)
	case err != nil:
		result = "failed"
	}
	if a, admin, ok := audited(what); ok && err == nil {
		s.auditLater(auditEntry{action: a, user: user, admin: admin, caller: caller})
	}
	line := s.log.Info()
	if user != uuid.Nil {
		line = line.Stringer("user_id", user)
	}
	if caller.IP.IsValid() {
		line = line.Stringer("ip", caller.IP)
	}
	line.Str("request_id", caller.RequestID).Str("event", what).Str("result", result).Msg("auth")
}

func tooOften(r *limit.Refusal) *Error {
	return &Error{
		Code:       CodeOverRequestRateLimit,
		Message:    fmt.Sprintf("Request rate limit reached, try again in %d seconds", int(r.RetryAfter.Seconds())),
		RetryAfter: r.RetryAfter,
	}
}
