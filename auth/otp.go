package auth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// OTP is what somebody says who wants to sign in by a link or a code.
type OTP struct {
	Email, Phone string
	// KnownOnly is for addresses that have an account; else an account is made.
	KnownOnly bool
	// Data is a JSON object for a new user's metadata.
	Data json.RawMessage
	// Channel is how a code is texted: sms or whatsapp; empty is sms.
	Channel string
	Return
}

// SendOTP sends a link with a code, or a code alone, to an address.
func (s *Service) SendOTP(ctx context.Context, caller Caller, in OTP, record Record[*User]) error {
	user, err := s.sendOTP(ctx, caller, in, record)
	s.event(caller, "otp", user, err)
	return err
}

func (s *Service) sendOTP(ctx context.Context, caller Caller, in OTP, record Record[*User]) (uuid.UUID, error) {
	address, refusal := s.addressOf(in.Email, in.Phone, in.Channel)
	if refusal != nil {
		return uuid.Nil, refusal
	}
	data, refusal := readMetadata("data", in.Data, maxUserMetadata)
	if refusal != nil {
		return uuid.Nil, refusal
	}
	back, refusal := s.readReturn(in.Return)
	if refusal != nil {
		return uuid.Nil, refusal
	}
	var id uuid.UUID
	err := s.evenly(ctx, func() error {
		user, err := s.addressee(ctx, caller, tokenRecovery, address, userAt(address))
		for range signUpAttempts {
			switch {
			case err != nil:
				return err
			case user != nil:
				id = user.ID
				return s.sendKnown(ctx, user, address, in.Channel, back, record)
			case in.KnownOnly || s.options.DisableSignup:
				return refuse(CodeOTPDisabled, "Signups not allowed for otp")
			}
			var d draft
			if d, err = newDraft(address, data, false); err != nil {
				return err
			}
			id = d.id
			if err = s.enrolAndSend(ctx, caller, d, in.Channel, back, record); !errors.Is(err, errTaken) {
				return err
			}
			user, err = s.find(ctx, address)
		}
		return unexpected("Database error saving new user", errVanished)
	})
	return id, err
}

// addressOf reads the one address that somebody gives.
func (s *Service) addressOf(email, phone, channel string) (string, *Error) {
	switch {
	case email != "" && phone != "":
		return "", refuse(CodeValidationFailed, "Only an email address or phone number should be provided")
	case email != "" && channel != "":
		return "", refuse(CodeValidationFailed, "Channel should only be specified with Phone OTP")
	case email != "":
		return normalizeEmail(email)
	case phone == "":
		return "", refuse(CodeValidationFailed, "One of email or phone must be set")
	}
	return s.phoneOf(phone, channel)
}

// find looks an account up by an address; nil is none.
func (s *Service) find(ctx context.Context, address string) (*User, error) {
	u, err := scanUser(s.pool.QueryRow(ctx, userAt(address), address))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return u, err
}

// userAt selects an account by an address.
func userAt(address string) string {
	if isPhone(address) {
		return userByPhone
	}
	return userByEmail
}

