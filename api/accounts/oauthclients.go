package accounts

import (
	"errors"
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// oauthClientRoutes are how administrators keep the clients of the OAuth server.
func (f *face) oauthClientRoutes() routes {
	return routes{
		"/admin/oauth/clients": {
			http.MethodGet:  f.providing(f.admin(f.listOAuthClients)),
			http.MethodPost: f.providing(f.admin(f.createOAuthClient)),
		},
		"/admin/oauth/clients/:client": {
			http.MethodGet:    f.providing(f.admin(f.getOAuthClient)),
			http.MethodPut:    f.providing(f.admin(f.putOAuthClient)),
			http.MethodDelete: f.providing(f.admin(f.deleteOAuthClient)),
		},
		"/admin/oauth/clients/:client/regenerate_secret": {http.MethodPost: f.providing(f.admin(f.renewOAuthSecret))},
	}
}

// clientRequest is RFC 7591's client metadata (§2), with what Supabase adds.
type clientRequest struct {
	Name       *string   `json:"client_name"`
	URI        *string   `json:"client_uri"`
	LogoURI    *string   `json:"logo_uri"`
	Redirects  *[]string `json:"redirect_uris"`
	Grants     *[]string `json:"grant_types"`
	AuthMethod *string   `json:"token_endpoint_auth_method"`
	Type       *string   `json:"client_type"`
}

func (in clientRequest) change() auth.ClientChange {
	return auth.ClientChange{
		Name: in.Name, URI: in.URI, LogoURI: in.LogoURI, Redirects: in.Redirects, Grants: in.Grants, AuthMethod: in.AuthMethod, Type: in.Type,
	}
}

// listOAuthClients answers GET /admin/oauth/clients?page=&per_page=.
func (f *face) listOAuthClients(c echo.Context) error {
	p, err := pageOf(c)
	if err != nil {
		return err
	}
	found, total, err := f.service.OAuthClients(c.Request().Context(), p.number, p.size)
	if err != nil {
		return err
	}
	p.describe(c, total)
	s := make(shape, 0, 64+768*len(found))
	s.open()
	s.list("clients", len(found), func(i int) { s.oauthClient(found[i], "") })
	s.text("aud", "authenticated")
	s.close()
	return c.JSONBlob(http.StatusOK, s)
}

// createOAuthClient answers POST /admin/oauth/clients.
func (f *face) createOAuthClient(c echo.Context) error {
	var in clientRequest
	if err := read(c, &in); err != nil {
		return err
	}
	client, secret, err := f.service.RegisterOAuthClient(c.Request().Context(), f.caller(c), in.change(), false)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusCreated, oauthClientBody(client, secret))
}

// oauthRegister answers POST /oauth/clients/register (RFC 7591 §3).
func (f *face) oauthRegister(c echo.Context) error {
	if !f.service.OAuthServer().Registration {
		return &problem{status: http.StatusForbidden, code: auth.CodeOAuthRegistrationDisabled, message: "Dynamic client registration is not enabled"}
	}
	var in clientRequest
	if err := read(c, &in); err != nil {
		return err
	}
	client, secret, err := f.service.RegisterOAuthClient(c.Request().Context(), f.caller(c), in.change(), true)
	var refusal *auth.Error
	if errors.As(err, &refusal) && refusal.Code == auth.CodeValidationFailed {
		return &auth.OAuthError{Code: "invalid_client_metadata", Description: refusal.Message}
	}
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusCreated, oauthClientBody(client, secret))
}

// getOAuthClient answers GET /admin/oauth/clients/{client}.
func (f *face) getOAuthClient(c echo.Context) error {
	id, err := clientID(c)
	if err != nil {
		return err
	}
	client, err := f.service.OAuthClient(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, oauthClientBody(client, ""))
}

// putOAuthClient answers PUT /admin/oauth/clients/{client}.
func (f *face) putOAuthClient(c echo.Context) error {
	id, err := clientID(c)
	if err != nil {
		return err
	}
	var in clientRequest
	if err := read(c, &in); err != nil {
		return err
	}
	client, err := f.service.UpdateOAuthClient(c.Request().Context(), f.caller(c), id, in.change())
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, oauthClientBody(client, ""))
}

// deleteOAuthClient answers DELETE /admin/oauth/clients/{client}.
func (f *face) deleteOAuthClient(c echo.Context) error {
	id, err := clientID(c)
	if err != nil {
		return err
	}
	if err := f.service.DeleteOAuthClient(c.Request().Context(), f.caller(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// renewOAuthSecret answers POST /admin/oauth/clients/{client}/regenerate_secret.
func (f *face) renewOAuthSecret(c echo.Context) error {
	id, err := clientID(c)
	if err != nil {
		return err
	}
	client, secret, err := f.service.RenewClientSecret(c.Request().Context(), f.caller(c), id)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, oauthClientBody(client, secret))
}

func clientID(c echo.Context) (uuid.UUID, error) { return readClientID(c.Param("client")) }

func readClientID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: "invalid client_id format"}
	}
	return id, nil
}

func oauthClientBody(client *auth.OAuthClient, secret auth.Secret) []byte {
	s := make(shape, 0, 768)
	s.open()
	s.oauthClient(client, secret)
	s.close()
	return s
}

func (s *shape) oauthClient(client *auth.OAuthClient, secret auth.Secret) {
	s.id("client_id", client.ID)
	if secret != "" {
		s.text("client_secret", secret.Reveal())
		s.number("client_secret_expires_at", 0) // never (RFC 7591 §3.2.1)
	}
	kind, registration := "confidential", "manual"
	if client.Public() {
		kind = "public"
	}
	if client.Dynamic {
		registration = "dynamic"
	}
	s.text("client_type", kind)
	s.texts("redirect_uris", client.Redirects)
	s.text("token_endpoint_auth_method", client.AuthMethod)
	s.texts("grant_types", client.Grants)
	s.texts("response_types", []string{"code"})
	s.textIf("client_name", client.Name)
	s.textIf("client_uri", client.URI)
	s.textIf("logo_uri", client.LogoURI)
	s.text("registration_type", registration)
	s.instant("created_at", client.CreatedAt)
	s.instant("updated_at", client.UpdatedAt)
}
