package auth

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

const (
	// Whoever holds an older session must not outlive the password that was changed.
	endOtherSessions = endCodes + `
delete from auth.sessions
where user_id = $1
and id <> $2`

	lockUser = `
select
from auth.users
where id = $1
for update`
)

// UserChange is what a user changes about themselves. Empty fields change nothing.
type UserChange struct {
	Email           string
	Phone           string
	Password        Secret
	CurrentPassword Secret
	// Nonce is what Reauthenticate has sent.
	Nonce Secret
	// Channel is how a code for a new number is texted: sms or whatsapp; empty is sms.
	Channel string
	Return
	// Data is merged into the user's metadata; null deletes a name.
	Data json.RawMessage
	// AppMetadata is not the user's to change; it is here to be refused.
	AppMetadata json.RawMessage
}

// User gives the account behind a token, as it is now: a token of an ended session, a
// deleted or banned account is refused although it has not expired.
func (s *Service) User(ctx context.Context, p *Principal) (*User, error) {
	u, _, err := s.userOf(ctx, p)
	return u, err
}

func (s *Service) userOf(ctx context.Context, p *Principal) (*User, string, error) {
	if refusal := namesUser(p); refusal != nil {
		return nil, "", refusal
	}
	l, err := s.lookups.of(ctx, p)
	if err := l.refusal(err); err != nil {
		return nil, "", err
	}
	return l.user, l.level, nil
}

// refusal is why a token that was good is not any more, or what went wrong with the lookup.
func (l *lookup) refusal(err error) error {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return userOfTokenGone()
	case err != nil:
		return err
	case l.user.banned:
		return deny(CodeUserBanned, "User is banned")
	case !l.alive:
		return deny(CodeSessionNotFound, "Session from session_id claim in JWT does not exist")
	}
	return nil
}

func userOfTokenGone() *Error {
	return deny(CodeUserNotFound, "User from sub claim in JWT does not exist")
}

// UpdateUser changes the account behind a token.
func (s *Service) UpdateUser(ctx context.Context, caller Caller, p *Principal, in UserChange) (*User, error) {
	u, err := s.updateUser(ctx, caller, p, in)
	s.event(caller, "user_update", p.UserID, err)
	return u, err
}

func (s *Service) updateUser(ctx context.Context, caller Caller, p *Principal, in UserChange) (*User, error) {
	u, level, err := s.userOf(ctx, p)
	if err != nil {
		return nil, err
	}
	if refusal := u.mayChangeCredentials(in); refusal != nil {
		return nil, refusal
	}
	if len(in.AppMetadata) > 0 && string(in.AppMetadata) != "null" {
		return nil, deny(CodeNotAdmin, "Updating app_metadata requires admin privileges")
	}
	data, refusal := readMetadata("data", in.Data, maxUserMetadata)
	if refusal != nil {
		return nil, refusal
	}
	email, phone, refusal := s.newAddresses(u, in)
	if refusal != nil {
		return nil, refusal
	}
	back, refusal := s.readReturn(in.Return)
	if refusal != nil {
		return nil, refusal
	}
	if email != nil || phone != nil || in.Password != "" {
		if refusal := mayChangeEntry(u, level); refusal != nil {
			return nil, refusal
		}
	}
	if u.Anonymous && in.Password != "" && email == nil && phone == nil {
		return nil, refuse(CodeValidationFailed, "Updating password of an anonymous user without an email or phone is not allowed")
	}
	nonce := Secret("")
	if needed, err := s.needsNonce(ctx, caller, p, in); err != nil {
		return nil, err
	} else if needed {
		nonce = in.Nonce
	}
	hash, err := s.newPassword(ctx, caller, u, in)
	if err != nil {
		return nil, err
	}
	c := change{hash: hash, user: data, at: now()}
	var waiting []string
	for _, address := range []*string{email, phone} {
		switch {
		case address == nil:
		case !s.autoconfirms(*address):
			if err := s.mayMove(ctx, caller, u, *address); err != nil {
				return nil, err
			}
			waiting = append(waiting, *address)
		case isPhone(*address):
			c.phone, c.confirmPhone = address, true
		default:
			c.email, c.confirm = address, true
		}
	}
	return s.writeChange(ctx, caller, p, c, nonce, moves{addresses: waiting, channel: in.Channel, back: back})
}

