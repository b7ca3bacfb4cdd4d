package accounts

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/password"
)

const (
	headerVersion   = "X-Supabase-Api-Version"
	headerErrorCode = "x-sb-error-code"

	// Since this version errors name their code under `code`; before, that was the status.
	versionOfCodes = "2024-01-01"
)

// problem is a refusal as it goes to the client.
type problem struct {
	status     int
	code       auth.Code
	message    string
	reasons    []password.Reason
	retryAfter time.Duration
	cause      error
}

func (p *problem) Error() string { return p.message }

// oldBody and newBody are the two shapes of an error.
type oldBody struct {
	Status       int           `json:"code"`
	Code         auth.Code     `json:"error_code"`
	Message      string        `json:"msg"`
	ErrorID      string        `json:"error_id,omitempty"`
	WeakPassword *weakPassword `json:"weak_password,omitempty"`
}

type newBody struct {
	Code         auth.Code     `json:"code"`
	Message      string        `json:"message"`
	ErrorID      string        `json:"error_id,omitempty"`
	WeakPassword *weakPassword `json:"weak_password,omitempty"`
}

type weakPassword struct {
	Reasons []password.Reason `json:"reasons"`
}

// fail writes an error: the only place where one becomes a status and a body.
func (f *face) fail(c echo.Context, err error) error {
	p := translate(err)
	header := c.Response().Header()
	header.Set(headerErrorCode, string(p.code))
	if p.retryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(max(1, int((p.retryAfter+time.Second-1)/time.Second))))
	}
	errorID := f.report(c, p)
	var weak *weakPassword
	if p.code == auth.CodeWeakPassword {
		weak = &weakPassword{Reasons: p.reasons}
	}
	if namesCodes(c.Request().Header.Get(headerVersion)) {
		header.Set(headerVersion, versionOfCodes)
		return c.JSON(p.status, newBody{Code: p.code, Message: p.message, ErrorID: errorID, WeakPassword: weak})
	}
	return c.JSON(p.status, oldBody{Status: p.status, Code: p.code, Message: p.message, ErrorID: errorID, WeakPassword: weak})
}

// report logs a failure of the server's own, and gives the id under which it is found there.
func (f *face) report(c echo.Context, p *problem) (errorID string) {
	if p.status < http.StatusInternalServerError {
		return ""
	}
	if errorID = requestID(c); errorID == "" {
		errorID = uuid.NewString()
	}
	f.options.Log.WithLevel(severity(p)).Str("request_id", errorID).Int("status", p.status).AnErr("error", p.cause).Msg("accounts request failed")
	return errorID
}

// severity is how a failure is logged: an error is for a person to act on, what passes by itself is a warning, and that
// a client has left is neither.
func severity(p *problem) zerolog.Level {
	switch {
	case errors.Is(p.cause, context.Canceled), p.status == http.StatusServiceUnavailable:
		// Nobody is there to miss the answer; that PostgreSQL is away is said once, not by each request.
		return zerolog.DebugLevel
	case p.status == http.StatusInternalServerError:
		return zerolog.ErrorLevel
	}
	return zerolog.WarnLevel
}

// namesCodes tells whether a client asks for the newer shape.
func namesCodes(version string) bool {
	asked, err := time.Parse(time.DateOnly, version)
	return err == nil && asked.Format(time.DateOnly) >= versionOfCodes
}

func translate(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	if full := auth.OutboxFull(err); full != nil {
		err = full
	}
	var refusal *auth.Error
	if errors.As(err, &refusal) {
		return &problem{
			status: Status(refusal), code: refusal.Code, message: refusal.Message,
			reasons: refusal.Reasons, retryAfter: refusal.RetryAfter, cause: refusal.Cause,
		}
	}
	var token *auth.TokenError
	if errors.As(err, &token) {
		return &problem{status: http.StatusForbidden, code: auth.CodeBadJWT, message: "invalid JWT: " + reason(token)}
	}
	return outage(err)
}

// reason says in the words of the accounts API what is wrong with a token.
func reason(e *auth.TokenError) string {
	if e.Message == "JWT expired" {
		return "unable to parse or verify signature, token has invalid claims: token is expired"
	}
	return "unable to parse or verify signature, " + e.Message
}

