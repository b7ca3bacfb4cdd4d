package mail_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	netmail "net/mail"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"

	"basalt/auth"
	"basalt/auth/mail"
	"basalt/auth/mail/mailtest"
	"basalt/auth/outbox"
)

const siteURL = "https://site.example"

func from() netmail.Address {
	return netmail.Address{Name: "Müller & Söhne", Address: "no-reply@mail.example"}
}

func mailer(t *testing.T, server mail.Server) *mail.Mailer {
	t.Helper()
	templates, err := mail.LoadTemplates(nil, "en")
	if err != nil {
		t.Fatal(err)
	}
	return mail.NewMailer(server, from(), siteURL, templates)
}

func confirmation(to string) *outbox.Message {
	return &outbox.Message{ID: uuid.New(), Channel: outbox.Email, Kind: "signup", Mail: auth.Mail{
		Kind: auth.MailConfirmation, To: to, Token: "123456", TokenHash: "abcdef",
		Link: "https://api.example/auth/v1/verify?token=pt-1&type=signup&redirect_to=https%3A%2F%2Fsite.example",
	}}
}

func TestMailsArriveOverEachKindOfConnection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		options   mailtest.Options
		encrypted bool
	}{
		{"STARTTLS", mailtest.Options{}, true},
		{"TLS from the first byte on", mailtest.Options{ImplicitTLS: true}, true},
		{"no TLS where that is asked for", mailtest.Options{Plain: true}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.Start(t, test.options)
			message := confirmation("ann@example.com")
			if err := mailer(t, server.Mail(t)).Deliver(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			got := server.Wait(t, 1)[0]
			if got.Encrypted != test.encrypted || got.Authenticated != test.encrypted {
				t.Errorf("encrypted %t, authenticated %t", got.Encrypted, got.Authenticated)
			}
			if got.From != "no-reply@mail.example" || len(got.To) != 1 || got.To[0] != "ann@example.com" {
				t.Errorf("from %s to %v", got.From, got.To)
			}
		})
	}
}

func TestAMailIsWhatAReaderExpects(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{})
	message := confirmation("ann@example.com")
	if err := mailer(t, server.Mail(t)).Deliver(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	got := server.Wait(t, 1)[0]
	for name, want := range map[string]string{
		"Subject": "Confirm your email address", "To": "<ann@example.com>", "Auto-Submitted": "auto-generated",
		"From": `Müller & Söhne <no-reply@mail.example>`, "Mime-Version": "1.0", "X-Mailer": "", "User-Agent": "",
		"Message-Id": "<" + message.ID.String() + ".0@mail.example>",
	} {
		if value := got.Header(t, name); value != want {
			t.Errorf("%s: %q, not %q", name, value, want)
		}
	}
	if date, err := netmail.ParseDate(got.Header(t, "Date")); err != nil || time.Since(date).Abs() > 5*time.Minute {
		t.Errorf("the date is %s (%v)", got.Header(t, "Date"), err)
	}
	link := message.Mail.Link.Reveal()
	if text := got.Body(t, "text/plain"); !strings.Contains(text, link) || !strings.Contains(text, "123456") {
		t.Errorf("the text lacks link or code: %s", text)
	}
	if html := got.Body(t, "text/html"); !strings.Contains(html, `href="`+strings.ReplaceAll(link, "&", "&amp;")+`"`) || !strings.Contains(html, "123456") {
		t.Errorf("the HTML lacks link or code: %s", html)
	}
	for _, line := range strings.Split(string(got.Raw), "\r\n") {
		if len(line) > 998 {
			t.Errorf("a line of %d bytes (RFC 5322 §2.1.1)", len(line))
		}
	}
}

func TestBothAddressesOfAChangeGetTheirOwnMail(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{})
	message := &outbox.Message{ID: uuid.New(), Channel: outbox.Email, Mail: auth.Mail{
		Kind: auth.MailEmailChange, To: "old@example.com", NewEmail: "new@example.com",
		Link: "https://api.example/verify?token=for-old", Token: "111111", LinkNew: "https://api.example/verify?token=for-new", TokenNew: "222222",
	}}
	if err := mailer(t, server.Mail(t)).Deliver(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	for _, got := range server.Wait(t, 2) {
		text := got.Body(t, "text/plain")
		old := got.To[0] == "old@example.com"
		if strings.Contains(text, "for-old") != old || strings.Contains(text, "111111") != old ||
			strings.Contains(text, "for-new") == old || strings.Contains(text, "222222") == old || !strings.Contains(text, "from old@example.com to new@example.com") {
			t.Errorf("to %v: %s", got.To, text)
		}
	}
}

