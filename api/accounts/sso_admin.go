package accounts

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/sso"
)

type ssoProviderRequest struct {
	Type             string       `json:"type"`
	MetadataURL      string       `json:"metadata_url"`
	MetadataXML      string       `json:"metadata_xml"`
	Domains          []string     `json:"domains"`
	AttributeMapping *sso.Mapping `json:"attribute_mapping"`
	NameIDFormat     string       `json:"name_id_format"`
	ResourceID       *string      `json:"resource_id"`
	Disabled         *bool        `json:"disabled"`
}

func readSSOProvider(c echo.Context) (auth.SSOProviderChange, error) {
	var in ssoProviderRequest
	err := read(c, &in)
	return auth.SSOProviderChange{
		Type: in.Type, MetadataURL: in.MetadataURL, MetadataXML: in.MetadataXML, Domains: in.Domains,
		AttributeMapping: in.AttributeMapping, NameIDFormat: in.NameIDFormat, ResourceID: in.ResourceID, Disabled: in.Disabled,
	}, err
}

type ssoProviderBody struct {
	ID         uuid.UUID       `json:"id"`
	ResourceID string          `json:"resource_id,omitempty"`
	Disabled   *bool           `json:"disabled"`
	SAML       samlBody        `json:"saml"`
	Domains    []ssoDomainBody `json:"domains"`
	CreatedAt  time.Time       `json:"created_at"`
	UpdatedAt  time.Time       `json:"updated_at"`
}

type samlBody struct {
	EntityID         string          `json:"entity_id"`
	MetadataXML      string          `json:"metadata_xml,omitempty"`
	MetadataURL      string          `json:"metadata_url,omitempty"`
	AttributeMapping json.RawMessage `json:"attribute_mapping,omitempty"`
	NameIDFormat     string          `json:"name_id_format,omitempty"`
}

type ssoDomainBody struct {
	Domain string `json:"domain"`
}

func newSSOProviderBody(p auth.SSOProvider) ssoProviderBody {
	domains := make([]ssoDomainBody, len(p.Domains))
	for i, domain := range p.Domains {
		domains[i] = ssoDomainBody{Domain: domain}
	}
	return ssoProviderBody{
		ID: p.ID, ResourceID: p.ResourceID, Disabled: p.Disabled,
		SAML: samlBody{
			EntityID: p.EntityID, MetadataXML: p.MetadataXML, MetadataURL: p.MetadataURL,
			AttributeMapping: p.AttributeMapping, NameIDFormat: p.NameIDFormat,
		},
		Domains: domains, CreatedAt: p.CreatedAt.UTC(), UpdatedAt: p.UpdatedAt.UTC(),
	}
}

type ssoProvidersBody struct {
	Items []ssoProviderBody `json:"items"`
}

// listSSOProviders answers GET /admin/sso/providers?resource_id=&resource_id_prefix=, without their metadata.
func (f *face) listSSOProviders(c echo.Context) error {
	found, err := f.service.AdminSSOProviders(c.Request().Context(), c.QueryParam("resource_id"), c.QueryParam("resource_id_prefix"))
	if err != nil {
		return err
	}
	list := ssoProvidersBody{Items: make([]ssoProviderBody, len(found))}
	for i, p := range found {
		p.MetadataXML = ""
		list.Items[i] = newSSOProviderBody(p)
	}
	return c.JSON(http.StatusOK, list)
}

// createSSOProvider answers POST /admin/sso/providers.
func (f *face) createSSOProvider(c echo.Context) error {
	in, err := readSSOProvider(c)
	if err != nil {
		return err
	}
	p, err := f.service.AdminCreateSSOProvider(c.Request().Context(), f.caller(c), in, nil)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, newSSOProviderBody(*p))
}

// getSSOProvider answers GET /admin/sso/providers/{id}.
func (f *face) getSSOProvider(c echo.Context) error {
	p, err := f.service.AdminSSOProvider(c.Request().Context(), c.Param("provider"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newSSOProviderBody(*p))
}

// putSSOProvider answers PUT /admin/sso/providers/{id}.
func (f *face) putSSOProvider(c echo.Context) error {
	in, err := readSSOProvider(c)
	if err != nil {
		return err
	}
	p, err := f.service.AdminUpdateSSOProvider(c.Request().Context(), f.caller(c), c.Param("provider"), in, nil)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newSSOProviderBody(*p))
}

// deleteSSOProvider answers DELETE /admin/sso/providers/{id} with what has been removed.
func (f *face) deleteSSOProvider(c echo.Context) error {
	p, err := f.service.AdminDeleteSSOProvider(c.Request().Context(), f.caller(c), c.Param("provider"), nil)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newSSOProviderBody(*p))
}