// outage is a failure that is nobody's fault who asked: it tells when to come again, and nothing else.
func outage(err error) *problem {
	var server *pgconn.PgError
	code := ""
	if errors.As(err, &server) {
		code = server.Code
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), code == "57014":
		return &problem{status: http.StatusGatewayTimeout, code: auth.CodeRequestTimeout, message: "The request took too long", cause: err}
	case DatabaseAway(err):
		return &problem{
			status: http.StatusServiceUnavailable, code: auth.CodeUnexpectedFailure,
			message: "The database is not available, try again", retryAfter: time.Second, cause: err,
		}
	}
	return &problem{status: http.StatusInternalServerError, code: auth.CodeUnexpectedFailure, message: "Unexpected failure, please check server logs for more information", cause: err}
}

// DatabaseAway tells whether something failed because PostgreSQL could not be reached, was lost, or has no room: it is worth
// trying again.
func DatabaseAway(err error) bool {
	var server *pgconn.PgError
	return lost(err) || errors.As(err, &server) && unavailable(server.Code)
}

// lost tells whether there was no connection, or it broke.
func lost(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// unavailable are the SQLSTATEs of a server that starts, stops, has no room (08, 53, 57P), or has become a standby.
func unavailable(code string) bool {
	return len(code) == 5 && (code[:2] == "08" || code[:2] == "53" || code[:3] == "57P" || code == "25006")
}

// statuses of the codes; one that is not listed is 400.
var statuses = map[auth.Code]int{
	auth.CodeNoAuthorization:                   http.StatusUnauthorized,
	auth.CodeInsufficientAAL:                   http.StatusUnauthorized,
	auth.CodeNotAdmin:                          http.StatusForbidden,
	auth.CodeSessionNotFound:                   http.StatusForbidden,
	auth.CodeUserNotFound:                      http.StatusNotFound,
	auth.CodeFlowStateNotFound:                 http.StatusNotFound,
	auth.CodeFactorNotFound:                    http.StatusNotFound,
	auth.CodeManualLinkingDisabled:             http.StatusNotFound,
	auth.CodeCustomProviderNotFound:            http.StatusNotFound,
	auth.CodeOAuthClientNotFound:               http.StatusNotFound,
	auth.CodeOAuthAuthorizationNotFound:        http.StatusNotFound,
	auth.CodeOAuthConsentNotFound:              http.StatusNotFound,
	auth.CodeConflict:                          http.StatusConflict,
	auth.CodeWeakPassword:                      http.StatusUnprocessableEntity,
	auth.CodeSamePassword:                      http.StatusUnprocessableEntity,
	auth.CodeUserAlreadyExists:                 http.StatusUnprocessableEntity,
	auth.CodeEmailExists:                       http.StatusUnprocessableEntity,
	auth.CodeSignupDisabled:                    http.StatusUnprocessableEntity,
	auth.CodeOTPDisabled:                       http.StatusUnprocessableEntity,
	auth.CodePhoneExists:                       http.StatusUnprocessableEntity,
	auth.CodeReauthenticationNotValid:          http.StatusUnprocessableEntity,
	auth.CodeAnonymousProviderDisabled:         http.StatusUnprocessableEntity,
	auth.CodeFeatureDisabled:                   http.StatusUnprocessableEntity,
	auth.CodeIdentityAlreadyExists:             http.StatusUnprocessableEntity,
	auth.CodeIdentityNotFound:                  http.StatusUnprocessableEntity,
	auth.CodeSingleIdentityNotDeletable:        http.StatusUnprocessableEntity,
	auth.CodeEmailConflictIdentityNotDeletable: http.StatusUnprocessableEntity,
	auth.CodeOverRequestRateLimit:              http.StatusTooManyRequests,
	auth.CodeOverEmailSendRateLimit:            http.StatusTooManyRequests,
	auth.CodeOverSMSSendRateLimit:              http.StatusTooManyRequests,
	auth.CodeRecoveryCodesLocked:               http.StatusTooManyRequests,
	auth.CodeRequestTimeout:                    http.StatusGatewayTimeout,
	auth.CodeUnexpectedFailure:                 http.StatusInternalServerError,
}

// Status is the HTTP status of a refusal: what it says of itself, else what its code does.
func Status(e *auth.Error) int {
	switch {
	case e.Status != 0:
		return e.Status
	case e.Denied:
		return http.StatusForbidden
	case e.Unprocessable:
		return http.StatusUnprocessableEntity
	case e.Absent:
		return http.StatusNotFound
	}
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusBadRequest
}

func requestID(c echo.Context) string {
	return c.Response().Header().Get(echo.HeaderXRequestID)
}
