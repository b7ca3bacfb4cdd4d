package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

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

// address is the caller's address for hooks; empty when it is unknown.
func (c Caller) address() string {
	if ip := c.ip(); ip != nil {
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
	return s.call(ctx, s.pool, h, userEvent{h.Metadata(caller.address()), s.hooks.Describe(u)}, &struct{}{})
}

// afterUserCreated tells of an account that has been made.
func (s *Service) afterUserCreated(ctx context.Context, caller Caller, u *User) error {
	h := s.hooks.AfterUserCreated
	if h == nil {
		return nil
	}
	return s.call(ctx, s.pool, h, userEvent{h.Metadata(caller.address()), s.hooks.Describe(u)}, &struct{}{})
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
	err := s.call(ctx, s.pool, h, passwordAttempt{h.Metadata(caller.address()), u.ID, valid}, &answer)
	s.hooks.pace.Store(int64(time.Since(begin)))
	if err != nil || !answer.rejected() {
		return err
	}
	if answer.Logout {
		if _, err := s.pool.Exec(ctx, endAllSessions, u.ID); err != nil {
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
func (s *Service) factorAttempted(ctx context.Context, caller Caller, userID, factorID uuid.UUID, factorType string, valid bool) error {
	h := s.hooks.MFAVerificationAttempt
	if h == nil {
		return nil
	}
	var answer decision
	err := s.call(ctx, s.pool, h, factorAttempt{h.Metadata(caller.address()), userID, factorID, factorType, valid}, &answer)
	if err != nil || !answer.rejected() {
		return err
	}
	if _, err := s.pool.Exec(ctx, endAllSessions, userID); err != nil {
		return err
	}
	message := answer.Message
	if message == "" {
		message = "Further MFA verification attempts will be rejected."
	}
	return deny(CodeMFAVerificationRejected, message)
}
