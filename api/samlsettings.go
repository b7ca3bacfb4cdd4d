package api

import (
	"strings"

	"basalt/auth"
	"basalt/auth/sso"
)

// SAMLSettings are the settings of single sign-on.
type SAMLSettings struct {
	SAMLPrivateKey   auth.Secret `flag:"saml-private-key" title:"SAML private key" help:"RSA key for single sign-on by SAML 2.0, as PEM or as PKCS #1 or #8 in base64; @FILE reads it from a file; empty: single sign-on is off"`
	SAMLIdPInitiated bool        `flag:"saml-idp-initiated" default:"false" title:"Sign-in begun by the identity provider" help:"accept users whom an identity provider sends without having been asked; whoever lures a user to a page can then sign them in as somebody else"`
	SAMLEncrypted    bool        `flag:"saml-encrypted-assertions" default:"false" title:"Encrypted assertions" help:"ask identity providers to encrypt what they say about users"`
}

// checkSAML reads the key from its file, if it names one, and refuses what is no key.
func (s *Settings) checkSAML() error {
	if path, ok := strings.CutPrefix(s.SAMLPrivateKey.Reveal(), "@"); ok {
		text, err := readSettingFile(path)
		if err != nil {
			return &SettingError{"saml-private-key", err.Error()}
		}
		s.SAMLPrivateKey = auth.Secret(text)
	}
	if _, err := s.samlProvider("http://localhost"); err != nil {
		return &SettingError{"saml-private-key", err.Error()}
	}
	return nil
}

// samlProvider is this server to identity providers; nil without a key.
func (s *Settings) samlProvider(api string) (*sso.ServiceProvider, error) {
	if s.SAMLPrivateKey == "" {
		return nil, nil
	}
	key, err := sso.ParseKey(s.SAMLPrivateKey.Reveal())
	if err != nil {
		return nil, err
	}
	return sso.New(key, api, s.SAMLEncrypted)
}
