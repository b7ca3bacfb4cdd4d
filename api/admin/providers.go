package admin

import (
	"errors"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/provider"
)

// providers puts the routes of the servers that sign users in on the group.
func (o *Options) providers(g *echo.Group) {
	o.brief(g, "GET", "/providers", owner, o.listProviders)
	o.brief(g, "POST", "/providers/discover", owner, elevated(o.discoverProvider))
	o.brief(g, "POST", "/providers/custom", owner, elevated(o.createCustomProvider))
	o.brief(g, "PATCH", "/providers/custom/:identifier", owner, elevated(o.changeCustomProvider))
	o.brief(g, "DELETE", "/providers/custom/:identifier", owner, elevated(o.deleteCustomProvider))
}

// ProviderBody is a built-in server, or one that flags or variables name. Its secret is not shown.
type ProviderBody struct {
	Name  string `json:"name"`
	State string `json:"state" tstype:"'on' | 'off' | 'unset'"`
	// Sources are where what is set comes from.
	Sources     []string `json:"sources"`
	ClientID    string   `json:"client_id"`
	URL         string   `json:"url"`
	RedirectURI string   `json:"redirect_uri"`
	Scopes      []string `json:"scopes"`
	// Variables are those that have to be set for it, where it is not set here.
	Variables []string `json:"variables"`
	// Stored is how it was set here, null for not. It counts at once, unless flags or variables name the server too.
	Stored *CustomProviderBody `json:"stored"`
}

// CustomProviderBody is a server that owners or the app's service key have added, without its secret.
type CustomProviderBody struct {
	Identifier          string            `json:"identifier"`
	Type                string            `json:"provider_type" tstype:"'oidc' | 'oauth2' | 'preset'"`
	Name                string            `json:"name"`
	Enabled             bool              `json:"enabled"`
	ClientID            string            `json:"client_id"`
	AcceptableClientIDs []string          `json:"acceptable_client_ids"`
	Scopes              []string          `json:"scopes"`
	PKCE                bool              `json:"pkce_enabled"`
	EmailOptional       bool              `json:"email_optional"`
	SkipNonceCheck      bool              `json:"skip_nonce_check"`
	Issuer              string            `json:"issuer"`
	DiscoveryURL        string            `json:"discovery_url"`
	AuthorizationURL    string            `json:"authorization_url"`
	TokenURL            string            `json:"token_url"`
	UserinfoURL         string            `json:"userinfo_url"`
	JWKSURI             string            `json:"jwks_uri"`
	AttributeMapping    map[string]string `json:"attribute_mapping"`
	AuthorizationParams map[string]string `json:"authorization_params"`
}

// CustomProviderChange is the body of POST /providers/custom and of PATCH /providers/custom/{identifier}. What is absent
// stays as it is; the identifier and the type are said once, of a new one.
type CustomProviderChange struct {
	Identifier          string            `json:"identifier,omitempty"`
	Type                string            `json:"provider_type,omitempty"`
	Name                *string           `json:"name,omitempty"`
	Enabled             *bool             `json:"enabled,omitempty"`
	ClientID            *string           `json:"client_id,omitempty"`
	ClientSecret        *auth.Secret      `json:"client_secret,omitempty" tstype:"string"`
	AcceptableClientIDs *[]string         `json:"acceptable_client_ids,omitempty"`
	Scopes              *[]string         `json:"scopes,omitempty"`
	PKCE                *bool             `json:"pkce_enabled,omitempty"`
	EmailOptional       *bool             `json:"email_optional,omitempty"`
	SkipNonceCheck      *bool             `json:"skip_nonce_check,omitempty"`
	Issuer              *string           `json:"issuer,omitempty"`
	DiscoveryURL        *string           `json:"discovery_url,omitempty"`
	AuthorizationURL    *string           `json:"authorization_url,omitempty"`
	TokenURL            *string           `json:"token_url,omitempty"`
	UserinfoURL         *string           `json:"userinfo_url,omitempty"`
	JWKSURI             *string           `json:"jwks_uri,omitempty"`
	AttributeMapping    map[string]string `json:"attribute_mapping,omitempty"`
	AuthorizationParams map[string]string `json:"authorization_params,omitempty"`
}

