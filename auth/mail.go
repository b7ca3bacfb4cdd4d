package auth

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// MailKind is what a mail is about, by the name that Supabase's send-email hook knows it under.
type MailKind string

// The mails that ask their readers for something.
const (
	// MailConfirmation asks a new user to confirm their address.
	MailConfirmation     MailKind = "signup"
	MailInvite           MailKind = "invite"
	MailMagicLink        MailKind = "magiclink"
	MailRecovery         MailKind = "recovery"
	MailEmailChange      MailKind = "email_change"
	MailReauthentication MailKind = "reauthentication"
)

// The mails that tell users what has been changed about their accounts (OWASP ASVS 5 §6.3.7).
const (
	MailPasswordChanged  MailKind = "password_changed_notification"
	MailEmailChanged     MailKind = "email_changed_notification"
	MailPhoneChanged     MailKind = "phone_changed_notification"
	MailIdentityLinked   MailKind = "identity_linked_notification"
	MailIdentityUnlinked MailKind = "identity_unlinked_notification"
	MailFactorEnrolled   MailKind = "mfa_factor_enrolled_notification"
	MailFactorUnenrolled MailKind = "mfa_factor_unenrolled_notification"
)

// Notifications are the kinds of mails that only tell.
func Notifications() []MailKind {
	return []MailKind{
		MailPasswordChanged, MailEmailChanged, MailPhoneChanged,
		MailIdentityLinked, MailIdentityUnlinked, MailFactorEnrolled, MailFactorUnenrolled,
	}
}

// Mail is a message by e-mail. Most carry a link, or a code to type, that proves who reads them.
type Mail struct {
	Kind MailKind
	// To is who reads the mail. For a change of address it is the one that the account has, or the new one where the
	// old one is not asked. Nobody, "", is for answers that must not tell whether there is an account: what a mail
	// would be refused for refuses these too.
	To     string
	UserID uuid.UUID
	// Email is the account's address; "" is To.
	Email string
	// Link proves who follows it; Token is the code to type, TokenHash what sites make links of their own from.
	Link, Token, TokenHash Secret
	// LinkNew, TokenNew and TokenHashNew are for the reader at NewEmail, when both addresses are asked about a change.
	LinkNew, TokenNew, TokenHashNew Secret
	// RedirectTo is where the link leads in the end.
	RedirectTo string
	// NewEmail is the address that the account is to have.
	NewEmail string
	// OldEmail, Phone, OldPhone, Provider and FactorType are what a notification tells of.
	OldEmail, Phone, OldPhone, Provider, FactorType string
	// Data is the user's metadata; the language of the mail is what `locale` in it says.
	Data json.RawMessage
	// ExpiresAt is when the mail is of no use any more; the zero time is a day from now.
	ExpiresAt time.Time
}

// Parts are the mails to each address: two where both addresses are asked about a change, else the mail itself.
func (m Mail) Parts() []Mail {
	if m.TokenNew == "" {
		return []Mail{m}
	}
	current := m
	current.LinkNew, current.TokenNew, current.TokenHashNew = "", "", ""
	if current.Email == "" {
		current.Email = m.To
	}
	changed := current
	changed.To, changed.Link, changed.Token, changed.TokenHash = m.NewEmail, m.LinkNew, m.TokenNew, m.TokenHashNew
	return []Mail{current, changed}
}

// SMS is a code for a telephone number.
type SMS struct {
	// To is the number in digits with its country's code (E.164 without the plus).
	To     string
	UserID uuid.UUID
	Code   Secret
	// Channel is sms or whatsapp; empty is sms.
	Channel string
	// ExpiresAt is when the code is of no use any more; the zero time is ten minutes from now.
	ExpiresAt time.Time
}

// Outbound takes messages to people. It adds each as a statement to the batch that writes the token in it: either
// both are there or none, and nobody waits for another server.
type Outbound interface {
	QueueMail(*pgx.Batch, Mail) error
	QueueSMS(*pgx.Batch, SMS) error
	// Ways tells for which messages there is a way to send them now; the others are kept.
	Ways() (mails, texts bool)
}

// The SQLSTATEs of an outbox that has no room for another message.
const (
	StateMailFull = "BMAIL"
	StateSMSFull  = "BMSMS"
)

// outboxPatience is how long an outbox that is full may take to have room again.
const outboxPatience = 30 * time.Second

// outboxFull is the refusal of what would send a message, nil for other SQLSTATEs.
func outboxFull(state string) *Error {
	switch state {
	case StateMailFull:
		return &Error{Code: CodeOverEmailSendRateLimit, Message: "Too many emails wait to be sent, try again later", RetryAfter: outboxPatience}
	case StateSMSFull:
		return &Error{Code: CodeOverSMSSendRateLimit, Message: "Too many text messages wait to be sent, try again later", RetryAfter: outboxPatience}
	}
	return nil
}

// OutboxFull is the refusal of what would send a message while the outbox has no room for it; nil for other errors.
func OutboxFull(err error) *Error {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return nil
	}
	return outboxFull(refusal.Code)
}

// queueMail adds a mail to a batch.
func (s *Service) queueMail(batch *pgx.Batch, m Mail) error {
	if s.options.Outbound == nil {
		s.log.Debug().Str("kind", string(m.Kind)).Msg("a mail is not sent: there is no outbox")
		return nil
	}
	return s.options.Outbound.QueueMail(batch, m)
}

// queueSMS adds a text message to a batch.
func (s *Service) queueSMS(batch *pgx.Batch, m SMS) error {
	if s.options.Outbound == nil {
		s.log.Debug().Msg("a text message is not sent: there is no outbox")
		return nil
	}
	return s.options.Outbound.QueueSMS(batch, m)
}

// notify adds a mail that tells an account's owner of a change, when the settings want such and the owner has an address.
func (s *Service) notify(batch *pgx.Batch, m Mail) error {
	if m.To == "" || !slices.Contains(s.options.Notify, m.Kind) {
		return nil
	}
	return s.queueMail(batch, m)
}
