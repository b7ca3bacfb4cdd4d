package auth

import (
	"context"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/limit"
)

const (
	credentialsOfUser = `
select` + credentialColumns + `
from auth.webauthn_credentials c
where c.user_id = $1`

	// insertPasskey writes a passkey if the session $14 is still good and there is room: the account is locked while its
	// passkeys are counted.
	insertPasskey = `
insert into auth.webauthn_credentials (
    id, user_id, credential_id, public_key, attestation_type, aaguid, sign_count,
    transports, backup_eligible, backed_up, friendly_name, created_at, updated_at
)
select $1, u.id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12
from auth.users u
left join auth.sessions s on s.id = $14
where u.id = $2
and u.deleted_at is null
and (u.banned_until is null or u.banned_until <= now())
and ($14 = '00000000-0000-0000-0000-000000000000' or (s.user_id = u.id and coalesce(s.not_after > now(), true)))
and (select count(*) from auth.webauthn_credentials c where c.user_id = u.id) < $13`
)

// CreationOptions are what a browser makes a key pair of (WebAuthn §5.4).
type CreationOptions = protocol.PublicKeyCredentialCreationOptions

// registrant is who registers a passkey.
type registrant struct {
	*lookup
	credentials []webauthn.Credential
}

// queue adds to a batch what is to be known of the account behind a token.
func (r *registrant) queue(batch *pgx.Batch, ls *lookups, p *Principal) {
	r.lookup = &lookup{principal: p}
	ls.ask(batch, p).QueryRow(func(row pgx.Row) error {
		r.err = r.scan(row)
		return nil
	})
	batch.Queue(credentialsOfUser, p.UserID).Query(func(rows pgx.Rows) error {
		var err error
		r.credentials, err = pgx.CollectRows(rows, ScanCredential)
		return err
	})
}

// refuse is why the account behind a token may not register a passkey, or not one more.
func (r *registrant) refuse(most int) error {
	if err := r.refusal(r.err); err != nil {
		return err
	}
	switch {
	case r.user.Anonymous:
		return deny(CodeNoAuthorization, "Anonymous user not allowed to perform these actions")
	case r.user.managedBySSO():
		return unprocessable(CodeValidationFailed, "SSO users cannot register passkeys")
	}
	if refusal := mayManagePasskeys(r.user, r.level); refusal != nil {
		return refusal
	}
	if len(r.credentials) >= most {
		return tooManyPasskeys()
	}
	return nil
}

func tooManyPasskeys() *Error {
	return unprocessable(CodeTooManyPasskeys, "Maximum number of passkeys reached")
}

// BeginPasskeyRegistration asks the authenticator of whoever holds a token for a key pair.
func (s *Service) BeginPasskeyRegistration(ctx context.Context, caller Caller, p *Principal) (*PasskeyChallenge[CreationOptions], error) {
	if refusal := s.passkeysAllowed(); refusal != nil {
		return nil, refusal
	}
	if refusal := namesUser(p); refusal != nil {
		return nil, refusal
	}
	r := &registrant{}
	batch := &pgx.Batch{}
	verdict := s.count(batch, caller, limit.Hit{Rule: passkeyRule(), Of: p.UserID.String()})
	r.queue(batch, s.lookups, p)
	if err := s.send(ctx, batch); err != nil {
		return nil, err
	}
	if err := r.refuse(s.maxPasskeys()); err != nil {
		return nil, err
	}
	if refusal := verdict.Refused(); refusal != nil {
		return nil, tooOften(refusal)
	}
	w, err := s.ceremonies(PasskeySelection())
	if err != nil {
		return nil, err
	}
	holder := newKeyHolder(r.user, r.credentials)
	creation, data, err := w.BeginRegistration(holder, webauthn.WithExclusions(holder.Descriptors()))
	if err != nil {
		return nil, unexpected("Failed to generate WebAuthn registration options", err)
	}
	id, expires, err := s.keepChallenge(ctx, challengeRegistration, &p.UserID, data)
	if err != nil {
		return nil, err
	}
	return &PasskeyChallenge[CreationOptions]{ID: id, Options: &creation.Response, ExpiresAt: expires}, nil
}

