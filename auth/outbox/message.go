package outbox

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/seal"
)

// Channel is how a message gets to its reader.
type Channel string

// The channels.
const (
	Email    Channel = "email"
	Text     Channel = "sms"
	WhatsApp Channel = "whatsapp"
)

// Message is a mail, or a text message.
type Message struct {
	// ID is the same each time that delivery is tried.
	ID      uuid.UUID
	Channel Channel
	Kind    string
	UserID  uuid.UUID
	// Mail is what is to be sent on the channel Email, SMS on the others.
	Mail auth.Mail
	SMS  auth.SMS

	CreatedAt, ExpiresAt time.Time
	// Attempts is how often delivery was tried, this time included.
	Attempts int
}

// cell is where the body of a message belongs. A body that is moved to another message, or channel, does not open.
func cell(id uuid.UUID, channel Channel) seal.Cell {
	return seal.Cell{Table: "basalt.outbox", Row: id.String() + " " + string(channel), Column: "body"}
}

// body is a message as it is sealed. Secrets hide themselves from JSON, so here they are text.
type body struct {
	To           string          `json:"to"`
	Email        string          `json:"email,omitempty"`
	Link         string          `json:"link,omitempty"`
	Token        string          `json:"token,omitempty"`
	TokenHash    string          `json:"token_hash,omitempty"`
	LinkNew      string          `json:"link_new,omitempty"`
	TokenNew     string          `json:"token_new,omitempty"`
	TokenHashNew string          `json:"token_hash_new,omitempty"`
	RedirectTo   string          `json:"redirect_to,omitempty"`
	NewEmail     string          `json:"new_email,omitempty"`
	OldEmail     string          `json:"old_email,omitempty"`
	Phone        string          `json:"phone,omitempty"`
	OldPhone     string          `json:"old_phone,omitempty"`
	Provider     string          `json:"provider,omitempty"`
	FactorType   string          `json:"factor_type,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
}

// seal encrypts the message's body.
func (m *Message) seal(keys seal.Ring) (string, error) {
	b := body{To: m.SMS.To, Token: m.SMS.Code.Reveal()}
	if m.Channel == Email {
		mail := m.Mail
		b = body{
			To: mail.To, Email: mail.Email,
			Link: mail.Link.Reveal(), Token: mail.Token.Reveal(), TokenHash: mail.TokenHash.Reveal(),
			LinkNew: mail.LinkNew.Reveal(), TokenNew: mail.TokenNew.Reveal(), TokenHashNew: mail.TokenHashNew.Reveal(),
			RedirectTo: mail.RedirectTo, NewEmail: mail.NewEmail, OldEmail: mail.OldEmail,
			Phone: mail.Phone, OldPhone: mail.OldPhone, Provider: mail.Provider, FactorType: mail.FactorType,
			Data: mail.Data,
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	return keys.Seal(string(text), cell(m.ID, m.Channel)), nil
}

// open fills the message from its sealed body.
func (m *Message) open(keys seal.Ring, sealed string) error {
	text, err := keys.Open(sealed, cell(m.ID, m.Channel))
	if err != nil {
		return err
	}
	var b body
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return err
	}
	if m.Channel != Email {
		m.SMS = auth.SMS{To: b.To, UserID: m.UserID, Code: auth.Secret(b.Token), Channel: string(m.Channel), ExpiresAt: m.ExpiresAt}
		return nil
	}
	m.Mail = auth.Mail{
		Kind: auth.MailKind(m.Kind), To: b.To, UserID: m.UserID, Email: b.Email,
		Link: auth.Secret(b.Link), Token: auth.Secret(b.Token), TokenHash: auth.Secret(b.TokenHash),
		LinkNew: auth.Secret(b.LinkNew), TokenNew: auth.Secret(b.TokenNew), TokenHashNew: auth.Secret(b.TokenHashNew),
		RedirectTo: b.RedirectTo, NewEmail: b.NewEmail, OldEmail: b.OldEmail,
		Phone: b.Phone, OldPhone: b.OldPhone, Provider: b.Provider, FactorType: b.FactorType,
		Data: b.Data, ExpiresAt: m.ExpiresAt,
	}
	return nil
}

// maxFailure bounds what is kept of a server's words.
const maxFailure = 500

// scrub takes out of an error's text what must not reach a log: servers like to repeat what they refuse.
func (m *Message) scrub(err error) string {
	text := err.Error()
	for _, secret := range m.secrets() {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, auth.Secret(secret).String())
		}
	}
	for _, address := range []string{m.Mail.To, m.Mail.NewEmail, m.SMS.To} {
		if address != "" {
			text = strings.ReplaceAll(text, address, "[recipient]")
		}
	}
	if len(text) > maxFailure {
		text = text[:maxFailure]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

// secrets are what proves who reads the message: links, what they carry, and codes.
func (m *Message) secrets() []string {
	var all []string
	for _, link := range []auth.Secret{m.Mail.Link, m.Mail.LinkNew} {
		all = append(all, link.Reveal())
		if u, err := url.Parse(link.Reveal()); err == nil {
			for name, values := range u.Query() {
				if strings.HasPrefix(name, "token") {
					all = append(all, values...)
				}
			}
		}
	}
	for _, secret := range []auth.Secret{m.Mail.TokenHash, m.Mail.TokenHashNew, m.Mail.Token, m.Mail.TokenNew, m.SMS.Code} {
		all = append(all, secret.Reveal())
	}
	return all
}
