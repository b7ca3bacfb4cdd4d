package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Codes of passkeys and of WebAuthn as a second factor.
const (
	CodePasskeyDisabled            Code = "passkey_disabled"
	CodeTooManyPasskeys            Code = "too_many_passkeys"
	CodeWebAuthnChallengeNotFound  Code = "webauthn_challenge_not_found"
	CodeWebAuthnChallengeExpired   Code = "webauthn_challenge_expired"
	CodeWebAuthnVerificationFailed Code = "webauthn_verification_failed"
	CodeWebAuthnCredentialExists   Code = "webauthn_credential_exists"
)

// RelyingParty is who the authenticators of users make their key pairs for (WebAuthn §5.4.2).
type RelyingParty struct {
	// ID is a domain; key pairs work on its pages and those of its subdomains alone. Empty is the host of the site URL.
	// A change makes all key pairs useless.
	ID string
	// Name is what authenticators show; empty is the ID.
	Name string
	// Origins are the pages that may ask for key pairs, as `https://app.example.com`. None is the site URL's.
	Origins []string
}

// Check refuses a relying party that no authenticator would work for. The site URL fills in what is empty.
func (r RelyingParty) Check(siteURL string) error {
	_, err := webauthn.New(r.config(siteURL))
	return err
}

// Strangers are the pages that may ask for key pairs and are of another domain than these are bound to. Browsers refuse
// them, unless a document of that domain names them (WebAuthn §5.11, Related Origin Requests).
func (r RelyingParty) Strangers(siteURL string) (strangers []string, all bool) {
	c := r.config(siteURL)
	for _, origin := range c.RPOrigins {
		u, err := url.Parse(origin)
		web := err == nil && (u.Scheme == "https" || u.Scheme == "http")
		if web && u.Hostname() != c.RPID && !strings.HasSuffix(u.Hostname(), "."+c.RPID) {
			strangers = append(strangers, origin)
		}
	}
	return strangers, len(strangers) == len(c.RPOrigins)
}

func (r RelyingParty) config(siteURL string) *webauthn.Config {
	if site, err := url.Parse(siteURL); err == nil {
		if r.ID == "" {
			r.ID = site.Hostname()
		}
		if len(r.Origins) == 0 {
			r.Origins = []string{site.Scheme + "://" + site.Host}
		}
	}
	if r.Name == "" {
		r.Name = r.ID
	}
	patience := webauthn.TimeoutConfig{Timeout: challengeLife, TimeoutUVD: challengeLife}
	return &webauthn.Config{
		RPID:                  r.ID,
		RPDisplayName:         r.Name,
		RPOrigins:             r.Origins,
		AttestationPreference: protocol.PreferNoAttestation,
		Timeouts:              webauthn.TimeoutsConfig{Login: patience, Registration: patience},
		// Password managers add outputs that nobody asked for; the relying party may ignore them (WebAuthn §9.4).
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	}
}

// Ceremonies gives what checks the answers of authenticators. What an authenticator must be able to do depends on what
// its key pair is for. The site URL fills in what is empty.
func (r RelyingParty) Ceremonies(siteURL string, selection protocol.AuthenticatorSelection) (*webauthn.WebAuthn, error) {
	config := r.config(siteURL)
	config.AuthenticatorSelection = selection
	return webauthn.New(config)
}

func (s *Service) ceremonies(selection protocol.AuthenticatorSelection) (*webauthn.WebAuthn, error) {
	w, err := s.options.RelyingParty.Ceremonies(s.options.SiteURL, selection)
	if err != nil {
		s.log.Warn().Err(err).Msg("WebAuthn does not work: it needs a domain, as the host of --site-url or as --webauthn-rp-id")
		return nil, unprocessable(CodeFeatureDisabled, "WebAuthn is not set up on this server: it needs a domain")
	}
	return w, nil
}

// KeyHolder is an account as WebAuthn knows it.
type KeyHolder struct {
	ID uuid.UUID
	// Name is what authenticators show beside the key pair.
	Name        string
	Credentials []webauthn.Credential
}

func newKeyHolder(u *User, credentials []webauthn.Credential) KeyHolder {
	h := KeyHolder{ID: u.ID, Name: u.Email, Credentials: credentials}
	if h.Name == "" {
		h.Name = u.Phone
	}
	if h.Name == "" {
		h.Name = u.ID.String()
	}
	return h
}

