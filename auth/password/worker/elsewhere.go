//go:build !linux

package worker

import (
	"errors"

	"github.com/rs/zerolog"

	"basalt/auth/password"
)

// Worker is nil: passwords are hashed in this process.
type Worker struct{}

// New gives nil.
func New(zerolog.Logger) *Worker { return nil }

// Hash is password.Parameters.Hash.
func (*Worker) Hash(costs password.Parameters, secret string) (string, error) {
	return costs.Hash(secret)
}

// Verify is password.Verify.
func (*Worker) Verify(stored, secret string) (bool, error) { return password.Verify(stored, secret) }

// Close has nothing to do.
func (*Worker) Close() {}

// Run refuses to run.
func Run() error { return errors.ErrUnsupported }
