package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// discoveryAge is how long what a server says about itself is believed.
	discoveryAge = time.Hour
	// discoveryRetry is how long the older word stands when the server cannot be asked.
	discoveryRetry = time.Minute
	// maxParam bounds a parameter that a client adds, name and value, in bytes.
	maxParam = 1024
)

// Kind is what went wrong with a server or what came from it.
type Kind int

// The kinds of errors.
const (
	// Unreachable is a server that gives no answer that can be used.
	Unreachable Kind = iota
	// Refused is a code that the server does not take.
	Refused
	// BadToken is an ID token that is not believed.
	BadToken
	// BadAudience is an ID token for another client.
	BadAudience
	// BadNonce is an ID token of another sign-in.
	BadNonce
	// Unsupported is a server that has no ID tokens.
	Unsupported
)

// Error is why a user is not signed in. It holds no secret.
type Error struct {
	Kind   Kind
	Reason string
	Cause  error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Reason + ": " + e.Cause.Error()
	}
	return e.Reason
}

func (e *Error) Unwrap() error { return e.Cause }

func fault(kind Kind, reason string, cause error) *Error {
	return &Error{Kind: kind, Reason: reason, Cause: cause}
}

// Provider is a server that knows users.
type Provider struct {
	config Config
	preset preset
	base   string
	client *http.Client

	// turn is held by who reads or writes what follows; waiting for it can be given up.
	turn    chan struct{}
	found   *server
	foundAt time.Time
}

// server is what is known of a server after discovery.
type server struct {
	Endpoints
	style oauth2.AuthStyle
	// verifier believes ID tokens that the server has signed; nil for servers without any.
	verifier   *oidc.IDTokenVerifier
	algorithms []string
	// issuer is the server's own word, with {tenantid} in it where there are many.
	issuer string
	// namesIssuer is set when the server repeats its issuer in what it leads back with (RFC 9207).
	namesIssuer bool
}

// New makes a provider whose server is reached through a client. Nothing is asked yet. The error is a *ConfigError.
func New(c Config, client *http.Client) (*Provider, error) {
	p, err := c.check()
	if err != nil {
		return nil, err
	}
	base := c.URL
	if base == "" {
		base = p.base
	}
	if p.endpoints != nil || p.tenants || base == p.base+"/" {
		base = strings.TrimRight(base, "/")
	}
	return &Provider{config: c, preset: p, base: base, client: client, turn: make(chan struct{}, 1)}, nil
}

// Name is how clients ask for the provider.
func (p *Provider) Name() string { return p.config.Name }

// EmailOptional tells whether users without an address are taken.
func (p *Provider) EmailOptional() bool { return p.config.EmailOptional }

// Posts tells whether the server leads back with a form of its own instead of a link: cookies then need SameSite=None.
func (p *Provider) Posts() bool { return p.preset.params["response_mode"] == "form_post" }

// Issues tells whether an issuer's ID tokens are the provider's.
func (p *Provider) Issues(issuer string) bool {
	return issuer != "" && p.preset.issuer != nil && !p.preset.tenants && issuer == p.preset.issuer(p.base)
}

// server gives what is known, and asks for it when that is too old. An answer that fails is not kept, and what was
// known before is better than none.
func (p *Provider) server(ctx context.Context) (*server, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, fault(Unreachable, "the provider cannot be asked about itself", ctx.Err())
	}
	if p.found != nil && time.Since(p.foundAt) < discoveryAge {
		return p.found, nil
	}
	found, err := p.discover(ctx)
	switch {
	case err == nil:
		p.found, p.foundAt = found, time.Now()
	case p.found == nil:
		return nil, fault(Unreachable, "the provider cannot be asked about itself", err)
	default:
		p.foundAt = time.Now().Add(discoveryRetry - discoveryAge)
	}
	return p.found, nil
}