// WebAuthnID is the user handle: the account's id as text, as in key pairs that Supabase's server has made.
func (h KeyHolder) WebAuthnID() []byte                         { return []byte(h.ID.String()) }
func (h KeyHolder) WebAuthnName() string                       { return h.Name }
func (h KeyHolder) WebAuthnDisplayName() string                { return h.Name }
func (h KeyHolder) WebAuthnCredentials() []webauthn.Credential { return h.Credentials }

// Descriptors name the key pairs that an account has.
func (h KeyHolder) Descriptors() []protocol.CredentialDescriptor {
	all := make([]protocol.CredentialDescriptor, len(h.Credentials))
	for i, c := range h.Credentials {
		all[i] = c.Descriptor()
	}
	return all
}

// Kinds of challenges.
const (
	challengeRegistration   = "registration"
	challengeAuthentication = "authentication"
)

const (
	insertChallenge = `
insert into auth.webauthn_challenges (id, user_id, challenge_type, session_data, created_at, expires_at)
values ($1, $2, $3, $4, $5, $6)`

	// consumeChallenge uses a challenge up: of many callers with the same one, the first gets it.
	consumeChallenge = `
delete from auth.webauthn_challenges
where id = $1
and challenge_type = $2
and user_id is not distinct from $3
returning session_data, expires_at <= clock_timestamp()`

	// sweepChallenges removes those that nobody came back for. They stay for an hour, so that who comes late is told that
	// they do.
	sweepChallenges = `
delete from auth.webauthn_challenges
where id in (
    select id
    from auth.webauthn_challenges
    where expires_at < now() - interval '1 hour'
    order by expires_at
    limit 100
    for update skip locked
)`
)

// keepChallenge stores what the answer of an authenticator will be checked against.
func (s *Service) keepChallenge(ctx context.Context, kind string, user *uuid.UUID, data *webauthn.SessionData) (id uuid.UUID, expires time.Time, err error) {
	text, err := json.Marshal(data)
	if err != nil {
		return uuid.Nil, time.Time{}, fmt.Errorf("write a challenge: %w", err)
	}
	at := now()
	id, expires = uuid.New(), at.Add(challengeLife)
	batch := &pgx.Batch{}
	batch.Queue(insertChallenge, id, user, kind, text, at, expires)
	batch.Queue(sweepChallenges)
	if err := s.send(ctx, batch); err != nil {
		return uuid.Nil, time.Time{}, saveFailed("Database error storing challenge", err)
	}
	return id, expires, nil
}

// keptChallenge is a challenge that has been used up.
type keptChallenge struct {
	webauthn.SessionData
	refusal *Error
}

// queueConsume adds to a batch that a challenge is used up.
func queueConsume(batch *pgx.Batch, id uuid.UUID, kind string, user *uuid.UUID) *keptChallenge {
	kept := &keptChallenge{}
	batch.Queue(consumeChallenge, id, kind, user).QueryRow(func(row pgx.Row) error {
		var text []byte
		var over bool
		err := row.Scan(&text, &over)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			kept.refusal = refuse(CodeWebAuthnChallengeNotFound, "Challenge not found or already used")
			return nil
		case err != nil:
			return err
		case over:
			kept.refusal = refuse(CodeWebAuthnChallengeExpired, "Challenge has expired")
			return nil
		}
		return json.Unmarshal(text, &kept.SessionData)
	})
	return kept
}

// unverified gives the refusal of an answer that does not prove what it should. Why goes to the log: a wrong origin or
// relying party is found there. It holds no secret, as WebAuthn's answers have none.
func (s *Service) unverified(caller Caller, refusal *Error, why error) *Error {
	line := s.log.Info().Str("request_id", caller.RequestID).AnErr("error", why)
	var detail *protocol.Error
	if errors.As(why, &detail) {
		line = line.Str("detail", detail.DevInfo)
	}
	line.Msg("the answer of an authenticator is refused")
	return refusal
}

func notVerified() *Error {
	return refuse(CodeWebAuthnVerificationFailed, "Credential verification failed")
}
