package admin

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"

	face "basalt/api/accounts"
	"basalt/api/body"
	"basalt/api/rest"
	"basalt/auth"
	"basalt/auth/administrator"
)

// ErrorBody is a refusal as it goes to the dashboard.
type ErrorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Details string `json:"details"`
	Hint    string `json:"hint"`
	// Position is where in the statement PostgreSQL has found the fault, in characters from 1.
	Position   int32  `json:"position,omitempty"`
	Schema     string `json:"schema,omitempty"`
	Table      string `json:"table,omitempty"`
	Column     string `json:"column,omitempty"`
	Constraint string `json:"constraint,omitempty"`
	// Where is the place of an error inside of functions.
	Where string `json:"where,omitempty"`
	// Index is the one of several changes that was refused, from 0.
	Index *int `json:"index,omitempty"`
}

// problem is a refusal of a route's own.
type problem struct {
	status                       int
	code, message, details, hint string
	retryAfter                   time.Duration
	cause                        error
}

func (p *problem) Error() string { return p.message }
func (p *problem) Unwrap() error { return p.cause }

func refuse(status int, code, message string) *problem {
	return &problem{status: status, code: code, message: message}
}

func join(words []string) string { return strings.Join(words, ", ") }

// fail writes an error: the only place where one becomes a status and a body.
func (o *Options) fail(c echo.Context, err error) error {
	if c.Response().Committed {
		return err // what has begun cannot be answered anew
	}
	var database *pgconn.PgError
	p := translate(err)
	body := ErrorBody{Code: p.code, Message: p.message, Details: p.details, Hint: p.hint}
	if errors.As(err, &database) && p.code == database.Code {
		body.Position, body.Schema, body.Table = database.Position, database.SchemaName, database.TableName
		body.Column, body.Constraint = database.ColumnName, database.ConstraintName
	}
	if p.retryAfter > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(max(1, int((p.retryAfter+time.Second-1)/time.Second))))
	}
	if p.status == http.StatusInternalServerError {
		o.Log.Error().Err(err).Str("request_id", c.Response().Header().Get(echo.HeaderXRequestID)).Msg("dashboard request failed")
	}
	return c.JSON(p.status, body)
}

func translate(err error) *problem {
	var own *problem
	var refusal *administrator.Error
	var accounts *auth.Error
	var router *echo.HTTPError
	var busy *body.BusyError
	var database *pgconn.PgError
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refusal):
		p := refuse(statusOf(refusal.Code), string(refusal.Code), refusal.Message)
		p.hint, p.retryAfter, p.cause = refusal.Hint, refusal.RetryAfter, refusal.Cause
		return p
	case errors.As(err, &accounts):
		p := refuse(face.Status(accounts), string(accounts.Code), accounts.Message)
		p.retryAfter, p.cause = accounts.RetryAfter, accounts.Cause
		if face.DatabaseAway(accounts.Cause) {
			p.status, p.code, p.message, p.retryAfter = http.StatusServiceUnavailable, "database_unavailable", "The database is not available", time.Second
		}
		return p
	case errors.As(err, &router):
		message, _ := router.Message.(string)
		return refuse(router.Code, strings.ToLower(strings.ReplaceAll(http.StatusText(router.Code), " ", "_")), message)
	case errors.As(err, &busy):
		p := refuse(http.StatusServiceUnavailable, "busy", "The server has no room for another large request body")
		p.retryAfter = time.Second
		return p
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return refuse(http.StatusGatewayTimeout, "timeout", "The request took too long")
	case errors.As(err, &connect), !errors.As(err, &database) && (errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		// What PostgreSQL said when it refused the connection is for the log alone.
		p := refuse(http.StatusServiceUnavailable, "database_unavailable", "The database is not available")
		p.hint, p.retryAfter = "Try again in a moment.", time.Second
		return p
	case errors.As(err, &database):
		p := refuse(rest.SQLStatus(database, false), database.Code, database.Message)
		p.details, p.hint = database.Detail, database.Hint
		if p.status == http.StatusServiceUnavailable {
			p.retryAfter = time.Second
		}
		return p
	}
	return refuse(http.StatusInternalServerError, "internal_error", "Something went wrong; the server's log says what")
}

// statusOf is the status of a refusal by the rules of administrators.
func statusOf(code administrator.Code) int {
	switch code {
	case administrator.CodeInvalidCredentials, administrator.CodeSecondFactorNeeded, administrator.CodeCodeInvalid,
		administrator.CodeSignedOut, administrator.CodePasskeyRefused:
		return http.StatusUnauthorized
	case administrator.CodeRateLimited:
		return http.StatusTooManyRequests
	case administrator.CodeLinkInvalid:
		return http.StatusForbidden
	case administrator.CodeNotFound:
		return http.StatusNotFound
	case administrator.CodeSetUp, administrator.CodeEmailTaken, administrator.CodeLastOwner, administrator.CodeTOTPEnabled,
		administrator.CodeTOTPMissing, administrator.CodePasskeyExists, administrator.CodeTooManyPasskeys,
		administrator.CodeChallengeGone:
		return http.StatusConflict
	case administrator.CodeWeakPassword, administrator.CodeEmailInvalid, administrator.CodeRoleInvalid, administrator.CodeDomainNeeded:
		return http.StatusUnprocessableEntity
	}
	return http.StatusBadRequest
}
