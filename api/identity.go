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
	sessions  *auth.SessionWatch // nil unless tokens of ended sessions are refused before they expire
	anonymous *auth.Principal    // nil when a token is required
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
			return i.verify(r, bearer)
		}
	}
	if key := apiKey(r); key != "" {
		return i.verify(r, key)
	}
	if i.anonymous == nil {
		return nil, token.Required()
	}
	return i.anonymous, nil
}

func (i *identity) verify(r *http.Request, raw string) (*auth.Principal, error) {
	p, err := i.verifier.Verify(raw)
	if i.sessions == nil || err != nil {
		return p, err
	}
	if err := i.sessions.Check(r.Context(), p); err != nil {
		return nil, err
	}
	return p, nil
}

// apiKey is the key that a request carries in its apikey header or parameter.
func apiKey(r *http.Request) string {
	if key := r.Header.Get("Apikey"); key != "" {
		return key
	}
	return rest.KeyParameter(r.URL.RawQuery)
}
