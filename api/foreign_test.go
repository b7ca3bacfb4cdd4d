package api_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
)

func TestTokensOfAnotherIssuerAreBelievedByRESTAlone(t *testing.T) {
	t.Parallel()
	url64 := base64.RawURLEncoding.EncodeToString
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := ecKey.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	public, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	shared := []byte("a shared key of more than thirty-two bytes")
	set := fmt.Sprintf(`{"keys":[{"kty":"RSA","kid":"r","n":%q,"e":%q},{"kty":"EC","kid":"e","crv":"P-256","x":%q,"y":%q},{"kty":"OKP","kid":"d","crv":"Ed25519","x":%q},{"kty":"oct","kid":"s","k":%q}]}`,
		url64(rsaKey.N.Bytes()), url64(big.NewInt(int64(rsaKey.E)).Bytes()), url64(point[1:33]), url64(point[33:]), url64(public), url64(shared))
	file := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(file, []byte(set), 0o600); err != nil {
		t.Fatal(err)
	}
	s := apitest.Start(t, things, func(settings *api.Settings) { settings.JWTKeys = auth.Secret("@" + file) })
	own, id := s.SignUp(t, "a@example.com")
	sign := func(method jwt.SigningMethod, kid string, key any, claims string) string {
		var c jwt.MapClaims
		if err := json.Unmarshal([]byte(claims), &c); err != nil {
			t.Fatal(err)
		}
		unsigned := jwt.NewWithClaims(method, c)
		if kid != "" {
			unsigned.Header["kid"] = kid
		}
		signed, err := unsigned.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return "Authorization: Bearer " + signed
	}
	hour := time.Now().Add(time.Hour).Unix()
	claims := func(role string) string { return fmt.Sprintf(`{"role":%q,"sub":%q,"exp":%d}`, role, id, hour) }
	for _, test := range []struct {
		name, header string
		status       int
		body         string
	}{
		{"RS256", sign(jwt.SigningMethodRS256, "r", rsaKey, claims("authenticated")), 200, `"authenticated"`},
		{"RS256 without a name", sign(jwt.SigningMethodRS256, "", rsaKey, claims("service_role")), 200, `"service_role"`},
		{"ES256", sign(jwt.SigningMethodES256, "e", ecKey, claims("authenticated")), 200, `"authenticated"`},
		{"EdDSA", sign(jwt.SigningMethodEdDSA, "d", edKey, claims("authenticated")), 200, `"authenticated"`},
		{"HS256", sign(jwt.SigningMethodHS256, "s", shared, claims("authenticated")), 200, `"authenticated"`},
		{"our own", own, 200, `"authenticated"`},
		{"our own by its key's name", s.As(t, "authenticated", ""), 200, `"authenticated"`},
		{"RS512 with the key for RS256", sign(jwt.SigningMethodRS512, "r", rsaKey, claims("authenticated")), 401, "Wrong or unsupported encoding algorithm"},
		{"HS256 with the public key as the secret", sign(jwt.SigningMethodHS256, "", rsaKey.N.Bytes(), claims("authenticated")), 401, "JWT cryptographic operation failed"},
		{"HS256 by the name of another kind of key", sign(jwt.SigningMethodHS256, "r", shared, claims("authenticated")), 401, "No suitable key or wrong key type"},
		{"no signature", sign(jwt.SigningMethodNone, "", jwt.UnsafeAllowNoneSignatureType, claims("authenticated")), 401, "Wrong or unsupported encoding algorithm"},
		{"an unknown key", sign(jwt.SigningMethodRS256, "x", rsaKey, claims("authenticated")), 401, "No suitable key or wrong key type"},
		{"one that is over", sign(jwt.SigningMethodRS256, "r", rsaKey, `{"role":"authenticated","exp":1000}`), 401, "JWT expired"},
		{"a role that nobody may become", sign(jwt.SigningMethodRS256, "r", rsaKey, claims("postgres")), 401, "does not exist"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := s.Do(t, "GET", "/rest/v1/rpc/who", "", "Apikey:", test.header)
			if answer.Status != test.status || !strings.Contains(answer.Body, test.body) {
				t.Errorf("%d %s", answer.Status, answer.Body)
			}
		})
	}
	// What the issuer says of its users is not said of the accounts here.
	service := sign(jwt.SigningMethodRS256, "r", rsaKey, claims("service_role"))
	for _, path := range []string{"/auth/v1/user", "/auth/v1/admin/users", "/admin/api/types.ts"} {
		if answer := s.Do(t, "GET", path, "", service); answer.Status != 403 && answer.Status != 401 {
			t.Errorf("%s takes another issuer's token: %d %s", path, answer.Status, answer.Body)
		}
	}
	if answer := s.Do(t, "GET", "/auth/v1/settings", "", "Apikey: "+strings.TrimPrefix(service, "Authorization: Bearer ")); answer.Status != 401 {
		t.Errorf("another issuer's token is a key: %d %s", answer.Status, answer.Body)
	}
}
