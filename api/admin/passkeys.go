package admin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
)

// passkeys puts the routes of passkeys on the group.
func (o *Options) passkeys(g *echo.Group) {
	o.open(g, "POST", "/session/passkey/options", o.beginPasskeySignIn)
	o.open(g, "POST", "/session/passkey/verify", o.finishPasskeySignIn)
	o.brief(g, "GET", "/me/passkeys", viewer, o.listPasskeys)
	o.brief(g, "POST", "/me/passkeys/options", viewer, elevated(o.beginPasskey))
	o.brief(g, "POST", "/me/passkeys/verify", viewer, elevated(o.finishPasskey))
	o.brief(g, "DELETE", "/me/passkeys/:id", viewer, elevated(o.removePasskey))
}

// origin is the one of the dashboard's pages, whose host passkeys are bound to: the public one, else the one that the
// browser has asked for. What somebody else's page asks for is no use there: its key pairs are bound to its own host.
func (o *Options) origin(c echo.Context) *url.URL {
	if o.Public {
		return o.URL
	}
	origin := &url.URL{Scheme: "http", Host: c.Request().Host}
	if o.Secure(c.Request()) {
		origin.Scheme = "https"
	}
	return origin
}

// PasskeyBody is a passkey as its owner sees it.
type PasskeyBody struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	// Domain is where the passkey works.
	Domain     string     `json:"domain"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
}

func passkeyBody(p *administrator.Passkey) PasskeyBody {
	return PasskeyBody{p.ID, p.Name, p.RelyingParty, p.CreatedAt.UTC(), p.LastUsedAt}
}

// PasskeyList is the answer of GET /me/passkeys.
type PasskeyList struct {
	Passkeys []PasskeyBody `json:"passkeys"`
}

// listPasskeys answers GET /me/passkeys.
func (o *Options) listPasskeys(c echo.Context) error {
	list, err := o.Administrators.Passkeys(c.Request().Context(), administratorOf(c).ID)
	if err != nil {
		return err
	}
	body := PasskeyList{Passkeys: make([]PasskeyBody, len(list))}
	for i := range list {
		body.Passkeys[i] = passkeyBody(&list[i])
	}
	return c.JSON(http.StatusOK, body)
}

// PasskeyCreation is the answer of POST /me/passkeys/options.
type PasskeyCreation struct {
	ChallengeID uuid.UUID                      `json:"challenge_id"`
	Options     *administrator.CreationOptions `json:"options" tstype:"PublicKeyCredentialCreationOptionsJSON"`
}

// beginPasskey answers POST /me/passkeys/options.
func (o *Options) beginPasskey(c echo.Context) error {
	challenge, err := o.Administrators.BeginPasskey(c.Request().Context(), administratorOf(c), o.origin(c))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, PasskeyCreation{challenge.ID, challenge.Options})
}

// PasskeyCreated is the body of POST /me/passkeys/verify.
type PasskeyCreated struct {
	ChallengeID uuid.UUID `json:"challenge_id"`
	Name        string    `json:"name"`
	// Credential is what the browser's PublicKeyCredential.toJSON gives.
	Credential json.RawMessage `json:"credential" tstype:"RegistrationResponseJSON"`
}

// finishPasskey answers POST /me/passkeys/verify.
func (o *Options) finishPasskey(c echo.Context) error {
	var in PasskeyCreated
	if err := readJSON(c, &in); err != nil {
		return err
	}
	key, err := o.Administrators.FinishPasskey(c.Request().Context(), callerOf(c), sessionOf(c), o.origin(c), in.ChallengeID, in.Name, in.Credential)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, passkeyBody(key))
}

// removePasskey answers DELETE /me/passkeys/{id}.
func (o *Options) removePasskey(c echo.Context) error {
	id, err := idOf(c, "a passkey")
	if err != nil {
		return err
	}
	if err := o.Administrators.RemovePasskey(c.Request().Context(), actorOf(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// PasskeyRequest is the answer of POST /session/passkey/options.
type PasskeyRequest struct {
	ChallengeID uuid.UUID                     `json:"challenge_id"`
	Options     *administrator.RequestOptions `json:"options" tstype:"PublicKeyCredentialRequestOptionsJSON"`
}

// beginPasskeySignIn answers POST /session/passkey/options.
func (o *Options) beginPasskeySignIn(c echo.Context) error {
	challenge, err := o.Administrators.BeginPasskeySignIn(c.Request().Context(), callerOf(c), o.origin(c))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, PasskeyRequest{challenge.ID, challenge.Options})
}

// PasskeyProof is the body of POST /session/passkey/verify.
type PasskeyProof struct {
	ChallengeID uuid.UUID `json:"challenge_id"`
	// Credential is what the browser's PublicKeyCredential.toJSON gives.
	Credential json.RawMessage `json:"credential" tstype:"AuthenticationResponseJSON"`
}

// finishPasskeySignIn answers POST /session/passkey/verify.
func (o *Options) finishPasskeySignIn(c echo.Context) error {
	var in PasskeyProof
	if err := readJSON(c, &in); err != nil {
		return err
	}
	opened, err := o.Administrators.FinishPasskeySignIn(c.Request().Context(), callerOf(c), o.origin(c), in.ChallengeID, in.Credential, o.token(c.Request()))
	if err != nil {
		return err
	}
	return o.welcome(c, opened)
}
