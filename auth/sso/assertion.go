package sso

import (
	"strings"
	"time"

	"github.com/crewjam/saml"
)

// Assertion is what an identity provider says about somebody, after it has been checked.
type Assertion struct {
	// ID is unique at the identity provider.
	ID string
	// GoodUntil is when it would be refused anyhow.
	GoodUntil time.Time

	content *saml.Assertion
}

// subjectID is the attribute that names a subject for ever (SAML V2.0 Subject Identifier Attributes Profile §3.3).
const subjectID = "urn:oasis:names:tc:SAML:attribute:subject-id"

// attribute gives the values of all attributes of a name or friendly name, empty ones left out.
func (a *Assertion) attribute(name string) []string {
	var values []string
	for _, statement := range a.content.AttributeStatements {
		for _, attribute := range statement.Attributes {
			if attribute.Name != name && attribute.FriendlyName != name {
				continue
			}
			for _, v := range attribute.Values {
				switch {
				case v.Value != "":
					values = append(values, v.Value)
				case v.NameID != nil && v.NameID.Value != "":
					values = append(values, v.NameID.Value)
				}
			}
		}
	}
	return values
}

func (a *Assertion) nameID() (format, value string) {
	if a.content.Subject == nil || a.content.Subject.NameID == nil {
		return "", ""
	}
	name := a.content.Subject.NameID
	return name.Format, strings.TrimSpace(name.Value)
}

// Subject is who it is, in a form that the identity provider uses for nobody else and will use again; empty when it
// gives none.
func (a *Assertion) Subject() string {
	if values := a.attribute(subjectID); len(values) > 0 {
		return values[0]
	}
	switch format, value := a.nameID(); format {
	case string(saml.TransientNameIDFormat):
		return ""
	case string(saml.EmailAddressNameIDFormat):
		return strings.ToLower(value)
	default:
		return value
	}
}

// Email is the e-mail address that is found without a mapping; empty when there is none.
func (a *Assertion) Email() string {
	for _, name := range []string{
		"urn:oid:0.9.2342.19200300.100.1.3",
		"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
		"http://schemas.xmlsoap.org/claims/EmailAddress",
		"mail", "Mail", "email",
	} {
		if values := a.attribute(name); len(values) > 0 {
			return values[0]
		}
	}
	if format, value := a.nameID(); format == string(saml.EmailAddressNameIDFormat) {
		return value
	}
	return ""
}

// SessionEnd is when the identity provider wants the session to end; zero when it does not say.
func (a *Assertion) SessionEnd() time.Time {
	for _, statement := range a.content.AuthnStatements {
		if end := statement.SessionNotOnOrAfter; end != nil && !end.IsZero() {
			return end.UTC()
		}
	}
	return time.Time{}
}
