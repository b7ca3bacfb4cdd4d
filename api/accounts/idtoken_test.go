package accounts_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"basalt/auth/provider"
	"basalt/store/storetest"
)

const (
	someTenant  = "11111111-2222-3333-4444-555555555555"
	otherTenant = "99999999-8888-7777-6666-555555555555"
	consumers   = "9188040d-6c67-4c5b-b112-36a304b66dad"
)

// startWithTokens believes ID tokens of providers by several names. Azure's authority follows the server's address.
func startWithTokens(t *testing.T, authority string) *visitors {
	t.Helper()
	other := openIDServer(t)
	o := options()
	o.Autoconfirm, o.Providers.ManualLinking = false, true
	for _, name := range []string{"keycloak", "google", "apple", "linkedin_oidc"} {
		o.Providers.Providers = append(o.Providers.Providers, other.Provider(name, loopbackClient(), func(c *provider.Config) { c.Audiences = []string{"phone"} }))
	}
	o.Providers.Providers = append(o.Providers.Providers,
		other.Provider("azure", loopbackClient(), func(c *provider.Config) { c.URL += authority }),
		other.Provider("careless", loopbackClient(), func(c *provider.Config) { c.SkipNonce = true }),
		other.Provider("github", loopbackClient(), nil),
	)
	return &visitors{server: startOver(t, storetest.New(t), o), openID: other}
}

func (v *visitors) grant(name, token, more string) answer {
	v.t.Helper()
	return v.call("POST", "/token?grant_type=id_token", v.keys.AnonKey, fmt.Sprintf(`{"provider":%q,"id_token":%q%s}`, name, token, more))
}

func hashed(nonce string) string {
	digest := sha256.Sum256([]byte(nonce))
	return hex.EncodeToString(digest[:])
}

// atHash is the claim at_hash of OIDC Core §3.1.3.6.
func atHash(token string) string {
	digest := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(digest[:16])
}

func TestAnIDTokenGivesASession(t *testing.T) {
	t.Parallel()
	v := startWithTokens(t, "/common")
	for i, tc := range []struct {
		name, provider string
		claims         jwt.MapClaims
		more           string
	}{
		{"as it is", "keycloak", nil, ""},
		{"for another of the project's apps", "keycloak", jwt.MapClaims{"aud": "phone"}, ""},
		{"for several audiences", "keycloak", jwt.MapClaims{"aud": []string{"else", "basalt"}, "azp": "basalt"}, ""},
		{"asked for by an app of the same project", "google", jwt.MapClaims{"azp": "android"}, ""},
		{"with a nonce", "keycloak", jwt.MapClaims{"nonce": hashed("fresh")}, `,"nonce":"fresh"`},
		{"with a nonce that nobody asks for", "careless", jwt.MapClaims{"nonce": "own"}, ""},
		{"with its access token", "keycloak", jwt.MapClaims{"at_hash": atHash("opaque")}, `,"access_token":"opaque"`},
		{"with an access token that it says nothing about", "keycloak", nil, `,"access_token":"opaque"`},
		{"of Google", "google", jwt.MapClaims{"hd": "example.com"}, ""},
		{"of Apple, which writes flags as texts", "apple", jwt.MapClaims{"email_verified": "true", "is_private_email": "true"}, ""},
		{"of LinkedIn", "linkedin_oidc", jwt.MapClaims{"email_verified": "true"}, ""},
		{"of a tenant that owns the address", "azure", jwt.MapClaims{"tid": someTenant, "xms_edov": "1"}, ""},
		{"of a private person at Microsoft", "azure", jwt.MapClaims{"tid": consumers}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.claims == nil {
				tc.claims = jwt.MapClaims{}
			}
			tc.claims["sub"], tc.claims["email"] = fmt.Sprint("user-", i), fmt.Sprintf("user-%d@example.com", i)
			if tid, ok := tc.claims["tid"].(string); ok {
				tc.claims["iss"] = v.openID.Issuer + "/" + tid + "/v2.0"
			}
			a := v.want(v.grant(tc.provider, v.openID.Sign(v.openID.Claims(tc.claims)), tc.more), http.StatusOK, "")
			if a.str("user.email") != tc.claims["email"] || a.str("user.app_metadata.provider") != tc.provider {
				t.Errorf("the session is %s", a.text)
			}
		})
	}
	a := v.want(v.call("POST", "/token?grant_type=id_token", "", fmt.Sprintf(`{"issuer":%q,"client_id":"basalt","id_token":%q}`,
		v.openID.Issuer, v.openID.Sign(v.openID.Claims(jwt.MapClaims{"sub": "user-0", "email": "user-0@example.com"})))), http.StatusOK, "")
	if a.get("user.identities.0.provider") != "keycloak" {
		t.Errorf("the session by an issuer is %s", a.text)
	}
}

