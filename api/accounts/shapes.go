package accounts

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"basalt/auth"
)

// instant is a time as the API writes it: UTC, microseconds. It is text already, because a
// user has a dozen of them and each would be marshalled, checked and copied on its own.
type instant string

// at writes a time; the empty text, which is left out, is none.
func at(t *time.Time) instant {
	if t == nil {
		return ""
	}
	return instant(t.UTC().Format("2006-01-02T15:04:05.000000Z"))
}

type sessionBody struct {
	AccessToken  string   `json:"access_token"`
	TokenType    string   `json:"token_type"`
	ExpiresIn    int64    `json:"expires_in"`
	ExpiresAt    int64    `json:"expires_at"`
	RefreshToken string   `json:"refresh_token"`
	User         userBody `json:"user"`
}

func newSessionBody(s *auth.Session) sessionBody {
	return sessionBody{
		AccessToken:  s.AccessToken.Reveal(),
		TokenType:    "bearer",
		ExpiresIn:    int64(s.ExpiresIn / time.Second),
		ExpiresAt:    s.ExpiresAt.Unix(),
		RefreshToken: s.RefreshToken.Reveal(),
		User:         newUserBody(s.User),
	}
}

type userBody struct {
	ID                     uuid.UUID       `json:"id"`
	Audience               string          `json:"aud"`
	Role                   string          `json:"role"`
	Email                  string          `json:"email"`
	EmailConfirmedAt       instant         `json:"email_confirmed_at,omitempty"`
	InvitedAt              instant         `json:"invited_at,omitempty"`
	Phone                  string          `json:"phone"`
	PhoneConfirmedAt       instant         `json:"phone_confirmed_at,omitempty"`
	ConfirmationSentAt     instant         `json:"confirmation_sent_at,omitempty"`
	ConfirmedAt            instant         `json:"confirmed_at,omitempty"`
	RecoverySentAt         instant         `json:"recovery_sent_at,omitempty"`
	NewEmail               string          `json:"new_email,omitempty"`
	EmailChangeSentAt      instant         `json:"email_change_sent_at,omitempty"`
	NewPhone               string          `json:"new_phone,omitempty"`
	PhoneChangeSentAt      instant         `json:"phone_change_sent_at,omitempty"`
	ReauthenticationSentAt instant         `json:"reauthentication_sent_at,omitempty"`
	LastSignInAt           instant         `json:"last_sign_in_at,omitempty"`
	AppMetadata            json.RawMessage `json:"app_metadata"`
	UserMetadata           json.RawMessage `json:"user_metadata"`
	Factors                []factorBody    `json:"factors,omitempty"`
	Identities             []identityBody  `json:"identities"`
	CreatedAt              instant         `json:"created_at"`
	UpdatedAt              instant         `json:"updated_at"`
	BannedUntil            instant         `json:"banned_until,omitempty"`
	DeletedAt              instant         `json:"deleted_at,omitempty"`
	Anonymous              bool            `json:"is_anonymous"`
}

type identityBody struct {
	IdentityID   uuid.UUID       `json:"identity_id"`
	ID           string          `json:"id"`
	UserID       uuid.UUID       `json:"user_id"`
	Data         json.RawMessage `json:"identity_data"`
	Provider     string          `json:"provider"`
	LastSignInAt instant         `json:"last_sign_in_at,omitempty"`
	CreatedAt    instant         `json:"created_at,omitempty"`
	UpdatedAt    instant         `json:"updated_at,omitempty"`
	Email        string          `json:"email,omitempty"`
}

type factorBody struct {
	ID               uuid.UUID `json:"id"`
	CreatedAt        instant   `json:"created_at"`
	UpdatedAt        instant   `json:"updated_at"`
	Status           string    `json:"status"`
	FriendlyName     string    `json:"friendly_name,omitempty"`
	Type             string    `json:"factor_type"`
	Phone            string    `json:"phone,omitempty"`
	LastChallengedAt instant   `json:"last_challenged_at,omitempty"`
}

func newUserBody(u *auth.User) userBody {
	body := userBody{
		ID: u.ID, Audience: u.Audience, Role: u.Role, Email: u.Email, Phone: u.Phone,
		EmailConfirmedAt: at(u.EmailConfirmedAt), InvitedAt: at(u.InvitedAt), PhoneConfirmedAt: at(u.PhoneConfirmedAt),
		ConfirmationSentAt: at(u.ConfirmationSentAt), ConfirmedAt: at(u.ConfirmedAt), RecoverySentAt: at(u.RecoverySentAt),
		NewEmail: u.NewEmail, EmailChangeSentAt: at(u.EmailChangeSentAt), NewPhone: u.NewPhone, PhoneChangeSentAt: at(u.PhoneChangeSentAt),
		ReauthenticationSentAt: at(u.ReauthenticationSentAt), LastSignInAt: at(u.LastSignInAt),
		AppMetadata: u.AppMetadata, UserMetadata: u.UserMetadata,
		Identities: make([]identityBody, 0, len(u.Identities)),
		CreatedAt:  at(u.CreatedAt), UpdatedAt: at(u.UpdatedAt), BannedUntil: at(u.BannedUntil), DeletedAt: at(u.DeletedAt),
		Anonymous: u.Anonymous,
	}
	for _, i := range u.Identities {
		body.Identities = append(body.Identities, identityBody{
			IdentityID: i.ID, ID: i.ProviderID, UserID: i.UserID, Data: i.Data, Provider: i.Provider,
			LastSignInAt: at(i.LastSignInAt), CreatedAt: at(i.CreatedAt), UpdatedAt: at(i.UpdatedAt), Email: i.Email,
		})
	}
	for _, factor := range u.Factors {
		body.Factors = append(body.Factors, factorBody{
			ID: factor.ID, CreatedAt: at(&factor.CreatedAt), UpdatedAt: at(&factor.UpdatedAt), Status: factor.Status,
			FriendlyName: factor.FriendlyName, Type: factor.Type, Phone: factor.Phone, LastChallengedAt: at(factor.LastChallengedAt),
		})
	}
	return body
}
