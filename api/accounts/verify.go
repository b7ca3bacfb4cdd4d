package accounts

import (
	"html/template"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) verifyRoutes() routes {
	return routes{
		"/verify": {http.MethodGet: f.followLink, http.MethodHead: f.lookAtLink, http.MethodPost: f.verify},
	}
}

// verify answers POST /verify: a session for a token. The button of the confirm page comes here too.
func (f *face) verify(c echo.Context) error {
	if f.service.Settings().ConfirmPage && isForm(c) {
		return f.confirmLink(c)
	}
	var in struct {
		Type      string `json:"type"`
		Token     string `json:"token"`
		TokenHash string `json:"token_hash"`
		Email     string `json:"email"`
		Phone     string `json:"phone"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	out, err := f.service.Verify(c.Request().Context(), f.caller(c), auth.Verify{
		Type: auth.Verification(in.Type), Token: auth.Secret(in.Token), TokenHash: auth.Secret(in.TokenHash), Email: in.Email, Phone: in.Phone,
	})
	switch {
	case err != nil:
		return err
	case out.Session == nil:
		return c.JSON(http.StatusOK, struct {
			Message string `json:"msg"`
			Code    string `json:"code"`
		}{auth.SingleConfirmation, "200"})
	}
	return c.JSONBlob(http.StatusOK, sessionBody(out.Session))
}

func isForm(c echo.Context) bool {
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	return err == nil && kind == echo.MIMEApplicationForm
}

// link is what stands in the query of a mailed link.
type link struct {
	Token, Type, RedirectTo string
}

// lookAtLink answers HEAD /verify: who looks at a link does not follow it (RFC 9110 §9.3.2).
func (f *face) lookAtLink(c echo.Context) error { return c.NoContent(http.StatusOK) }

// followLink answers GET /verify: it leads to the app, with what it needs there. Where the settings want it, a page asks
// first whether somebody is there.
func (f *face) followLink(c echo.Context) error {
	l := link{Token: c.QueryParam("token"), Type: c.QueryParam("type"), RedirectTo: f.redirectTo(c)}
	if l.Token == "" {
		l.Token = c.QueryParam("token_hash")
	}
	if err := l.check(); err != nil {
		return err
	}
	switch {
	case isAhead(c.Request().Header):
		return &problem{status: http.StatusForbidden, code: auth.CodeValidationFailed, message: "This link is good once and is not followed ahead of time"}
	case f.service.Settings().ConfirmPage:
		return showConfirmPage(c, l)
	}
	return f.follow(c, l)
}

// isAhead tells whether a browser fetches a page that its user may never open.
func isAhead(header http.Header) bool {
	for _, name := range []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		purpose := strings.ToLower(header.Get(name))
		if strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "preview") || strings.Contains(purpose, "prerender") {
			return true
		}
	}
	return false
}

func (l link) check() error {
	switch {
	case l.Token == "":
		return &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: "Verify requires a token or a token hash"}
	case l.Type == "":
		return &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: "Verify requires a verification type"}
	}
	return nil
}

// confirmLink answers the button of the confirm page.
func (f *face) confirmLink(c echo.Context) error {
	form, err := readForm(c)
	if err != nil {
		return err
	}
	l := link{Token: form.Get("token"), Type: form.Get("type"), RedirectTo: f.service.RedirectTarget(form.Get("redirect_to"))}
	if err := l.check(); err != nil {
		return err
	}
	return f.follow(c, l)
}

// follow uses the token of a link up and leads on.
func (f *face) follow(c echo.Context, l link) error {
	in := auth.Verify{Type: auth.Verification(l.Type), TokenHash: auth.Secret(l.Token), Followed: true}
	out, err := f.service.Verify(c.Request().Context(), f.caller(c), in)
	switch {
	case err != nil && translate(err).status >= http.StatusInternalServerError:
		return err
	case err != nil:
		return leadBack(c, f.refusalReturn(c, l.RedirectTo, err, in.PKCE()))
	case out.Session != nil:
		return leadBack(c, sessionReturn(l.RedirectTo, out.Session, url.Values{"type": {l.Type}}))
	case out.Code != "":
		return leadBack(c, codeReturn(l.RedirectTo, out.Code))
	}
	message, target := url.Values{"message": {auth.SingleConfirmation}}, l.RedirectTo
	if in.PKCE() {
		target = withQuery(target, message)
	}
	return leadBack(c, withFragment(target, message))
}

// showConfirmPage is what people see who follow a link. Programs that look at mails do not press buttons.
func showConfirmPage(c echo.Context, l link) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentSecurityPolicy, "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
	header.Set(echo.HeaderXFrameOptions, "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	var page strings.Builder
	if err := confirmPage().Execute(&page, l); err != nil {
		return err
	}
	return c.HTML(http.StatusOK, page.String())
}

func confirmPage() *template.Template {
	return template.Must(template.New("confirm").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Continue</title>
<main>
<h1>One more step</h1>
<p>You opened a link from a message to you. Go on only if you asked for it.</p>
<form method="post" action="verify">
<input type="hidden" name="token" value="{{.Token}}">
<input type="hidden" name="type" value="{{.Type}}">
<input type="hidden" name="redirect_to" value="{{.RedirectTo}}">
<button autofocus>Continue</button>
</form>
</main>
</html>
`))
}
