package accounts

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) ssoRoutes() routes {
	return routes{
		"/sso":               {http.MethodPost: f.human(f.beginSSO)},
		"/sso/saml/metadata": {http.MethodGet: f.ssoMetadata},
		"/sso/saml/acs":      {http.MethodPost: f.finishSSO},
		"/admin/sso/providers": {
			http.MethodGet:  f.admin(f.listSSOProviders),
			http.MethodPost: f.admin(f.createSSOProvider),
		},
		"/admin/sso/providers/:provider": {
			http.MethodGet:    f.admin(f.getSSOProvider),
			http.MethodPut:    f.admin(f.putSSOProvider),
			http.MethodDelete: f.admin(f.deleteSSOProvider),
		},
	}
}

type ssoRequest struct {
	ProviderID          *uuid.UUID `json:"provider_id"`
	Domain              string     `json:"domain"`
	RedirectTo          string     `json:"redirect_to"`
	SkipHTTPRedirect    bool       `json:"skip_http_redirect"`
	CodeChallenge       string     `json:"code_challenge"`
	CodeChallengeMethod string     `json:"code_challenge_method"`
}

type ssoBody struct {
	URL string `json:"url"`
}

// beginSSO answers POST /sso: a redirect to the identity provider, or its URL.
func (f *face) beginSSO(c echo.Context) error {
	var in ssoRequest
	if err := read(c, &in); err != nil {
		return err
	}
	request := auth.SSOSignIn{
		Domain: in.Domain, RedirectTo: in.RedirectTo,
		CodeChallenge: in.CodeChallenge, CodeChallengeMethod: in.CodeChallengeMethod,
	}
	if in.ProviderID != nil {
		request.ProviderID = *in.ProviderID
	}
	to, err := f.service.BeginSSO(c.Request().Context(), f.caller(c), request)
	switch {
	case err != nil:
		return err
	case in.SkipHTTPRedirect:
		return c.JSON(http.StatusOK, ssoBody{URL: to})
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// ssoMetadata answers GET /sso/saml/metadata; with download=true as a file.
func (f *face) ssoMetadata(c echo.Context) error {
	download := c.QueryParam("download") == "true"
	text, err := f.service.SSOMetadata(download)
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("Cache-Control", "public, max-age=600")
	if download {
		header.Set(echo.HeaderContentDisposition, `attachment; filename="metadata.xml"`)
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationXML, text)
}

// finishSSO answers POST /sso/saml/acs, to which a browser comes: what goes wrong is told on the site.
func (f *face) finishSSO(c echo.Context) error {
	out, err := f.acceptSSO(c)
	var refusal *auth.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == auth.CodeSAMLProviderDisabled:
		return err
	case err != nil:
		return leadBack(c, f.refusalReturn(c, f.service.RedirectTarget(), err, true))
	case out.Session == nil:
		return leadBack(c, codeReturn(out.Redirect, out.Code))
	}
	return leadBack(c, sessionReturn(out.Redirect, out.Session, nil))
}

func (f *face) acceptSSO(c echo.Context) (*auth.SignedInElsewhere, error) {
	text, err := body(c)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, invalid("The form is not well-formed")
	}
	return f.service.FinishSSO(c.Request().Context(), f.caller(c), auth.SSOAnswer{
		Response: form.Get("SAMLResponse"), RelayState: form.Get("RelayState"),
	})
}
