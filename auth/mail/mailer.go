package mail

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"

	"basalt/auth/outbox"
)

// Mailer brings mails to a mail server. It implements outbox.Deliverer.
type Mailer struct {
	server    Server
	from      netmail.Address
	siteURL   string
	templates Shelf
	idle      idleConnections
}

// Shelf gives the templates that are in force.
type Shelf interface {
	Current(context.Context) (*Templates, error)
}

// NewMailer makes a mailer whose mails come from an address, with the site's URL in them.
func NewMailer(server Server, from netmail.Address, siteURL string, templates Shelf) *Mailer {
	return &Mailer{server: server, from: from, siteURL: siteURL, templates: templates}
}

// Deliver implements outbox.Deliverer.
func (m *Mailer) Deliver(ctx context.Context, message *outbox.Message) error {
	templates, err := m.templates.Current(ctx)
	if err != nil {
		return err
	}
	for number, part := range message.Mail.Parts() {
		letter, err := templates.Write(part, m.siteURL)
		if err != nil {
			return outbox.Refuse(fmt.Errorf("write the mail: %w", err))
		}
		// The same each time, so that a mail that comes twice can be known for one.
		id := fmt.Sprintf("%s.%d@%s", message.ID, number, domainOf(m.from.Address))
		if err := m.send(ctx, part.To, id, letter); err != nil {
			return outbox.Redact(err, m.server.credentials()...)
		}
	}
	return nil
}

// Try sends a mail that says no more than that it has arrived. The error is why it was not taken, without credentials.
func (m *Mailer) Try(ctx context.Context, to string) error {
	id := fmt.Sprintf("%s@%s", uuid.New(), domainOf(m.from.Address))
	err := m.send(ctx, to, id, Letter{Subject: "Test mail", Text: "The mail server works: this mail was sent by it.\n"})
	if c := m.idle.take(); c != nil {
		c.quit()
	}
	return outbox.Redact(err, m.server.credentials()...)
}

func (m *Mailer) send(ctx context.Context, to, id string, letter Letter) error {
	address, ascii, err := envelope(to)
	if err != nil {
		return outbox.Refuse(err)
	}
	compose := func() *gomail.Msg { return m.compose(address, id, letter) }
	for c := m.idle.take(); c != nil; c = m.idle.take() {
		err := m.sendOver(ctx, c, compose(), !ascii)
		var failure *gomail.SendError
		if !errors.As(err, &failure) || failure.Reason != gomail.ErrConnCheck {
			return err
		}
		// The server has ended the connection since.
	}
	c, err := m.server.connect(ctx, helo(m.from.Address))
	if err != nil {
		return outbox.Unreachable(fmt.Errorf("connect to the mail server %s: %w", m.server.address(), err))
	}
	return m.sendOver(ctx, c, compose(), !ascii)
}

// sendOver sends over a connection, which is kept when it is good for another mail.
func (m *Mailer) sendOver(ctx context.Context, c *connection, mail *gomail.Msg, utf8 bool) error {
	if known, _ := c.smtp.Extension("SMTPUTF8"); utf8 && !known {
		m.keep(c)
		return outbox.Refuse(errors.New("the mail server does not take addresses with letters beyond ASCII (RFC 6531)"))
	}
	err := c.send(ctx, mail, utf8)
	if err == nil {
		m.keep(c)
		return nil
	}
	c.raw.Close()
	if mail.IsDelivered() {
		return nil // what failed came after the server had taken it
	}
	return classify(err)
}

func (m *Mailer) keep(c *connection) {
	if !m.idle.keep(c) {
		c.quit()
	}
}

// classify tells what a failure is of: the mail, its moment, or the way.
func classify(err error) error {
	var failure *gomail.SendError
	if !errors.As(err, &failure) {
		return outbox.Unreachable(err)
	}
	code := failure.ErrorCode()
	switch failure.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		switch {
		case code == 421: // it closes (RFC 5321 §3.8)
		case code >= 500:
			return outbox.Refuse(err)
		case code >= 400:
			return err
		}
	case gomail.ErrGetSender, gomail.ErrGetRcpts, gomail.ErrNoUnencoded:
		return outbox.Refuse(err)
	}
	return outbox.Unreachable(err)
}

// compose makes the mail with its headers.
func (m *Mailer) compose(to netmail.Address, id string, letter Letter) *gomail.Msg {
	mail := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	from := m.from
	mail.FromMailAddress(&from)
	mail.ToMailAddress(&to)
	mail.Subject(letter.Subject)
	mail.SetMessageIDWithValue(id)
	mail.SetDateWithValue(time.Now())
	// Nobody's vacation is to answer (RFC 3834 §5).
	mail.SetGenHeader("Auto-Submitted", "auto-generated")
	mail.SetGenHeader(gomail.HeaderXAutoResponseSuppress, "All")
	switch {
	case letter.Text == "":
		mail.SetBodyString(gomail.TypeTextHTML, letter.HTML)
	case letter.HTML == "":
		mail.SetBodyString(gomail.TypeTextPlain, letter.Text)
	default:
		mail.SetBodyString(gomail.TypeTextPlain, letter.Text)
		mail.AddAlternativeString(gomail.TypeTextHTML, letter.HTML)
	}
	return mail
}

// envelope gives an address as mail servers know it: the domain in ASCII (RFC 5891), the part before it as it is.
func envelope(to string) (address netmail.Address, ascii bool, err error) {
	parsed, err := netmail.ParseAddress("<" + to + ">")
	if err != nil || parsed.Address != to {
		return address, false, errors.New("the address is none that a mail can be sent to")
	}
	at := strings.LastIndexByte(to, '@')
	domain, err := idna.Lookup.ToASCII(to[at+1:])
	if err != nil {
		return address, false, fmt.Errorf("the domain of the address is none: %w", err)
	}
	address.Address = to[:at+1] + domain
	return address, isASCII(to[:at]), nil
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
}

func domainOf(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// helo is how the server is greeted: by a name that can be looked up (RFC 5321 §4.1.1.1).
func helo(from string) string {
	if name, err := os.Hostname(); err == nil && strings.Contains(name, ".") {
		return name
	}
	return domainOf(from)
}

// ParseFrom reads the address and name that mails come from.
func ParseFrom(address, name string) (netmail.Address, error) {
	from, _, err := envelope(address)
	if err != nil {
		return netmail.Address{}, err
	}
	if oneLine(name) != name {
		return netmail.Address{}, errors.New("the name must be one line")
	}
	from.Name = name
	return from, nil
}

var _ outbox.Deliverer = (*Mailer)(nil)