// description is what a server says about itself (OIDC Discovery §3).
type description struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Userinfo      string   `json:"userinfo_endpoint"`
	JWKS          string   `json:"jwks_uri"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	NamesIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
}

// Discovered is what a server has said about itself, as far as it is believed.
type Discovered struct {
	Endpoints
	Issuer string
	// Algorithms are those that its ID tokens may be signed by.
	Algorithms []string
}

// Discover asks a server of OpenID Connect about itself.
func (p *Provider) Discover(ctx context.Context) (*Discovered, error) {
	s, err := p.server(ctx)
	if err != nil {
		return nil, err
	}
	if s.verifier == nil {
		return nil, fault(Unsupported, "the provider has no discovery", nil)
	}
	return &Discovered{Endpoints: s.Endpoints, Issuer: s.issuer, Algorithms: s.algorithms}, nil
}

func (p *Provider) discover(ctx context.Context) (*server, error) {
	s := &server{style: p.preset.style, Endpoints: p.config.Endpoints}
	if p.preset.endpoints != nil {
		s.Endpoints = p.preset.endpoints(p.base)
	}
	if p.preset.issuer == nil {
		return s, nil
	}
	issuer := p.preset.issuer(p.base)
	address := p.config.DiscoveryURL
	if address == "" {
		address = strings.TrimRight(issuer, "/") + "/.well-known/openid-configuration"
	}
	var said description
	if err := p.get(ctx, address, "", &said); err != nil {
		return nil, err
	}
	if said.Issuer != issuer && !p.preset.tenants { // the issuer of many tenants is a template
		return nil, fmt.Errorf("the issuer says that it is %q, not %q", clean(said.Issuer), issuer)
	}
	if p.preset.endpoints == nil {
		s.Endpoints = Endpoints{Authorization: said.Authorization, Token: said.Token, Userinfo: said.Userinfo, JWKS: said.JWKS}
	}
	for _, address := range []string{s.Authorization, s.Token, said.JWKS} {
		if !isAddress(address) {
			return nil, fmt.Errorf("the issuer names an endpoint that is none: %q", clean(address))
		}
	}
	for _, algorithm := range algorithms {
		if len(said.Algorithms) == 0 || slices.Contains(said.Algorithms, algorithm) {
			s.algorithms = append(s.algorithms, algorithm)
		}
	}
	if len(s.algorithms) == 0 {
		return nil, errors.New("the issuer signs in none of the ways that are believed")
	}
	s.issuer, s.namesIssuer = said.Issuer, said.NamesIssuer
	keys := oidc.NewRemoteKeySet(oidc.ClientContext(context.WithoutCancel(ctx), p.client), said.JWKS)
	s.verifier = oidc.NewVerifier(said.Issuer, keys, &oidc.Config{
		SkipClientIDCheck: true, SkipIssuerCheck: p.preset.tenants, SupportedSigningAlgs: s.algorithms,
	})
	if s.style == oauth2.AuthStyleAutoDetect {
		// To find it out by trying would spend the code. Basic is what stands for no word (OIDC Discovery §3).
		s.style = oauth2.AuthStyleInHeader
		if p.config.ClientSecret == "" || len(said.Methods) > 0 && !slices.Contains(said.Methods, "client_secret_basic") {
			s.style = oauth2.AuthStyleInParams
		}
	}
	return s, nil
}

// Request is a sign-in that begins.
type Request struct {
	State, Nonce, Verifier string
	// Scopes are asked for beside the provider's own, Params are the client's. Those of the protocol are not its to set.
	Scopes []string
	Params url.Values
}

// protocolParams belong to the exchange between the server and us.
var protocolParams = []string{
	"client_id", "client_secret", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge",
	"code_challenge_method", "request", "request_uri", "code", "iss", "registration", "claims", "id_token_hint",
}

// isFree tells whether a parameter is a client's to set. Some servers take another case, or what becomes an underscore in
// their language's variables, for the name of the protocol's own.
func isFree(name string) bool {
	plain := !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	return plain && name != "" && !slices.Contains(protocolParams, strings.ToLower(name))
}

// AuthorizationURL is where a user is led to for signing in.
func (p *Provider) AuthorizationURL(ctx context.Context, r Request) (string, error) {
	s, err := p.server(ctx)
	if err != nil {
		return "", err
	}
	var options []oauth2.AuthCodeOption
	for name, values := range r.Params {
		if isFree(name) && len(values) == 1 && len(name)+len(values[0]) <= maxParam {
			options = append(options, oauth2.SetAuthURLParam(name, values[0]))
		}
	}
	for _, own := range []map[string]string{p.preset.params, p.config.Params} {
		for name, value := range own {
			options = append(options, oauth2.SetAuthURLParam(name, value))
		}
	}
	if s.verifier != nil && p.preset.fetch == nil {
		options = append(options, oidc.Nonce(r.Nonce))
	}
	if p.challenges() {
		options = append(options, oauth2.S256ChallengeOption(r.Verifier))
	}
	return p.oauth(s, r.Scopes).AuthCodeURL(r.State, options...), nil
}

func (p *Provider) challenges() bool { return p.preset.pkce && !p.config.NoPKCE }

func (p *Provider) oauth(s *server, scopes []string) *oauth2.Config {
	all := slices.Concat(p.preset.scopes, p.config.Scopes, scopes)
	var once []string
	for _, scope := range all {
		if !slices.Contains(once, scope) {
			once = append(once, scope)
		}
	}
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, RedirectURL: p.config.RedirectURI, Scopes: once,
		Endpoint: oauth2.Endpoint{AuthURL: s.Authorization, TokenURL: s.Token, AuthStyle: s.style},
	}
}

// Answer is what a server leads a user back with.
type Answer struct {
	Code string
	// Issuer is the parameter iss (RFC 9207); empty when there is none.
	Issuer string
	// Nonce and Verifier are those of the Request.
	Nonce, Verifier string
	// User is what Apple says of a user the first time, as JSON.
	User string
}

// Granted is who a user is, and the server's tokens for its own interface.
type Granted struct {
	Profile      Profile
	AccessToken  string
	RefreshToken string
}

// Redeem finds out who has come back.
func (p *Provider) Redeem(ctx context.Context, a Answer) (*Granted, error) {
	s, err := p.server(ctx)
	if err != nil {
		return nil, err
	}
	if !p.answers(s, a.Issuer) {
		return nil, fault(Refused, "the answer is of another issuer", nil)
	}
	var options []oauth2.AuthCodeOption
	if p.challenges() {
		options = append(options, oauth2.VerifierOption(a.Verifier))
	}
	calling := context.WithValue(ctx, oauth2.HTTPClient, p.client)
	token, err := p.oauth(s, nil).Exchange(calling, a.Code, options...)
	if err != nil {
		return nil, exchangeFault(err)
	}
	g := &Granted{AccessToken: token.AccessToken, RefreshToken: token.RefreshToken}
	if g.Profile, err = p.profile(ctx, s, token, a.Nonce); err != nil {
		return nil, err
	}
	if a.User != "" && p.Posts() {
		g.Profile.addName(a.User)
	}
	return g, g.Profile.finish(s.issuerOr(p.base))
}

// answers tells whether an answer that names its issuer, or none, can be of the server: a code of another one must not be
// taken to this one (RFC 9207 §2.4, RFC 9700 §4.4). Of a server whose issuer is not known the host is, at which users
// have been asked.
func (p *Provider) answers(s *server, issuer string) bool {
	switch {
	case s.verifier != nil && !p.preset.tenants:
		return issuer == s.issuer || issuer == "" && !s.namesIssuer
	case issuer == "":
		return true
	case p.preset.endpoints == nil && p.preset.issuer == nil && p.base != "":
		return issuer == p.base
	}
	named, err := url.Parse(issuer)
	asked, wrong := url.Parse(s.Authorization)
	return err == nil && wrong == nil && named.Scheme == asked.Scheme && strings.EqualFold(named.Host, asked.Host)
}

func (s *server) issuerOr(base string) string {
	if s.issuer != "" {
		return s.issuer
	}
	return base
}

// exchangeFault leaves out what a server has answered beyond its error's name.
func exchangeFault(err error) *Error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return fault(Unreachable, "the provider does not exchange the code", err)
	}
	status := 0
	if refused.Response != nil {
		status = refused.Response.StatusCode
	}
	name := refused.ErrorCode
	if len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' }) {
		name = "" // it is none of RFC 6749 §5.2 or like them, and may repeat what was asked
	}
	return fault(Refused, fmt.Sprintf("the provider refuses the code: %d %q", status, name), nil)
}

// profile finds out who a token's user is.
func (p *Provider) profile(ctx context.Context, s *server, token *oauth2.Token, nonce string) (Profile, error) {
	if p.preset.fetch != nil {
		return p.preset.fetch(ctx, p, token)
	}
	if s.verifier == nil {
		said := claims{}
		if err := p.get(ctx, s.Userinfo, token.AccessToken, &said); err != nil {
			return Profile{}, err
		}
		return p.preset.read(said.mapped(p.config.Mapping)), nil
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := p.verify(ctx, s, raw, []string{p.config.ClientID}, token.AccessToken)
	if err != nil {
		return Profile{}, err
	}
	if got := verified.token.Nonce; got != nonce && (got != "" || !p.preset.noNonce) {
		return Profile{}, fault(BadNonce, "the ID token is of another sign-in", nil)
	}
	said := verified.claims
	if said.text("email") == "" && s.Userinfo != "" {
		more := claims{}
		if err := p.get(ctx, s.Userinfo, token.AccessToken, &more); err != nil {
			return Profile{}, err
		}
		// The answer may be about somebody else (OIDC Core §5.3.2).
		if more.text("sub") != verified.token.Subject {
			return Profile{}, fault(BadToken, "the provider's userinfo is about another user", nil)
		}
		for name, value := range more {
			// Who names the address says whether it is verified.
			if _, taken := said[name]; !taken || name == "email" || name == "email_verified" {
				said[name] = value
			}
		}
	}
	return p.read(said), nil
}

// read makes a profile of claims.
func (p *Provider) read(said claims) Profile {
	if p.preset.tenants {
		return readMicrosoft(said, p.base)
	}
	return p.preset.read(said.mapped(p.config.Mapping))
}

// get asks the server's interface for JSON.
func (p *Provider) get(ctx context.Context, address, token string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return fault(Unreachable, "the provider cannot be asked", err)
	}
	request.Header.Set("Accept", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return fault(Unreachable, "the provider does not answer", withoutURL(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fault(Unreachable, fmt.Sprintf("the provider answers %d", answer.StatusCode), nil)
	}
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fault(Unreachable, "what the provider answers cannot be read", nil)
	}
	return nil
}

// withoutURL leaves out the address, in which there may be a proof made of the token.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
