package api_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
)

func TestIdentityProvidersAndBrowsersThatTheySendNeedNoKeyOfTheProject(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	s := apitest.Start(t, things, func(settings *api.Settings) { settings.SAMLPrivateKey = auth.Secret(text) })
	if a := s.Do(t, "GET", "/auth/v1/sso/saml/metadata", "", "Apikey:"); a.Status != http.StatusOK || !strings.Contains(string(a.Body), s.URL+"/auth/v1/sso/saml/acs") {
		t.Errorf("the description is %d %s", a.Status, a.Body)
	}
	if a := s.Do(t, "POST", "/auth/v1/sso/saml/acs", "", "Apikey:"); a.Status == http.StatusUnauthorized {
		t.Errorf("an answer is refused with %s", a.Body)
	}
	if a := s.Do(t, "POST", "/auth/v1/sso", `{"domain":"example.com"}`, "Apikey:"); a.Status != http.StatusUnauthorized {
		t.Errorf("an app without a key may begin: %d %s", a.Status, a.Body)
	}
}
