package auth

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
)

// Invite is whom an administrator asks to join.
type Invite struct {
	Email string
	// Data is a JSON object for a new user's metadata.
	Data       json.RawMessage
	RedirectTo string
}

// Invite makes an account without a password and mails its user a link to it. One that somebody has made already and
// nobody has confirmed loses what it was made with.
func (s *Service) Invite(ctx context.Context, caller Caller, in Invite, record Record[*User]) (*User, error) {
	u, err := s.invite(ctx, caller, in, record)
	id := uuid.Nil
	if err == nil {
		id = u.ID
	}
	s.event(caller, "invite", id, err)
	return u, err
}

func (s *Service) invite(ctx context.Context, caller Caller, in Invite, record Record[*User]) (*User, error) {
	email, refusal := normalizeEmail(in.Email)
	if refusal != nil {
		return nil, refusal
	}
	data, refusal := readMetadata("data", in.Data, maxUserMetadata)
	if refusal != nil {
		return nil, refusal
	}
	m := message{kind: MailInvite, purpose: VerifyInvite, back: wayBack{redirect: s.redirectTarget(in.RedirectTo)}, record: record}
	if err := s.spend(ctx, caller, email); err != nil {
		return nil, err
	}
	for range signUpAttempts {
		existing, err := s.find(ctx, email)
		switch {
		case err != nil:
			return nil, err
		case existing != nil && existing.EmailConfirmedAt != nil:
			return nil, emailExists()
		case existing != nil:
			m.to, m.forsake = existing, true
			if err := s.sendMessage(ctx, m, tokenConfirmation, email); err != nil {
				return nil, err
			}
			return s.AdminUser(ctx, existing.ID)
		}
		d, err := newDraft(email, data, false)
		if err != nil {
			return nil, err
		}
		u, err := s.enrol(ctx, caller, d, m, tokenConfirmation)
		if !errors.Is(err, errTaken) {
			return u, err
		}
	}
	return nil, unexpected("Database error saving new user", errVanished)
}
