package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"basalt/api/admin"
	"basalt/auth"
	"basalt/auth/outgoing"
	"basalt/auth/provider"
)

// OAuthSettings are the settings of sign-ins at other servers.
type OAuthSettings struct {
	OAuthProviders auth.Secret `flag:"oauth-providers" start:"true" title:"Provider credentials" help:"servers that sign users in, as JSON {\"google\": {\"client_id\": \"…\", \"client_secret\": \"…\"}, …}; @FILE reads it from a file. Names: apple, azure, discord, facebook, github, gitlab, google, keycloak, linkedin_oidc, slack_oidc, twitter or x (OAuth 2.0), or any other with the url of its OpenID issuer. Members beside: audiences, url, scopes, redirect_uri, skip_nonce_check, email_optional, pkce, enabled. Each can be a variable too, such as BASALT_OAUTH_GOOGLE_CLIENT_ID (further ids after a comma are audiences), …_SECRET, …_URL, …_SCOPES, …_REDIRECT_URI, …_SKIP_NONCE_CHECK, …_EMAIL_OPTIONAL, …_PKCE, …_ENABLED. The server is told to lead back to <public-url>/auth/v1/callback"`
	ManualLinking  bool        `flag:"manual-linking" default:"false" title:"Manual identity linking" help:"let users add identities of other servers to their account"`
}

// oauthProvider is a server as the settings describe it.
type oauthProvider struct {
	ClientID       string   `json:"client_id"`
	ClientSecret   string   `json:"client_secret"`
	Audiences      []string `json:"audiences"`
	URL            string   `json:"url"`
	Scopes         string   `json:"scopes"`
	RedirectURI    string   `json:"redirect_uri"`
	SkipNonceCheck bool     `json:"skip_nonce_check"`
	EmailOptional  bool     `json:"email_optional"`
	PKCE           *bool    `json:"pkce"`
	Enabled        *bool    `json:"enabled"`
}

// oauthPrefix begins the environment variables of single servers.
const oauthPrefix = variablePrefix + "OAUTH_"

// oauthVariables are the ends of these variables.
func oauthVariables() map[string]func(*oauthProvider, string) error {
	flag := func(text string) (*bool, error) {
		value, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return &value, nil
	}
	secret := func(p *oauthProvider, text string) error { p.ClientSecret = text; return nil }
	return map[string]func(*oauthProvider, string) error{
		"CLIENT_ID": func(p *oauthProvider, text string) error {
			ids := splitList(text)
			if len(ids) == 0 {
				return errors.New("it is empty")
			}
			p.ClientID, p.Audiences = ids[0], append(p.Audiences, ids[1:]...)
			return nil
		},
		"SECRET":        secret,
		"CLIENT_SECRET": secret,
		"URL":           func(p *oauthProvider, text string) error { p.URL = text; return nil },
		"SCOPES":        func(p *oauthProvider, text string) error { p.Scopes = text; return nil },
		"REDIRECT_URI":  func(p *oauthProvider, text string) error { p.RedirectURI = text; return nil },
		"PKCE":          func(p *oauthProvider, text string) (err error) { p.PKCE, err = flag(text); return err },
		"ENABLED":       func(p *oauthProvider, text string) (err error) { p.Enabled, err = flag(text); return err },
		"SKIP_NONCE_CHECK": func(p *oauthProvider, text string) error {
			value, err := flag(text)
			p.SkipNonceCheck = err == nil && *value
			return err
		},
		"EMAIL_OPTIONAL": func(p *oauthProvider, text string) error {
			value, err := flag(text)
			p.EmailOptional = err == nil && *value
			return err
		},
	}
}

// oauthVariable divides the name of a variable into the server's and what it says of it. The longest end counts.
func oauthVariable(variable string) (name, end string, ok bool) {
	rest, found := strings.CutPrefix(variable, oauthPrefix)
	if !found {
		return "", "", false
	}
	for known := range oauthVariables() {
		if server, found := strings.CutSuffix(rest, "_"+known); found && server != "" && len(known) > len(end) {
			name, end, ok = strings.ToLower(server), known, true
		}
	}
	return name, end, ok
}

func isOAuthVariable(variable string) bool {
	_, _, ok := oauthVariable(variable)
	return ok
}

// isSetting tells whether a variable is that of a flag.
func isSetting(variable string) bool {
	return slices.ContainsFunc(settingFields(), func(field reflect.StructField) bool {
		return EnvName(field.Tag.Get("flag")) == variable
	})
}

func splitList(text string) (list []string) {
	for element := range strings.SplitSeq(text, ",") {
		if element = strings.TrimSpace(element); element != "" {
			list = append(list, element)
		}
	}
	return list
}