// ProvidersBody is the answer of GET /providers, and of what changes one.
type ProvidersBody struct {
	// CallbackURL is what servers are told to lead back to.
	CallbackURL string               `json:"callback_url"`
	BuiltIn     []ProviderBody       `json:"built_in"`
	Custom      []CustomProviderBody `json:"custom"`
	SAML        SAMLBody             `json:"saml"`
}

// listProviders answers GET /providers.
func (o *Options) listProviders(c echo.Context) error {
	ctx := c.Request().Context()
	body := ProvidersBody{CallbackURL: o.Accounts.ProviderCallback(), Custom: []CustomProviderBody{}}
	given, err := o.Providers()
	if err != nil {
		return err
	}
	body.BuiltIn = slices.Clone(given)
	presets, err := o.Accounts.Presets(ctx)
	if err != nil {
		return err
	}
	for _, p := range presets {
		i := slices.IndexFunc(body.BuiltIn, func(b ProviderBody) bool { return b.Name == p.Identifier })
		if i < 0 { // twitter, another name of x
			i, body.BuiltIn = len(body.BuiltIn), append(body.BuiltIn, ProviderBody{Name: p.Identifier, Variables: []string{}})
		}
		body.BuiltIn[i].setHere(p)
	}
	found, err := o.Accounts.CustomProviders(ctx, "")
	if err != nil {
		return err
	}
	for _, p := range found {
		body.Custom = append(body.Custom, customProvider(p))
	}
	if body.SAML, err = o.saml(ctx); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// setHere puts in how an owner has set the server.
func (b *ProviderBody) setHere(p *auth.CustomProvider) {
	stored := customProvider(p)
	b.Stored = &stored
	if len(b.Sources) > 0 { // flags and variables come first
		return
	}
	b.State = "off"
	if p.Enabled {
		b.State = "on"
	}
	b.Sources, b.ClientID, b.URL, b.Scopes = []string{"stored"}, p.ClientID, p.Issuer, stored.Scopes
}

func customProvider(p *auth.CustomProvider) CustomProviderBody {
	body := CustomProviderBody{
		Identifier: p.Identifier, Type: p.Type, Name: p.Name, Enabled: p.Enabled, ClientID: p.ClientID,
		AcceptableClientIDs: p.AcceptableClientIDs, Scopes: p.Scopes, PKCE: p.PKCE, EmailOptional: p.EmailOptional,
		SkipNonceCheck: p.SkipNonceCheck, Issuer: p.Issuer, DiscoveryURL: p.DiscoveryURL, AuthorizationURL: p.AuthorizationURL,
		TokenURL: p.TokenURL, UserinfoURL: p.UserinfoURL, JWKSURI: p.JWKSURI,
		AttributeMapping: p.AttributeMapping, AuthorizationParams: p.AuthorizationParams,
	}
	for _, list := range []*[]string{&body.AcceptableClientIDs, &body.Scopes} {
		if *list == nil {
			*list = []string{}
		}
	}
	for _, pairs := range []*map[string]string{&body.AttributeMapping, &body.AuthorizationParams} {
		if *pairs == nil {
			*pairs = map[string]string{}
		}
	}
	return body
}

// customState is a custom provider in the audit log.
type customState struct {
	CustomProviderBody
	// ClientSecret is "changed" when there is another now.
	ClientSecret string `json:"client_secret,omitempty"`
}

func customStateOf(p *auth.CustomProvider, change *CustomProviderChange) customState {
	state := customState{CustomProviderBody: customProvider(p)}
	if change != nil && change.ClientSecret != nil {
		state.ClientSecret = "changed"
	}
	return state
}

// provider is the change in the words of the accounts' rules.
func (in *CustomProviderChange) provider() auth.CustomProviderChange {
	return auth.CustomProviderChange{
		Type: in.Type, Identifier: in.Identifier, Name: in.Name, ClientID: in.ClientID, ClientSecret: in.ClientSecret,
		AcceptableClientIDs: in.AcceptableClientIDs, Scopes: in.Scopes, PKCE: in.PKCE, AttributeMapping: in.AttributeMapping,
		AuthorizationParams: in.AuthorizationParams, Enabled: in.Enabled, EmailOptional: in.EmailOptional, Issuer: in.Issuer,
		DiscoveryURL: in.DiscoveryURL, SkipNonceCheck: in.SkipNonceCheck, AuthorizationURL: in.AuthorizationURL, TokenURL: in.TokenURL,
		UserinfoURL: in.UserinfoURL, JWKSURI: in.JWKSURI,
	}
}

// createCustomProvider answers POST /providers/custom.
func (o *Options) createCustomProvider(c echo.Context) error {
	var in CustomProviderChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	create := o.Accounts.CreateCustomProvider
	if in.Type == auth.CustomPreset {
		create = o.Accounts.CreatePreset
	}
	_, err := create(c.Request().Context(), trustedOf(c), in.provider(), func(tx pgx.Tx, p *auth.CustomProvider) error {
		return o.audit(c, tx, administrator.Change{Action: "provider.create", Target: p.Identifier, After: customStateOf(p, nil)})
	})
	if err != nil {
		return err
	}
	return o.listProviders(c)
}

// changeCustomProvider answers PATCH /providers/custom/{identifier}.
func (o *Options) changeCustomProvider(c echo.Context) error {
	var in CustomProviderChange
	if err := readJSON(c, &in); err != nil {
		return err
	}
	ctx, identifier := c.Request().Context(), named(c, "identifier")
	before, err := o.Accounts.CustomProvider(ctx, identifier)
	if err != nil {
		return err
	}
	_, err = o.Accounts.UpdateCustomProvider(ctx, trustedOf(c), identifier, in.provider(), func(tx pgx.Tx, after *auth.CustomProvider) error {
		return o.audit(c, tx, administrator.Change{
			Action: "provider.change", Target: identifier, Before: customStateOf(before, nil), After: customStateOf(after, &in),
		})
	})
	if err != nil {
		return err
	}
	return o.listProviders(c)
}

// deleteCustomProvider answers DELETE /providers/custom/{identifier}.
func (o *Options) deleteCustomProvider(c echo.Context) error {
	ctx, identifier := c.Request().Context(), named(c, "identifier")
	err := o.Accounts.DeleteCustomProvider(ctx, trustedOf(c), identifier, func(tx pgx.Tx, before *auth.CustomProvider) error {
		return o.audit(c, tx, administrator.Change{Action: "provider.delete", Target: identifier, Before: customStateOf(before, nil)})
	})
	if err != nil {
		return err
	}
	return o.listProviders(c)
}

// ProviderDiscovery is the body of POST /providers/discover.
type ProviderDiscovery struct {
	Issuer       string `json:"issuer"`
	DiscoveryURL string `json:"discovery_url,omitempty"`
}

// DiscoveredBody is what the server of an issuer has said about itself.
type DiscoveredBody struct {
	Issuer           string   `json:"issuer"`
	AuthorizationURL string   `json:"authorization_url"`
	TokenURL         string   `json:"token_url"`
	UserinfoURL      string   `json:"userinfo_url"`
	JWKSURI          string   `json:"jwks_uri"`
	Algorithms       []string `json:"algorithms"`
}

// discoverProvider answers POST /providers/discover: whether the server of an issuer can sign users in.
func (o *Options) discoverProvider(c echo.Context) error {
	var in ProviderDiscovery
	if err := readJSON(c, &in); err != nil {
		return err
	}
	found, err := o.Accounts.DiscoverProvider(c.Request().Context(), in.Issuer, in.DiscoveryURL)
	if fault, ok := errors.AsType[*provider.Error](err); ok {
		p := refuse(http.StatusUnprocessableEntity, "discovery_failed", "The issuer does not answer as a server of OpenID Connect does")
		p.Details, p.cause = fault.Error(), fault
		return p
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, DiscoveredBody{found.Issuer, found.Authorization, found.Token, found.Userinfo, found.JWKS, found.Algorithms})
}
