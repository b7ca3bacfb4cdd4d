package outbox

import "errors"

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
