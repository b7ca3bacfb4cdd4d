package auth

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	linkTarget = `
select coalesce(email, '')
from auth.users
where id = $1
and deleted_at is null
for update`

	// An account without an address takes the one that the provider has verified.
	addressFromIdentity = `
update auth.users
set email = coalesce($2, email),
    email_confirmed_at = case when $2::text is null then email_confirmed_at else $3 end,
    is_anonymous = false,
    updated_at = $3
where id = $1
and (is_anonymous or $2::text is not null)`

	identitiesToUnlink = `
select id, provider, coalesce(email, ''), coalesce(identity_data -> 'email_verified' = 'true', false)
from auth.identities
where user_id = $1
order by created_at, id`

	removeIdentity = `
delete from auth.identities
where id = $1
and user_id = $2`

	// $2 is the address that stays; NULL when none does. $3 and $4 tell that the password, the telephone number go.
	withoutIdentity = `
update auth.users
set email = $2::varchar,
    email_confirmed_at = case when $2::varchar is null then null when email = $2::varchar then email_confirmed_at else $5::timestamptz end,
    email_change = case when email is distinct from $2::varchar then '' else email_change end,
    email_change_token_new = case when email is distinct from $2::varchar then '' else email_change_token_new end,
    email_change_token_current = case when email is distinct from $2::varchar then '' else email_change_token_current end,
    encrypted_password = case when $3 then '' else encrypted_password end,
    phone = case when $4 then null else phone end,
    phone_confirmed_at = case when $4 then null else phone_confirmed_at end,
    updated_at = $5::timestamptz
where id = $1`

	voidTokens = `
delete from auth.one_time_tokens
where user_id = $1`
)

// addIdentity adds the identity of a visitor to an account whose user asks for it.
func (s *Service) addIdentity(ctx context.Context, tx pgx.Tx, v visitor, user uuid.UUID, at time.Time) error {
	var email string
	err := tx.QueryRow(ctx, linkTarget, user).Scan(&email)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return refuse(CodeUserNotFound, "User not found")
	case err != nil:
		return err
	}
	var gained *string
	if email == "" {
		gained = v.provenEmail()
	}
	batch := &pgx.Batch{}
	batch.Queue(insertIdentity, v.subject, user, v.data, v.provider, at)
	batch.Queue(addressFromIdentity, user, gained, at)
	batch.Queue(renewVisitor, user, v.data, gained, at, maxUserMetadata)
	err = tx.SendBatch(ctx, batch).Close()
	switch {
	case isUniqueViolation(err, "users_email_partial_key"):
		return refuse(CodeEmailExists, "A user with this email address has already been registered")
	case err != nil:
		return err
	}
	return s.notifyOfLink(ctx, tx, user, v.provider)
}

// linkableTo gives the account that an identity is to be added to, for who may do that.
func (s *Service) linkableTo(ctx context.Context, p *Principal) (uuid.UUID, error) {
	switch {
	case p == nil:
		return uuid.Nil, nil
	case !s.options.Providers.ManualLinking:
		return uuid.Nil, refuse(CodeManualLinkingDisabled, "Manual linking is disabled")
	}
	u, level, err := s.userOf(ctx, p)
	if err != nil {
		return uuid.Nil, err
	}
	if refusal := mayLink(u, level); refusal != nil {
		return u.ID, refusal
	}
	return u.ID, nil
}

// mayLink tells whether an account may gain an identity. One of single sign-on must not: it would be entered past the
// identity provider, which decides who may.
func mayLink(u *User, level string) *Error {
	if u.managedBySSO() {
		return unprocessable(CodeUserSSOManaged, "SSO users cannot link identities")
	}
	return mayManageIdentities(u, level)
}

// mayManageIdentities tells whether a session is good enough to change how an account is entered.
func mayManageIdentities(u *User, level string) *Error {
	if level == "aal1" && u.hasVerifiedFactor() {
		return deny(CodeInsufficientAAL, "AAL2 session is required to manage identities when MFA is enabled")
	}
	return nil
}

// unlinkable is an identity of an account that is to lose one.
type unlinkable struct {
	id       uuid.UUID
	provider string
	email    string
	verified bool
}

// Unlink takes an identity from the account behind a token, but not the last one.
func (s *Service) Unlink(ctx context.Context, caller Caller, p *Principal, identity uuid.UUID) error {
	err := s.unlink(ctx, p, identity)
	s.event(caller, "identity_unlink", p.UserID, err)
	return err
}

func (s *Service) unlink(ctx context.Context, p *Principal, identity uuid.UUID) error {
	if refusal := namesUser(p); refusal != nil {
		return refusal
	}
	err := s.again(ctx, func(tx pgx.Tx) error {
		// What is read is what is there once the account is locked: of two that go at once one is the last.
		l := &lookup{principal: p}
		again := &pgx.Batch{}
		again.Queue(lockUser, p.UserID)
		s.lookups.ask(again, p).QueryRow(l.scan)
		var kept []unlinkable
		again.Queue(identitiesToUnlink, p.UserID).Query(func(rows pgx.Rows) error {
			var err error
			kept, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (u unlinkable, err error) {
				return u, row.Scan(&u.id, &u.provider, &u.email, &u.verified)
			})
			return err
		})
		if err := l.refusal(tx.SendBatch(ctx, again).Close()); err != nil {
			return err
		}
		if refusal := mayManageIdentities(l.user, l.level); refusal != nil {
			return refusal
		}
		gone, found := unlinkable{}, false
		for i, u := range kept {
			if u.id == identity {
				gone, found = u, true
				kept = append(kept[:i:i], kept[i+1:]...)
				break
			}
		}
		switch {
		case !found:
			return refuse(CodeIdentityNotFound, "Identity doesn't exist")
		case len(kept) == 0:
			return refuse(CodeSingleIdentityNotDeletable, "User must have at least 1 identity after unlinking")
		}
		batch := &pgx.Batch{}
		batch.Queue(removeIdentity, gone.id, p.UserID)
		batch.Queue(voidTokens, p.UserID)
		batch.Queue(withoutIdentity, p.UserID, addressLeft(l.user.Email, gone, kept), gone.provider == "email", gone.provider == "phone", now())
		batch.Queue(renewVisitor, p.UserID, []byte(`{}`), nil, now(), maxUserMetadata)
		if err := s.notifyOfIdentity(batch, MailIdentityUnlinked, l.user, gone.provider); err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if isUniqueViolation(err, "users_email_partial_key") {
		return refuse(CodeEmailConflictIdentityNotDeletable, "Unable to unlink identity due to email conflict")
	}
	return saveFailed("Database error deleting identity", err)
}

// addressLeft is the address of an account that loses an identity: its own when that did not come with the identity or
// is another's too, else the first that another identity has verified. Nil is none.
func addressLeft(own string, gone unlinkable, kept []unlinkable) *string {
	switch {
	case own == "":
		return nil
	case own != gone.email:
		return &own
	}
	var first *string
	for i, u := range kept {
		if !u.verified || u.email == "" {
			continue
		}
		if u.email == own {
			return &own
		}
		if first == nil {
			first = &kept[i].email
		}
	}
	return first
}
