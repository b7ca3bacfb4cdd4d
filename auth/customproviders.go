package auth

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/limit"
	"basalt/auth/provider"
	"basalt/auth/seal"
)

const (
	// customPrefix begins the names of providers that administrators add.
	customPrefix = "custom:"
	// maxCustomProviders bounds how many there are.
	maxCustomProviders = 100
)

// The types of custom providers. Presets are built-in providers that an administrator has set: their names have no prefix.
const (
	CustomOIDC   = "oidc"
	CustomOAuth2 = "oauth2"
	CustomPreset = "preset"
)

const (
	customColumns = `
    id, provider_type, identifier, name, client_id, client_secret, acceptable_client_ids, scopes, pkce_enabled,
    attribute_mapping, authorization_params, enabled, email_optional, coalesce(issuer, ''), coalesce(discovery_url, ''),
    skip_nonce_check, coalesce(authorization_url, ''), coalesce(token_url, ''), coalesce(userinfo_url, ''),
    coalesce(jwks_uri, ''), created_at, updated_at`

	customByName = `
select` + customColumns + `
from auth.custom_oauth_providers
where identifier = $1`

	customToChange = customByName + `
for update`

	customAll = `
select` + customColumns + `
from auth.custom_oauth_providers
where case $1 when '' then provider_type <> 'preset' else provider_type = $1 end
order by created_at, identifier`

	presetsOn = `
select identifier
from auth.custom_oauth_providers
where provider_type = 'preset'
and enabled
order by identifier`

	insertCustom = `
insert into auth.custom_oauth_providers (
    id, provider_type, identifier, name, client_id, client_secret, acceptable_client_ids, scopes, pkce_enabled,
    attribute_mapping, authorization_params, enabled, email_optional, issuer, discovery_url, skip_nonce_check,
    authorization_url, token_url, userinfo_url, jwks_uri, created_at, updated_at
)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, nullif($14, ''), nullif($15, ''), $16,
    nullif($17, ''), nullif($18, ''), nullif($19, ''), nullif($20, ''), $21, $21
where (
    select count(*)
    from auth.custom_oauth_providers
) < $22`

	updateCustom = `
update auth.custom_oauth_providers
set name = $4,
    client_id = $5,
    client_secret = $6,
    acceptable_client_ids = $7,
    scopes = $8,
    pkce_enabled = $9,
    attribute_mapping = $10,
    authorization_params = $11,
    enabled = $12,
    email_optional = $13,
    issuer = nullif($14, ''),
    discovery_url = nullif($15, ''),
    skip_nonce_check = $16,
    authorization_url = nullif($17, ''),
    token_url = nullif($18, ''),
    userinfo_url = nullif($19, ''),
    jwks_uri = nullif($20, ''),
    updated_at = $21
where id = $1
and provider_type = $2
and identifier = $3`

	deleteCustom = `
delete from auth.custom_oauth_providers
where identifier = $1
returning` + customColumns
)

// CustomProvider is a server that signs users in and that an administrator has added.
type CustomProvider struct {
	ID uuid.UUID
	// Type is CustomOIDC, for servers with discovery and ID tokens, CustomOAuth2 or CustomPreset.
	Type string
	// Identifier is how clients ask for it: custom:acme, or google for a preset.
	Identifier string
	// Name is what people call it.
	Name                string
	ClientID            string
	AcceptableClientIDs []string
	Scopes              []string
	PKCE                bool
	// AttributeMapping names for a member of the identity the claim that it is taken from.
	AttributeMapping map[string]string
	// AuthorizationParams are added to the URL that users are led to.
	AuthorizationParams map[string]string
	Enabled             bool
	EmailOptional       bool
	Issuer              string
	DiscoveryURL        string
	SkipNonceCheck      bool
	AuthorizationURL    string
	TokenURL            string
	UserinfoURL         string
	JWKSURI             string
	CreatedAt           time.Time
	UpdatedAt           time.Time

	// secret is sealed.
	secret string
}

