package token

import "fmt"

// Code classes of a refusal. They are the REST dialect's own, so that the edge
// can put them on the wire as they are.
const (
	// CodeUndecodable is a token that is no token of ours: shape, algorithm, key, signature.
	CodeUndecodable = "PGRST301"
	// CodeRequired is a request without a token, or a token without a role, where none may be missing.
	CodeRequired = "PGRST302"
	// CodeClaims is a genuine token whose claims forbid its use: times, audience, types.
	CodeClaims = "PGRST303"
	// CodeRole is a genuine token that names a role which nobody may become (SQLSTATE 22023).
	CodeRole = "22023"
)

// Error is the refusal of a token. Its message never repeats any part of the token.
type Error struct {
	Code    string
	Message string
	Details string // what is wrong with it, where the message alone leaves that open
	// UnknownKey is set when the token names a key that is not in the ring, and a newer ring may have it.
	UnknownKey bool
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func undecodable(format string, args ...any) *Error {
	return &Error{Code: CodeUndecodable, Message: fmt.Sprintf(format, args...)}
}

func badClaims(message string) *Error {
	return &Error{Code: CodeClaims, Message: message}
}

// Expired is the refusal of a token whose time has passed.
func Expired() *Error { return badClaims("JWT expired") }

// Ended is the refusal of a token whose session is over although its own time is not.
func Ended() *Error { return badClaims("Session of the JWT has ended") }

// Required is the refusal of whoever has no role where everybody needs one.
func Required() *Error { return &Error{Code: CodeRequired, Message: "Anonymous access is disabled"} }

// Foreign is the refusal of another issuer's token where only our own count.
func Foreign() *Error { return undecodable("No suitable key or wrong key type") }

// UnknownRole is the refusal of a token whose role nobody may become. A role that
// exists but is out of reach reads the same: its existence is not the caller's business.
func UnknownRole(role string) *Error {
	return &Error{Code: CodeRole, Message: fmt.Sprintf("role %q does not exist", role)}
}
