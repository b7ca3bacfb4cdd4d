package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/factor"
)

// totps puts the routes of an administrator's own authenticator app on the group.
func (o *Options) totps(g *echo.Group) {
	o.brief(g, "POST", "/me/totp", viewer, elevated(o.beginTOTP))
	o.brief(g, "POST", "/me/totp/verify", viewer, elevated(o.verifyTOTP))
	o.brief(g, "POST", "/me/recovery-codes", viewer, elevated(o.renewRecoveryCodes))
	o.brief(g, "DELETE", "/me/totp", viewer, elevated(o.endTOTP))
}

// TOTPSecret is what an authenticator app is given, once.
type TOTPSecret struct {
	Secret string `json:"secret"`
	URI    string `json:"uri"`
	// QRCode is the URI as a picture, SVG.
	QRCode string `json:"qr_code"`
}

// beginTOTP answers POST /me/totp.
func (o *Options) beginTOTP(c echo.Context) error {
	drawn, err := o.Administrators.BeginTOTP(c.Request().Context(), administratorOf(c))
	if err != nil {
		return err
	}
	picture, err := factor.QRCode(drawn.URI)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, TOTPSecret{drawn.Secret, drawn.URI, picture})
}

// TOTPCode is the body of POST /me/totp/verify.
type TOTPCode struct {
	Code auth.Secret `json:"code" tstype:"string"`
}

// RecoveryCodes are shown once, when they are made.
type RecoveryCodes struct {
	Codes []string `json:"codes"`
}

func recoveryCodes(codes []auth.Secret) RecoveryCodes {
	body := RecoveryCodes{Codes: make([]string, len(codes))}
	for i, code := range codes {
		body.Codes[i] = code.Reveal()
	}
	return body
}

// verifyTOTP answers POST /me/totp/verify.
func (o *Options) verifyTOTP(c echo.Context) error {
	var in TOTPCode
	if err := readJSON(c, &in); err != nil {
		return err
	}
	codes, err := o.Administrators.VerifyTOTP(c.Request().Context(), callerOf(c), sessionOf(c), in.Code)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, recoveryCodes(codes))
}

// renewRecoveryCodes answers POST /me/recovery-codes.
func (o *Options) renewRecoveryCodes(c echo.Context) error {
	codes, err := o.Administrators.RenewRecoveryCodes(c.Request().Context(), actorOf(c), administratorOf(c).ID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, recoveryCodes(codes))
}

// endTOTP answers DELETE /me/totp.
func (o *Options) endTOTP(c echo.Context) error {
	if err := o.Administrators.EndTOTP(c.Request().Context(), actorOf(c), administratorOf(c).ID); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
