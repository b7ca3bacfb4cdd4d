package api

import (
	"net/http"
	"strings"

	"basalt/api/rest"
	"basalt/auth"
	"basalt/auth/token"
)

// identity says who requests come from.
type identity struct {
	verifier  *auth.Verifier
	anonymous *auth.Principal // nil when a token is required
}

// of gives the principal of a request to REST or storage: its bearer token, else its api key, else anonymous
// (plain PostgREST clients send no key).
func (i *identity) of(r *http.Request) (*auth.Principal, error) {
	if header := r.Header["Authorization"]; len(header) > 0 {
		scheme, bearer, _ := strings.Cut(header[0], " ")
		if strings.EqualFold(scheme, "Bearer") {
			bearer = strings.TrimSpace(bearer)
			if bearer == "" {
				return nil, &auth.TokenError{Code: "PGRST301", Message: "Empty JWT is sent in Authorization header"}
			}
			return i.verifier.Verify(bearer)
		}
	}
	if key := apiKey(r); key != "" {
		return i.verifier.Verify(key)
	}
	if i.anonymous == nil {
		return nil, token.Required()
	}
	return i.anonymous, nil
}

// apiKey is the key that a request carries in its apikey header or parameter.
func apiKey(r *http.Request) string {
	if key := r.Header.Get("Apikey"); key != "" {
		return key
	}
	return rest.KeyParameter(r.URL.RawQuery)
}
