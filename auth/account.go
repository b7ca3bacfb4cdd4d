package auth

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

const (
	changeUser = `
update auth.users
set encrypted_password = coalesce($2, encrypted_password),
    raw_user_meta_data = (coalesce(raw_user_meta_data, '{}') || $3::jsonb) - $4::text[],
    updated_at = $5
where id = $1
and deleted_at is null`

	// changeEmail makes an address the account's own at once. An account without any
	// credential becomes a lasting one by it.
	changeEmail = `
update auth.users
set email = $2,
    email_confirmed_at = $3,
    email_change = '',
    is_anonymous = false,
    raw_app_meta_data = case when is_anonymous then $4 else raw_app_meta_data end,
    raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || $5::jsonb,
    updated_at = $3
where id = $1
and deleted_at is null`

	changeEmailIdentity = `
insert into auth.identities as i (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
values (gen_random_uuid(), $1::uuid::text, $1::uuid, $2, 'email', $3, $3, $3)
on conflict (provider_id, provider) do update
set identity_data = i.identity_data || excluded.identity_data,
    updated_at = excluded.updated_at
where i.user_id = excluded.user_id`

	// Whoever holds an older session or an unread link must not outlive the credential
	// that was changed.
	endOtherSessions = `
delete from auth.sessions
where user_id = $1
and id <> $2`

	voidLinks = `
with void as (
    delete from auth.one_time_tokens
    where user_id = $1
)
update auth.users
set confirmation_token = '',
    recovery_token = '',
    email_change_token_new = '',
    email_change_token_current = '',
    reauthentication_token = ''
where id = $1
and concat(confirmation_token, recovery_token, email_change_token_new, email_change_token_current, reauthentication_token) <> ''`
)

// UserChange is what a user changes about themselves. Empty fields change nothing.
type UserChange struct {
	Email           string
	Phone           string
	Password        Secret
	CurrentPassword Secret
	// Data is merged into the user's metadata; null deletes a name.
	Data json.RawMessage
	// AppMetadata is not the user's to change; it is here to be refused.
	AppMetadata json.RawMessage
}

// User gives the account behind a token, as it is now: a token of an ended session, a
// deleted or banned account is refused although it has not expired.
func (s *Service) User(ctx context.Context, p *Principal) (*User, error) {
	u, _, err := s.userOf(ctx, p)
	return u, err
}

func (s *Service) userOf(ctx context.Context, p *Principal) (*User, string, error) {
	if refusal := namesUser(p); refusal != nil {
		return nil, "", refusal
	}
	l, err := s.lookups.of(ctx, p)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, "", deny(CodeUserNotFound, "User from sub claim in JWT does not exist")
	case err != nil:
		return nil, "", err
	case l.user.banned:
		return nil, "", deny(CodeUserBanned, "User is banned")
	case !l.alive:
		return nil, "", deny(CodeSessionNotFound, "Session from session_id claim in JWT does not exist")
	}
	return l.user, l.level, nil
}

// UpdateUser changes the account behind a token.
func (s *Service) UpdateUser(ctx context.Context, caller Caller, p *Principal, in UserChange) (*User, error) {
	u, err := s.updateUser(ctx, caller, p, in)
	s.event(caller, "user_update", p.UserID, err)
	return u, err
}

func (s *Service) updateUser(ctx context.Context, caller Caller, p *Principal, in UserChange) (*User, error) {
	u, level, err := s.userOf(ctx, p)
	if err != nil {
		return nil, err
	}
	if len(in.AppMetadata) > 0 && string(in.AppMetadata) != "null" {
		return nil, deny(CodeNotAdmin, "Updating app_metadata requires admin privileges")
	}
	if in.Phone != "" && in.Phone != u.Phone {
		return nil, refuse(CodePhoneProviderDisabled, "Phone numbers cannot be changed: the phone provider is disabled")
	}
	data, refusal := userData(in.Data)
	if refusal != nil {
		return nil, refusal
	}
	email, refusal := s.newEmail(u, in.Email)
	if refusal != nil {
		return nil, refusal
	}
	if (email != "" || in.Password != "") && level == "aal1" && u.hasVerifiedFactor() {
		return nil, &Error{
			Code:    CodeInsufficientAAL,
			Message: "AAL2 session is required to update email or password when MFA is enabled.",
		}
	}
	hash, err := s.newPassword(ctx, caller, u, in)
	if err != nil {
		return nil, err
	}
	return s.writeChange(ctx, p, u.ID, email, hash, data)
}

// newEmail gives the address that the account shall have; empty is no change.
func (s *Service) newEmail(u *User, text string) (string, *Error) {
	if text == "" {
		return "", nil
	}
	email, refusal := normalizeEmail(text)
	switch {
	case refusal != nil:
		return "", refusal
	case email == u.Email:
		return "", nil
	case !s.options.Autoconfirm:
		return "", refuse(CodeFeatureDisabled, "Changing the email address needs its confirmation by mail, which is not available on this server")
	}
	return email, nil
}

// newPassword judges and hashes the password that the account shall have; nil is no change.
func (s *Service) newPassword(ctx context.Context, caller Caller, u *User, in UserChange) (*string, error) {
	if in.Password == "" {
		return nil, nil
	}
	if refusal := s.judge(in.Password); refusal != nil {
		return nil, refusal
	}
	refusal, err := s.admit(ctx, caller, limit.Hit{Rule: changeRule(), Of: u.ID.String()})
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return nil, tooOften(refusal)
	}
	stored := u.passwordHash.Reveal()
	if in.CurrentPassword != "" {
		ok, err := s.matches(ctx, stored, in.CurrentPassword)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, refuse(CodeCurrentPasswordInvalid, "Current password is incorrect")
		}
	}
	if stored != "" {
		same, err := s.matches(ctx, stored, in.Password)
		if err != nil {
			return nil, err
		}
		if same {
			return nil, refuse(CodeSamePassword, "New password should be different from the old password.")
		}
	}
	hash, err := s.hash(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	return &hash, nil
}

func (s *Service) writeChange(ctx context.Context, p *Principal, id uuid.UUID, email string, hash *string, data map[string]json.RawMessage) (*User, error) {
	set, drop, err := change(data)
	if err != nil {
		return nil, unexpected("The metadata could not be written", err)
	}
	at := now()
	batch := &pgx.Batch{}
	batch.Queue(changeUser, id, hash, set, drop, at)
	if email != "" {
		known, err := emailMetadata(map[string]json.RawMessage{}, id, email, true)
		if err != nil {
			return nil, err
		}
		batch.Queue(changeEmail, id, email, at, appMetadata("email"), known)
		batch.Queue(changeEmailIdentity, id, known, at)
	}
	if hash != nil {
		batch.Queue(endOtherSessions, id, p.SessionID)
	}
	if hash != nil || email != "" {
		batch.Queue(voidLinks, id)
	}
	return s.writeAndRead(ctx, batch, id, deny(CodeUserNotFound, "User from sub claim in JWT does not exist"))
}

// writeAndRead sends changes and reads the account back in the same flight.
func (s *Service) writeAndRead(ctx context.Context, batch *pgx.Batch, id uuid.UUID, gone *Error) (*User, error) {
	var u *User
	batch.Queue(userByID, id).QueryRow(func(row pgx.Row) error {
		var err error
		u, err = scanUser(row)
		return err
	})
	err := s.send(ctx, batch)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, gone
	case isUniqueViolation(err, "users_email_partial_key"):
		return nil, refuse(CodeEmailExists, "A user with this email address has already been registered")
	case err != nil:
		return nil, saveFailed("Error updating user", err)
	}
	return u, nil
}