// CustomProviderChange is what an administrator says about a custom provider. Nil changes nothing.
type CustomProviderChange struct {
	// Type and Identifier are for new ones alone.
	Type, Identifier    string
	Name                *string
	ClientID            *string
	ClientSecret        *Secret
	AcceptableClientIDs *[]string
	Scopes              *[]string
	PKCE                *bool
	AttributeMapping    map[string]string
	AuthorizationParams map[string]string
	Enabled             *bool
	EmailOptional       *bool
	Issuer              *string
	DiscoveryURL        *string
	SkipNonceCheck      *bool
	AuthorizationURL    *string
	TokenURL            *string
	UserinfoURL         *string
	JWKSURI             *string
}

func scanCustom(row pgx.Row) (*CustomProvider, error) {
	c := &CustomProvider{}
	var mapping, params []byte
	err := row.Scan(&c.ID, &c.Type, &c.Identifier, &c.Name, &c.ClientID, &c.secret, &c.AcceptableClientIDs, &c.Scopes, &c.PKCE,
		&mapping, &params, &c.Enabled, &c.EmailOptional, &c.Issuer, &c.DiscoveryURL, &c.SkipNonceCheck, &c.AuthorizationURL,
		&c.TokenURL, &c.UserinfoURL, &c.JWKSURI, &c.CreatedAt, &c.UpdatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, customNotFound()
	}
	if err != nil {
		return nil, err
	}
	c.AttributeMapping, c.AuthorizationParams = texts(mapping), texts(params)
	return c, nil
}

// texts reads the members of a JSON object that are texts; rows of a dump may have others, which say nothing here.
func texts(object []byte) map[string]string {
	var members map[string]any
	if json.Unmarshal(object, &members) != nil {
		return nil
	}
	found := map[string]string{}
	for name, value := range members {
		if text, ok := value.(string); ok {
			found[name] = text
		}
	}
	return found
}

func (c *CustomProvider) parameters(at time.Time) []any {
	mapping, params := c.AttributeMapping, c.AuthorizationParams
	if mapping == nil {
		mapping = map[string]string{}
	}
	if params == nil {
		params = map[string]string{}
	}
	return []any{
		c.ID, c.Type, c.Identifier, c.Name, c.ClientID, c.secret, append([]string{}, c.AcceptableClientIDs...), append([]string{}, c.Scopes...),
		c.PKCE, mapping, params, c.Enabled, c.EmailOptional, c.Issuer, c.DiscoveryURL, c.SkipNonceCheck, c.AuthorizationURL, c.TokenURL,
		c.UserinfoURL, c.JWKSURI, at,
	}
}

// apply makes a change.
func (c *CustomProvider) apply(in CustomProviderChange) {
	set(&c.Name, in.Name)
	set(&c.ClientID, in.ClientID)
	set(&c.AcceptableClientIDs, in.AcceptableClientIDs)
	set(&c.Scopes, in.Scopes)
	set(&c.PKCE, in.PKCE)
	set(&c.Enabled, in.Enabled)
	set(&c.EmailOptional, in.EmailOptional)
	set(&c.Issuer, in.Issuer)
	set(&c.DiscoveryURL, in.DiscoveryURL)
	set(&c.SkipNonceCheck, in.SkipNonceCheck)
	set(&c.AuthorizationURL, in.AuthorizationURL)
	set(&c.TokenURL, in.TokenURL)
	set(&c.UserinfoURL, in.UserinfoURL)
	set(&c.JWKSURI, in.JWKSURI)
	if in.AttributeMapping != nil {
		c.AttributeMapping = maps.Clone(in.AttributeMapping)
	}
	if in.AuthorizationParams != nil {
		c.AuthorizationParams = maps.Clone(in.AuthorizationParams)
	}
}

func set[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}

// askedAt are the addresses that decide where the secret is sent.
func (c *CustomProvider) askedAt() [3]string { return [3]string{c.Issuer, c.DiscoveryURL, c.TokenURL} }

