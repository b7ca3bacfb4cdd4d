package sso

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"
)

// MaxMetadata bounds the metadata of an identity provider, in bytes.
const MaxMetadata = 512 << 10

// usualLife is how long metadata that names no time is taken as it is.
const usualLife = 24 * time.Hour

// Metadata is what an identity provider publishes about itself (SAML Metadata §2.3).
type Metadata struct {
	entity *saml.EntityDescriptor
}

// ParseMetadata reads the metadata of one identity provider. The error is for whoever has given it.
func ParseMetadata(text []byte) (*Metadata, error) {
	switch {
	case len(text) > MaxMetadata:
		return nil, fmt.Errorf("SAML Metadata is larger than %d bytes", MaxMetadata)
	case !utf8.Valid(text):
		return nil, errors.New("SAML Metadata XML contains invalid UTF-8 characters, which are not supported")
	}
	entity, err := samlsp.ParseMetadata(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("SAML Metadata is not valid: %w", err)
	case entity.EntityID == "":
		return nil, errors.New("SAML Metadata does not contain an EntityID")
	case len(entity.IDPSSODescriptors) == 0:
		return nil, errors.New("SAML Metadata does not contain any IDPSSODescriptor")
	case len(entity.IDPSSODescriptors) > 1:
		return nil, errors.New("SAML Metadata contains multiple IDPSSODescriptors")
	}
	return &Metadata{entity: entity}, nil
}

// EntityID is the identity provider's name.
func (m *Metadata) EntityID() string { return m.entity.EntityID }

// Life is how long metadata that was fetched at a moment is to be taken as it is.
func (m *Metadata) Life() time.Duration {
	if m.entity.CacheDuration > 0 {
		return m.entity.CacheDuration
	}
	return usualLife
}

// Over tells whether the metadata names an end and it has come.
func (m *Metadata) Over(at time.Time) bool {
	return !m.entity.ValidUntil.IsZero() && !at.Before(m.entity.ValidUntil)
}
