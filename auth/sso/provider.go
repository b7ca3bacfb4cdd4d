package sso

import (
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
)

const (
	// MaxResponse bounds the answer of an identity provider, in bytes of XML.
	MaxResponse = 256 << 10

	// downloadLife is for metadata that is handed over as a file.
	downloadYears = 5
)

// NameIDFormats are those that an identity provider may be asked for (SAML Core §8.3).
func NameIDFormats() []string {
	return []string{
		string(saml.PersistentNameIDFormat), string(saml.EmailAddressNameIDFormat),
		string(saml.TransientNameIDFormat), string(saml.UnspecifiedNameIDFormat),
	}
}

// ServiceProvider is this server as identity providers see it.
type ServiceProvider struct {
	key       *Key
	metadata  url.URL
	consumer  url.URL
	encrypted bool
}

// New makes a service provider below the URL of the accounts API. With encrypted it asks for assertions to be encrypted.
func New(key *Key, api string, encrypted bool) (*ServiceProvider, error) {
	base, err := url.Parse(api)
	if err != nil {
		return nil, fmt.Errorf("the URL of the API: %w", err)
	}
	return &ServiceProvider{
		key: key, metadata: *base.JoinPath("sso/saml/metadata"), consumer: *base.JoinPath("sso/saml/acs"), encrypted: encrypted,
	}, nil
}

// towards is the library's service provider for one identity provider, with all that it can demand.
func (sp *ServiceProvider) towards(idp *Metadata) *saml.ServiceProvider {
	library := &saml.ServiceProvider{
		Key:                              sp.key.private,
		Certificate:                      sp.key.certificate,
		MetadataURL:                      sp.metadata,
		AcsURL:                           sp.consumer,
		AuthnNameIDFormat:                saml.PersistentNameIDFormat,
		SignatureMethod:                  dsig.RSASHA256SignatureMethod,
		AssertionConsumerServiceBindings: []string{saml.HTTPPostBinding},
		RejectUnknownConditions:          true,
		RejectSHA1Signatures:             true,
		RejectExpiredIDPMetadata:         true,
		RequireSignedResponseForCBC:      true,
		// In metadata a certificate is but a vessel for its key (SAML Metadata Interoperability Profile §2.6.1).
		IgnoreCertificateExpiry: true,
	}
	if idp != nil {
		library.IDPMetadata = idp.entity
	}
	return library
}

// Metadata is what identity providers are given about this service provider. A download is a file that is good for years.
func (sp *ServiceProvider) Metadata(download bool, at time.Time) ([]byte, error) {
	entity := sp.towards(nil).Metadata()
	if download {
		entity.ValidUntil = at.AddDate(downloadYears, 0, 0)
	}
	for i := range entity.SPSSODescriptors {
		d := &entity.SPSSODescriptors[i]
		d.ValidUntil = nil // that of the entity holds
		// An identity provider that begins by itself has no request that could be signed.
		d.AuthnRequestsSigned = nil
		d.NameIDFormats = []saml.NameIDFormat{saml.EmailAddressNameIDFormat, saml.PersistentNameIDFormat}
		d.KeyDescriptors = slices.DeleteFunc(d.KeyDescriptors, func(k saml.KeyDescriptor) bool {
			return k.Use == "encryption" && !sp.encrypted
		})
	}
	return xml.Marshal(entity)
}

// Request is a request for a sign-in that is about to be sent.
type Request struct {
	// ID is what the answer must name.
	ID string
	sp *saml.ServiceProvider
	to *saml.AuthnRequest
}

// ErrNoRedirect is an identity provider that takes no requests from browsers by redirect.
var ErrNoRedirect = errors.New("the identity provider has no SingleSignOnService for the HTTP-Redirect binding")

// Ask makes a request to an identity provider for whoever signs in. The format of the name is optional.
func (sp *ServiceProvider) Ask(idp *Metadata, nameIDFormat string) (*Request, error) {
	library := sp.towards(idp)
	if nameIDFormat != "" {
		library.AuthnNameIDFormat = saml.NameIDFormat(nameIDFormat)
	}
	to := library.GetSSOBindingLocation(saml.HTTPRedirectBinding)
	if to == "" {
		return nil, ErrNoRedirect
	}
	request, err := library.MakeAuthenticationRequest(to, saml.HTTPRedirectBinding, saml.HTTPPostBinding)
	if err != nil {
		return nil, fmt.Errorf("make a SAML request: %w", err)
	}
	return &Request{ID: request.ID, sp: library, to: request}, nil
}

// URL is where the browser takes the request to.
func (r *Request) URL(relayState string) (string, error) {
	u, err := r.to.Redirect(relayState, r.sp)
	if err != nil {
		return "", fmt.Errorf("sign a SAML request: %w", err)
	}
	return u.String(), nil
}

// Issuer is whom a response says that it comes from, before anything of it has been checked.
func Issuer(response []byte) (string, error) {
	var peek struct {
		XMLName xml.Name `xml:"urn:oasis:names:tc:SAML:2.0:protocol Response"`
		Issuer  string   `xml:"urn:oasis:names:tc:SAML:2.0:assertion Issuer"`
	}
	if err := xml.Unmarshal(response, &peek); err != nil {
		return "", err
	}
	return peek.Issuer, nil
}

// Accept checks a response of an identity provider and gives its assertion: signatures, issuer, audience, recipient,
// times and the request that it answers (SAML Profiles §4.1.4.3). With no request only a response that answers none is
// good. The error says why in the words of the log; a client gets to know nothing of it. What is left to the caller is
// that no assertion is accepted twice.
func (sp *ServiceProvider) Accept(idp *Metadata, response []byte, request string) (*Assertion, error) {
	library := sp.towards(idp)
	note := &note{}
	library.ReplayCache = note
	var requests []string
	if request == "" {
		library.AllowIDPInitiated = true
	} else {
		requests = []string{request}
	}
	accepted, err := library.ParseXMLResponse(response, requests, sp.consumer)
	if invalid := new(saml.InvalidResponseError); errors.As(err, &invalid) {
		err = invalid.PrivateErr
	}
	if err != nil {
		return nil, err
	}
	return &Assertion{ID: note.id, GoodUntil: note.until, content: accepted}, nil
}

// note takes down which assertion was accepted, and until when it would be again.
type note struct {
	id    string
	until time.Time
}

// Consume implements saml.AssertionReplayCache.
func (n *note) Consume(id string, until time.Time) error {
	n.id, n.until = id, until
	return nil
}
