package auth

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// reachedAt is the address by which a user proves once more who they are; empty is none.
func (u *User) reachedAt() string {
	switch {
	case u.Email != "" && u.EmailConfirmedAt != nil:
		return u.Email
	case u.Phone != "" && u.PhoneConfirmedAt != nil:
		return u.Phone
	}
	return ""
}

// refused tells whether an error is a refusal with a code.
func refused(err error, code Code) bool {
	var refusal *Error
	return errors.As(err, &refusal) && refusal.Code == code
}

// Reauthenticate sends the user of a token a nonce, with which they can choose a new password.
func (s *Service) Reauthenticate(ctx context.Context, caller Caller, p *Principal) error {
	err := s.reauthenticate(ctx, caller, p)
	s.event(caller, "reauthenticate", p.UserID, err)
	return err
}

func (s *Service) reauthenticate(ctx context.Context, caller Caller, p *Principal) error {
	u, _, err := s.userOf(ctx, p)
	if err != nil {
		return err
	}
	address := u.reachedAt()
	switch {
	case u.Email == "" && u.Phone == "":
		return refuse(CodeValidationFailed, "Reauthentication requires the user to have an email or a phone number")
	case address == "" && u.Email != "":
		return refuse(CodeEmailNotConfirmed, "Please verify your email first.")
	case address == "":
		return refuse(CodePhoneNotConfirmed, "Please verify your phone first.")
	}
	batch := &pgx.Batch{}
	interval := s.intervalHit(tokenReauthentication, address)
	verdict := s.count(batch, caller, limit.Hit{Rule: askRule(), Of: caller.Network()}, interval)
	if batch.Len() > 0 {
		if err := s.send(ctx, batch); err != nil {
			return err
		}
	}
	if refusal := verdict.Refused(askRule()); refusal != nil {
		return tooOften(refusal)
	}
	if refusal := verdict.Refused(interval.Rule); refusal != nil {
		return tooSoon(refusal)
	}
	if err := s.spend(ctx, caller, address); err != nil {
		return err
	}
	return s.sendMessage(ctx, message{to: u, kind: MailReauthentication}, tokenReauthentication, address)
}

// reauthenticationAge is how old a session may be that changes the password without a nonce.
const reauthenticationAge = 24 * time.Hour

const sessionIsYoung = `
select coalesce((
    select created_at > now() - $2::interval
    from auth.sessions
    where id = $1
), false)`

// needsNonce tells whether a new password has to come with the nonce that was sent.
func (s *Service) needsNonce(ctx context.Context, caller Caller, p *Principal, in UserChange) (bool, error) {
	if !s.links.Reauthentication || in.Password == "" {
		return false, nil
	}
	var young bool
	if err := s.pool.QueryRow(ctx, sessionIsYoung, p.SessionID, reauthenticationAge).Scan(&young); err != nil || young {
		return false, err
	}
	if in.Nonce == "" {
		return false, refuse(CodeReauthenticationNeeded, "Password update requires reauthentication")
	}
	refusal, err := s.admit(ctx, caller, limit.Hit{Rule: codeRule(), Of: "nonce " + p.UserID.String()})
	switch {
	case err != nil:
		return false, err
	case refusal != nil:
		return false, tooOften(refusal)
	}
	return true, nil
}

// useNonce takes the nonce away that an account was sent, in the transaction that writes what it allows.
func (s *Service) useNonce(ctx context.Context, tx pgx.Tx, u *User, nonce Secret) error {
	t, err := s.use(ctx, tx, proof{hashes: s.storedCode(u.reachedAt(), nonce), typed: true}, tokenReauthentication)
	if refused(err, CodeOTPExpired) || err == nil && t.user != u.ID {
		return refuse(CodeReauthenticationNotValid, "Nonce has expired or is invalid")
	}
	return err
}
