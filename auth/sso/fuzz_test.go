package sso_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"testing"

	"basalt/auth/sso"
)

const idpMetadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example"><IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/></IDPSSODescriptor></EntityDescriptor>`

// FuzzAResponseThatNobodySigned: whatever is sent, nothing panics, and what no trusted key has signed is never accepted.
func FuzzAResponseThatNobodySigned(f *testing.F) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	key, err := sso.ParseKey(base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PrivateKey(private)))
	if err != nil {
		f.Fatal(err)
	}
	sp, err := sso.New(key, "https://api.example/auth/v1", true)
	if err != nil {
		f.Fatal(err)
	}
	idp, err := sso.ParseMetadata([]byte(idpMetadata))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		"", "<a/>", "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
		`<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="a" Version="2.0" IssueInstant="2026-01-01T00:00:00Z" Destination="https://api.example/auth/v1/sso/saml/acs"><saml:Issuer>https://idp.example</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status><saml:Assertion ID="b" Version="2.0" IssueInstant="2026-01-01T00:00:00Z"><saml:Issuer>https://idp.example</saml:Issuer></saml:Assertion></samlp:Response>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, response []byte) {
		_, _ = sso.Issuer(response)
		for _, request := range []string{"", "id-1"} {
			if _, err := sp.Accept(idp, response, request); err == nil {
				t.Errorf("%q is accepted", response)
			}
		}
	})
}

// FuzzMetadata: whatever is given, nothing panics, and what is taken has a name.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(idpMetadata))
	f.Add([]byte(`<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"><EntitiesDescriptor>` + idpMetadata + `</EntitiesDescriptor></EntitiesDescriptor>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := sso.ParseMetadata(text); err == nil && m.EntityID() == "" {
			t.Errorf("%q has no name", text)
		}
	})
}
