package accounts_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"
	"github.com/google/uuid"
	dsig "github.com/russellhaering/goxmldsig"

	"basalt/auth"
	"basalt/auth/sso"
)

// samlKey is made once: it takes its time.
var samlKey = sync.OnceValue(func() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(key))
})

// ssoOptions are those of a project with single sign-on.
func ssoOptions(t *testing.T) auth.Options {
	t.Helper()
	o := options()
	key, err := sso.ParseKey(samlKey())
	if err != nil {
		t.Fatal(err)
	}
	o.Providers.ManualLinking = true
	if o.SSO.SAML, err = sso.New(key, o.Issuer, false); err != nil {
		t.Fatal(err)
	}
	return o
}

// identityProvider is that of an organisation, in process.
type identityProvider struct {
	*saml.IdentityProvider
	server *server
}

// newIdentityProvider makes one that trusts a server, and is not known to it yet.
func newIdentityProvider(s *server) *identityProvider {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		s.t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		s.t.Fatal(err)
	}
	host := "idp-" + uuid.NewString()[:8] + ".example"
	return &identityProvider{server: s, IdentityProvider: &saml.IdentityProvider{
		Key: key, Signer: key, Certificate: certificate, SignatureMethod: dsig.ECDSASHA256SignatureMethod,
		MetadataURL:             url.URL{Scheme: "https", Host: host, Path: "/metadata"},
		SSOURL:                  url.URL{Scheme: "https", Host: host, Path: "/sso"},
		ServiceProviderProvider: trusted{s},
	}}
}

// trusted finds service providers by what they publish.
type trusted struct{ server *server }

func (t trusted) GetServiceProvider(*http.Request, string) (*saml.EntityDescriptor, error) {
	return samlsp.ParseMetadata([]byte(t.server.call("GET", "/sso/saml/metadata", "", "").text))
}

func (idp *identityProvider) metadata() string {
	text, err := xml.Marshal(idp.Metadata())
	if err != nil {
		idp.server.t.Fatal(err)
	}
	return string(text)
}

// register makes the identity provider known to its server under a domain.
func (idp *identityProvider) register(domain string, more ...string) answer {
	idp.server.t.Helper()
	body := fmt.Sprintf(`{"type":"saml","metadata_xml":%q,"domains":[%q]%s}`, idp.metadata(), domain, strings.Join(more, ""))
	return idp.server.want(idp.server.admin("POST", "/sso/providers", body), 201, "")
}

// employee is somebody whom the identity provider knows.
func employee(subject, email string) *saml.Session {
	return &saml.Session{
		ID: uuid.NewString(), CreateTime: time.Now(), ExpireTime: time.Now().Add(time.Hour), Index: "1",
		NameID: subject, NameIDFormat: string(saml.PersistentNameIDFormat), UserEmail: email, UserCommonName: "Ada Lovelace",
		Groups: []string{"engineering", "board"},
	}
}

// answer makes the form that a browser carries back from the URL that it was sent to.
func (idp *identityProvider) answer(to string, who *saml.Session, changes ...func(*saml.Assertion)) url.Values {
	idp.server.t.Helper()
	request, err := saml.NewIdpAuthnRequest(idp.IdentityProvider, httptest.NewRequest("GET", to, nil))
	if err == nil {
		err = request.Validate()
	}
	if err != nil {
		idp.server.t.Fatalf("the request is refused by the identity provider: %v", err)
	}
	return idp.form(request, who, changes)
}

// begin makes the form of a sign-in that the identity provider begins.
func (idp *identityProvider) begin(relay string, who *saml.Session, changes ...func(*saml.Assertion)) url.Values {
	idp.server.t.Helper()
	request, err := idp.NewIdpInitiatedRequest(httptest.NewRequest("GET", "https://idp.example/", nil), "", relay)
	if err != nil {
		idp.server.t.Fatal(err)
	}
	return idp.form(request, who, changes)
}

func (idp *identityProvider) form(request *saml.IdpAuthnRequest, who *saml.Session, changes []func(*saml.Assertion)) url.Values {
	idp.server.t.Helper()
	if err := (saml.DefaultAssertionMaker{}).MakeAssertion(request, who); err != nil {
		idp.server.t.Fatal(err)
	}
	for _, change := range changes {
		change(request.Assertion)
	}
	form, err := request.PostBinding()
	if err != nil {
		idp.server.t.Fatal(err)
	}
	return url.Values{"SAMLResponse": {form.SAMLResponse}, "RelayState": {form.RelayState}}
}

// askSSO begins a sign-in here.
func (s *server) askSSO(body string) string {
	s.t.Helper()
	return s.want(s.call("POST", "/sso", s.keys.AnonKey, body), 200, "").str("url")
}

// landing is where a browser is sent to.
type landing struct {
	status          int
	url             *url.URL
	query, fragment url.Values
}

// post sends a form as a browser does, and stays where it is sent to.
func (s *server) post(path string, form url.Values) landing {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+"/auth/v1"+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Error(err)
		return landing{}
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	l := landing{status: response.StatusCode}
	if l.url, err = response.Location(); err != nil {
		s.t.Errorf("the answer %d leads nowhere", l.status)
		return landing{}
	}
	l.query = l.url.Query()
	l.fragment, _ = url.ParseQuery(l.url.Fragment)
	return l
}

func (s *server) consume(form url.Values) landing {
	s.t.Helper()
	return s.post("/sso/saml/acs", form)
}

// entered fails the test unless a browser came back with a session, and gives its user.
func (s *server) entered(l landing) answer {
	s.t.Helper()
	if l.status != 303 || l.fragment.Get("access_token") == "" {
		s.t.Fatalf("the browser is sent to %s", l.url)
	}
	return s.want(s.call("GET", "/user", l.fragment.Get("access_token"), ""), 200, "")
}

// turnedAway fails the test unless a browser came back to the site with an error.
func (s *server) turnedAway(l landing, code string) {
	s.t.Helper()
	if l.status != 303 || l.query.Get("error_code") != code || l.fragment.Get("access_token") != "" || l.query.Get("code") != "" {
		s.t.Errorf("the browser is sent to %s, not turned away with %s", l.url, code)
	}
}
