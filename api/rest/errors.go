package rest

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/api/body"
	"basalt/auth"
	"basalt/query"
	"basalt/query/pgjson"
	"basalt/query/plan"
	"basalt/store"
)

// Error is an answer other than success, as PostgREST's clients read it.
type Error struct {
	Status  int
	Code    string
	Message string
	Details *string
	Hint    *string
	// Candidates replaces Details where the details are a list (PGRST201).
	Candidates json.RawMessage
	// Index is the operation of a batch that is answered, nil outside of batches.
	Index  *int
	Header http.Header
	Cause  error // for the log, never sent
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func (e *Error) Unwrap() error { return e.Cause }

// write sends an error's answer.
func (e *Error) write(w http.ResponseWriter, method string) error {
	header := w.Header()
	for name, values := range e.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	if len(header["Content-Type"]) == 0 {
		header.Set("Content-Type", "application/json; charset=utf-8")
	}
	header.Set("Proxy-Status", "basalt; error="+headerText(e.Code)+", PostgREST; error="+headerText(e.Code))
	return writeBody(w, method, e.Status, e.body())
}

// body is the JSON of the answer: always the four keys, null where there is nothing to say.
func (e *Error) body() []byte {
	dst := append(make([]byte, 0, 256), `{"code":`...)
	dst = pgjson.AppendString(dst, e.Code)
	dst = append(dst, `,"details":`...)
	if e.Candidates != nil {
		dst = append(dst, e.Candidates...)
	} else {
		dst = appendOptional(dst, e.Details)
	}
	dst = append(dst, `,"hint":`...)
	dst = appendOptional(dst, e.Hint)
	if e.Index != nil {
		dst = strconv.AppendInt(append(dst, `,"index":`...), int64(*e.Index), 10)
	}
	dst = append(dst, `,"message":`...)
	dst = pgjson.AppendString(dst, clip(e.Message))
	return append(dst, '}')
}

// mostText is how long a text of a refusal may be: a client that sends a megabyte as a name need not have it back.
const mostText = 8 << 10

func clip(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "") + "…"
}

func appendOptional(dst []byte, text *string) []byte {
	if text == nil {
		return append(dst, "null"...)
	}
	return pgjson.AppendString(dst, clip(*text))
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// failure makes an Error of our own.
func failure(status int, code, message string) *Error {
	return &Error{Status: status, Code: code, Message: message}
}

// statuses of the codes that the rooms below name; one that is not listed is 400.
var statuses = map[string]int{
	"PGRST103": http.StatusRequestedRangeNotSatisfiable,
	"PGRST105": http.StatusMethodNotAllowed,
	"PGRST201": http.StatusMultipleChoices,
	"PGRST202": http.StatusNotFound,
	"PGRST203": http.StatusMultipleChoices,
	"PGRST205": http.StatusNotFound,
}

func statusOf(code string) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusBadRequest
}

// translate turns whatever stopped a request into its answer. Anonymous says that it ran as the anonymous role: what
// is not permitted is 401 then rather than 403, for signing in may help.
func translate(err error, anonymous bool) *Error {
	var (
		own         *Error
		syntax      *query.SyntaxError
		outOfRange  *query.RangeError
		bad         *query.BodyError
		planning    *plan.Error
		token       *auth.TokenError
		database    *pgconn.PgError
		full        *store.PoolFullError
		unavailable *store.UnavailableError
		tooLarge    *http.MaxBytesError
		busy        *body.BusyError
		wide        *store.RowTooLargeError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &syntax):
		return &Error{Status: statusOf(syntax.Code), Code: syntax.Code, Message: syntax.Message, Details: text(syntax.Details)}
	case errors.As(err, &outOfRange):
		return &Error{Status: statusOf(outOfRange.Code), Code: outOfRange.Code, Message: outOfRange.Message, Details: text(outOfRange.Details)}
	case errors.As(err, &bad):
		return &Error{Status: statusOf(bad.Code), Code: bad.Code, Message: bad.Message, Details: text(bad.Details)}
	case errors.As(err, &planning):
		return &Error{
			Status: statusOf(planning.Code), Code: planning.Code, Message: planning.Message,
			Details: text(planning.Details), Hint: text(planning.Hint), Candidates: candidates(planning.Choices),
		}
	case errors.As(err, &token):
		return tokenError(token)
	case errors.As(err, &full):
		e := failure(http.StatusGatewayTimeout, "PGRST003", "Timed out acquiring connection from connection pool.")
		return e.retryAfter()
	case errors.As(err, &unavailable) && (unavailable.Connecting || !errors.As(err, &database)):
		// What PostgreSQL said when it refused the connection is not the client's business.
		e := failure(http.StatusServiceUnavailable, "PGRST000", "Database connection error. Retrying the connection.")
		e.Cause = err
		return e.retryAfter()
	case errors.As(err, &database):
		return databaseError(database, anonymous)
	case errors.As(err, &wide):
		e := failure(http.StatusRequestEntityTooLarge, "54000", "A row of "+strconv.Itoa(wide.Bytes)+" bytes is larger than the server takes")
		e.Hint = text("Ask for fewer columns or embedded rows. What a write asked for may have been done")
		return e
	case errors.As(err, &busy):
		e := failure(http.StatusServiceUnavailable, "PGRST102", "The server has no room for another large request body")
		return e.retryAfter()
	case errors.As(err, &tooLarge):
		return failure(http.StatusRequestEntityTooLarge, "PGRST102", "The request body is larger than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes")
	}
	e := failure(http.StatusInternalServerError, "PGRSTX00", "Something went wrong")
	e.Cause = err
	return e
}

