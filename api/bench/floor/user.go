package floor

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// user is a row of auth.users as somebody would read and answer it who checks nothing.
type user struct {
	ID                     string          `json:"id"`
	Audience               *string         `json:"aud"`
	Role                   *string         `json:"role"`
	Email                  *string         `json:"email"`
	Phone                  *string         `json:"phone"`
	EmailConfirmedAt       *time.Time      `json:"email_confirmed_at,omitempty"`
	PhoneConfirmedAt       *time.Time      `json:"phone_confirmed_at,omitempty"`
	ConfirmedAt            *time.Time      `json:"confirmed_at,omitempty"`
	ConfirmationSentAt     *time.Time      `json:"confirmation_sent_at,omitempty"`
	RecoverySentAt         *time.Time      `json:"recovery_sent_at,omitempty"`
	InvitedAt              *time.Time      `json:"invited_at,omitempty"`
	ReauthenticationSentAt *time.Time      `json:"reauthentication_sent_at,omitempty"`
	LastSignInAt           *time.Time      `json:"last_sign_in_at,omitempty"`
	EmailChange            *string         `json:"new_email,omitempty"`
	EmailChangeSentAt      *time.Time      `json:"email_change_sent_at,omitempty"`
	PhoneChange            *string         `json:"new_phone,omitempty"`
	PhoneChangeSentAt      *time.Time      `json:"phone_change_sent_at,omitempty"`
	AppMetadata            json.RawMessage `json:"app_metadata"`
	UserMetadata           json.RawMessage `json:"user_metadata"`
	CreatedAt              *time.Time      `json:"created_at"`
	UpdatedAt              *time.Time      `json:"updated_at"`
	BannedUntil            *time.Time      `json:"banned_until,omitempty"`
	DeletedAt              *time.Time      `json:"deleted_at,omitempty"`
	Anonymous              bool            `json:"is_anonymous"`
}

const userSQL = `
select id::text, aud, role, email, phone, email_confirmed_at, phone_confirmed_at, confirmed_at,
    confirmation_sent_at, recovery_sent_at, invited_at, reauthentication_sent_at, last_sign_in_at,
    email_change, email_change_sent_at, phone_change, phone_change_sent_at,
    raw_app_meta_data, raw_user_meta_data, created_at, updated_at, banned_until, deleted_at, is_anonymous
from auth.users
where id = $1`

// User reads one user, the parameter id, by primary key through pgx.
func User(pool *pgxpool.Pool) echo.HandlerFunc {
	return func(c echo.Context) error {
		var u user
		err := pool.QueryRow(c.Request().Context(), userSQL, c.QueryParam("id")).Scan(
			&u.ID, &u.Audience, &u.Role, &u.Email, &u.Phone, &u.EmailConfirmedAt, &u.PhoneConfirmedAt, &u.ConfirmedAt,
			&u.ConfirmationSentAt, &u.RecoverySentAt, &u.InvitedAt, &u.ReauthenticationSentAt, &u.LastSignInAt,
			&u.EmailChange, &u.EmailChangeSentAt, &u.PhoneChange, &u.PhoneChangeSentAt,
			&u.AppMetadata, &u.UserMetadata, &u.CreatedAt, &u.UpdatedAt, &u.BannedUntil, &u.DeletedAt, &u.Anonymous)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, u)
	}
}

// Verifying reads who calls from the token, for the parameter id of next, as somebody would who verifies one in each
// request with the library that all use.
func Verifying(secret auth.Secret, next echo.HandlerFunc) echo.HandlerFunc {
	key := func(*jwt.Token) (any, error) { return []byte(secret.Reveal()), nil }
	return func(c echo.Context) error {
		claims := jwt.MapClaims{}
		raw := strings.TrimPrefix(c.Request().Header.Get("Authorization"), "Bearer ")
		if _, err := jwt.ParseWithClaims(raw, claims, key, jwt.WithValidMethods([]string{"HS256"}), jwt.WithAudience("authenticated")); err != nil {
			return echo.NewHTTPError(http.StatusUnauthorized, err.Error())
		}
		subject, err := claims.GetSubject()
		if err != nil {
			return echo.NewHTTPError(http.StatusUnauthorized, err.Error())
		}
		c.QueryParams().Set("id", subject)
		return next(c)
	}
}
