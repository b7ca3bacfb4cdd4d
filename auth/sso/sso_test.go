package sso_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"basalt/auth/sso"
)

func TestKeysAreReadInTheirUsualForms(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs1 := x509.MarshalPKCS1PrivateKey(key)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	described, at := "", time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	for name, text := range map[string]string{
		"PKCS #1 in base64":                   base64.StdEncoding.EncodeToString(pkcs1),
		"PKCS #8 in base64 with a line's end": base64.StdEncoding.EncodeToString(pkcs8) + "\n",
		"PKCS #1 in PEM":                      string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: pkcs1})),
		"PKCS #8 in PEM":                      string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})),
	} {
		parsed, err := sso.ParseKey(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sp, err := sso.New(parsed, "https://api.example/auth/v1", true)
		if err != nil {
			t.Fatal(err)
		}
		metadata, err := sp.Metadata(true, at)
		if err != nil {
			t.Fatal(err)
		}
		if described == "" {
			described = string(metadata)
		}
		if string(metadata) != described {
			t.Errorf("%s: the same key is described in another way", name)
		}
		if !strings.Contains(described, `use="encryption"`) {
			t.Error("encryption is not offered")
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "no base64": "%", "no key": "aGFsbG8=", "another kind of key": base64.StdEncoding.EncodeToString(wrong),
	} {
		if _, err := sso.ParseKey(text); err == nil {
			t.Errorf("%s is taken for a key", name)
		}
	}
}