// candidates are the details of an ambiguous embed as JSON, nil when there is no choice.
func candidates(choices []plan.Choice) json.RawMessage {
	if choices == nil {
		return nil
	}
	list, err := json.Marshal(choices)
	if err != nil {
		return nil // strings always marshal
	}
	return list
}

// retryAfter asks the client to come back in one to four seconds: not all clients in the same one.
func (e *Error) retryAfter() *Error {
	return e.header("Retry-After", strconv.Itoa(1+rand.IntN(4)))
}

func (e *Error) header(name, value string) *Error {
	if e.Header == nil {
		e.Header = http.Header{}
	}
	e.Header.Add(name, value)
	return e
}

func tokenError(token *auth.TokenError) *Error {
	e := failure(http.StatusUnauthorized, token.Code, token.Message)
	e.Details = text(token.Details)
	if token.Code == "PGRST302" {
		return e.header("WWW-Authenticate", "Bearer")
	}
	return e.header("WWW-Authenticate", `Bearer error="invalid_token", error_description=`+strconv.Quote(token.Message))
}

// databaseError translates PostgreSQL's own error (PostgREST, "HTTP status codes").
func databaseError(database *pgconn.PgError, anonymous bool) *Error {
	if database.Code == "PGRST" {
		return raisedAnswer(database)
	}
	e := &Error{
		Status: SQLStatus(database, anonymous), Code: database.Code, Message: database.Message,
		Details: text(database.Detail), Hint: text(database.Hint),
	}
	switch {
	case e.Status == http.StatusUnauthorized:
		e.header("WWW-Authenticate", "Bearer")
	case e.Status == http.StatusServiceUnavailable:
		e.retryAfter()
	case e.Status >= 500:
		e.Cause = database
	}
	return e
}

// SQLStatus is the HTTP status of what PostgreSQL has refused (PostgREST, "HTTP status codes").
func SQLStatus(e *pgconn.PgError, anonymous bool) int {
	code := e.Code
	if len(code) != 5 {
		return http.StatusInternalServerError
	}
	switch code {
	case "23503", "23505":
		return http.StatusConflict
	case "25006":
		return http.StatusMethodNotAllowed
	case "21000":
		if strings.HasSuffix(e.Message, "requires a WHERE clause") {
			return http.StatusBadRequest
		}
		return http.StatusInternalServerError
	case "22023":
		if strings.HasPrefix(e.Message, "role ") && strings.HasSuffix(e.Message, "does not exist") {
			return http.StatusUnauthorized
		}
		return http.StatusBadRequest
	case "53400":
		return http.StatusInternalServerError
	case "57P01":
		return http.StatusServiceUnavailable
	case "P0001":
		return http.StatusBadRequest
	case "42883":
		if strings.HasPrefix(e.Message, "function xmlagg(") {
			return http.StatusNotAcceptable
		}
		return http.StatusNotFound
	case "42P01":
		return http.StatusNotFound
	case "42P17":
		return http.StatusInternalServerError
	case "42501":
		if anonymous {
			return http.StatusUnauthorized
		}
		return http.StatusForbidden
	}
	switch code[:2] {
	case "PT":
		if status, err := strconv.Atoi(code[2:]); err == nil && status >= 200 && status <= 599 {
			return status
		}
		return http.StatusInternalServerError
	case "08", "53":
		return http.StatusServiceUnavailable
	case "0L", "0P", "28":
		return http.StatusForbidden
	case "09", "25", "2D", "38", "39", "3B", "40", "54", "55", "57", "58", "F0", "HV", "P0", "XX":
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}