func TestNoWordOfAUserBecomesAHeader(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{})
	own := map[string]string{"confirmation.txt": "Subject: Welcome {{ .Data.name }}\n\nHello {{ .Data.name }}"}
	templates, err := mail.LoadTemplates(files(own), "en")
	if err != nil {
		t.Fatal(err)
	}
	m := mail.NewMailer(server.Mail(t), from(), siteURL, templates)
	message := confirmation("ann@example.com")
	message.Mail.Data = json.RawMessage(`{"name":"A\r\nBcc: victim@example.com\r\n\r\nhello\u2028\u0000` + strings.Repeat("x", 5000) + `"}`)
	if err := m.Deliver(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	got := server.Wait(t, 1)[0]
	if got.Headers(t).Get("Bcc") != "" || len(got.To) != 1 {
		t.Errorf("a recipient more: %v", got.Headers(t))
	}
	if subject := got.Header(t, "Subject"); !strings.HasPrefix(subject, "Welcome A Bcc: victim@example.com hello x") || len([]rune(subject)) > 200 {
		t.Errorf("the subject is %q", subject)
	}
	for _, to := range []string{"a@example.com\r\nRCPT TO:<b@example.com>", "a@example.com, b@example.com", "A <a@example.com>", "a@", "@example.com", "", "a@ex ample.com", "a@example..com"} {
		if err := m.Deliver(t.Context(), confirmation(to)); !errors.As(err, new(*outbox.RefusedError)) {
			t.Errorf("a mail to %q: %v", to, err)
		}
	}
	if n := len(server.Received()); n != 1 {
		t.Errorf("%d mails have arrived", n)
	}
}

func TestAddressesBeyondASCII(t *testing.T) {
	t.Parallel()
	able := mailtest.Start(t, mailtest.Options{SMTPUTF8: true})
	if err := mailer(t, able.Mail(t)).Deliver(t.Context(), confirmation("jürgen@bücher.example")); err != nil {
		t.Fatal(err)
	}
	if to := able.Wait(t, 1)[0].To[0]; to != "jürgen@xn--bcher-kva.example" {
		t.Errorf("it goes to %s", to)
	}
	unable := mailtest.Start(t, mailtest.Options{})
	m := mailer(t, unable.Mail(t))
	if err := m.Deliver(t.Context(), confirmation("jürgen@example.com")); !errors.As(err, new(*outbox.RefusedError)) {
		t.Errorf("a server without SMTPUTF8: %v", err)
	}
	if err := m.Deliver(t.Context(), confirmation("ann@bücher.example")); err != nil {
		t.Errorf("a domain beyond ASCII needs nothing of the server: %v", err)
	}
}

// kinds of outcome
const (
	sent        = "sent"
	refused     = "refused"
	unreachable = "unreachable"
	tryAgain    = "try again"
)

func outcome(err error) string {
	switch {
	case err == nil:
		return sent
	case errors.As(err, new(*outbox.RefusedError)):
		return refused
	case errors.As(err, new(*outbox.UnreachableError)):
		return unreachable
	}
	return tryAgain
}

func TestFailuresAreOfTheMailOrOfTheWay(t *testing.T) {
	t.Parallel()
	says := func(code int, text string) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1}, Message: text}
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, test := range []struct {
		name    string
		options mailtest.Options
		change  func(*mail.Server)
		want    string
	}{
		{"a recipient that is not there", mailtest.Options{Recipient: func(string) error { return says(550, "no such user") }}, nil, refused},
		{"a recipient that is not there yet", mailtest.Options{Recipient: func(string) error { return says(450, "greylisted") }}, nil, tryAgain},
		{"a server that closes at the recipient", mailtest.Options{Recipient: func(string) error { return says(421, "closing") }}, nil, unreachable},
		{"a sender that is not allowed", mailtest.Options{Sender: func(string) error { return says(550, "not yours") }}, nil, unreachable},
		{"a mail that is refused", mailtest.Options{Judge: func(mailtest.Received) error { return says(554, "spam") }}, nil, refused},
		{"a mail that is not taken now", mailtest.Options{Judge: func(mailtest.Received) error { return says(452, "disk full") }}, nil, tryAgain},
		{"a wrong password", mailtest.Options{}, func(s *mail.Server) { s.Password = "wrong" }, unreachable},
		{"a certificate of nobody's", mailtest.Options{}, func(s *mail.Server) { s.RootCAs = nil }, unreachable},
		{"a certificate of nobody's, TLS from the first byte on", mailtest.Options{ImplicitTLS: true}, func(s *mail.Server) { s.RootCAs = nil }, unreachable},
		{"a server without STARTTLS", mailtest.Options{Plain: true}, func(s *mail.Server) { s.Security = mail.STARTTLS }, unreachable},
		{"a server without STARTTLS and a password", mailtest.Options{Plain: true}, func(s *mail.Server) {
			s.Security, s.User, s.Password = mail.STARTTLS, mailtest.User, mailtest.Password
		}, unreachable},
		{"nobody there", mailtest.Options{}, func(s *mail.Server) { s.Port = closed.Addr().(*net.TCPAddr).Port }, unreachable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := mailtest.Start(t, test.options)
			to := server.Mail(t)
			if test.change != nil {
				test.change(&to)
			}
			err := mailer(t, to).Deliver(t.Context(), confirmation("ann@example.com"))
			if got := outcome(err); got != test.want {
				t.Errorf("%s, not %s: %v", got, test.want, err)
			}
			if err != nil && strings.Contains(err.Error(), mailtest.Password) {
				t.Errorf("the password is in the error: %v", err)
			}
			if n := len(server.Received()); n != 0 {
				t.Errorf("%d mails have arrived", n)
			}
		})
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{})
	m := mailer(t, server.Mail(t))
	for range 5 {
		if err := m.Deliver(t.Context(), confirmation("ann@example.com")); err != nil {
			t.Fatal(err)
		}
	}
	if n := server.Connections(); n != 1 {
		t.Errorf("5 mails took %d connections", n)
	}
}

