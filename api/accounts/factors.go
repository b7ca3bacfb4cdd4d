package accounts

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) factorRoutes() routes {
	return routes{
		"/factors":                           {http.MethodPost: f.enrollFactor},
		"/factors/:factor_id":                {http.MethodDelete: f.unenrollFactor},
		"/factors/:factor_id/challenge":      {http.MethodPost: f.challengeFactor},
		"/factors/:factor_id/verify":         {http.MethodPost: f.verifyFactor},
		"/factors/recovery-codes":            {http.MethodGet: f.recoveryCodes, http.MethodPost: f.generateRecoveryCodes, http.MethodDelete: f.deleteRecoveryCodes},
		"/factors/recovery-codes/regenerate": {http.MethodPost: f.regenerateRecoveryCodes},
		"/factors/recovery-codes/verify":     {http.MethodPost: f.verifyRecoveryCode},
	}
}

type enrollRequest struct {
	Type         string `json:"factor_type"`
	FriendlyName string `json:"friendly_name"`
	Issuer       string `json:"issuer"`
	Phone        string `json:"phone"`
}

// enrollFactor answers POST /factors. The secret of a TOTP is told here and never again.
func (f *face) enrollFactor(c echo.Context) error {
	p, err := f.principal(c)
	if err != nil {
		return err
	}
	var in enrollRequest
	if err := read(c, &in); err != nil {
		return err
	}
	e, err := f.service.EnrollFactor(c.Request().Context(), f.caller(c), p, auth.NewFactor{
		Type: in.Type, FriendlyName: in.FriendlyName, Issuer: in.Issuer, Phone: in.Phone,
	})
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, enrollmentBody(e))
}

func enrollmentBody(e *auth.Enrollment) []byte {
	s := make(shape, 0, sizeOfUser+len(e.QRCode))
	s.open()
	s.id("id", e.ID)
	s.text("type", e.Type)
	s.text("friendly_name", e.FriendlyName)
	if e.Type == auth.FactorTOTP {
		s.name("totp")
		s.open()
		s.text("qr_code", e.QRCode.Reveal())
		s.text("secret", e.Secret.Reveal())
		s.text("uri", e.URI.Reveal())
		s.close()
	}
	s.textIf("phone", e.Phone)
	s.close()
	return s
}

// challengeFactor answers POST /factors/{factor_id}/challenge.
func (f *face) challengeFactor(c echo.Context) error {
	p, id, err := f.principalAndFactor(c)
	if err != nil {
		return err
	}
	var in struct {
		Channel string `json:"channel"`
	}
	if err := readOptional(c, &in); err != nil {
		return err
	}
	challenge, err := f.service.ChallengeFactor(c.Request().Context(), f.caller(c), p, id, in.Channel)
	if err != nil {
		return err
	}
	var s shape
	s.open()
	s.id("id", challenge.ID)
	s.text("type", challenge.Type)
	s.number("expires_at", challenge.ExpiresAt.Unix())
	if challenge.Key != nil {
		s.name("webauthn")
		s.open()
		s.text("type", challenge.Key.Type)
		s.object("credential_options", challenge.Key.Options)
		s.close()
	}
	s.close()
	return c.JSONBlob(http.StatusOK, s)
}

// verifyFactor answers POST /factors/{factor_id}/verify with the session at its new level.
func (f *face) verifyFactor(c echo.Context) error {
	p, id, err := f.principalAndFactor(c)
	if err != nil {
		return err
	}
	var in struct {
		ChallengeID uuid.UUID `json:"challenge_id"`
		Code        string    `json:"code"`
		WebAuthn    *struct {
			Type               string          `json:"type"`
			CredentialResponse json.RawMessage `json:"credential_response"`
		} `json:"webauthn"`
	}
	if err := read(c, &in); err != nil {
		return err
	}
	proof := auth.FactorProof{ChallengeID: in.ChallengeID, Code: auth.Secret(in.Code)}
	if in.WebAuthn != nil {
		proof.Key = &auth.KeyProof{Type: in.WebAuthn.Type, Answer: in.WebAuthn.CredentialResponse}
	}
	session, err := f.service.VerifyFactor(c.Request().Context(), f.caller(c), p, id, proof)
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, sessionBody(session))
}

// unenrollFactor answers DELETE /factors/{factor_id}.
func (f *face) unenrollFactor(c echo.Context) error {
	p, id, err := f.principalAndFactor(c)
	if err != nil {
		return err
	}
	if err := f.service.UnenrollFactor(c.Request().Context(), f.caller(c), p, id); err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, idBody(id))
}

func idBody(id uuid.UUID) []byte {
	var s shape
	s.open()
	s.id("id", id)
	s.close()
	return s
}

func (f *face) principalAndFactor(c echo.Context) (*auth.Principal, uuid.UUID, error) {
	p, err := f.principal(c)
	if err != nil {
		return nil, uuid.Nil, err
	}
	id, err := factorID(c)
	return p, id, err
}

func factorID(c echo.Context) (uuid.UUID, error) {
	text := c.Param("factor_id")
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, &problem{status: http.StatusNotFound, code: auth.CodeValidationFailed, message: "factor_id must be an UUID"}
	}
	return id, nil
}