// describedProviders are the servers of the setting, with what variables of the environment (NAME=value) say of them.
func (s *Settings) describedProviders(environment []string) (map[string]*oauthProvider, error) {
	described := map[string]*oauthProvider{}
	text, err := fileOrText(s.OAuthProviders.Reveal())
	if err != nil {
		return nil, &SettingError{"oauth-providers", err.Error()}
	}
	if text = strings.TrimSpace(text); text != "" {
		decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&described); err != nil || decoder.More() {
			return nil, &SettingError{"oauth-providers", "it is not JSON such as {\"google\": {\"client_id\": \"…\", \"client_secret\": \"…\"}}: " + withoutText(err)}
		}
	}
	if described == nil { // as null has it
		described = map[string]*oauthProvider{}
	}
	setters := oauthVariables()
	for _, variable := range slices.Sorted(slices.Values(environment)) {
		variable, value, _ := strings.Cut(variable, "=")
		name, end, ok := oauthVariable(variable)
		if !ok || value == "" || isSetting(variable) {
			continue
		}
		if described[name] == nil {
			described[name] = &oauthProvider{}
		}
		if err := setters[end](described[name], value); err != nil {
			return nil, &SettingError{"oauth-providers", variable + ": " + err.Error()}
		}
	}
	return described, nil
}

// namedBy tells whether variables of the environment name a server.
func namedBy(environment []string, server string) bool {
	return slices.ContainsFunc(environment, func(entry string) bool {
		variable, value, _ := strings.Cut(entry, "=")
		name, _, ok := oauthVariable(variable)
		return ok && name == server && value != "" && !isSetting(variable)
	})
}

// withoutText is an error of JSON as far as it repeats nothing but names.
func withoutText(err error) string {
	var mistyped *json.UnmarshalTypeError
	var broken *json.SyntaxError
	switch {
	case err == nil:
		return "something follows it"
	case errors.As(err, &mistyped):
		return mistyped.Field + " has the wrong type"
	case errors.As(err, &broken):
		return fmt.Sprintf("it is broken at byte %d", broken.Offset)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// oauthProviders makes the servers that sign users in, which lead back to an address, and names those switched off.
func (s *Settings) oauthProviders(callback string, client *http.Client) (providers []*provider.Provider, off []string, err error) {
	described, err := s.describedProviders(os.Environ())
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(described)) {
		d := described[name]
		if d == nil {
			continue
		}
		if d.Enabled != nil && !*d.Enabled {
			off = append(off, name)
			continue
		}
		config := provider.Config{
			Name: name, ClientID: d.ClientID, ClientSecret: d.ClientSecret, Audiences: d.Audiences, URL: d.URL,
			Scopes:      splitScopes(d.Scopes),
			RedirectURI: d.RedirectURI, SkipNonce: d.SkipNonceCheck, EmailOptional: d.EmailOptional, NoPKCE: d.PKCE != nil && !*d.PKCE,
		}
		if config.RedirectURI == "" {
			config.RedirectURI = callback
		}
		p, err := provider.New(config, client)
		if err != nil {
			return nil, nil, &SettingError{"oauth-providers", name + ": " + err.Error()}
		}
		providers = append(providers, p)
	}
	return providers, off, nil
}

// providerOptions are the settings of sign-ins at other servers for accounts at an address.
func (s *Settings) providerOptions(issuer string) (auth.ProviderOptions, error) {
	client, err := s.outgoingClient(outgoing.Options{})
	if err != nil {
		return auth.ProviderOptions{}, err
	}
	callback := issuer + "/callback"
	providers, off, err := s.oauthProviders(callback, client)
	return auth.ProviderOptions{Providers: providers, Off: off, Client: client, Callback: callback, ManualLinking: s.ManualLinking}, err
}

// describeProviders tells of each server that flags and variables (NAME=value) can name whether it signs users in, and what
// has to be set for it.
func (s *Settings) describeProviders(environment []string) ([]admin.ProviderBody, error) {
	all, err := s.describedProviders(environment)
	if err != nil {
		return nil, err
	}
	bySetting, err := s.describedProviders(nil)
	if err != nil {
		return nil, err
	}
	for _, name := range provider.Names() {
		if _, there := all[name]; !there {
			all[name] = nil
		}
	}
	bodies := []admin.ProviderBody{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if d := all[name]; name == "twitter" && d == nil {
			continue // another name of x
		}
		variable := oauthPrefix + strings.ToUpper(name)
		body := admin.ProviderBody{Name: name, State: "unset", Sources: []string{}, Variables: []string{variable + "_CLIENT_ID", variable + "_SECRET"}, Scopes: []string{}}
		if slices.Contains(provider.Names(), name) && provider.NeedsURL(name) {
			body.Variables = append(body.Variables, variable+"_URL")
		}
		if d := all[name]; d != nil {
			body.State = "on"
			if d.Enabled != nil && !*d.Enabled {
				body.State = "off"
			}
			body.ClientID, body.URL, body.RedirectURI = d.ClientID, d.URL, d.RedirectURI
			body.Scopes = append(body.Scopes, splitScopes(d.Scopes)...)
			if bySetting[name] != nil {
				body.Sources = append(body.Sources, string(s.sourceOf("oauth-providers")))
			}
			if namedBy(environment, name) {
				body.Sources = append(body.Sources, string(fromEnvironment))
			}
		}
		bodies = append(bodies, body)
	}
	return bodies, nil
}

func splitScopes(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
}
