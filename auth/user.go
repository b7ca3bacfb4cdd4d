package auth

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// User is an account.
type User struct {
	ID                     uuid.UUID
	Audience               string
	Role                   string
	Email                  string
	Phone                  string
	EmailConfirmedAt       *time.Time
	PhoneConfirmedAt       *time.Time
	ConfirmedAt            *time.Time
	ConfirmationSentAt     *time.Time
	RecoverySentAt         *time.Time
	InvitedAt              *time.Time
	ReauthenticationSentAt *time.Time
	LastSignInAt           *time.Time
	NewEmail               string
	EmailChangeSentAt      *time.Time
	NewPhone               string
	PhoneChangeSentAt      *time.Time
	AppMetadata            json.RawMessage
	UserMetadata           json.RawMessage
	CreatedAt              *time.Time
	UpdatedAt              *time.Time
	BannedUntil            *time.Time
	DeletedAt              *time.Time
	Anonymous              bool
	Identities             []Identity
	Factors                []Factor

	banned       bool
	passwordHash Secret
}

// Identity is one way in which an account is known: its e-mail address, its account elsewhere.
type Identity struct {
	ID           uuid.UUID
	ProviderID   string
	UserID       uuid.UUID
	Data         json.RawMessage
	Provider     string
	LastSignInAt *time.Time
	CreatedAt    *time.Time
	UpdatedAt    *time.Time
	Email        string
}

// Factor is a second factor of an account, without its secret.
type Factor struct {
	ID               uuid.UUID
	CreatedAt        *time.Time
	UpdatedAt        *time.Time
	Status           string
	FriendlyName     string
	Type             string
	Phone            string
	LastChallengedAt *time.Time
}

// hasVerifiedFactor tells whether changes to credentials need a second factor.
func (u *User) hasVerifiedFactor() bool {
	for _, f := range u.Factors {
		if f.Status == "verified" {
			return true
		}
	}
	return false
}

// hasConfirmed tells whether an address of the account is known to be its user's.
func (u *User) hasConfirmed(address string) bool {
	if isPhone(address) {
		return u.PhoneConfirmedAt != nil
	}
	return u.EmailConfirmedAt != nil
}

// userColumns are the columns of an account whose row is called u, in the order in which row.user reads them.
const userColumns = `
    u.id,
    u.aud,
    u.role,
    u.email,
    u.phone,
    u.email_confirmed_at,
    u.phone_confirmed_at,
    u.confirmed_at,
    u.confirmation_sent_at,
    u.recovery_sent_at,
    u.invited_at,
    u.reauthentication_sent_at,
    u.last_sign_in_at,
    u.email_change,
    u.email_change_sent_at,
    u.phone_change,
    u.phone_change_sent_at,
    u.raw_app_meta_data,
    u.raw_user_meta_data,
    u.created_at,
    u.updated_at,
    u.banned_until,
    u.deleted_at,
    u.is_anonymous,
    u.banned_until > now(),
    u.encrypted_password,
    array(
        select row(i.id, i.provider_id, i.user_id, i.identity_data, i.provider, i.last_sign_in_at, i.created_at, i.updated_at, i.email)
        from auth.identities i
        where i.user_id = u.id
    ),
    array(
        select row(f.id, f.created_at, f.updated_at, f.status, f.friendly_name, f.factor_type, f.phone, f.last_challenged_at)
        from auth.mfa_factors f
        where f.user_id = u.id
    )`

// userByID selects an account by $1.
const userByID = `
select` + userColumns + `
from auth.users u
where u.id = $1`

// user reads userColumns.
func (r *row) user() *User {
	u := &User{
		ID: r.id(), Audience: r.text(), Role: r.text(), Email: r.text(), Phone: r.text(),
		EmailConfirmedAt: r.time(), PhoneConfirmedAt: r.time(), ConfirmedAt: r.time(),
		ConfirmationSentAt: r.time(), RecoverySentAt: r.time(), InvitedAt: r.time(),
		ReauthenticationSentAt: r.time(), LastSignInAt: r.time(),
		NewEmail: r.text(), EmailChangeSentAt: r.time(), NewPhone: r.text(), PhoneChangeSentAt: r.time(),
		AppMetadata: r.object(), UserMetadata: r.object(),
		CreatedAt: r.time(), UpdatedAt: r.time(), BannedUntil: r.time(), DeletedAt: r.time(),
		Anonymous: r.flag(), banned: r.flag(), passwordHash: Secret(r.text()),
	}
	r.records(func(r *row) {
		u.Identities = append(u.Identities, Identity{
			ID: r.id(), ProviderID: r.text(), UserID: r.id(), Data: r.object(), Provider: r.text(),
			LastSignInAt: r.time(), CreatedAt: r.time(), UpdatedAt: r.time(), Email: r.text(),
		})
	})
	r.records(func(r *row) {
		u.Factors = append(u.Factors, Factor{
			ID: r.id(), CreatedAt: r.time(), UpdatedAt: r.time(), Status: r.text(),
			FriendlyName: r.text(), Type: r.text(), Phone: r.text(), LastChallengedAt: r.time(),
		})
	})
	// The database sorts a list of one as slowly as it begins to sort at all.
	slices.SortFunc(u.Identities, func(a, b Identity) int { return older(a.CreatedAt, b.CreatedAt, a.ID, b.ID) })
	slices.SortFunc(u.Factors, func(a, b Factor) int { return older(a.CreatedAt, b.CreatedAt, a.ID, b.ID) })
	return u
}

// older orders by time, those without one last, then by id.
func older(a, b *time.Time, idA, idB uuid.UUID) int {
	switch {
	case a != nil && b != nil && !a.Equal(*b):
		return a.Compare(*b)
	case (a == nil) != (b == nil):
		if a == nil {
			return 1
		}
		return -1
	}
	return bytes.Compare(idA[:], idB[:])
}

// scanUser reads a row of userColumns alone.
func scanUser(from pgx.Row) (*User, error) {
	var u *User
	if err := from.Scan(reader(func(r *row) { u = r.user() })); err != nil {
		return nil, err
	}
	return u, nil
}
