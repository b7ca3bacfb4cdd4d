package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// MailKind is what a mail asks its reader to do.
type MailKind string

// MailConfirmation asks a new user to confirm their address.
const MailConfirmation MailKind = "signup"

// Mail is a message with a link, or a code to type, that proves who reads it.
type Mail struct {
	Kind MailKind
	// To is the address, of the user.
	To     string
	UserID uuid.UUID
	// Link proves who follows it; Token is the code to type, TokenHash what sites make links of their own from.
	Link, Token, TokenHash Secret
	// RedirectTo is where the link leads in the end.
	RedirectTo string
	// NewEmail is the address that the account is to have.
	NewEmail string
	// Data is the user's metadata.
	Data json.RawMessage
}

// SMS is a code for a telephone number.
type SMS struct {
	// To is the number in digits with its country's code (E.164 without the plus).
	To     string
	UserID uuid.UUID
	Code   Secret
	// Channel is sms or whatsapp.
	Channel string
}

// Outbound takes messages to people. It adds each as a statement to the batch that writes the token in it: either
// both are there or none, and nobody waits for another server.
type Outbound interface {
	QueueMail(*pgx.Batch, Mail) error
	QueueSMS(*pgx.Batch, SMS) error
}

// queueMail adds a mail to a batch. Without a way to send, the log is the outbox: its links are secrets that
// nobody could follow otherwise, and whoever may read the log can. That is a state to mend, so it
// is a warning, which is seen at all usual levels.
func (s *Service) queueMail(batch *pgx.Batch, m Mail) error {
	if s.options.Outbound == nil {
		s.log.Warn().Str("to", m.To).Str("kind", string(m.Kind)).Str("link", m.Link.Reveal()).
			Msg("a mail is written here because there is no way to send it")
		return nil
	}
	return s.options.Outbound.QueueMail(batch, m)
}

// mail sends a message that belongs to no other change.
func (s *Service) mail(ctx context.Context, m Mail) error {
	batch := &pgx.Batch{}
	if err := s.queueMail(batch, m); err != nil {
		return err
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := s.send(ctx, batch); err != nil {
		return unexpected("Error sending confirmation email", err)
	}
	return nil
}

// linkToken is the secret part of a link; the database holds its hash only.
type linkToken struct {
	text Secret
	hash string
}

func newLinkToken() (linkToken, error) {
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return linkToken{}, fmt.Errorf("link token: %w", err)
	}
	text := base64.RawURLEncoding.EncodeToString(random)
	digest := sha256.Sum256([]byte(text))
	return linkToken{text: Secret(text), hash: hex.EncodeToString(digest[:])}, nil
}

// link is where a mail leads: built from the settings alone, never from a request.
func (s *Service) link(kind MailKind, t linkToken) Secret {
	query := url.Values{}
	query.Set("token", t.text.Reveal())
	query.Set("type", string(kind))
	query.Set("redirect_to", s.options.SiteURL)
	return Secret(s.options.Issuer + "/verify?" + query.Encode())
}
