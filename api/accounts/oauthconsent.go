package accounts

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// oauthConsentRoutes are what the site's page of consent calls for its user.
func (f *face) oauthConsentRoutes() routes {
	return routes{
		"/oauth/authorizations/:authorization":         {http.MethodGet: f.providing(f.ownOrigin(f.getAuthorization))},
		"/oauth/authorizations/:authorization/consent": {http.MethodPost: f.providing(f.ownOrigin(f.consent))},
		"/user/oauth/grants": {
			http.MethodGet:    f.providing(f.listGrants),
			http.MethodDelete: f.providing(f.revokeGrant),
		},
	}
}

// ownOrigin refuses scripts of other sites: a stolen token alone must not give consent from anywhere.
func (f *face) ownOrigin(h handler) handler {
	return func(c echo.Context) error {
		if origin := c.Request().Header.Get("Origin"); origin != "" && !f.service.OriginAllowed(origin) {
			return &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: "unauthorized request origin"}
		}
		return h(c)
	}
}

// getAuthorization answers GET /oauth/authorizations/{authorization}: what is asked for, or where to go on when that was
// granted before.
func (f *face) getAuthorization(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	a, err := f.service.ReadAuthorization(c.Request().Context(), f.caller(c), p, authorizationID(c))
	if err != nil {
		return err
	}
	if a.Answer != "" {
		return redirectBody(c, a.Answer)
	}
	s := make(shape, 0, 512)
	s.open()
	s.text("authorization_id", a.ID)
	s.text("redirect_uri", a.RedirectURI)
	s.name("client")
	s.client(a.Client)
	s.name("user")
	s.open()
	s.id("id", a.User.ID)
	s.text("email", a.User.Email)
	s.close()
	s.text("scope", a.Scope)
	s.close()
	return c.JSONBlob(http.StatusOK, s)
}

// consent answers POST /oauth/authorizations/{authorization}/consent.
func (f *face) consent(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	var in struct {
		Action string `json:"action"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	if in.Action != "approve" && in.Action != "deny" {
		return &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: "action must be 'approve' or 'deny'"}
	}
	to, err := f.service.DecideAuthorization(c.Request().Context(), f.caller(c), p, authorizationID(c), in.Action == "approve")
	if err != nil {
		return err
	}
	return redirectBody(c, to)
}

// authorizationID is the name in the path; what no name can have in it is nobody's.
func authorizationID(c echo.Context) string {
	id := c.Param("authorization")
	for _, r := range id {
		if r < ' ' || r > '~' {
			return "-"
		}
	}
	return id
}

func redirectBody(c echo.Context, to string) error {
	s := make(shape, 0, 64+len(to))
	s.open()
	s.text("redirect_url", to)
	s.close()
	return c.JSONBlob(http.StatusOK, s)
}

// listGrants answers GET /user/oauth/grants.
func (f *face) listGrants(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	grants, err := f.service.Grants(c.Request().Context(), p)
	if err != nil {
		return err
	}
	s := append(make(shape, 0, 16+384*len(grants)), '[')
	for i, grant := range grants {
		if i > 0 {
			s = append(s, ',')
		}
		s.open()
		s.name("client")
		s.client(grant.Client)
		s.texts("scopes", grant.Scopes)
		s.instant("granted_at", grant.GrantedAt)
		s.close()
	}
	return c.JSONBlob(http.StatusOK, append(s, ']'))
}

// revokeGrant answers DELETE /user/oauth/grants?client_id=….
func (f *face) revokeGrant(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	client, err := readClientID(c.QueryParam("client_id"))
	if err != nil {
		return err
	}
	if err := f.service.RevokeGrant(c.Request().Context(), f.caller(c), p, client); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// client is what a user is shown of a client.
func (s *shape) client(client *auth.OAuthClient) {
	s.open()
	s.id("id", client.ID)
	s.textIf("name", client.Name)
	s.textIf("uri", client.URI)
	s.textIf("logo_uri", client.LogoURI)
	s.close()
}
