package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
)

// MailKind is what a mail asks its reader to do.
type MailKind string

// MailConfirmation asks a new user to confirm their address.
const MailConfirmation MailKind = "signup"

// Mail is a message with a link that proves who reads it.
type Mail struct {
	Kind MailKind
	To   string
	Link Secret
}

// mail sends a message. Without a way to send, the log is the outbox: its links are secrets that
// nobody could follow otherwise, and whoever may read the log can. That is a state to mend, so it
// is a warning, which is seen at all usual levels.
func (s *Service) mail(ctx context.Context, m Mail) error {
	if s.options.Mail == nil {
		s.log.Warn().Str("to", m.To).Str("kind", string(m.Kind)).Str("link", m.Link.Reveal()).
			Msg("a mail is written here because there is no way to send it")
		return nil
	}
	if err := s.options.Mail(ctx, m); err != nil {
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
