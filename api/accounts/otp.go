package accounts

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

func (f *face) otpRoutes() routes {
	return routes{
		"/otp":       {http.MethodPost: f.human(f.otp)},
		"/magiclink": {http.MethodPost: f.human(f.magicLink)},
		"/recover":   {http.MethodPost: f.human(f.recover)},
		"/resend":    {http.MethodPost: f.human(f.resend)},
	}
}

// challengeRequest is how a client asks that a link end in a code (RFC 7636 §4.3).
type challengeRequest struct {
	CodeChallenge       string `json:"code_challenge"`
	CodeChallengeMethod string `json:"code_challenge_method"`
}

// wayBack is where a request's link leads to, and how it ends.
func (f *face) wayBack(c echo.Context, in challengeRequest) auth.Return {
	return auth.Return{RedirectTo: f.redirectTo(c), Challenge: in.CodeChallenge, ChallengeMethod: in.CodeChallengeMethod}
}

type otpRequest struct {
	Email      string          `json:"email"`
	Phone      string          `json:"phone"`
	CreateUser *bool           `json:"create_user"`
	Data       json.RawMessage `json:"data"`
	Channel    string          `json:"channel"`
	challengeRequest
}

// otp answers POST /otp: nothing but that the request was understood.
func (f *face) otp(c echo.Context) error {
	var in otpRequest
	if err := read(c, &in); err != nil {
		return err
	}
	return f.sendOTP(c, auth.OTP{
		Email: in.Email, Phone: in.Phone, KnownOnly: in.CreateUser != nil && !*in.CreateUser, Data: in.Data, Channel: in.Channel,
		Return: f.wayBack(c, in.challengeRequest),
	})
}

// magicLink answers POST /magiclink, the old form of /otp for e-mail addresses.
func (f *face) magicLink(c echo.Context) error {
	var in otpRequest
	if err := read(c, &in); err != nil {
		return err
	}
	if in.Email == "" {
		return &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: "A magic link requires an email"}
	}
	return f.sendOTP(c, auth.OTP{Email: in.Email, Data: in.Data, Return: f.wayBack(c, in.challengeRequest)})
}

func (f *face) sendOTP(c echo.Context, in auth.OTP) error {
	if err := f.service.SendOTP(c.Request().Context(), f.caller(c), in, nil); err != nil {
		return err
	}
	return done(c)
}

// done is the answer of requests that say nothing about accounts.
func done(c echo.Context) error { return c.JSON(http.StatusOK, struct{}{}) }

// recover answers POST /recover.
func (f *face) recover(c echo.Context) error {
	var in struct {
		Email string `json:"email"`
		challengeRequest
	}
	if err := read(c, &in); err != nil {
		return err
	}
	if err := f.service.Recover(c.Request().Context(), f.caller(c), in.Email, f.wayBack(c, in.challengeRequest), nil); err != nil {
		return err
	}
	return done(c)
}

// resend answers POST /resend.
func (f *face) resend(c echo.Context) error {
	var in struct {
		Type  string `json:"type"`
		Email string `json:"email"`
		Phone string `json:"phone"`
		challengeRequest
	}
	if err := read(c, &in); err != nil {
		return err
	}
	err := f.service.Resend(c.Request().Context(), f.caller(c), auth.Resend{
		Type: auth.Verification(in.Type), Email: in.Email, Phone: in.Phone, Return: f.wayBack(c, in.challengeRequest),
	}, nil)
	if err != nil {
		return err
	}
	return done(c)
}
