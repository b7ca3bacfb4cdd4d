package admin

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/sso"
)

// samlProviders puts the routes of identity providers that speak SAML 2.0 on the group.
func (o *Options) samlProviders(g *echo.Group) {
	o.brief(g, "POST", "/providers/saml", owner, elevated(o.createSAMLProvider))
	o.brief(g, "PATCH", "/providers/saml/:id", owner, elevated(o.changeSAMLProvider))
	o.brief(g, "DELETE", "/providers/saml/:id", owner, elevated(o.deleteSAMLProvider))
}

// SAMLBody tells of single sign-on by SAML 2.0.
type SAMLBody struct {
	// On tells that the server has a key for it.
	On bool `json:"on"`
	// MetadataURL is what identity providers read about this server; ACSURL is where they send users.
	MetadataURL string             `json:"metadata_url"`
	ACSURL      string             `json:"acs_url"`
	Providers   []SAMLProviderBody `json:"providers"`
}

// SAMLProviderBody is an identity provider, without its metadata.
type SAMLProviderBody struct {
	ID               uuid.UUID       `json:"id"`
	ResourceID       string          `json:"resource_id"`
	Disabled         bool            `json:"disabled"`
	EntityID         string          `json:"entity_id"`
	MetadataURL      string          `json:"metadata_url"`
	Domains          []string        `json:"domains"`
	NameIDFormat     string          `json:"name_id_format"`
	AttributeMapping json.RawMessage `json:"attribute_mapping" tstype:"unknown"`
}

// SAMLProviderChange is the body of POST /providers/saml and of PATCH /providers/saml/{id}. What is absent stays as it is.
// The metadata are given as XML or by the URL that they are published at.
type SAMLProviderChange struct {
	MetadataURL      string       `json:"metadata_url,omitempty"`
	MetadataXML      string       `json:"metadata_xml,omitempty"`
	Domains          []string     `json:"domains,omitempty"`
	ResourceID       *string      `json:"resource_id,omitempty"`
	Disabled         *bool        `json:"disabled,omitempty"`
	NameIDFormat     *string      `json:"name_id_format,omitempty"`
	AttributeMapping *sso.Mapping `json:"attribute_mapping,omitempty" tstype:"unknown"`
}

// saml tells of single sign-on.
func (o *Options) saml(ctx context.Context) (SAMLBody, error) {
	base := o.URL.String() + "/auth/v1/sso/saml"
	body := SAMLBody{On: o.SAML, MetadataURL: base + "/metadata", ACSURL: base + "/acs", Providers: []SAMLProviderBody{}}
	found, err := o.Accounts.AdminSSOProviders(ctx, "", "")
	for i := range found {
		body.Providers = append(body.Providers, samlProvider(&found[i]))
	}
	return body, err
}

func samlProvider(p *auth.SSOProvider) SAMLProviderBody {
	return SAMLProviderBody{
		ID: p.ID, ResourceID: p.ResourceID, Disabled: p.Disabled != nil && *p.Disabled, EntityID: p.EntityID, MetadataURL: p.MetadataURL,
		Domains: append([]string{}, p.Domains...), NameIDFormat: p.NameIDFormat, AttributeMapping: p.AttributeMapping,
	}
}

// mostOfSAML has room for metadata, written as JSON.
const mostOfSAML = 4 * sso.MaxMetadata

// createSAMLProvider answers POST /providers/saml.
func (o *Options) createSAMLProvider(c echo.Context) error {
	var in SAMLProviderChange
	if err := readLargeJSON(c, &in, mostOfSAML); err != nil {
		return err
	}
	change := auth.SSOProviderChange{
		Type: "saml", MetadataURL: in.MetadataURL, MetadataXML: in.MetadataXML, Domains: in.Domains, ResourceID: in.ResourceID,
		Disabled: in.Disabled, AttributeMapping: in.AttributeMapping,
	}
	if in.NameIDFormat != nil {
		change.NameIDFormat = *in.NameIDFormat
	}
	_, err := o.Accounts.AdminCreateSSOProvider(c.Request().Context(), trustedOf(c), change, func(tx pgx.Tx, p *auth.SSOProvider) error {
		return o.audit(c, tx, administrator.Change{Action: "saml_provider.create", Target: p.ID.String(), After: samlProvider(p)})
	})
	if err != nil {
		return err
	}
	return o.listProviders(c)
}

// changeSAMLProvider answers PATCH /providers/saml/{id}.
func (o *Options) changeSAMLProvider(c echo.Context) error {
	id, err := idOf(c, "an identity provider")
	if err != nil {
		return err
	}
	var in SAMLProviderChange
	if err := readLargeJSON(c, &in, mostOfSAML); err != nil {
		return err
	}
	ctx := c.Request().Context()
	before, err := o.Accounts.AdminSSOProvider(ctx, id.String())
	if err != nil {
		return err
	}
	change := auth.SSOProviderChange{
		MetadataURL: in.MetadataURL, MetadataXML: in.MetadataXML, Domains: in.Domains, ResourceID: in.ResourceID,
		Disabled: in.Disabled, NameIDFormat: before.NameIDFormat, AttributeMapping: in.AttributeMapping,
	}
	if in.NameIDFormat != nil {
		change.NameIDFormat = *in.NameIDFormat
	}
	_, err = o.Accounts.AdminUpdateSSOProvider(ctx, trustedOf(c), id.String(), change, func(tx pgx.Tx, after *auth.SSOProvider) error {
		return o.audit(c, tx, administrator.Change{
			Action: "saml_provider.change", Target: id.String(), Before: samlProvider(before), After: samlProvider(after),
		})
	})
	if err != nil {
		return err
	}
	return o.listProviders(c)
}

// deleteSAMLProvider answers DELETE /providers/saml/{id}.
func (o *Options) deleteSAMLProvider(c echo.Context) error {
	id, err := idOf(c, "an identity provider")
	if err != nil {
		return err
	}
	_, err = o.Accounts.AdminDeleteSSOProvider(c.Request().Context(), trustedOf(c), id.String(), func(tx pgx.Tx, before *auth.SSOProvider) error {
		return o.audit(c, tx, administrator.Change{Action: "saml_provider.delete", Target: id.String(), Before: samlProvider(before)})
	})
	if err != nil {
		return err
	}
	return o.listProviders(c)
}