// The forged tokens of an attacker who has an issuer, keys and clients of their own give no session, whichever provider
// they are brought to.
func TestAnIDTokenThatIsNotForUsGivesNoSession(t *testing.T) {
	t.Parallel()
	v := startWithTokens(t, "/common")
	attacker := openIDServer(t)
	key, err := v.openID.Store.SigningKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.Key().(*rsa.PrivateKey).PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	shown := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	for _, name := range []string{"keycloak", "google", "apple", "linkedin_oidc", "azure", "careless"} {
		base := jwt.MapClaims{}
		if name == "azure" {
			base = jwt.MapClaims{"tid": someTenant, "iss": v.openID.Issuer + "/" + someTenant + "/v2.0", "xms_edov": true}
		}
		with := func(changes jwt.MapClaims) jwt.MapClaims {
			claims := v.openID.Claims(base)
			for member, value := range changes {
				if claims[member] = value; value == nil {
					delete(claims, member)
				}
			}
			return claims
		}
		good := v.openID.Sign(with(nil))
		parts := strings.Split(good, ".")
		tokens := map[string]string{
			"of the attacker's own issuer":           attacker.Sign(attacker.Claims(nil)),
			"of the attacker's issuer, with our own": v.openID.Sign(with(jwt.MapClaims{"iss": attacker.Issuer})),
			"of our issuer by another key":           signWith(t, jwt.SigningMethodRS256, own, key.ID(), with(nil)),
			"of our issuer by a key of no name":      signWith(t, jwt.SigningMethodRS256, own, "", with(nil)),
			"by the public key as a secret":          signWith(t, jwt.SigningMethodHS256, shown, key.ID(), with(nil)),
			"by no key":                              signWith(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, key.ID(), with(nil)),
			"with its signature cut off":             parts[0] + "." + parts[1] + ".",
			"with another payload":                   parts[0] + "." + strings.Split(v.openID.Sign(with(jwt.MapClaims{"sub": "x"})), ".")[1] + "." + parts[2],
			"for another client":                     v.openID.Sign(with(jwt.MapClaims{"aud": "attacker"})),
			"for no client":                          v.openID.Sign(with(jwt.MapClaims{"aud": nil})),
			"for an empty client":                    v.openID.Sign(with(jwt.MapClaims{"aud": ""})),
			"asked for by another client":            v.openID.Sign(with(jwt.MapClaims{"aud": []string{"basalt", "attacker"}, "azp": "attacker"})),
			"of an issuer with a slash":              v.openID.Sign(with(jwt.MapClaims{"iss": v.openID.Issuer + "/"})),
			"of no issuer":                           v.openID.Sign(with(jwt.MapClaims{"iss": nil})),
			"that has expired":                       v.openID.Sign(with(jwt.MapClaims{"exp": time.Now().Add(-time.Minute).Unix()})),
			"that never expires":                     v.openID.Sign(with(jwt.MapClaims{"exp": nil})),
			"of the future":                          v.openID.Sign(with(jwt.MapClaims{"iat": time.Now().Add(time.Hour).Unix()})),
			"not good yet":                           v.openID.Sign(with(jwt.MapClaims{"nbf": time.Now().Add(time.Hour).Unix()})),
			"of nobody":                              v.openID.Sign(with(jwt.MapClaims{"sub": nil})),
			"of an empty name":                       v.openID.Sign(with(jwt.MapClaims{"sub": ""})),
			"of a number":                            v.openID.Sign(with(jwt.MapClaims{"sub": 7})),
			"of a name that is too long":             v.openID.Sign(with(jwt.MapClaims{"sub": strings.Repeat("x", 256)})),
			"of a name with a zero byte":             v.openID.Sign(with(jwt.MapClaims{"sub": "x\x00"})),
			"that is none":                           "x",
			"of many dots":                           strings.Repeat(".", 5000),
			"that is too long":                       good + strings.Repeat("A", 20_000),
		}
		if name == "azure" {
			tokens["of another tenant than it says"] = v.openID.Sign(with(jwt.MapClaims{"tid": otherTenant}))
			tokens["of no tenant"] = v.openID.Sign(with(jwt.MapClaims{"tid": nil}))
			tokens["of a tenant that is a path"] = v.openID.Sign(with(jwt.MapClaims{"tid": "x/../y", "iss": v.openID.Issuer + "/x/../y/v2.0"}))
			tokens["of the template itself"] = v.openID.Sign(with(jwt.MapClaims{"iss": v.openID.Issuer + "/{tenantid}/v2.0", "tid": "{tenantid}"}))
			tokens["of the authority"] = v.openID.Sign(with(jwt.MapClaims{"iss": v.openID.Issuer + "/common/v2.0", "tid": "common"}))
		}
		if name != "careless" {
			tokens["with a nonce that is not told"] = v.openID.Sign(with(jwt.MapClaims{"nonce": hashed("fresh")}))
		}
		for what, token := range tokens {
			if a := v.grant(name, token, ""); a.status != http.StatusBadRequest || a.code() != "validation_failed" {
				t.Errorf("%s, a token %s: %d %s", name, what, a.status, a.text)
			}
		}
	}
	for what, more := range map[string]string{
		"another nonce":          `,"nonce":"stale"`,
		"the hash of the nonce":  fmt.Sprintf(`,"nonce":%q`, hashed("fresh")),
		"an access token beside": `,"nonce":"fresh","access_token":"another"`,
	} {
		token := v.openID.Sign(v.openID.Claims(jwt.MapClaims{"nonce": hashed("fresh"), "at_hash": atHash("opaque")}))
		if a := v.grant("keycloak", token, more); a.status != http.StatusBadRequest {
			t.Errorf("with %s: %d %s", what, a.status, a.text)
		}
	}
	v.want(v.grant("keycloak", v.openID.Sign(v.openID.Claims(nil)), `,"nonce":"fresh"`), http.StatusBadRequest, "validation_failed")
	v.want(v.grant("unknown", v.openID.Sign(v.openID.Claims(nil)), ""), http.StatusBadRequest, "validation_failed")
	v.want(v.grant("github", v.openID.Sign(v.openID.Claims(nil)), ""), http.StatusBadRequest, "oauth_provider_not_supported")
	v.want(v.grant("keycloak", "", ""), http.StatusBadRequest, "validation_failed")
	v.want(v.call("POST", "/token?grant_type=id_token", "", fmt.Sprintf(`{"issuer":%q,"client_id":"basalt","id_token":%q}`,
		attacker.Issuer, attacker.Sign(attacker.Claims(nil)))), http.StatusBadRequest, "validation_failed")
	if n := v.count(`select count(*) from auth.users`) + v.count(`select count(*) from auth.sessions`); n != 0 {
		t.Errorf("there are %d accounts and sessions", n)
	}
}

