package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/api/body"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/store"
)

func TestEveryErrorHasOneAnswer(t *testing.T) {
	t.Parallel()
	full := &pgconn.PgError{
		Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: "23505", Message: "duplicate key", Detail: "Key (id)=(1) already exists.",
		SchemaName: "public", TableName: "todos", ConstraintName: "todos_pkey", Position: 7, Where: "line 3",
	}
	ended := &pgconn.PgError{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: "3D000", Message: `database "secret" does not exist`}
	for name, want := range map[string]struct {
		err        error
		status     int
		body       ErrorBody
		retryAfter bool
	}{
		"a refusal of a route's own": {
			refusedf(http.StatusNotFound, "not_found", "There is no %s", "run"),
			404, ErrorBody{Code: "not_found", Message: "There is no run"}, false,
		},
		"a rule of administrators": {
			&administrator.Error{Code: administrator.CodeRateLimited, Message: "Too often", Hint: "Wait", RetryAfter: time.Minute},
			429, ErrorBody{Code: "rate_limited", Message: "Too often", Hint: "Wait"}, true,
		},
		"a rule of accounts": {
			&auth.Error{Code: auth.CodeUserNotFound, Message: "User not found"},
			404, ErrorBody{Code: "user_not_found", Message: "User not found"}, false,
		},
		"a rule of accounts that found no database": {
			&auth.Error{Code: auth.CodeUnexpectedFailure, Message: "failed", Cause: io.ErrUnexpectedEOF},
			503, ErrorBody{Code: "database_unavailable", Message: "The database is not available", Hint: "Try again in a moment."}, true,
		},
		"no such route": {
			echo.ErrMethodNotAllowed,
			405, ErrorBody{Code: "method_not_allowed", Message: "Method Not Allowed"}, false,
		},
		"no room for a body": {
			&body.BusyError{},
			503, ErrorBody{Code: "busy", Message: "The server has no room for another large request body"}, true,
		},
		"no connection free": {
			&store.PoolFullError{},
			503, ErrorBody{Code: "busy", Message: "All connections of the dashboard are in use"}, true,
		},
		"PostgreSQL's own error keeps all that it names": {
			fmt.Errorf("insert: %w", full),
			409, ErrorBody{
				Code: "23505", Message: "duplicate key", Details: "Key (id)=(1) already exists.", Schema: "public", Table: "todos",
				Constraint: "todos_pkey", Position: 7, Where: "line 3",
			}, false,
		},
		"a deadlock is nobody's fault": {
			&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "40P01", Message: "deadlock detected"},
			409, ErrorBody{Code: "40P01", Message: "deadlock detected"}, false,
		},
		"a code that is none": {
			&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: "", Message: "odd"},
			400, ErrorBody{Message: "odd"}, false,
		},
		"the end of a session tells nothing of the database": {
			ended,
			503, ErrorBody{Code: "database_unavailable", Message: "The database is not available", Hint: "Try again in a moment."}, true,
		},
		"a connection lost in the middle": {
			&store.UnavailableError{Err: io.ErrUnexpectedEOF},
			503, ErrorBody{
				Code: "connection_lost", Message: "The connection to the database was lost",
				Hint: "What was in a transaction has been undone, unless it was just being committed",
			}, true,
		},
		"patience that is over": {
			fmt.Errorf("select: %w", context.DeadlineExceeded),
			504, ErrorBody{Code: "timeout", Message: "The request took too long"}, false,
		},
		"a run that was cancelled": {
			context.Canceled,
			409, ErrorBody{Code: "57014", Message: "The request was cancelled"}, false,
		},
		"what nobody foresaw says nothing": {
			errors.New("the password is 1234"),
			500, ErrorBody{Code: "internal_error", Message: "Something went wrong; the server's log says what"}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := httptest.NewRecorder()
			c := echo.New().NewContext(httptest.NewRequest("GET", "/", nil), answer)
			if err := (&Options{Log: zerolog.Nop()}).fail(c, want.err); err != nil {
				t.Fatal(err)
			}
			var got ErrorBody
			if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if answer.Code != want.status || got != want.body || (answer.Header().Get("Retry-After") != "") != want.retryAfter {
				t.Errorf("%d %s, Retry-After %q", answer.Code, answer.Body, answer.Header().Get("Retry-After"))
			}
		})
	}
}

func TestPatienceThatIsOverIsToldWhileTheClientIsStillThere(t *testing.T) {
	t.Parallel()
	answer := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequest("GET", "/", nil), answer)
	err := patient(func(echo.Context) error { return context.DeadlineExceeded })(c)
	if err := (&Options{}).fail(c, err); err != nil || answer.Code != http.StatusGatewayTimeout {
		t.Errorf("%d %v", answer.Code, err)
	}
}

func TestNobodyIsAnsweredWhoHasLeft(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(context.Background())
	leave()
	answer := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequest("GET", "/", nil).WithContext(ctx), answer)
	defer func() {
		if reason := recover(); reason != http.ErrAbortHandler || answer.Body.Len() > 0 {
			t.Errorf("%v, %q", reason, answer.Body)
		}
	}()
	_ = (&Options{}).fail(c, ctx.Err())
}
