package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/hook"
	"basalt/auth/limit"
)

// Hooks are what the project's owner has put into the flows; nil hooks are none.
type Hooks struct {
	CustomAccessToken           *hook.Hook
	SendEmail                   *hook.Hook
	SendSMS                     *hook.Hook
	MFAVerificationAttempt      *hook.Hook
	PasswordVerificationAttempt *hook.Hook
	BeforeUserCreated           *hook.Hook
	AfterUserCreated            *hook.Hook
	// Describe writes an account as clients see it, which hooks see too.
	Describe func(*User) []byte
}

// hooks calls them.
type hooks struct {
	Hooks
	// pace is how long the last check of a password attempt took, in nanoseconds.
	pace atomic.Int64
}

// call calls a hook and says what went wrong in the words of this package.
func (s *Service) call(ctx context.Context, db limit.Sender, h *hook.Hook, input, output any) error {
	err := h.Call(ctx, db, input, output)
	var failure *hook.Error
	if !errors.As(err, &failure) {
		return err
	}
	refusal := &Error{Message: failure.Message, Status: failure.Status, Cause: failure.Cause}
	switch {
	case failure.Kind == hook.TimedOut, failure.Kind == hook.Unreachable, failure.Kind == hook.TooLarge, failure.Kind == hook.UnreadableContent:
		refusal.Code = Code(failure.Kind)
	case failure.Status == http.StatusInternalServerError:
		refusal.Code = CodeUnexpectedFailure
	default:
		refusal.Code = CodeUnknown
	}
	if failure.Kind != hook.Refused {
		s.log.Warn().Err(failure).Str("hook", string(failure.Point)).Msg("a hook has failed")
	}
	return refusal
}

// origin is the caller's address in text; empty when it is unknown.
func (c Caller) origin() string {
	if ip := c.Addr(); ip != nil {
		return ip.String()
	}
	return ""
}

// userEvent is what the hooks around a new account are told.
type userEvent struct {
	Metadata hook.Metadata   `json:"metadata"`
	User     json.RawMessage `json:"user"`
}

// beforeUserCreated asks whether an account may be made. It is asked for addresses that are taken too: what it says
// must not tell them apart.
func (s *Service) beforeUserCreated(ctx context.Context, caller Caller, u *User) error {
	h := s.hooks.BeforeUserCreated
	if h == nil {
		return nil
	}
	return s.call(ctx, s.pool, h, userEvent{h.Metadata(caller.origin()), s.hooks.Describe(u)}, &struct{}{})
}

// afterUserCreated tells of an account that has been made.
func (s *Service) afterUserCreated(ctx context.Context, caller Caller, u *User) error {
	h := s.hooks.AfterUserCreated
	if h == nil {
		return nil
	}
	return s.call(ctx, s.pool, h, userEvent{h.Metadata(caller.origin()), s.hooks.Describe(u)}, &struct{}{})
}

// making is an account that a transaction may have to make.
type making struct {
	// asked is set when the hook has let such an account be made.
	asked bool
	made  uuid.UUID
}

// unasked is a transaction that has to make an account of which the hook knows nothing yet.
type unasked struct{ user *User }

func (*unasked) Error() string { return "the hook before new accounts has not been asked" }

// ask stops a transaction, which must not wait for a hook, until the hook has been asked about a new account.
func (s *Service) ask(m *making, u *User) error {
	if s.hooks.BeforeUserCreated == nil || m.asked {
		return nil
	}
	return &unasked{user: u}
}

// making runs a transaction that may make an account, with the hooks before and after it. A session that it opened is
// abandoned when the hook after it fails.
func (s *Service) making(ctx context.Context, caller Caller, work func(*making) (*Session, error)) error {
	m := &making{}
	session, err := work(m)
	var question *unasked
	if errors.As(err, &question) {
		if err := s.beforeUserCreated(ctx, caller, question.user); err != nil {
			return err
		}
		m.asked = true
		session, err = work(m)
	}
	if err != nil {
		return err
	}
	if err := s.tellOf(ctx, caller, m.made); err != nil {
		if session != nil {
			return s.abandon(ctx, session.ID, err)
		}
		return err
	}
	return s.complete(ctx, caller, session)
}

// tellOf tells the hook of an account that has been made; nil is none. One that is not there was another's to make: the
// transaction that began to was overtaken, and found the other one when it began anew.
func (s *Service) tellOf(ctx context.Context, caller Caller, id uuid.UUID) error {
	if s.hooks.AfterUserCreated == nil || id == uuid.Nil {
		return nil
	}
	u, err := scanUser(s.pool.QueryRow(ctx, userByID, id))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	}
	return s.afterUserCreated(ctx, caller, u)
}

// decision is what the hooks about attempts answer.
type decision struct {
	Decision string `json:"decision"`
	Message  string `json:"message"`
	Logout   bool   `json:"should_logout_user"`
}

func (d decision) rejected() bool { return d.Decision == "reject" }

type passwordAttempt struct {
	Metadata hook.Metadata `json:"metadata"`
	UserID   uuid.UUID     `json:"user_id"`
	Valid    bool          `json:"valid"`
}

// passwordAttempted tells of a password that was right or wrong, and refuses the sign-in if the hook does. An attempt
// at nobody takes as long as the last one at somebody.
func (s *Service) passwordAttempted(ctx context.Context, caller Caller, u *User, valid bool) error {
	h := s.hooks.PasswordVerificationAttempt
	switch {
	case h == nil:
		return nil
	case u == nil:
		return rest(ctx, time.Duration(s.hooks.pace.Load()))
	}
	var answer decision
	begin := time.Now()
	err := s.call(ctx, s.pool, h, passwordAttempt{h.Metadata(caller.origin()), u.ID, valid}, &answer)
	s.hooks.pace.Store(int64(time.Since(begin)))
	if err != nil || !answer.rejected() {
		return err
	}
	if answer.Logout {
		if err := s.endAll(ctx, u.ID, nil); err != nil {
			return err
		}
	}
	message := answer.Message
	if message == "" {
		message = "Further password verification attempts will be rejected."
	}
	return refuse(CodeInvalidCredentials, message)
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type factorAttempt struct {
	Metadata   hook.Metadata `json:"metadata"`
	UserID     uuid.UUID     `json:"user_id"`
	FactorID   uuid.UUID     `json:"factor_id"`
	FactorType string        `json:"factor_type"`
	Valid      bool          `json:"valid"`
}

// factorAttempted tells of the proof of a second factor that was right or wrong. A rejection by the hook ends all of the
// user's sessions. No transaction may be open.
func (s *Service) factorAttempted(ctx context.Context, caller Caller, userID uuid.UUID, f Factor, valid bool) error {
	h := s.hooks.MFAVerificationAttempt
	if h == nil {
		return nil
	}
	var answer decision
	err := s.call(ctx, s.pool, h, factorAttempt{h.Metadata(caller.origin()), userID, f.ID, f.Type, valid}, &answer)
	if err != nil || !answer.rejected() {
		return err
	}
	if err := s.endAll(ctx, userID, nil); err != nil {
		return err
	}
	message := answer.Message
	if message == "" {
		message = "Further MFA verification attempts will be rejected."
	}
	return deny(CodeMFAVerificationRejected, message)
}