// config is the provider as it is asked, with its secret.
func (c *CustomProvider) config(secret Secret, callback string) provider.Config {
	config := provider.Config{
		Name: c.Identifier, ClientID: c.ClientID, ClientSecret: secret.Reveal(), Audiences: c.AcceptableClientIDs, Scopes: c.Scopes,
		RedirectURI: callback, SkipNonce: c.SkipNonceCheck, EmailOptional: c.EmailOptional, NoPKCE: !c.PKCE,
		Mapping: c.AttributeMapping, Params: c.AuthorizationParams,
	}
	switch config.URL = c.Issuer; c.Type {
	case CustomOIDC:
		config.DiscoveryURL = c.DiscoveryURL
	case CustomOAuth2:
		config.Endpoints = provider.Endpoints{Authorization: c.AuthorizationURL, Token: c.TokenURL, Userinfo: c.UserinfoURL, JWKS: c.JWKSURI}
	}
	return config
}

// check refuses what cannot work.
func (s *Service) checkCustom(c *CustomProvider, secret Secret) error {
	switch {
	case c.Type == CustomPreset && !isPreset(c.Identifier):
		return refuse(CodeValidationFailed, "There is no built-in provider of this name")
	case c.Type != CustomPreset && !strings.HasPrefix(c.Identifier, customPrefix):
		return refuse(CodeValidationFailed, "identifier must start with 'custom:' prefix, e.g. 'custom:acme'")
	case c.Name == "" || len(c.Name) > 255:
		return refuse(CodeValidationFailed, "name is required, and at most 255 characters long")
	case secret == "":
		return refuse(CodeValidationFailed, "client_secret is required")
	case c.Type == CustomOAuth2 && c.AuthorizationURL == "":
		return refuse(CodeValidationFailed, "authorization_url is required for OAuth2 providers")
	case slices.ContainsFunc(c.texts(), func(text string) bool { return !isText(text) }):
		return refuse(CodeValidationFailed, "No setting may have a NUL")
	}
	_, err := provider.New(c.config(secret, s.options.Providers.Callback), s.options.Providers.Client)
	var wrong *provider.ConfigError
	if errors.As(err, &wrong) {
		return refuse(CodeValidationFailed, wrong.Error())
	}
	return err
}

// texts are all settings that are kept as text.
func (c *CustomProvider) texts() []string {
	texts := []string{
		c.Identifier, c.Name, c.ClientID, c.Issuer, c.DiscoveryURL, c.AuthorizationURL, c.TokenURL, c.UserinfoURL, c.JWKSURI,
	}
	texts = slices.Concat(texts, c.AcceptableClientIDs, c.Scopes)
	for _, pairs := range []map[string]string{c.AttributeMapping, c.AuthorizationParams} {
		for name, value := range pairs {
			texts = append(texts, name, value)
		}
	}
	return texts
}

// DiscoverProvider asks the server of an issuer about itself, as it is asked for a custom provider: at an address of its
// own, or where OpenID Connect has it when that is empty.
func (s *Service) DiscoverProvider(ctx context.Context, issuer, discoveryURL string) (*provider.Discovered, error) {
	p, err := provider.New(provider.Config{
		Name: customPrefix + "discovery", ClientID: "discovery", URL: issuer, DiscoveryURL: discoveryURL, RedirectURI: s.options.Providers.Callback,
	}, s.options.Providers.Client)
	var wrong *provider.ConfigError
	if errors.As(err, &wrong) {
		return nil, refuse(CodeValidationFailed, wrong.Error())
	}
	if err != nil {
		return nil, err
	}
	return p.Discover(ctx)
}

// CustomProviders lists them, of one type or all.
func (s *Service) CustomProviders(ctx context.Context, kind string) ([]*CustomProvider, error) {
	if kind != "" && kind != CustomOIDC && kind != CustomOAuth2 {
		return nil, refuse(CodeValidationFailed, "type must be either 'oauth2' or 'oidc'")
	}
	return s.storedProviders(ctx, kind)
}

