// Package ssotest is a SAML identity provider of an organisation in the process of a test.
package ssotest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/xml"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"
	"github.com/google/uuid"
	dsig "github.com/russellhaering/goxmldsig"
)

// NewKey makes a key for a service provider as the setting --saml-private-key takes it: PKCS #1 in base64. That takes
// its time.
func NewKey() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // there is no randomness
	}
	return base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(key))
}

// IdentityProvider signs users of an organisation in.
type IdentityProvider struct {
	*saml.IdentityProvider
	t testing.TB
}

// New makes an identity provider that trusts one service provider, whose metadata describe gives. It is not known there
// yet.
func New(t testing.TB, describe func() string) *IdentityProvider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "idp"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	host := "idp-" + uuid.NewString()[:8] + ".example"
	return &IdentityProvider{t: t, IdentityProvider: &saml.IdentityProvider{
		Key: key, Signer: key, Certificate: certificate, SignatureMethod: dsig.ECDSASHA256SignatureMethod,
		MetadataURL:             url.URL{Scheme: "https", Host: host, Path: "/metadata"},
		SSOURL:                  url.URL{Scheme: "https", Host: host, Path: "/sso"},
		ServiceProviderProvider: trusted(describe),
	}}
}

// trusted finds the service provider by what it publishes.
type trusted func() string

// Posing is the identity provider with some of what it says of itself changed.
func (p *IdentityProvider) Posing(change func(*saml.IdentityProvider)) *IdentityProvider {
	other := *p.IdentityProvider
	change(&other)
	return &IdentityProvider{&other, p.t}
}

// GetServiceProvider implements saml.ServiceProviderProvider.
func (t trusted) GetServiceProvider(*http.Request, string) (*saml.EntityDescriptor, error) {
	return samlsp.ParseMetadata([]byte(t()))
}

// Description is the identity provider's metadata as XML.
func (p *IdentityProvider) Description() string {
	p.t.Helper()
	text, err := xml.Marshal(p.Metadata())
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// Employee is somebody whom an identity provider knows.
func Employee(subject, email string) *saml.Session {
	return &saml.Session{
		ID: uuid.NewString(), CreateTime: time.Now(), ExpireTime: time.Now().Add(time.Hour), Index: "1",
		NameID: subject, NameIDFormat: string(saml.PersistentNameIDFormat), UserEmail: email, UserCommonName: "Ada Lovelace",
		Groups: []string{"engineering", "board"},
	}
}

// Answer makes the form that a browser carries back from the URL that it was sent to.
func (p *IdentityProvider) Answer(to string, who *saml.Session, changes ...func(*saml.Assertion)) url.Values {
	p.t.Helper()
	request, err := saml.NewIdpAuthnRequest(p.IdentityProvider, httptest.NewRequest("GET", to, nil))
	if err == nil {
		err = request.Validate()
	}
	if err != nil {
		p.t.Fatalf("the request is refused by the identity provider: %v", err)
	}
	return p.form(request, who, changes)
}

// Begin makes the form of a sign-in that the identity provider begins.
func (p *IdentityProvider) Begin(relay string, who *saml.Session, changes ...func(*saml.Assertion)) url.Values {
	p.t.Helper()
	request, err := p.NewIdpInitiatedRequest(httptest.NewRequest("GET", "https://idp.example/", nil), "", relay)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.form(request, who, changes)
}

func (p *IdentityProvider) form(request *saml.IdpAuthnRequest, who *saml.Session, changes []func(*saml.Assertion)) url.Values {
	p.t.Helper()
	if err := (saml.DefaultAssertionMaker{}).MakeAssertion(request, who); err != nil {
		p.t.Fatal(err)
	}
	for _, change := range changes {
		change(request.Assertion)
	}
	form, err := request.PostBinding()
	if err != nil {
		p.t.Fatal(err)
	}
	return url.Values{"SAMLResponse": {form.SAMLResponse}, "RelayState": {form.RelayState}}
}
