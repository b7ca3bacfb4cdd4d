package accounts

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// customProviderRoutes let administrators add servers that sign users in.
func (f *face) customProviderRoutes() routes {
	return routes{
		"/admin/custom-providers": {
			http.MethodGet:  f.admin(f.listCustomProviders),
			http.MethodPost: f.admin(f.createCustomProvider),
		},
		"/admin/custom-providers/:identifier": {
			http.MethodGet:    f.admin(f.getCustomProvider),
			http.MethodPut:    f.admin(f.putCustomProvider),
			http.MethodDelete: f.admin(f.deleteCustomProvider),
		},
	}
}

type customProviderRequest struct {
	Type                string            `json:"provider_type"`
	Identifier          string            `json:"identifier"`
	Name                *string           `json:"name"`
	ClientID            *string           `json:"client_id"`
	ClientSecret        *string           `json:"client_secret"`
	AcceptableClientIDs *[]string         `json:"acceptable_client_ids"`
	Scopes              *[]string         `json:"scopes"`
	PKCE                *bool             `json:"pkce_enabled"`
	AttributeMapping    map[string]string `json:"attribute_mapping"`
	AuthorizationParams map[string]string `json:"authorization_params"`
	Enabled             *bool             `json:"enabled"`
	EmailOptional       *bool             `json:"email_optional"`
	Issuer              *string           `json:"issuer"`
	DiscoveryURL        *string           `json:"discovery_url"`
	SkipNonceCheck      *bool             `json:"skip_nonce_check"`
	AuthorizationURL    *string           `json:"authorization_url"`
	TokenURL            *string           `json:"token_url"`
	UserinfoURL         *string           `json:"userinfo_url"`
	JWKSURI             *string           `json:"jwks_uri"`
}

func readCustomProvider(c echo.Context) (auth.CustomProviderChange, error) {
	var in customProviderRequest
	err := read(c, &in)
	var secret *auth.Secret
	if in.ClientSecret != nil && *in.ClientSecret != "" {
		text := auth.Secret(*in.ClientSecret)
		secret = &text
	}
	return auth.CustomProviderChange{
		Type: in.Type, Identifier: in.Identifier, Name: in.Name, ClientID: in.ClientID, ClientSecret: secret,
		AcceptableClientIDs: in.AcceptableClientIDs, Scopes: in.Scopes, PKCE: in.PKCE, AttributeMapping: in.AttributeMapping,
		AuthorizationParams: in.AuthorizationParams, Enabled: in.Enabled, EmailOptional: in.EmailOptional, Issuer: in.Issuer,
		DiscoveryURL: in.DiscoveryURL, SkipNonceCheck: in.SkipNonceCheck, AuthorizationURL: in.AuthorizationURL, TokenURL: in.TokenURL,
		UserinfoURL: in.UserinfoURL, JWKSURI: in.JWKSURI,
	}, err
}

// customProviderBody is a custom provider without its secret.
type customProviderBody struct {
	ID                  uuid.UUID         `json:"id"`
	Type                string            `json:"provider_type"`
	Identifier          string            `json:"identifier"`
	Name                string            `json:"name"`
	ClientID            string            `json:"client_id"`
	AcceptableClientIDs []string          `json:"acceptable_client_ids"`
	Scopes              []string          `json:"scopes"`
	PKCE                bool              `json:"pkce_enabled"`
	AttributeMapping    map[string]string `json:"attribute_mapping"`
	AuthorizationParams map[string]string `json:"authorization_params"`
	Enabled             bool              `json:"enabled"`
	EmailOptional       bool              `json:"email_optional"`
	Issuer              string            `json:"issuer,omitempty"`
	DiscoveryURL        string            `json:"discovery_url,omitempty"`
	SkipNonceCheck      bool              `json:"skip_nonce_check"`
	AuthorizationURL    string            `json:"authorization_url,omitempty"`
	TokenURL            string            `json:"token_url,omitempty"`
	UserinfoURL         string            `json:"userinfo_url,omitempty"`
	JWKSURI             string            `json:"jwks_uri,omitempty"`
	CreatedAt           time.Time         `json:"created_at"`
	UpdatedAt           time.Time         `json:"updated_at"`
}

// MarshalJSON writes lists and objects that are empty as such.
func (b customProviderBody) MarshalJSON() ([]byte, error) {
	type plain customProviderBody
	for _, list := range []*[]string{&b.AcceptableClientIDs, &b.Scopes} {
		if *list == nil {
			*list = []string{}
		}
	}
	for _, object := range []*map[string]string{&b.AttributeMapping, &b.AuthorizationParams} {
		if *object == nil {
			*object = map[string]string{}
		}
	}
	return json.Marshal(plain(b))
}

func newCustomProviderBody(p *auth.CustomProvider) customProviderBody {
	return customProviderBody{
		ID: p.ID, Type: p.Type, Identifier: p.Identifier, Name: p.Name, ClientID: p.ClientID, AcceptableClientIDs: p.AcceptableClientIDs,
		Scopes: p.Scopes, PKCE: p.PKCE, AttributeMapping: p.AttributeMapping, AuthorizationParams: p.AuthorizationParams,
		Enabled: p.Enabled, EmailOptional: p.EmailOptional, Issuer: p.Issuer, DiscoveryURL: p.DiscoveryURL, SkipNonceCheck: p.SkipNonceCheck,
		AuthorizationURL: p.AuthorizationURL, TokenURL: p.TokenURL, UserinfoURL: p.UserinfoURL, JWKSURI: p.JWKSURI,
		CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
}

// listCustomProviders answers GET /admin/custom-providers, with type= of one type.
func (f *face) listCustomProviders(c echo.Context) error {
	found, err := f.service.CustomProviders(c.Request().Context(), c.QueryParam("type"))
	if err != nil {
		return err
	}
	bodies := make([]customProviderBody, len(found))
	for i, p := range found {
		bodies[i] = newCustomProviderBody(p)
	}
	return c.JSON(http.StatusOK, map[string][]customProviderBody{"providers": bodies})
}

// createCustomProvider answers POST /admin/custom-providers.
func (f *face) createCustomProvider(c echo.Context) error {
	in, err := readCustomProvider(c)
	if err != nil {
		return err
	}
	p, err := f.service.CreateCustomProvider(c.Request().Context(), f.caller(c), in, nil)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, newCustomProviderBody(p))
}

// getCustomProvider answers GET /admin/custom-providers/{identifier}.
func (f *face) getCustomProvider(c echo.Context) error {
	p, err := f.service.CustomProvider(c.Request().Context(), identifier(c))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newCustomProviderBody(p))
}

// putCustomProvider answers PUT /admin/custom-providers/{identifier}: what is not named stays.
func (f *face) putCustomProvider(c echo.Context) error {
	in, err := readCustomProvider(c)
	if err != nil {
		return err
	}
	p, err := f.service.UpdateCustomProvider(c.Request().Context(), f.caller(c), identifier(c), in, nil)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newCustomProviderBody(p))
}

// deleteCustomProvider answers DELETE /admin/custom-providers/{identifier}.
func (f *face) deleteCustomProvider(c echo.Context) error {
	if err := f.service.DeleteCustomProvider(c.Request().Context(), f.caller(c), identifier(c), nil); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// identifier is the provider's name in the path, whose colon clients write as %3A; empty for a built-in one, which is
// the dashboard's to change.
func identifier(c echo.Context) string {
	name, err := url.PathUnescape(c.Param("identifier"))
	if err != nil || !strings.HasPrefix(name, "custom:") {
		return ""
	}
	return name
}