// Presets lists the built-in providers that administrators have set.
func (s *Service) Presets(ctx context.Context) ([]*CustomProvider, error) {
	return s.storedProviders(ctx, CustomPreset)
}

func (s *Service) storedProviders(ctx context.Context, kind string) ([]*CustomProvider, error) {
	rows, err := s.pool.Query(ctx, customAll, kind)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*CustomProvider, error) { return scanCustom(row) })
}

// CustomProvider finds one.
func (s *Service) CustomProvider(ctx context.Context, identifier string) (*CustomProvider, error) {
	if refusal := nobodys(identifier); refusal != nil {
		return nil, refusal
	}
	return scanCustom(s.pool.QueryRow(ctx, customByName, identifier))
}

// nobodys refuses identifiers that are no text to PostgreSQL. No provider has one.
func nobodys(identifier string) *Error {
	if isText(identifier) {
		return nil
	}
	return customNotFound()
}

// isText tells whether PostgreSQL takes a text. Those of URLs and forms may be any bytes.
func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

func customNotFound() *Error {
	return refuse(CodeCustomProviderNotFound, "Custom OAuth provider not found")
}

// CreateCustomProvider adds one.
func (s *Service) CreateCustomProvider(ctx context.Context, caller Caller, in CustomProviderChange, record Record[*CustomProvider]) (*CustomProvider, error) {
	if in.Type != CustomOIDC && in.Type != CustomOAuth2 {
		return nil, refuse(CodeValidationFailed, "provider_type must be either 'oauth2' or 'oidc'")
	}
	return s.storeProvider(ctx, caller, in, record)
}

// CreatePreset sets a built-in provider.
func (s *Service) CreatePreset(ctx context.Context, caller Caller, in CustomProviderChange, record Record[*CustomProvider]) (*CustomProvider, error) {
	in.Type = CustomPreset
	return s.storeProvider(ctx, caller, in, record)
}

func (s *Service) storeProvider(ctx context.Context, caller Caller, in CustomProviderChange, record Record[*CustomProvider]) (*CustomProvider, error) {
	c := &CustomProvider{ID: uuid.New(), Type: in.Type, Identifier: in.Identifier, Name: in.Identifier, PKCE: true, Enabled: true}
	if in.Type != CustomPreset {
		c.Name = ""
	}
	c.apply(in)
	var secret Secret
	set(&secret, in.ClientSecret)
	if err := s.checkCustom(c, secret); err != nil {
		return nil, err
	}
	var err error
	if c.secret, err = s.seal(ctx, secret, customCell(c.ID)); err != nil {
		return nil, err
	}
	c.CreatedAt = now()
	c.UpdatedAt = c.CreatedAt
	batch := &pgx.Batch{}
	batch.Queue(insertCustom, append(c.parameters(c.CreatedAt), maxCustomProviders)...).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return refuse(CodeOverCustomProviderQuota, "Maximum number of custom OAuth/OIDC providers reached")
		}
		return nil
	})
	_, err = recorded(ctx, s, record, func(db limit.Sender) (*CustomProvider, error) { return c, db.SendBatch(ctx, batch).Close() })
	if isUniqueViolation(err, "custom_oauth_providers_identifier_key") {
		err = refuse(CodeConflict, "A custom OAuth provider with this identifier already exists")
	}
	s.event(caller, "custom_provider_create", uuid.Nil, err)
	return c, err
}