// mayChangeEntry tells whether a session is good enough to change the addresses or the password of an account.
func mayChangeEntry(u *User, level string) *Error {
	if level == lowestLevel && u.hasVerifiedFactor() {
		return &Error{
			Code:    CodeInsufficientAAL,
			Message: "AAL2 session is required to update email or password when MFA is enabled.",
		}
	}
	return nil
}

// newAddresses gives the addresses that the account shall have; nil is no change.
func (s *Service) newAddresses(u *User, in UserChange) (email, phone *string, refusal *Error) {
	if in.Email != "" {
		address, refusal := normalizeEmail(in.Email)
		if refusal != nil {
			return nil, nil, refusal
		}
		if address != u.Email {
			email = &address
		}
	}
	if in.Phone != "" {
		number, refusal := s.phoneOf(in.Phone, in.Channel)
		if refusal != nil {
			return nil, nil, refusal
		}
		if number != u.Phone {
			phone = &number
		}
	}
	return email, phone, nil
}

// newPassword judges and hashes the password that the account shall have; nil is no change.
func (s *Service) newPassword(ctx context.Context, caller Caller, u *User, in UserChange) (*string, error) {
	if in.Password == "" {
		return nil, nil
	}
	if refusal := s.judge(in.Password); refusal != nil {
		return nil, refusal
	}
	refusal, err := s.admit(ctx, caller, limit.Hit{Rule: changeRule(), Of: u.ID.String()})
	switch {
	case err != nil:
		return nil, err
	case refusal != nil:
		return nil, tooOften(refusal)
	}
	stored := u.passwordHash.Reveal()
	if in.CurrentPassword != "" {
		ok, err := s.matches(ctx, stored, in.CurrentPassword)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, refuse(CodeCurrentPasswordInvalid, "Current password is incorrect")
		}
	}
	if stored != "" {
		same, err := s.matches(ctx, stored, in.Password)
		if err != nil {
			return nil, err
		}
		if same {
			return nil, refuse(CodeSamePassword, "New password should be different from the old password.")
		}
	}
	hash, err := s.hash(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	return &hash, nil
}

// writeChange makes a change of the account behind a token, if the token is still good. A password takes its time to
// be hashed; a session that was ended meanwhile, by the owner who throws a thief out say, must not finish what it
// began. So the account is locked before it is looked at again: what others changed is then there to be seen.
func (s *Service) writeChange(ctx context.Context, caller Caller, p *Principal, c change, nonce Secret, m moves) (*User, error) {
	var u *User
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		l, err := s.lock(ctx, tx, p)
		if err != nil {
			return err
		}
		if c.hash != nil || c.email != nil || c.phone != nil || len(m.addresses) > 0 {
			if refusal := mayChangeEntry(l.user, l.level); refusal != nil {
				return refusal
			}
		}
		if len(c.user) > 0 && c.user.merged(l.user.UserMetadata) > maxUserMetadata {
			return tooLarge("user_metadata", maxUserMetadata)
		}
		if nonce != "" {
			if err := s.useNonce(ctx, tx, l.user, nonce); err != nil {
				return err
			}
		}
		batch := &pgx.Batch{}
		if err := c.queue(batch, p.UserID); err != nil {
			return err
		}
		if c.hash != nil {
			batch.Queue(endOtherSessions, p.UserID, p.SessionID)
		}
		if err := s.tell(batch, l.user, c); err != nil {
			return err
		}
		// After the change, which makes void what was sent before it.
		if err := s.queueMoves(batch, l.user, m, c.at); err != nil {
			return err
		}
		if c.hash != nil {
			s.audit(batch, auditEntry{action: actionPasswordUpdated, user: p.UserID, caller: caller, at: c.at})
		}
		s.audit(batch, auditEntry{action: actionModified, user: p.UserID, caller: caller, at: c.at})
		u, err = writeAndRead(ctx, tx, batch, p.UserID, userOfTokenGone())
		return err
	})
	if err != nil {
		return nil, saveFailed("Error updating user", err)
	}
	return u, nil
}
