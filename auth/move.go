package auth

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// moves are the new addresses of an account that have to be confirmed before it has them.
type moves struct {
	addresses []string
	channel   string
	back      wayBack
}

// mayMove tells whether an account may ask for a new address now: it must be nobody's, and messages have their limits.
func (s *Service) mayMove(ctx context.Context, caller Caller, u *User, address string) error {
	other, err := s.addressee(ctx, caller, moveKind(address), address, userAt(address))
	switch {
	case err != nil:
		return err
	case other == nil || other.ID == u.ID:
		return nil
	case isPhone(address):
		return phoneExists()
	}
	return emailExists()
}

func moveKind(address string) tokenKind {
	if isPhone(address) {
		return tokenPhoneChange
	}
	return tokenEmailChangeNew
}

// queueMoves adds to a batch that new addresses wait for their confirmation, and the messages that ask for it.
func (s *Service) queueMoves(batch *pgx.Batch, u *User, m moves, at time.Time) error {
	for _, address := range m.addresses {
		if isPhone(address) {
			token, err := s.newOneTime(tokenPhoneChange, address, false)
			if err != nil {
				return err
			}
			queueTokens(batch, u.ID, at, pending{phone: &address}, false, token)
			if err := s.queueMessage(batch, message{to: u, token: token, channel: m.channel}, at); err != nil {
				return err
			}
			continue
		}
		if err := s.queueEmailMove(batch, u, address, m.back, at); err != nil {
			return err
		}
	}
	return nil
}

// queueEmailMove asks the new address and, unless the settings say otherwise, the one that the account has.
func (s *Service) queueEmailMove(batch *pgx.Batch, u *User, address string, back wayBack, at time.Time) error {
	token, err := s.newOneTime(tokenEmailChangeNew, address, back.challenge.asked())
	if err != nil {
		return err
	}
	mail := Mail{
		Kind: MailEmailChange, To: address, UserID: u.ID, Email: u.Email, NewEmail: address,
		Link: s.linkOf(VerifyEmailChange, token.link, back.redirect), Token: token.code, TokenHash: token.link,
		RedirectTo: back.redirect, Data: u.UserMetadata, ExpiresAt: at.Add(s.links.MailLinkLife),
	}
	tokens := []oneTime{token}
	if s.asksBoth(u) {
		current, err := s.newOneTime(tokenEmailChangeCurrent, u.Email, back.challenge.asked())
		if err != nil {
			return err
		}
		tokens = append(tokens, current)
		mail.LinkNew, mail.TokenNew, mail.TokenHashNew = mail.Link, mail.Token, mail.TokenHash
		mail.To, mail.Link = u.Email, s.linkOf(VerifyEmailChange, current.link, back.redirect)
		mail.Token, mail.TokenHash = current.code, current.link
	}
	queueTokens(batch, u.ID, at, pending{email: &address}, false, tokens...)
	s.queueReturn(batch, u.ID, VerifyEmailChange, back)
	return s.queueMail(batch, mail)
}
