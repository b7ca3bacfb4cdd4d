package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"

	face "basalt/api/accounts"
	"basalt/api/body"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/seal"
	"basalt/store"
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

// refusal is an answer other than success.
type refusal struct {
	status int
	ErrorBody
	// retryAfter is when it is worth trying again, 0 where that is not known.
	retryAfter time.Duration
	cause      error
}

func (r *refusal) Error() string { return r.Code + ": " + r.Message }
func (r *refusal) Unwrap() error { return r.cause }

// refuse makes a refusal of our own.
func refuse(status int, code, message string) *refusal {
	return &refusal{status: status, ErrorBody: ErrorBody{Code: code, Message: message}}
}

// refusedf is refuse with a message that names values.
func refusedf(status int, code, format string, values ...any) *refusal {
	return refuse(status, code, fmt.Sprintf(format, values...))
}

func join(words []string) string { return strings.Join(words, ", ") }

// fail writes an error: the only place where one becomes a status and a body.
func (o *Options) fail(c echo.Context, err error) error {
	if c.Response().Committed {
		return err // what has begun cannot be answered anew
	}
	if c.Request().Context().Err() != nil {
		panic(http.ErrAbortHandler) // nobody is there to read an answer
	}
	r := explain(err)
	if r.status == http.StatusInternalServerError {
		o.Log.Error().Err(err).Str("request_id", c.Response().Header().Get(echo.HeaderXRequestID)).Msg("dashboard request failed")
	}
	if again := r.retryAfter; again > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(max(1, int((again+time.Second-1)/time.Second))))
	} else if r.status == http.StatusServiceUnavailable {
		c.Response().Header().Set("Retry-After", strconv.Itoa(1+rand.IntN(4))) // not all at once
	}
	return c.JSON(r.status, r.ErrorBody)
}

// explain turns whatever stopped a request into its answer.
func explain(err error) *refusal {
	var (
		own           *refusal
		administrates *administrator.Error
		account       *auth.Error
		router        *echo.HTTPError
		busy          *body.BusyError
		full          *store.PoolFullError
		unavailable   *store.UnavailableError
		wide          *store.RowTooLargeError
		tooLarge      *http.MaxBytesError
		database      *pgconn.PgError
		keyless       *seal.UnknownKeyError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &administrates):
		r := refuse(statusOf(administrates.Code), string(administrates.Code), administrates.Message)
		r.Hint, r.retryAfter, r.cause = administrates.Hint, administrates.RetryAfter, administrates.Cause
		return r
	case errors.As(err, &keyless):
		r := refuse(http.StatusConflict, "encryption_key_missing", "The server was not given the encryption key of the secrets that are kept here")
		r.Hint, r.cause = "Start it with that key behind the current one in --encryption-key.", err
		return r
	case errors.As(err, &account) && account.Code == auth.CodeUnexpectedFailure && account.Status == 0 && face.DatabaseAway(account.Cause):
		return databaseAway(account.Cause)
	case errors.As(err, &account):
		r := refuse(face.Status(account), string(account.Code), account.Message)
		r.retryAfter, r.cause = account.RetryAfter, account.Cause
		return r
	case errors.As(err, &router):
		message, _ := router.Message.(string)
		return refuse(router.Code, strings.ToLower(strings.ReplaceAll(http.StatusText(router.Code), " ", "_")), message)
	case errors.As(err, &busy):
		return refuse(http.StatusServiceUnavailable, "busy", "The server has no room for another large request body")
	case errors.As(err, &full):
		return refuse(http.StatusServiceUnavailable, "busy", "All connections of the dashboard are in use")
	case errors.As(err, &wide):
		return refusedf(http.StatusRequestEntityTooLarge, "54000", "A row of %d bytes is larger than the dashboard takes (%d)", wide.Bytes, wide.Most)
	case errors.As(err, &tooLarge):
		return refusedf(http.StatusRequestEntityTooLarge, "too_large", "The request body is larger than %d bytes", tooLarge.Limit)
	case errors.As(err, &database) && !left(database):
		return databaseRefusal(database)
	case errors.As(err, &unavailable):
		return databaseAway(err)
	case errors.Is(err, context.DeadlineExceeded):
		return refuse(http.StatusGatewayTimeout, "timeout", "The request took too long")
	case errors.Is(err, context.Canceled):
		return refuse(http.StatusConflict, "57014", "The request was cancelled")
	case database != nil, unreachable(err):
		return databaseAway(err)
	}
	return refuse(http.StatusInternalServerError, "internal_error", "Something went wrong; the server's log says what")
}

// left says that PostgreSQL has ended the session with this error, or never began it.
func left(e *pgconn.PgError) bool {
	return e.SeverityUnlocalized == "FATAL" || e.SeverityUnlocalized == "PANIC"
}

// unreachable says that an error is of the way to PostgreSQL.
func unreachable(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// codeConnectionLost tells that PostgreSQL went away in the middle of the work, rather than before it.
const codeConnectionLost = "connection_lost"

// databaseAway says that PostgreSQL is not there. What it said when it refused the connection is for the log alone.
func databaseAway(err error) *refusal {
	r := refuse(http.StatusServiceUnavailable, "database_unavailable", "The database is not available")
	r.Hint, r.cause = "Try again in a moment.", err
	if lost, ok := errors.AsType[*store.UnavailableError](err); ok && !lost.Connecting {
		r.Code, r.Message = codeConnectionLost, "The connection to the database was lost"
		r.Hint = "What was in a transaction has been undone, unless it was just being committed"
	}
	return r
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
