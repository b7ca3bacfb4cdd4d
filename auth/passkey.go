package auth

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Passkey is a key pair that lets its holder sign in with nothing else.
type Passkey struct {
	ID           uuid.UUID
	FriendlyName string
	CreatedAt    time.Time
	LastUsedAt   *time.Time
}

// PasskeyChallenge is what an authenticator is asked.
type PasskeyChallenge[T any] struct {
	ID        uuid.UUID
	Options   *T
	ExpiresAt time.Time
}

const (
	defaultMaxPasskeys = 10
	maxPasskeyName     = 120

	passkeyColumns = `
    c.id,
    c.friendly_name,
    c.created_at,
    c.last_used_at`

	passkeysOfUser = `
select` + passkeyColumns + `
from auth.webauthn_credentials c
where c.user_id = $1
order by c.created_at, c.id`

	renamePasskey = `
update auth.webauthn_credentials c
set friendly_name = $3,
    updated_at = now()
where c.id = $1
and c.user_id = $2
returning` + passkeyColumns

	deletePasskey = `
delete from auth.webauthn_credentials
where id = $1
and user_id = $2`

	credentialColumns = `
    c.credential_id,
    c.public_key,
    c.attestation_type,
    c.aaguid,
    c.sign_count,
    c.transports,
    c.backup_eligible,
    c.backed_up`
)

func scanPasskey(row pgx.CollectableRow) (Passkey, error) {
	var p Passkey
	err := row.Scan(&p.ID, &p.FriendlyName, &p.CreatedAt, &p.LastUsedAt)
	return p, err
}

// ScanCredential reads the columns of a key pair: credential_id, public_key, attestation_type, aaguid, sign_count,
// transports, backup_eligible, backed_up.
func ScanCredential(row pgx.CollectableRow) (webauthn.Credential, error) {
	var c webauthn.Credential
	var aaguid *uuid.UUID
	var count int64
	var transports []byte
	err := row.Scan(&c.ID, &c.PublicKey, &c.AttestationType, &aaguid, &count, &transports, &c.Flags.BackupEligible, &c.Flags.BackupState)
	if err != nil {
		return c, err
	}
	c.Authenticator.SignCount = uint32(count)
	if aaguid != nil {
		c.Authenticator.AAGUID = aaguid[:]
	}
	return c, json.Unmarshal(transports, &c.Transport)
}

// PasskeySelection asks for key pairs that their authenticator finds by itself and that it opens for its user alone: a
// passkey replaces name and password (WebAuthn §5.4.4).
func PasskeySelection() protocol.AuthenticatorSelection {
	return protocol.AuthenticatorSelection{
		ResidentKey:        protocol.ResidentKeyRequirementRequired,
		RequireResidentKey: protocol.ResidentKeyRequired(),
		UserVerification:   protocol.VerificationRequired,
	}
}

func (s *Service) maxPasskeys() int {
	if s.options.MaxPasskeys <= 0 {
		return defaultMaxPasskeys
	}
	return s.options.MaxPasskeys
}

// passkeysAllowed refuses where passkeys are switched off.
func (s *Service) passkeysAllowed() *Error {
	if !s.options.Passkeys {
		return absent(CodePasskeyDisabled, "Passkeys are disabled")
	}
	return nil
}

func passkeyNotFound() *Error { return absent(CodeValidationFailed, "Passkey not found") }

// mayManagePasskeys tells whether a session is good enough to change how an account is entered.
func mayManagePasskeys(u *User, level string) *Error {
	if level == "aal1" && u.hasVerifiedFactor() {
		return deny(CodeInsufficientAAL, "AAL2 session is required to manage passkeys when MFA is enabled")
	}
	return nil
}

// Passkeys lists those of the account behind a token.
func (s *Service) Passkeys(ctx context.Context, p *Principal) ([]Passkey, error) {
	if refusal := s.passkeysAllowed(); refusal != nil {
		return nil, refusal
	}
	if _, _, err := s.userOf(ctx, p); err != nil {
		return nil, err
	}
	return s.passkeys(ctx, p.UserID)
}