// FinishPasskeyRegistration checks the key pair that an authenticator has made and keeps its public half. The answer is
// a RegistrationResponseJSON (WebAuthn §5.1).
func (s *Service) FinishPasskeyRegistration(ctx context.Context, caller Caller, p *Principal, challenge uuid.UUID, answer json.RawMessage) (*Passkey, error) {
	key, err := s.finishPasskeyRegistration(ctx, caller, p, challenge, answer)
	s.event(caller, "passkey_create", p.UserID, err)
	return key, err
}

func (s *Service) finishPasskeyRegistration(ctx context.Context, caller Caller, p *Principal, challenge uuid.UUID, answer json.RawMessage) (*Passkey, error) {
	if refusal := s.passkeysAllowed(); refusal != nil {
		return nil, refusal
	}
	if refusal := namesUser(p); refusal != nil {
		return nil, refusal
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, s.unverified(caller, notVerified(), err)
	}
	r := &registrant{}
	batch := &pgx.Batch{}
	r.queue(batch, s.lookups, p)
	kept := queueConsume(batch, challenge, challengeRegistration, &p.UserID)
	if err := s.send(ctx, batch); err != nil {
		return nil, err
	}
	if err := r.refuse(s.maxPasskeys()); err != nil {
		return nil, err
	}
	if kept.refusal != nil {
		return nil, kept.refusal
	}
	w, err := s.ceremonies(PasskeySelection())
	if err != nil {
		return nil, err
	}
	credential, err := w.CreateCredential(newKeyHolder(r.user, nil), kept.SessionData, parsed)
	if err != nil {
		return nil, s.unverified(caller, notVerified(), err)
	}
	return s.savePasskey(ctx, p, credential)
}

// savePasskey writes a passkey in one flight, if the session is still good: who was thrown out meanwhile must not leave a
// way in behind.
func (s *Service) savePasskey(ctx context.Context, p *Principal, c *webauthn.Credential) (*Passkey, error) {
	transports := []byte(`[]`)
	if len(c.Transport) > 0 {
		var err error
		if transports, err = json.Marshal(c.Transport); err != nil {
			return nil, err
		}
	}
	var aaguid *uuid.UUID
	if id, err := uuid.FromBytes(c.Authenticator.AAGUID); err == nil {
		aaguid = &id
	}
	key := Passkey{ID: uuid.New(), FriendlyName: authenticatorName(aaguid), CreatedAt: now()}
	r := &registrant{}
	written := false
	batch := &pgx.Batch{}
	batch.Queue(lockUser, p.UserID)
	r.queue(batch, s.lookups, p)
	batch.Queue(insertPasskey, key.ID, p.UserID, c.ID, c.PublicKey, c.AttestationType, aaguid, int64(c.Authenticator.SignCount),
		transports, c.Flags.BackupEligible, c.Flags.BackupState, key.FriendlyName, key.CreatedAt, s.maxPasskeys(), p.SessionID).
		Exec(func(tag pgconn.CommandTag) error {
			written = tag.RowsAffected() == 1
			return nil
		})
	err := s.send(ctx, batch)
	switch {
	case isUniqueViolation(err, "webauthn_credentials_credential_id_key"):
		return nil, unprocessable(CodeWebAuthnCredentialExists, "This credential is already registered")
	case err != nil:
		return nil, saveFailed("Database error creating passkey", err)
	case written:
		s.notifyLater(ctx, MailFactorEnrolled, r.user, passkeyFactor)
		return &key, nil
	}
	if err := r.refuse(s.maxPasskeys()); err != nil {
		return nil, err
	}
	return nil, refuse(CodeConflict, "The account is being changed by another request, try again")
}