// UpdateCustomProvider changes one.
func (s *Service) UpdateCustomProvider(ctx context.Context, caller Caller, identifier string, in CustomProviderChange, record Record[*CustomProvider]) (*CustomProvider, error) {
	var c *CustomProvider
	if refusal := nobodys(identifier); refusal != nil {
		return nil, refusal
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var err error
		if c, err = scanCustom(tx.QueryRow(ctx, customToChange, identifier)); err != nil {
			return err
		}
		before := c.askedAt()
		c.apply(in)
		if c.askedAt() != before && in.ClientSecret == nil {
			// Whoever may change an address and not see the secret would else have it sent to an address of their own.
			return refuse(CodeValidationFailed, "client_secret is required with another issuer, discovery_url or token_url, which it is sent to")
		}
		vault := s.vault.Over(tx)
		var secret Secret
		if set(&secret, in.ClientSecret); in.ClientSecret == nil { // one that no key opens any more can be set anew
			if secret, _, err = unsealBy(ctx, vault, c.secret, customCell(c.ID)); err != nil {
				return err
			}
		}
		if err := s.checkCustom(c, secret); err != nil {
			return err
		}
		if c.secret, err = sealBy(ctx, vault, secret, customCell(c.ID)); err != nil {
			return err
		}
		c.UpdatedAt = now()
		if _, err = tx.Exec(ctx, updateCustom, c.parameters(c.UpdatedAt)...); err != nil {
			return err
		}
		return record.write(tx, c)
	})
	s.event(caller, "custom_provider_update", uuid.Nil, err)
	return c, err
}

// DeleteCustomProvider removes one. Its identities stay: they open no account while it is gone.
func (s *Service) DeleteCustomProvider(ctx context.Context, caller Caller, identifier string, record Record[*CustomProvider]) error {
	if refusal := nobodys(identifier); refusal != nil {
		return refusal
	}
	_, err := recorded(ctx, s, record, func(db limit.Sender) (c *CustomProvider, err error) {
		batch := &pgx.Batch{}
		batch.Queue(deleteCustom, identifier).QueryRow(func(row pgx.Row) (err error) { c, err = scanCustom(row); return err })
		err = db.SendBatch(ctx, batch).Close()
		return c, err
	})
	s.event(caller, "custom_provider_delete", uuid.Nil, err)
	return err
}

// customCell is where the secret of a custom provider is kept.
func customCell(id uuid.UUID) seal.Cell {
	return seal.Cell{Table: "auth.custom_oauth_providers", Row: id.String(), Column: "client_secret"}
}

// customs remembers the custom providers that were asked for, with what their servers have said about themselves. There
// are as many as the table may have rows.
type customs struct {
	mu    sync.Mutex
	known map[uuid.UUID]rememberedCustom
}

type rememberedCustom struct {
	updatedAt time.Time
	provider  *provider.Provider
}

// custom gives the custom provider that a client asks for, as it is now.
func (s *Service) custom(ctx context.Context, identifier string) (*provider.Provider, error) {
	c, err := s.CustomProvider(ctx, identifier)
	var unknown *Error
	switch {
	case errors.As(err, &unknown), err == nil && !c.Enabled:
		return nil, refuse(CodeValidationFailed, "Unsupported provider: provider is not enabled")
	case err != nil:
		return nil, err
	}
	s.customs.mu.Lock()
	remembered := s.customs.known[c.ID]
	s.customs.mu.Unlock()
	if remembered.updatedAt.Equal(c.UpdatedAt) && remembered.provider != nil {
		return remembered.provider, nil
	}
	secret, _, err := s.unseal(ctx, c.secret, customCell(c.ID))
	if err != nil {
		return nil, err
	}
	p, err := provider.New(c.config(secret, s.options.Providers.Callback), s.options.Providers.Client)
	if err != nil {
		return nil, &Error{Code: CodeValidationFailed, Message: "Unsupported provider: its settings are wrong", Cause: err}
	}
	s.customs.mu.Lock()
	defer s.customs.mu.Unlock()
	if s.customs.known == nil || len(s.customs.known) >= maxCustomProviders {
		s.customs.known = map[uuid.UUID]rememberedCustom{}
	}
	s.customs.known[c.ID] = rememberedCustom{updatedAt: c.UpdatedAt, provider: p}
	return p, nil
}
