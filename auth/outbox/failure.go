package outbox

import (
	"errors"
	"strconv"
	"strings"

	"basalt/auth"
)

// RefusedError is a message that will never be taken over: it is given up at once.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap gives why.
func (e *RefusedError) Unwrap() error { return e.Err }

// Refuse marks an error as one that trying again does not mend.
func Refuse(err error) error { return &RefusedError{Err: err} }

// UnreachableError is a failure that any other message would have had too. Deliveries pause after it.
type UnreachableError struct{ Err error }

func (e *UnreachableError) Error() string { return e.Err.Error() }

// Unwrap gives why.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Unreachable marks an error as one of the way, not of the message.
func Unreachable(err error) error { return &UnreachableError{Err: err} }

func isRefused(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused)
}

func isUnreachable(err error) bool {
	var unreachable *UnreachableError
	return errors.As(err, &unreachable)
}

// redactedError tells of a failure without secrets.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// Redact takes credentials out of an error's text, as they are and quoted: servers like to repeat what they refuse. Empty
// ones are passed over.
func Redact(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted := strconv.Quote(secret)
		for _, written := range []string{secret, quoted[1 : len(quoted)-1]} {
			text = strings.ReplaceAll(text, written, auth.Secret(secret).String())
		}
	}
	return &redactedError{text, err}
}
