// Package imports brings accounts of other systems, with their password hashes, into a project's database.
package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/password"
)

// Account is a row of auth.users as it is to be written. Times are texts that PostgreSQL reads.
type Account struct {
	ID                uuid.UUID       `json:"id"`
	InstanceID        uuid.UUID       `json:"instance_id"`
	Audience          string          `json:"aud"`
	Role              string          `json:"role"`
	Email             *string         `json:"email"`
	PasswordHash      *string         `json:"encrypted_password"`
	EmailConfirmedAt  *string         `json:"email_confirmed_at"`
	InvitedAt         *string         `json:"invited_at"`
	ConfirmationToken string          `json:"confirmation_token"`
	RecoveryToken     string          `json:"recovery_token"`
	EmailChangeToken  string          `json:"email_change_token_new"`
	EmailChange       string          `json:"email_change"`
	LastSignInAt      *string         `json:"last_sign_in_at"`
	AppMetadata       json.RawMessage `json:"raw_app_meta_data"`
	UserMetadata      json.RawMessage `json:"raw_user_meta_data"`
	CreatedAt         string          `json:"created_at"`
	UpdatedAt         string          `json:"updated_at"`
	Phone             *string         `json:"phone"`
	PhoneConfirmedAt  *string         `json:"phone_confirmed_at"`
	BannedUntil       *string         `json:"banned_until"`
	SSO               bool            `json:"is_sso_user"`
	Anonymous         bool            `json:"is_anonymous"`

	// Identities are the ways in that come with the account.
	Identities []Identity `json:"-"`
	// Own is set when its address and its number are to become identities too.
	Own bool `json:"-"`
	// App and User are the members of the metadata, when those are not given as texts.
	App, User map[string]any `json:"-"`
}

// Identity is a row of auth.identities.
type Identity struct {
	ID           *uuid.UUID      `json:"id"`
	ProviderID   string          `json:"provider_id"`
	UserID       uuid.UUID       `json:"user_id"`
	Data         json.RawMessage `json:"identity_data"`
	Provider     string          `json:"provider"`
	LastSignInAt *string         `json:"last_sign_in_at"`
	CreatedAt    *string         `json:"created_at"`
	UpdatedAt    *string         `json:"updated_at"`
}

// row is what a source has found at a place of its file: an account, or what belongs to one that came before, or why it
// is neither.
type row struct {
	// place names the row for a person: where it stands and whose it is.
	place   string
	account *Account
	// table and values are a row of another table of schema auth.
	table  string
	values json.RawMessage
	// refused is why the row cannot be taken.
	refused string
}

// Source is a file with accounts.
type Source interface {
	// each gives the file's rows in turn until one of the two functions fails. Progress is told in units of which there
	// are total.
	each(ctx context.Context, progress func(done, total int64), take func(row) error) error
}

// A FileError is a file that is not what it should be, or lacks what is needed to read it. Nothing, or not all, has been
// imported.
type FileError struct{ Reason string }

func (e *FileError) Error() string { return e.Reason }

func wrong(format string, args ...any) error { return &FileError{fmt.Sprintf(format, args...)} }

const (
	audience      = "authenticated"
	roleOfUsers   = "authenticated"
	providerEmail = "email"
	providerPhone = "phone"
)

// complete checks an account and gives its values the form in which they are kept. It gives the reason of a refusal.
func (a *Account) complete(confirm bool) string {
	if a.ID == uuid.Nil {
		return "it has no id"
	}
	if a.Email != nil {
		email, err := auth.NormalizeEmail(*a.Email)
		if err != nil {
			return "its e-mail address is not valid"
		}
		switch {
		case !auth.SameMailbox(*a.Email, email):
			// It was somebody's who may be another one than who reads what is sent to this spelling.
			a.EmailConfirmedAt, a.PasswordHash = nil, nil
		case confirm && a.EmailConfirmedAt == nil:
			a.EmailConfirmedAt = &a.CreatedAt
		}
		a.Email = &email
	}
	if a.Phone != nil {
		phone, ok := digits(*a.Phone)
		if !ok {
			return "its phone number is not valid"
		}
		a.Phone = &phone
	}
	if a.Own {
		if err := a.addOwnIdentities(); err != nil {
			return err.Error()
		}
	}
	if a.App != nil {
		if err := a.describe(); err != nil {
			return err.Error()
		}
	}
	if a.Email == nil && a.Phone == nil && !a.Anonymous && len(a.Identities) == 0 {
		return "it has neither an e-mail address nor a phone number, and no provider by which its owner could sign in"
	}
	if a.PasswordHash != nil {
		if err := password.Check(*a.PasswordHash); err != nil {
			return err.Error()
		}
	}
	if err := auth.CheckMetadata(a.AppMetadata, a.UserMetadata); err != nil {
		return err.Error()
	}
	a.Audience, a.Role = orElse(a.Audience, audience), orElse(a.Role, roleOfUsers)
	if user := (&auth.Principal{Role: a.Role}); user.Administers() {
		return "its role " + a.Role + " may do everything here: give it another one in the file, and this one by the admin API if it is to have it"
	}
	for i := range a.Identities {
		a.Identities[i].UserID = a.ID
		if err := auth.CheckIdentity(a.Identities[i].Data); err != nil {
			return err.Error()
		}
	}
	return ""
}

// digits gives a phone number in E.164 without its plus sign, as it is kept.
func digits(text string) (string, bool) {
	phone := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "", ".", "").Replace(text)
	outside := strings.ContainsFunc(phone, func(r rune) bool { return r < '0' || r > '9' })
	return phone, !outside && len(phone) >= 6 && len(phone) <= 15
}

// addOwnIdentities gives an account the identities that its address and its number are.
func (a *Account) addOwnIdentities() error {
	others := len(a.Identities)
	for _, own := range []struct {
		provider string
		value    *string
		verified bool
	}{
		{providerEmail, a.Email, a.EmailConfirmedAt != nil},
		{providerPhone, a.Phone, a.PhoneConfirmedAt != nil},
	} {
		if own.value == nil {
			continue
		}
		data, err := json.Marshal(map[string]any{
			"sub": a.ID, own.provider: *own.value, own.provider + "_verified": own.verified,
		})
		if err != nil {
			return err
		}
		a.addIdentity(own.provider, a.ID.String(), data)
	}
	a.Identities = slices.Concat(a.Identities[others:], a.Identities[:others]) // the first is the account's provider
	return nil
}

func (a *Account) addIdentity(provider, id string, data json.RawMessage) {
	a.Identities = append(a.Identities, Identity{
		ProviderID: id, Provider: provider, Data: data,
		LastSignInAt: a.LastSignInAt, CreatedAt: &a.CreatedAt, UpdatedAt: &a.CreatedAt,
	})
}

// describe writes the metadata: what tokens say of the account's providers beside what is given.
func (a *Account) describe() error {
	providers := []string{}
	for _, identity := range a.Identities {
		if !slices.Contains(providers, identity.Provider) {
			providers = append(providers, identity.Provider)
		}
	}
	all := maps.Clone(a.App)
	if len(providers) > 0 {
		all["provider"], all["providers"] = providers[0], providers
	}
	var err error
	if a.AppMetadata, err = json.Marshal(all); err != nil {
		return err
	}
	a.UserMetadata, err = json.Marshal(a.User)
	return err
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func pointer(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// derivedID gives an account of a system without UUIDs one that is always the same: UUID version 5 (RFC 9562 §5.5) of
// the name `system:id` in the namespace of URLs.
func derivedID(system, id string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(system+":"+id))
}