// addressee finds the account that a message to an address is asked for, by a statement; nil is none. Messages are counted whether
// there is one or not.
func (s *Service) addressee(ctx context.Context, caller Caller, kind tokenKind, address, statement string) (*User, error) {
	var user *User
	batch := &pgx.Batch{}
	interval := s.intervalHit(kind, address)
	verdict := s.count(batch, caller, limit.Hit{Rule: askRule(), Of: caller.Network()}, interval)
	batch.Queue(statement, address).QueryRow(func(found pgx.Row) error {
		var err error
		if user, err = scanUser(found); errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err := s.send(ctx, batch); err != nil {
		return nil, err
	}
	if refusal := verdict.Refused(askRule()); refusal != nil {
		return nil, tooOften(refusal)
	}
	if refusal := verdict.Refused(interval.Rule); refusal != nil {
		return nil, tooSoon(refusal)
	}
	return user, s.spend(ctx, caller, address)
}

// sendKnown sends a link or code to an account that there is. A new account that has nothing but its address yet is
// confirmed by it as by its first one. Where there is a password or an identity that nobody has confirmed, whoever chose
// it need not be who reads the mail: it is a sign-in, which drops them. They go before the mail does, since its reader
// may have others that the account is confirmed by.
func (s *Service) sendKnown(ctx context.Context, user *User, address, channel string, back wayBack, record Record[*User]) error {
	m := message{to: user, kind: MailMagicLink, purpose: VerifyMagicLink, back: back, channel: channel, forsake: true, record: record}
	kind := tokenRecovery
	if !isPhone(address) && user.EmailConfirmedAt == nil && user.bare() && !s.options.Autoconfirm {
		m.kind, m.purpose, m.forsake, kind = MailConfirmation, VerifySignUp, false, tokenConfirmation
	}
	return s.sendMessage(ctx, m, kind, address)
}

// sendMessage makes a token and sends it to an account in one flight.
func (s *Service) sendMessage(ctx context.Context, m message, kind tokenKind, address string) error {
	at := now()
	var err error
	if m.token, err = s.newOneTime(kind, address, m.back.challenge.asked()); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	if m.forsake {
		queueForsake(batch, m.to.ID)
	}
	queueTokens(batch, m.to.ID, at, pending{}, m.kind == MailInvite, m.token)
	if err := s.queueMessage(batch, m, at); err != nil {
		return err
	}
	return saveFailed("Error sending confirmation message", s.sendAbout(ctx, batch, m.to.ID, m.record))
}

// enrolAndSend makes an account for an address and sends its first link or code.
func (s *Service) enrolAndSend(ctx context.Context, caller Caller, d draft, channel string, back wayBack, record Record[*User]) error {
	m := message{kind: MailConfirmation, purpose: VerifySignUp, back: back, channel: channel, record: record}
	kind := tokenConfirmation
	if s.options.Autoconfirm {
		m.kind, m.purpose, kind = MailMagicLink, VerifyMagicLink, tokenRecovery
	}
	_, err := s.enrol(ctx, caller, d, m, kind)
	return err
}

// errTaken is an account that was not made because another one came first.
var errTaken = errors.New("the address is taken")

// enrol writes an account without a password, and the message to it.
func (s *Service) enrol(ctx context.Context, caller Caller, d draft, m message, kind tokenKind) (*User, error) {
	at := now()
	if err := s.beforeUserCreated(ctx, caller, d.preview(at)); err != nil {
		return nil, err
	}
	var err error
	if m.token, err = s.newOneTime(kind, d.address(), m.back.challenge.asked()); err != nil {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if m.to, err = s.insertWithToken(ctx, tx, d, m.kind == MailInvite, m.token, at); err != nil {
			return err
		}
		batch := &pgx.Batch{}
		if err := s.queueMessage(batch, m, at); err != nil {
			return err
		}
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		return m.record.write(tx, m.to)
	})
	switch {
	case errors.Is(err, errTaken):
		return nil, err
	case err != nil:
		return nil, saveFailed("Database error saving new user", err)
	}
	return m.to, s.afterUserCreated(ctx, caller, m.to)
}

// insertWithToken writes an account and the token that it is confirmed by. The error is errTaken when it was not made.
func (s *Service) insertWithToken(ctx context.Context, tx limit.Sender, d draft, invited bool, token oneTime, at time.Time) (*User, error) {
	var user *User
	batch := &pgx.Batch{}
	batch.Queue(signUpAlone, append(opening{at: at}.parameters(Caller{}), d.parameters()...)...)
	queueTokens(batch, d.id, at, pending{}, invited, token)
	batch.Queue(userByID, d.id).QueryRow(func(found pgx.Row) error {
		var err error
		user, err = scanUser(found)
		return err
	})
	err := tx.SendBatch(ctx, batch).Close()
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errTaken
	}
	return user, saveFailed("Database error saving new user", err)
}

// Recover sends a link, and a code, by which the owner of an address can choose a new password.
func (s *Service) Recover(ctx context.Context, caller Caller, email string, in Return, record Record[*User]) error {
	user, err := s.recover(ctx, caller, email, in, record)
	s.event(caller, "recovery_request", user, err)
	return err
}

func (s *Service) recover(ctx context.Context, caller Caller, text string, in Return, record Record[*User]) (uuid.UUID, error) {
	if text == "" {
		return uuid.Nil, refuse(CodeValidationFailed, "Password recovery requires an email")
	}
	email, refusal := normalizeEmail(text)
	if refusal != nil {
		return uuid.Nil, refusal
	}
	back, refusal := s.readReturn(in)
	if refusal != nil {
		return uuid.Nil, refusal
	}
	var id uuid.UUID
	err := s.evenly(ctx, func() error {
		user, err := s.addressee(ctx, caller, tokenRecovery, email, userByEmail)
		if err != nil {
			return err
		}
		if user == nil {
			return s.sendNobody(ctx, MailRecovery, email, back)
		}
		id = user.ID
		m := message{to: user, kind: MailRecovery, purpose: VerifyRecovery, back: back, forsake: true, record: record}
		return s.sendMessage(ctx, m, tokenRecovery, email)
	})
	return id, err
}

// sendNobody does for an address without an account what is done for one with: the same statements, which find nobody.
// The flow that an app asks for begins too; it is swept with the others that nobody comes back to.
func (s *Service) sendNobody(ctx context.Context, kind MailKind, address string, back wayBack) error {
	at := now()
	token, err := s.newOneTime(tokenRecovery, address, back.challenge.asked())
	if err != nil {
		return err
	}
	batch, nobody := &pgx.Batch{}, uuid.New()
	if kind == MailRecovery {
		queueForsake(batch, nobody)
	}
	queueTokens(batch, nobody, at, pending{}, false, token)
	if isPhone(address) {
		err = s.queueSMS(batch, SMS{Code: token.code, ExpiresAt: at.Add(s.links.SMSCodeLife)})
	} else {
		s.queueReturn(batch, nobody, VerifyRecovery, back)
		err = s.queueMail(batch, Mail{
			Kind: kind, Link: s.linkOf(VerifyRecovery, token.link, s.options.SiteURL), Token: token.code, TokenHash: token.link,
			ExpiresAt: at.Add(s.links.MailLinkLife),
		})
	}
	if err != nil {
		return err
	}
	return saveFailed("Error sending confirmation message", s.send(ctx, batch))
}
