package accounts

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) passkeyRoutes() routes {
	return routes{
		"/passkeys/authentication/options":   {http.MethodPost: f.human(f.passkeySignInOptions)},
		"/passkeys/authentication/verify":    {http.MethodPost: f.passkeySignIn},
		"/passkeys/registration/options":     {http.MethodPost: f.passkeyRegistrationOptions},
		"/passkeys/registration/verify":      {http.MethodPost: f.passkeyRegistration},
		"/passkeys":                          {http.MethodGet: f.listPasskeys},
		"/passkeys/:passkey":                 {http.MethodPatch: f.renamePasskey, http.MethodDelete: f.deletePasskey},
		"/admin/users/:id/passkeys":          {http.MethodGet: f.admin(f.adminListPasskeys)},
		"/admin/users/:id/passkeys/:passkey": {http.MethodDelete: f.admin(f.adminDeletePasskey)},
	}
}

// passkeyChallengeBody holds the options as browsers read them (WebAuthn §5.1, PublicKeyCredential.parse…FromJSON).
type passkeyChallengeBody[T any] struct {
	ChallengeID uuid.UUID `json:"challenge_id"`
	Options     *T        `json:"options"`
	ExpiresAt   int64     `json:"expires_at"`
}

func passkeyChallenge[T any](c echo.Context, challenge *auth.PasskeyChallenge[T]) error {
	return c.JSON(http.StatusOK, passkeyChallengeBody[T]{
		ChallengeID: challenge.ID, Options: challenge.Options, ExpiresAt: challenge.ExpiresAt.Unix(),
	})
}

// passkeyAnswer reads what an authenticator answers to a challenge.
func passkeyAnswer(c echo.Context) (challenge uuid.UUID, credential json.RawMessage, err error) {
	var in struct {
		ChallengeID string          `json:"challenge_id"`
		Credential  json.RawMessage `json:"credential"`
	}
	if err := read(c, &in); err != nil {
		return uuid.Nil, nil, err
	}
	if in.ChallengeID == "" {
		return uuid.Nil, nil, invalid("challenge_id is required")
	}
	if len(in.Credential) == 0 || string(in.Credential) == "null" {
		return uuid.Nil, nil, invalid("credential is required")
	}
	challenge, err = uuid.Parse(in.ChallengeID)
	if err != nil || len(in.ChallengeID) != 36 {
		return uuid.Nil, nil, invalid("challenge_id must be a valid UUID")
	}
	return challenge, in.Credential, nil
}

func invalid(message string) error {
	return &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: message}
}

// passkeySignInOptions answers POST /passkeys/authentication/options.
func (f *face) passkeySignInOptions(c echo.Context) error {
	challenge, err := f.service.BeginPasskeySignIn(c.Request().Context(), f.caller(c))
	if err != nil {
		return err
	}
	return passkeyChallenge(c, challenge)
}

// passkeySignIn answers POST /passkeys/authentication/verify: a session.
func (f *face) passkeySignIn(c echo.Context) error {
	challenge, credential, err := passkeyAnswer(c)
	if err != nil {
		return err
	}
	session, err := f.service.FinishPasskeySignIn(c.Request().Context(), f.caller(c), challenge, credential)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionBody(session))
}

// passkeyRegistrationOptions answers POST /passkeys/registration/options.
func (f *face) passkeyRegistrationOptions(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	challenge, err := f.service.BeginPasskeyRegistration(c.Request().Context(), f.caller(c), p)
	if err != nil {
		return err
	}
	return passkeyChallenge(c, challenge)
}

// passkeyRegistration answers POST /passkeys/registration/verify: the new passkey.
func (f *face) passkeyRegistration(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	challenge, credential, err := passkeyAnswer(c)
	if err != nil {
		return err
	}
	key, err := f.service.FinishPasskeyRegistration(c.Request().Context(), f.caller(c), p, challenge, credential)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newPasskeyBody(*key))
}

type passkeyBody struct {
	ID           uuid.UUID  `json:"id"`
	FriendlyName string     `json:"friendly_name,omitempty"`
	CreatedAt    time.Time  `json:"created_at"`
	LastUsedAt   *time.Time `json:"last_used_at,omitempty"`
}

func newPasskeyBody(key auth.Passkey) passkeyBody {
	body := passkeyBody{ID: key.ID, FriendlyName: key.FriendlyName, CreatedAt: key.CreatedAt.UTC()}
	if key.LastUsedAt != nil {
		at := key.LastUsedAt.UTC()
		body.LastUsedAt = &at
	}
	return body
}

func passkeyList(c echo.Context, keys []auth.Passkey) error {
	list := make([]passkeyBody, len(keys))
	for i, key := range keys {
		list[i] = newPasskeyBody(key)
	}
	return c.JSON(http.StatusOK, list)
}

// listPasskeys answers GET /passkeys.
func (f *face) listPasskeys(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	keys, err := f.service.Passkeys(c.Request().Context(), p)
	if err != nil {
		return err
	}
	return passkeyList(c, keys)
}

// passkeyID is the passkey in the path; what cannot be one is not found.
func passkeyID(c echo.Context) (uuid.UUID, error) {
	text := c.Param("passkey")
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, &problem{status: http.StatusNotFound, code: auth.CodeValidationFailed, message: "Passkey not found"}
	}
	return id, nil
}

// renamePasskey answers PATCH /passkeys/{id}.
func (f *face) renamePasskey(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	id, err := passkeyID(c)
	if err != nil {
		return err
	}
	var in struct {
		FriendlyName string `json:"friendly_name"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	key, err := f.service.RenamePasskey(c.Request().Context(), f.caller(c), p, id, in.FriendlyName)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newPasskeyBody(*key))
}

// deletePasskey answers DELETE /passkeys/{id}.
func (f *face) deletePasskey(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	id, err := passkeyID(c)
	if err != nil {
		return err
	}
	if err := f.service.DeletePasskey(c.Request().Context(), f.caller(c), p, id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// adminListPasskeys answers GET /admin/users/{id}/passkeys.
func (f *face) adminListPasskeys(c echo.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	keys, err := f.service.AdminPasskeys(c.Request().Context(), user)
	if err != nil {
		return err
	}
	return passkeyList(c, keys)
}

// adminDeletePasskey answers DELETE /admin/users/{id}/passkeys/{passkey_id}.
func (f *face) adminDeletePasskey(c echo.Context) error {
	user, err := userID(c)
	if err != nil {
		return err
	}
	id, err := passkeyID(c)
	if err != nil {
		return err
	}
	if err := f.service.AdminDeletePasskey(c.Request().Context(), f.caller(c), user, id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