func TestMicrosoftsAuthoritiesStandForTheirTenants(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		authority, tenant string
		claims            jwt.MapClaims
		want              int
	}{
		{"/common", someTenant, nil, http.StatusForbidden}, // nobody vouches for the address
		{"/common", someTenant, jwt.MapClaims{"xms_edov": false}, http.StatusForbidden},
		{"/common", someTenant, jwt.MapClaims{"xms_edov": true}, http.StatusOK},
		{"/organizations", consumers, nil, http.StatusBadRequest},
		{"/organizations", someTenant, jwt.MapClaims{"xms_edov": true}, http.StatusOK},
		{"/consumers", consumers, nil, http.StatusOK},
		{"/consumers", someTenant, jwt.MapClaims{"xms_edov": true}, http.StatusBadRequest},
	} {
		t.Run(tc.authority+" "+tc.tenant, func(t *testing.T) {
			t.Parallel()
			v := startWithTokens(t, tc.authority)
			claims := v.openID.Claims(tc.claims)
			claims["tid"], claims["iss"] = tc.tenant, v.openID.Issuer+"/"+tc.tenant+"/v2.0"
			if a := v.grant("azure", v.openID.Sign(claims), ""); a.status != tc.want {
				t.Errorf("the answer is %d %s", a.status, a.text)
			}
		})
	}
}

