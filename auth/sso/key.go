// Package sso speaks SAML 2.0 with the identity providers of organisations, as their service provider.
package sso

import (
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// minKeyBits is the least size of an RSA key that NIST SP 800-131A allows for signatures.
const minKeyBits = 2048

// Key signs what is sent to identity providers, and opens what they have encrypted.
type Key struct {
	private     *rsa.PrivateKey
	certificate *x509.Certificate
}

// ParseKey reads an RSA key: PEM, or PKCS #1 or PKCS #8 in base64. The error says what is wrong and repeats nothing of
// the key.
func ParseKey(text string) (*Key, error) {
	var der []byte
	if block, _ := pem.Decode([]byte(text)); block != nil {
		der = block.Bytes
	} else {
		var err error
		if der, err = base64.StdEncoding.DecodeString(strings.TrimSpace(text)); err != nil {
			return nil, errors.New("it is neither PEM nor base64")
		}
	}
	private, err := x509.ParsePKCS1PrivateKey(der)
	if err != nil {
		parsed, err := x509.ParsePKCS8PrivateKey(der)
		if err != nil {
			return nil, errors.New("it is neither a PKCS #1 nor a PKCS #8 private key")
		}
		var ok bool
		if private, ok = parsed.(*rsa.PrivateKey); !ok {
			return nil, errors.New("it is not an RSA key")
		}
	}
	if bits := private.N.BitLen(); bits < minKeyBits {
		return nil, fmt.Errorf("it has %d bits, %d are the least", bits, minKeyBits)
	}
	certificate, err := certify(private)
	if err != nil {
		return nil, err
	}
	return &Key{private: private, certificate: certificate}, nil
}

// certify wraps the public key as SAML does. Identity providers look at nothing but the key; the same key gives the same
// certificate in all processes and for ever.
func certify(private *rsa.PrivateKey) (*x509.Certificate, error) {
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "SAML 2.0 service provider"},
		NotBefore:             time.Unix(0, 0).UTC(),
		NotAfter:              time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		BasicConstraintsValid: true,
		SignatureAlgorithm:    x509.SHA256WithRSA,
	}
	der, err := x509.CreateCertificate(nil, template, template, private.Public(), private)
	if err != nil {
		return nil, fmt.Errorf("it signs nothing: %w", err)
	}
	return x509.ParseCertificate(der)
}
