package rest

import (
	"encoding/json"
	"net/http"

	"github.com/jackc/pgx/v5/pgconn"
)

// raisedBody is the MESSAGE of a RAISE with SQLSTATE 'PGRST': the body of the answer.
type raisedBody struct {
	Code    *string `json:"code"`
	Message *string `json:"message"`
	Details *string `json:"details"`
	Hint    *string `json:"hint"`
}

// raisedHead is its DETAIL: status and headers of the answer. HTTP/2 has no text beside a status, and net/http sends
// none of our choice.
type raisedHead struct {
	Status     *int               `json:"status"`
	StatusText *string            `json:"status_text"`
	Headers    map[string]*string `json:"headers"`
}

// raisedAnswer reads the answer that a function gave by RAISE with SQLSTATE 'PGRST'.
func raisedAnswer(database *pgconn.PgError) *Error {
	var body raisedBody
	if json.Unmarshal([]byte(database.Message), &body) != nil || body.Code == nil || body.Message == nil {
		return badRaise("Invalid JSON value for MESSAGE: '"+database.Message+"'",
			"MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.")
	}
	const wantDetail = "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'."
	if database.Detail == "" {
		return badRaise("DETAIL is missing in the RAISE statement", wantDetail)
	}
	var head raisedHead
	if json.Unmarshal([]byte(database.Detail), &head) != nil || !head.valid() {
		return badRaise("Invalid JSON value for DETAIL: '"+database.Detail+"'", wantDetail)
	}
	e := &Error{Status: *head.Status, Code: *body.Code, Message: *body.Message, Details: body.Details, Hint: body.Hint}
	for name, value := range head.Headers {
		if !frames(http.CanonicalHeaderKey(name)) {
			e.header(name, headerText(*value))
		}
	}
	return e
}

// valid says that nothing is missing, and that the status can be sent.
func (h *raisedHead) valid() bool {
	if h.Status == nil || h.Headers == nil || *h.Status < 200 || *h.Status > 599 {
		return false
	}
	for _, value := range h.Headers {
		if value == nil {
			return false
		}
	}
	return true
}

func badRaise(details, hint string) *Error {
	e := failure(http.StatusInternalServerError, "PGRST121", "Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error")
	e.Details, e.Hint = text(details), text(hint)
	return e
}
