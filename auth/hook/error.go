package hook

import (
	"fmt"
	"net/http"
)

// Kind is how a call went wrong, in the words of Supabase's accounts API where it has some.
type Kind string

// The kinds.
const (
	// Refused is the hook's own no.
	Refused Kind = "refused"
	// Failed is a hook that is wrong, or not there.
	Failed            Kind = "failed"
	TimedOut          Kind = "hook_timeout"
	Unreachable       Kind = "hook_timeout_after_retry"
	TooLarge          Kind = "hook_payload_over_size_limit"
	UnreadableContent Kind = "hook_payload_invalid_content_type"
)

// Error is a call that gave no answer to go on with.
type Error struct {
	Point Point
	Kind  Kind
	// Status is the HTTP status to answer with.
	Status int
	// Message is for the caller.
	Message string
	// Cause is for the log.
	Cause error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("hook %s: %s: %v", e.Point, e.Message, e.Cause)
	}
	return fmt.Sprintf("hook %s: %s", e.Point, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

func (h *Hook) failed(doing string, cause error) *Error {
	return &Error{
		Point: h.point, Kind: Failed, Status: http.StatusInternalServerError,
		Message: "Error running the hook " + string(h.point), Cause: fmt.Errorf("%s: %w", doing, cause),
	}
}

func (h *Hook) timedOut(cause error) *Error {
	limit := Timeout
	if !h.Outside() {
		limit = StatementTimeout
	}
	return &Error{
		Point: h.point, Kind: TimedOut, Status: http.StatusUnprocessableEntity,
		Message: fmt.Sprintf("Failed to reach hook within maximum time of %s", limit), Cause: cause,
	}
}

func (h *Hook) unreachable(cause error) *Error {
	return &Error{
		Point: h.point, Kind: Unreachable, Status: http.StatusUnprocessableEntity,
		Message: "Failed to reach hook after maximum retries", Cause: cause,
	}
}

func (h *Hook) tooLarge() *Error {
	return &Error{
		Point: h.point, Kind: TooLarge, Status: http.StatusUnprocessableEntity,
		Message: fmt.Sprintf("Payload size exceeded size limit of %d bytes", MaxAnswer),
	}
}

func (h *Hook) unreadable(contentType string) *Error {
	message := "Invalid Content-Type: Missing Content-Type header"
	if contentType != "" {
		message = "Invalid JSON response. Received content-type: " + contentType
	}
	return &Error{Point: h.point, Kind: UnreadableContent, Status: http.StatusBadRequest, Message: message}
}
