package auth

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of a client, as the database's constraints have them.
const (
	maxRedirectURIs = 10
	maxClientName   = 1024
	maxClientURI    = 2048
)

// ClientChange is what is said about a client. Nil fields say nothing.
type ClientChange struct {
	Name       *string
	URI        *string
	LogoURI    *string
	Redirects  *[]string
	Grants     *[]string
	AuthMethod *string
	// Type is `public` or `confidential`, which AuthMethod says too; only of new clients.
	Type *string
}

// method is how the client proves who it is, from what is said of that and of its type.
func (in ClientChange) method() (string, *Error) {
	method := ClientSecretBasic
	if in.AuthMethod != nil && *in.AuthMethod != "" {
		method = *in.AuthMethod
	} else if in.Type != nil && *in.Type == "public" {
		method = ClientPublic
	}
	if !slices.Contains([]string{ClientSecretBasic, ClientSecretPost, ClientPublic}, method) {
		return "", invalidClient("token_endpoint_auth_method must be one of client_secret_basic, client_secret_post, none")
	}
	if in.Type == nil || *in.Type == "" {
		return method, nil
	}
	switch {
	case *in.Type != "public" && *in.Type != "confidential":
		return "", invalidClient("client_type must be public or confidential")
	case (*in.Type == "public") != (method == ClientPublic):
		return "", invalidClient("client_type and token_endpoint_auth_method contradict each other")
	}
	return method, nil
}

// check refuses what is said of a client if it cannot be.
func (in ClientChange) check() *Error {
	if in.Redirects != nil {
		if n := len(*in.Redirects); n == 0 || n > maxRedirectURIs {
			return refuse(CodeInvalidRedirectURI, fmt.Sprintf("redirect_uris must be between 1 and %d", maxRedirectURIs))
		}
		for _, uri := range *in.Redirects {
			if why := redirectFault(uri); why != "" {
				return refuse(CodeInvalidRedirectURI, fmt.Sprintf("invalid redirect_uri %q: %s", clip(uri), why))
			}
		}
	}
	if in.Grants != nil {
		for _, grant := range *in.Grants {
			if grant != GrantCode && grant != GrantRefresh {
				return invalidClient("grant_types must only contain authorization_code and refresh_token")
			}
		}
		if len(*in.Grants) > 0 && !slices.Contains(*in.Grants, GrantCode) {
			return invalidClient("grant_types must contain authorization_code: nothing else gives a client its first token")
		}
		if len(*in.Grants) > 2 {
			return invalidClient("grant_types names a grant twice")
		}
	}
	if in.Name != nil && (utf8.RuneCountInString(*in.Name) > maxClientName || strings.ContainsRune(*in.Name, 0)) {
		return invalidClient(fmt.Sprintf("client_name cannot exceed %d characters", maxClientName))
	}
	for name, uri := range map[string]*string{"client_uri": in.URI, "logo_uri": in.LogoURI} {
		if uri == nil || *uri == "" {
			continue
		}
		if t, ok := parseTarget(*uri); !ok || !isWeb(t.scheme) || len(*uri) > maxClientURI {
			return invalidClient(name + " must be an http or https URL of at most 2048 characters")
		}
	}
	return nil
}

func clip(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// redirectFault is why a code may not be led to a URI, empty when it may: clear text only to the user's own device
// (RFC 8252 §7.3). Schemes of apps are theirs to choose (§7.1): the code challenge keeps a code from another app that has
// taken the scheme.
func redirectFault(uri string) string {
	t, ok := parseTarget(uri)
	switch {
	case !ok || len(uri) > maxClientURI:
		return "it is not an absolute URL that all read alike"
	case strings.Contains(uri, "#"):
		return "it has a fragment"
	case strings.Contains(uri, listMark):
		return "it has a comma"
	case t.scheme == "http":
		if ip, err := netip.ParseAddr(t.host); t.host != "localhost" && (err != nil || !ip.IsLoopback()) {
			return "http is for localhost only, use https"
		}
	case t.scheme == "https":
	case !strings.HasPrefix(t.rest, "/"):
		return "it names no place"
	}
	return ""
}