func TestAServerThatWasRestartedIsFoundAgain(t *testing.T) {
	t.Parallel()
	first := mailtest.Start(t, mailtest.Options{Plain: true})
	m := mailer(t, first.Mail(t))
	if err := m.Deliver(t.Context(), confirmation("ann@example.com")); err != nil {
		t.Fatal(err)
	}
	first.Stop()
	second := mailtest.Start(t, mailtest.Options{Plain: true, Address: first.Address})
	if err := m.Deliver(t.Context(), confirmation("ann@example.com")); err != nil {
		t.Fatal(err)
	}
	if len(first.Received()) != 1 || len(second.Received()) != 1 {
		t.Errorf("%d and %d mails have arrived", len(first.Received()), len(second.Received()))
	}
}

func TestADeliveryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	reached, release := make(chan struct{}, 1), make(chan struct{})
	server := mailtest.Start(t, mailtest.Options{Judge: func(mailtest.Received) error {
		if asked.Add(1) == 1 {
			reached <- struct{}{}
			<-release
		}
		return nil
	}})
	defer close(release)
	m := mailer(t, server.Mail(t))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Deliver(ctx, confirmation("ann@example.com")) }()
	<-reached
	cancel()
	if err := <-ended; outcome(err) != unreachable {
		t.Errorf("%v", err)
	}
	if err := m.Deliver(t.Context(), confirmation("bob@example.com")); err != nil {
		t.Errorf("the next mail: %v", err)
	}
}

func TestAMailServerIsReadFromItsURL(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url  string
		want mail.Server
	}{
		{"smtp://mail.example", mail.Server{Host: "mail.example", Port: 587, Security: mail.STARTTLS}},
		{"smtp://u:p%40ss@mail.example:2525/", mail.Server{Host: "mail.example", Port: 2525, Security: mail.STARTTLS, User: "u", Password: "p@ss"}},
		{"smtp://mail.example?tls=starttls", mail.Server{Host: "mail.example", Port: 587, Security: mail.STARTTLS}},
		{"smtps://u:p@[::1]", mail.Server{Host: "::1", Port: 465, Security: mail.ImplicitTLS, User: "u", Password: "p"}},
		{"smtp://localhost:1025?tls=none", mail.Server{Host: "localhost", Port: 1025, Security: mail.NoTLS}},
	} {
		if got, err := mail.ParseServer(auth.Secret(test.url)); err != nil || got != test.want {
			t.Errorf("%s is %+v (%v)", test.url, got, err)
		}
	}
	for _, url := range []string{
		"", "mail.example:587", "http://mail.example", "smtp://", "smtp://:587", "smtp://u:secret@mail.example/path", "smtp://u:secret@mail.example:0",
		"smtp://u:secret@mail.example:70000", "smtp://u:secret@mail.example?tls=none", "smtps://u:secret@mail.example?tls=none", "smtp://u:secret@mail.example?tls=maybe",
		"smtp://u:secret@mail.example?ssl=1", "smtp://u:secret@mail.example#x", "smtp://u:sec%zzret@mail.example", "smtp://u:secret@mail.example?tls=none&tls=none",
	} {
		if got, err := mail.ParseServer(auth.Secret(url)); err == nil {
			t.Errorf("%s is %+v", url, got)
		} else if strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: the password is in the error: %v", url, err)
		}
	}
}

func TestATryTellsWhyTheServerDoesNotTakeIt(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{})
	if err := mailer(t, server.Mail(t)).Try(t.Context(), "ann@example.com"); err != nil {
		t.Fatal(err)
	}
	if got := server.Wait(t, 1)[0]; got.To[0] != "ann@example.com" || !got.Authenticated || got.Header(t, "Subject") != "Test mail" {
		t.Errorf("%+v", got)
	}
	wrong := server.Mail(t)
	wrong.Password = "pa@ss:w/ö%rd"
	err := mailer(t, wrong).Try(t.Context(), "ann@example.com")
	if err == nil || !strings.Contains(err.Error(), "535") {
		t.Fatalf("a wrong password: %v", err)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("\x00" + wrong.User + "\x00" + wrong.Password.Reveal()))
	if text := err.Error(); strings.Contains(text, wrong.Password.Reveal()) || strings.Contains(text, encoded) {
		t.Errorf("the password is in %q", text)
	}
}
