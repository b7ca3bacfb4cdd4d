// Package administrator holds the rules of those who run a project from the dashboard.
package administrator

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/limit"
	"basalt/auth/password"
	"basalt/auth/seal"
)

// Role is what an administrator may do.
type Role string

// The roles, the mightiest first.
const (
	// Owner may do everything.
	Owner Role = "owner"
	// Editor may do everything but to administrators, keys and settings.
	Editor Role = "editor"
	// Viewer may read.
	Viewer Role = "viewer"
)

// Includes tells whether a role may do what the least role for something may.
func (r Role) Includes(least Role) bool { return r.rank() > 0 && r.rank() >= least.rank() }

func (r Role) rank() int {
	switch r {
	case Owner:
		return 3
	case Editor:
		return 2
	case Viewer:
		return 1
	}
	return 0
}

// Administrator is somebody who may use the dashboard.
type Administrator struct {
	ID    uuid.UUID
	Email string
	Role  Role
	// Joined tells whether there is a password: an invitation was accepted.
	Joined bool
	// TOTP tells whether a code of the time is asked for beside the password.
	TOTP bool
	// RecoveryCodes is how many are left that stand in for the code of the time.
	RecoveryCodes int
	// Passkeys is how many there are.
	Passkeys     int
	CreatedAt    time.Time
	LastSignInAt *time.Time
}

const administratorColumns = `
    a.id,
    a.email,
    a.role,
    a.password_hash is not null,
    a.totp_verified_at is not null,
    (select count(*) from basalt.administrator_recovery_codes c where c.administrator_id = a.id and c.used_at is null),
    (select count(*) from basalt.administrator_passkeys p where p.administrator_id = a.id),
    a.created_at,
    a.last_sign_in_at`

// fields are where administratorColumns are read into.
func (a *Administrator) fields() []any {
	return []any{&a.ID, &a.Email, &a.Role, &a.Joined, &a.TOTP, &a.RecoveryCodes, &a.Passkeys, &a.CreatedAt, &a.LastSignInAt}
}

// DB is a connection or a pool of them, as the owner of schema basalt.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// Options are the settings of administrators.
type Options struct {
	// Gate bounds the hashing; the accounts' own is shared, as the processors are.
	Gate *password.Gate
	// Passwords are Argon2id's costs; the zero value is password.Recommended.
	Passwords password.Parameters
	// Policy is what is asked of passwords. They never have fewer characters than password.DefaultMinLength, whatever
	// users' may.
	Policy password.Policy
	// Vault seals the secrets of second factors.
	Vault *seal.Vault
	// AuditRetention is how long entries of the audit log are kept; 0 keeps them for ever.
	AuditRetention time.Duration
	// LimitsOff lets everybody try as often as they like. For tests.
	LimitsOff bool
	// Log takes what happens.
	Log zerolog.Logger
}

// Service runs the flows of administrators.
type Service struct {
	db      DB
	options Options
	dummy   string
	limits  *limit.Limiter
}

// New makes the service.
func New(db DB, o Options) *Service {
	if o.Passwords == (password.Parameters{}) {
		o.Passwords = password.Recommended()
	}
	o.Policy.MinLength = max(o.Policy.MinLength, password.DefaultMinLength)
	if o.Gate == nil {
		o.Gate = password.NewGate(password.GateOptions{})
	}
	return &Service{db: db, options: o, dummy: o.Passwords.Dummy(), limits: &limit.Limiter{Off: o.LimitsOff}}
}

// hash judges a new password and hashes it when its turn has come.
func (s *Service) hash(ctx context.Context, secret auth.Secret) (string, error) {
	if len(secret) > password.MaxBytes {
		return "", refuse(CodeWeakPassword, "The password is too long")
	}
	if weakness := s.options.Policy.Check(secret.Reveal()); weakness != nil {
		return "", refuse(CodeWeakPassword, weakness.Message)
	}
	return s.hashed(ctx, secret)
}

func (s *Service) hashed(ctx context.Context, secret auth.Secret) (string, error) {
	var encoded string
	var err error
	if refusal := s.gated(ctx, func() { encoded, err = s.options.Passwords.Hash(secret.Reveal()) }); refusal != nil {
		return "", refusal
	}
	return encoded, err
}

// matches checks a password when its turn has come. Without a stored hash it takes as long and fails.
func (s *Service) matches(ctx context.Context, stored string, secret auth.Secret) (bool, error) {
	if stored == "" || len(secret) > password.MaxBytes {
		stored, secret = s.dummy, ""
	}
	var ok bool
	var err error
	if refusal := s.gated(ctx, func() { ok, err = password.Verify(stored, secret.Reveal()) }); refusal != nil {
		return false, refusal
	}
	return ok, err
}

func (s *Service) gated(ctx context.Context, work func()) error {
	err := s.options.Gate.Do(ctx, work)
	if errors.Is(err, password.ErrBusy) {
		return &Error{Code: CodeRateLimited, Message: "Too many sign-ins at once, try again later", RetryAfter: s.options.Gate.RetryAfter()}
	}
	return err
}