func TestAnIDTokenAddsAnIdentityToTheCallersAccount(t *testing.T) {
	t.Parallel()
	v := startWithTokens(t, "/common")
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":"own@example.com","password":%q,"email_confirm":true}`, goodPassword)), http.StatusOK, "")
	session := v.signIn("own@example.com", goodPassword)
	body := fmt.Sprintf(`{"provider":"keycloak","link_identity":true,"id_token":%q}`, v.openID.Sign(v.openID.Claims(nil)))
	a := v.want(v.call("POST", "/token?grant_type=id_token", session.str("access_token"), body), http.StatusOK, "")
	if a.str("user.id") != session.str("user.id") || a.get("user.app_metadata.providers.1") != "keycloak" {
		t.Errorf("the session is %s", a.text)
	}
	v.want(v.call("POST", "/token?grant_type=id_token", session.str("access_token"), body), http.StatusUnprocessableEntity, "identity_already_exists")
	v.want(v.call("POST", "/token?grant_type=id_token", "", body), http.StatusUnauthorized, "no_authorization")
	v.want(v.call("POST", "/token?grant_type=id_token", v.keys.AnonKey, body), http.StatusForbidden, "bad_jwt")
}

// A provider's keys may take their time to come. Whoever is thrown out meanwhile must not leave an identity behind.
func TestAnIDTokenIsNotLinkedBySomebodyWhoIsThrownOutMeanwhile(t *testing.T) {
	t.Parallel()
	v := startWithTokens(t, "/common")
	for name, tc := range map[string]struct {
		meanwhile string
		status    int
		code      string
	}{
		"the session ends": {`delete from auth.sessions where user_id = $1`, http.StatusForbidden, "session_not_found"},
		"a factor is proved elsewhere": {`
			insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
			values (gen_random_uuid(), $1, 'totp', 'verified', now(), now())`, http.StatusForbidden, "insufficient_aal"},
	} {
		t.Run(name, func(t *testing.T) {
			session := v.confirmed(address())
			tx, err := v.db.Pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(context.Background())
			if _, err := tx.Exec(t.Context(), `select from auth.users where id = $1 for update`, session.str("user.id")); err != nil {
				t.Fatal(err)
			}
			answered := make(chan answer, 1)
			go func() {
				answered <- v.call("POST", "/token?grant_type=id_token", session.str("access_token"),
					fmt.Sprintf(`{"provider":"keycloak","link_identity":true,"id_token":%q}`, v.openID.Sign(v.openID.Claims(nil))))
			}()
			v.until("the linking waits for the account", func() bool {
				return v.count(`select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) > 0
			})
			if _, err := tx.Exec(t.Context(), tc.meanwhile, session.str("user.id")); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			v.want(<-answered, tc.status, tc.code)
			if n := v.count(`select count(*) from auth.identities where provider = 'keycloak'`); n != 0 {
				t.Error("the identity is linked")
			}
		})
	}
}
