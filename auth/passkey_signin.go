package auth

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// MethodPasskey stands in `amr` for a sign-in with a passkey.
const MethodPasskey = "passkey"

const (
	// passkeyToSignIn finds a passkey by its credential id and the user handle, both as the authenticator tells them.
	passkeyToSignIn = `
select` + userColumns + `,
    c.id,
    c.public_key,
    c.sign_count::float8,
    c.backup_eligible,
    c.backed_up
from auth.webauthn_credentials c
join auth.users u on u.id = c.user_id
where c.credential_id = $1
and c.user_id = $2
and u.deleted_at is null`

	// usePasskey notes a sign-in. The count must grow (WebAuthn §7.2): of two answers with the same one the second changes
	// nothing, however close they come. Authenticators that do not count say 0 for ever.
	usePasskey = `
update auth.webauthn_credentials
set sign_count = $2,
    backed_up = $3,
    last_used_at = now(),
    updated_at = now()
where id = $1
and (sign_count < $2 or (sign_count = 0 and $2 = 0))`
)

// RequestOptions are what a browser finds a key pair by (WebAuthn §5.5).
type RequestOptions = protocol.PublicKeyCredentialRequestOptions

// BeginPasskeySignIn asks any authenticator to prove whom it knows. Nothing is said about accounts.
func (s *Service) BeginPasskeySignIn(ctx context.Context, caller Caller) (*PasskeyChallenge[RequestOptions], error) {
	if refusal := s.passkeysAllowed(); refusal != nil {
		return nil, refusal
	}
	refusal, err := s.admit(ctx, caller, limit.Hit{Rule: passkeyRule(), Of: caller.Network()})
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return nil, tooOften(refusal)
	}
	w, err := s.ceremonies(PasskeySelection())
	if err != nil {
		return nil, err
	}
	assertion, data, err := w.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, unexpected("Failed to generate WebAuthn authentication options", err)
	}
	id, expires, err := s.keepChallenge(ctx, challengeAuthentication, nil, data)
	if err != nil {
		return nil, err
	}
	return &PasskeyChallenge[RequestOptions]{ID: id, Options: &assertion.Response, ExpiresAt: expires}, nil
}

// FinishPasskeySignIn opens a session for the account whose passkey has signed the challenge. The answer is an
// AuthenticationResponseJSON (WebAuthn §5.1).
func (s *Service) FinishPasskeySignIn(ctx context.Context, caller Caller, challenge uuid.UUID, answer json.RawMessage) (*Session, error) {
	session, user, err := s.finishPasskeySignIn(ctx, caller, challenge, answer)
	s.event(caller, "signin_passkey", user, err)
	return session, err
}

// signingPasskey is a passkey that claims to have signed a challenge.
type signingPasskey struct {
	id         uuid.UUID
	user       *User
	credential webauthn.Credential
}

var errNoSuchPasskey = errors.New("no account has this passkey")

func (s *Service) finishPasskeySignIn(ctx context.Context, caller Caller, challenge uuid.UUID, answer json.RawMessage) (*Session, uuid.UUID, error) {
	if refusal := s.passkeysAllowed(); refusal != nil {
		return nil, uuid.Nil, refusal
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return nil, uuid.Nil, s.unverified(caller, notVerified(), err)
	}
	handle, _ := uuid.ParseBytes(parsed.Response.UserHandle) // what is none is nobody's
	key := &signingPasskey{credential: webauthn.Credential{ID: parsed.RawID}}
	batch := &pgx.Batch{}
	kept := queueConsume(batch, challenge, challengeAuthentication, nil)
	batch.Queue(passkeyToSignIn, parsed.RawID, handle).QueryRow(key.scan)
	switch err := s.send(ctx, batch); {
	case err != nil:
		return nil, uuid.Nil, err
	case kept.refusal != nil:
		return nil, uuid.Nil, kept.refusal
	}
	w, err := s.ceremonies(PasskeySelection())
	if err != nil {
		return nil, uuid.Nil, err
	}
	_, credential, err := w.ValidatePasskeyLogin(func([]byte, []byte) (webauthn.User, error) {
		if key.user == nil {
			return nil, errNoSuchPasskey
		}
		return newKeyHolder(key.user, []webauthn.Credential{key.credential}), nil
	}, kept.SessionData, parsed)
	if err != nil {
		return nil, uuid.Nil, s.unverified(caller, notVerified(), err)
	}
	session, err := s.signInWithPasskey(ctx, caller, key, credential)
	return session, key.user.ID, err
}

// scan reads a row of passkeyToSignIn; without one there is no user.
func (key *signingPasskey) scan(found pgx.Row) error {
	err := found.Scan(reader(func(r *row) {
		key.user, key.id = r.user(), r.id()
		key.credential.PublicKey = append([]byte(nil), r.next()...)
		key.credential.Authenticator.SignCount = uint32(r.number())
		key.credential.Flags.BackupEligible, key.credential.Flags.BackupState = r.flag(), r.flag()
	}))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

func (s *Service) signInWithPasskey(ctx context.Context, caller Caller, key *signingPasskey, c *webauthn.Credential) (*Session, error) {
	switch u := key.user; {
	case c.Authenticator.CloneWarning:
		return nil, s.cloned(caller, key)
	case u.banned:
		return nil, deny(CodeUserBanned, "User is banned")
	case u.Email != "" && u.EmailConfirmedAt == nil:
		return nil, deny(CodeEmailNotConfirmed, "Email not confirmed")
	case u.Phone != "" && u.PhoneConfirmedAt == nil:
		return nil, deny(CodePhoneNotConfirmed, "Phone not confirmed")
	}
	var session *Session
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, usePasskey, key.id, int64(c.Authenticator.SignCount), c.Flags.BackupState)
		switch {
		case err != nil:
			return saveFailed("Database error updating passkey", err)
		case tag.RowsAffected() == 0:
			return s.cloned(caller, key)
		}
		session, err = s.open(ctx, tx, caller, key.user.ID, MethodPasskey)
		return err
	})
	if err != nil {
		return nil, saveFailed("Database error granting user", err)
	}
	return session, s.complete(ctx, caller, session)
}

// cloned is the refusal of an authenticator whose count does not grow: there are two with the same key, and one of them
// may be a thief's.
func (s *Service) cloned(caller Caller, key *signingPasskey) *Error {
	s.log.Warn().Stringer("user_id", key.user.ID).Stringer("passkey_id", key.id).Str("request_id", caller.RequestID).
		Msg("a passkey was used whose count of signatures does not grow: its authenticator may have been cloned")
	return notVerified()
}