func (s *Service) passkeys(ctx context.Context, user uuid.UUID) ([]Passkey, error) {
	rows, err := s.pool.Query(ctx, passkeysOfUser, user)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanPasskey)
}

// RenamePasskey gives a passkey of the account behind a token another name.
func (s *Service) RenamePasskey(ctx context.Context, caller Caller, p *Principal, id uuid.UUID, name string) (*Passkey, error) {
	key, err := s.renamePasskey(ctx, p, id, name)
	s.event(caller, "passkey_update", p.UserID, err)
	return key, err
}

func (s *Service) renamePasskey(ctx context.Context, p *Principal, id uuid.UUID, name string) (*Passkey, error) {
	if refusal := s.passkeysAllowed(); refusal != nil {
		return nil, refusal
	}
	if _, _, err := s.userOf(ctx, p); err != nil {
		return nil, err
	}
	if refusal := checkPasskeyName(name); refusal != nil {
		return nil, refusal
	}
	rows, err := s.pool.Query(ctx, renamePasskey, id, p.UserID, name)
	if err != nil {
		return nil, saveFailed("Database error updating passkey", err)
	}
	key, err := pgx.CollectExactlyOneRow(rows, scanPasskey)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, passkeyNotFound()
	case err != nil:
		return nil, saveFailed("Database error updating passkey", err)
	}
	return &key, nil
}

func checkPasskeyName(name string) *Error {
	switch {
	case name == "":
		return refuse(CodeValidationFailed, "friendly_name is required")
	case utf8.RuneCountInString(name) > maxPasskeyName:
		return refuse(CodeValidationFailed, "friendly_name must be 120 characters or less")
	case strings.ContainsFunc(name, unicode.IsControl):
		return refuse(CodeValidationFailed, "friendly_name must not contain control characters")
	}
	return nil
}

// DeletePasskey removes a passkey of the account behind a token.
func (s *Service) DeletePasskey(ctx context.Context, caller Caller, p *Principal, id uuid.UUID) error {
	err := s.deletePasskey(ctx, p, id)
	s.event(caller, "passkey_delete", p.UserID, err)
	return err
}

func (s *Service) deletePasskey(ctx context.Context, p *Principal, id uuid.UUID) error {
	if refusal := s.passkeysAllowed(); refusal != nil {
		return refusal
	}
	u, level, err := s.userOf(ctx, p)
	if err != nil {
		return err
	}
	if refusal := mayManagePasskeys(u, level); refusal != nil {
		return refusal
	}
	return s.removePasskey(ctx, u, id)
}

func (s *Service) removePasskey(ctx context.Context, u *User, id uuid.UUID) error {
	tag, err := s.pool.Exec(ctx, deletePasskey, id, u.ID)
	switch {
	case err != nil:
		return saveFailed("Database error deleting passkey", err)
	case tag.RowsAffected() == 0:
		return passkeyNotFound()
	}
	s.notifyLater(ctx, MailFactorUnenrolled, u, passkeyFactor)
	return nil
}

// AdminPasskeys lists those of any account, whether passkeys are switched on or not.
func (s *Service) AdminPasskeys(ctx context.Context, user uuid.UUID) ([]Passkey, error) {
	if _, err := s.AdminUser(ctx, user); err != nil {
		return nil, err
	}
	return s.passkeys(ctx, user)
}

// AdminDeletePasskey removes a passkey of any account.
func (s *Service) AdminDeletePasskey(ctx context.Context, caller Caller, user, id uuid.UUID) error {
	u, err := s.AdminUser(ctx, user)
	if err == nil {
		err = s.removePasskey(ctx, u, id)
	}
	s.event(caller, "admin_passkey_delete", user, err)
	return err
}
