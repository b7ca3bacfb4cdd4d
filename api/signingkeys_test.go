package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/seal"
	"basalt/auth/token"
)

// rotate makes a new key current.
func rotate(t *testing.T, s *apitest.Server, vault *seal.Vault, algorithm string) string {
	t.Helper()
	id, err := auth.AddSigningKey(t.Context(), s.Database.Pool, vault, algorithm)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := auth.PromoteSigningKey(t.Context(), s.Database.Pool, 0); err != nil {
		t.Fatal(err)
	}
	return id
}

// headerOf reads the header of a token that stands in an Authorization header.
func headerOf(t *testing.T, bearer string) map[string]any {
	t.Helper()
	first, _, _ := strings.Cut(strings.TrimPrefix(bearer, "Authorization: Bearer "), ".")
	text, err := base64.RawURLEncoding.DecodeString(first)
	if err != nil {
		t.Fatal(err)
	}
	var header map[string]any
	if err := json.Unmarshal(text, &header); err != nil {
		t.Fatal(err)
	}
	return header
}

func TestRunningServersFollowTheRotationOfSigningKeys(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	second := apitest.Over(t, s.Database, apitest.Settings(t, s.Database.URL))
	settings := apitest.Settings(t, s.Database.URL)
	vault := settings.Vault(s.Database.Pool, s.Keys.Secret)
	older, _ := s.SignUp(t, "older@example.com")
	id := rotate(t, s, vault, "ES256")
	published := func(server *apitest.Server) []token.PublicJWK {
		var set struct {
			Keys []token.PublicJWK `json:"keys"`
		}
		server.Do(t, "GET", "/auth/v1/.well-known/jwks.json", "", "Apikey:").JSON(t, &set)
		return set.Keys
	}
	servers := []*apitest.Server{s, second}
	for _, server := range servers {
		apitest.Until(t, "the key is published", func() bool { keys := published(server); return len(keys) == 1 && keys[0].ID == id })
	}
	for i, server := range servers {
		// It may have read the keys between the one's coming and its promotion.
		var own string
		tried := 0
		apitest.Until(t, "it signs with the key", func() bool {
			tried++
			own, _ = server.SignUp(t, fmt.Sprintf("new-%d-%d@example.com", i, tried))
			head := headerOf(t, own)
			return head["kid"] == id && head["alg"] == "ES256"
		})
		for _, other := range servers {
			for _, bearer := range []string{own, older} {
				if a := other.Do(t, "GET", "/rest/v1/thing", "", bearer); a.Status != 200 {
					t.Errorf("%d %s", a.Status, a.Body)
				}
				if a := other.Do(t, "GET", "/auth/v1/user", "", bearer); a.Status != 200 {
					t.Errorf("%d %s", a.Status, a.Body)
				}
			}
		}
	}
	if a := s.Do(t, "GET", "/auth/v1/.well-known/jwks.json", ""); a.Header.Get("Cache-Control") != "public, max-age=600" {
		t.Errorf("%v", a.Header)
	}
}
