package auth

import (
	"encoding/json"
	"fmt"
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
	ID           uuid.UUID       `json:"id"`
	ProviderID   string          `json:"provider_id"`
	UserID       uuid.UUID       `json:"user_id"`
	Data         json.RawMessage `json:"identity_data"`
	Provider     string          `json:"provider"`
	LastSignInAt *time.Time      `json:"last_sign_in_at"`
	CreatedAt    *time.Time      `json:"created_at"`
	UpdatedAt    *time.Time      `json:"updated_at"`
	Email        string          `json:"email"`
}

// Factor is a second factor of an account, without its secret.
type Factor struct {
	ID               uuid.UUID  `json:"id"`
	CreatedAt        time.Time  `json:"created_at"`
	UpdatedAt        time.Time  `json:"updated_at"`
	Status           string     `json:"status"`
	FriendlyName     string     `json:"friendly_name"`
	Type             string     `json:"factor_type"`
	Phone            string     `json:"phone"`
	LastChallengedAt *time.Time `json:"last_challenged_at"`
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

// userColumns are the columns of an account whose row is called u, in the order of scanUser.
// A ban for ever is written as infinity in dumps, which Go has no time for.
const userColumns = `
    u.id,
    coalesce(u.aud, ''),
    coalesce(u.role, ''),
    coalesce(u.email, ''),
    coalesce(u.phone, ''),
    u.email_confirmed_at,
    u.phone_confirmed_at,
    u.confirmed_at,
    u.confirmation_sent_at,
    u.recovery_sent_at,
    u.invited_at,
    u.reauthentication_sent_at,
    u.last_sign_in_at,
    coalesce(u.email_change, ''),
    u.email_change_sent_at,
    coalesce(u.phone_change, ''),
    u.phone_change_sent_at,
    u.raw_app_meta_data,
    u.raw_user_meta_data,
    u.created_at,
    u.updated_at,
    case when u.banned_until = 'infinity' then '9999-12-31 00:00:00+00' else u.banned_until end,
    u.deleted_at,
    u.is_anonymous,
    coalesce(u.banned_until > now(), false),
    coalesce(u.encrypted_password, ''),
    (
        select json_agg(i order by i.created_at, i.id)
        from auth.identities i
        where i.user_id = u.id
    ),
    (
        select json_agg(json_build_object(
            'id', f.id,
            'created_at', f.created_at,
            'updated_at', f.updated_at,
            'status', f.status,
            'friendly_name', f.friendly_name,
            'factor_type', f.factor_type,
            'phone', f.phone,
            'last_challenged_at', f.last_challenged_at
        ) order by f.created_at, f.id)
        from auth.mfa_factors f
        where f.user_id = u.id
    )`

// userByID selects an account by $1.
const userByID = `
select` + userColumns + `
from auth.users u
where u.id = $1`

// scanUser reads a row of userColumns and of what the query selects after them. The id is
// read as bytes: a uuid.UUID would come by way of its text.
func scanUser(row pgx.Row, more ...any) (*User, error) {
	u := &User{}
	var identities, factors []byte
	var hash string
	targets := append([]any{
		(*[16]byte)(&u.ID), &u.Audience, &u.Role, &u.Email, &u.Phone,
		&u.EmailConfirmedAt, &u.PhoneConfirmedAt, &u.ConfirmedAt, &u.ConfirmationSentAt, &u.RecoverySentAt,
		&u.InvitedAt, &u.ReauthenticationSentAt, &u.LastSignInAt,
		&u.NewEmail, &u.EmailChangeSentAt, &u.NewPhone, &u.PhoneChangeSentAt,
		&u.AppMetadata, &u.UserMetadata, &u.CreatedAt, &u.UpdatedAt, &u.BannedUntil, &u.DeletedAt,
		&u.Anonymous, &u.banned, &hash, &identities, &factors,
	}, more...)
	if err := row.Scan(targets...); err != nil {
		return nil, err
	}
	u.passwordHash = Secret(hash)
	u.AppMetadata, u.UserMetadata = objectOrEmpty(u.AppMetadata), objectOrEmpty(u.UserMetadata)
	if err := unmarshalList(identities, &u.Identities); err != nil {
		return nil, fmt.Errorf("read identities: %w", err)
	}
	if err := unmarshalList(factors, &u.Factors); err != nil {
		return nil, fmt.Errorf("read factors: %w", err)
	}
	return u, nil
}

func unmarshalList[T any](text []byte, list *[]T) error {
	if len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, list)
}

// objectOrEmpty is a JSON object: rows from elsewhere may hold null there, or nothing.
func objectOrEmpty(text json.RawMessage) json.RawMessage {
	if len(text) == 0 || text[0] != '{' {
		return json.RawMessage(`{}`)
	}
	return text
}
