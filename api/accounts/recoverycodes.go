package accounts

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// recoveryCodes answers GET /factors/recovery-codes: how many there are, never which.
func (f *face) recoveryCodes(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	set, err := f.service.RecoveryCodes(c.Request().Context(), p)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, recoveryCodesBody(set))
}

// generateRecoveryCodes answers POST /factors/recovery-codes. The codes are told here and never again.
func (f *face) generateRecoveryCodes(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	var in struct {
		FriendlyName string `json:"friendly_name"`
	}
	if err := readOptional(c, &in); err != nil {
		return err
	}
	set, err := f.service.GenerateRecoveryCodes(c.Request().Context(), f.caller(c), p, in.FriendlyName)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, recoveryCodesBody(set))
}

// regenerateRecoveryCodes answers POST /factors/recovery-codes/regenerate.
func (f *face) regenerateRecoveryCodes(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	set, err := f.service.RegenerateRecoveryCodes(c.Request().Context(), f.caller(c), p)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, recoveryCodesBody(set))
}

// verifyRecoveryCode answers POST /factors/recovery-codes/verify with the session at its new level.
func (f *face) verifyRecoveryCode(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	var in struct {
		Code string `json:"code"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	session, err := f.service.VerifyRecoveryCode(c.Request().Context(), f.caller(c), p, auth.Secret(in.Code))
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionBody(session))
}

// deleteRecoveryCodes answers DELETE /factors/recovery-codes.
func (f *face) deleteRecoveryCodes(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	id, err := f.service.DeleteRecoveryCodes(c.Request().Context(), f.caller(c), p)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, idBody(id))
}

func recoveryCodesBody(set *auth.RecoveryCodes) []byte {
	var s shape
	s.open()
	s.id("id", set.ID)
	s.text("type", auth.FactorRecoveryCode)
	s.textIf("friendly_name", set.FriendlyName)
	s.number("total", int64(set.Total))
	if len(set.Codes) == 0 {
		s.number("remaining", int64(set.Remaining))
	} else {
		s.name("codes")
		s = append(s, '[')
		for i, code := range set.Codes {
			if i > 0 {
				s = append(s, ',')
			}
			s = appendText(s, code.Reveal())
		}
		s = append(s, ']')
	}
	s.close()
	return s
}
