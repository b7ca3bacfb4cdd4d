package api

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"basalt/api/admin"
	"basalt/auth"
	"basalt/auth/mail"
)

// mailServerPoll is how soon a mail server counts that was stored through another process.
const mailServerPoll = 5 * time.Second

// mailServer is the mail server that counts. Unlike other settings it is taken over while the server runs: people set it
// when they see that mails are not sent, and want to know whether it helps.
type mailServer struct {
	taking sync.Mutex // held by who takes over what is stored
	from   atomic.Pointer[Settings]
}

// watchMailServer takes over the mail server that owners store, here or in another process, until ctx ends.
func (s *Server) watchMailServer(ctx context.Context) error {
	if s.settings.HookSendEmail != "" { // it sends them all
		return nil
	}
	tick := time.NewTicker(mailServerPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.takeMailServer(ctx); err != nil && ctx.Err() == nil {
			// That PostgreSQL is away is said elsewhere, once; that settings do not go together, by the dashboard.
			s.log.Debug().Err(err).Msg("look whether another mail server is stored")
		}
	}
}

// takeMailServer puts the mail server that is stored now in place of the one before. When what is stored does not go with
// the settings that are given, the one before stays.
func (s *Server) takeMailServer(ctx context.Context) error {
	s.mail.taking.Lock()
	defer s.mail.taking.Unlock()
	stored, err := admin.StoredSettings(ctx, s.project.DB.Pool(), s.project.Auth.Vault())
	if err != nil {
		return err
	}
	next, err := s.given.withStored(stored)
	if err != nil {
		return err
	}
	now := s.mail.from.Load()
	if next.SMTPURL == now.SMTPURL && next.MailFrom == now.MailFrom && next.MailFromName == now.MailFromName {
		return nil
	}
	mailer, err := next.mailer(s.project.Templates)
	if err != nil {
		return err
	}
	s.mail.from.Store(&next)
	if mailer == nil {
		s.project.Outbox.SetMail(nil)
		s.log.Info().Msg("there is no mail server any more: mails stay in the outbox")
		return nil
	}
	s.project.Outbox.SetMail(mailer)
	s.log.Info().Msg("mails go by the mail server that is stored now")
	return nil
}

// atOnce tells whether a stored setting counts without another start.
func (s *Server) atOnce(name string) bool {
	field, ok := settingField(name)
	return ok && field.Tag.Get("live") != "" && s.settings.HookSendEmail == ""
}

// counting are the settings by which one counts now.
func (s *Server) counting(name string) *Settings {
	if s.atOnce(name) {
		return s.mail.from.Load()
	}
	return s.settings
}

// mailServerBody is the stored mail server that counts, without what is secret; nil when it is given otherwise, or none.
func (s *Server) mailServerBody() *admin.MailServerBody {
	now := s.counting("smtp-url")
	if now.sourceOf("smtp-url") != fromStore || now.SMTPURL == "" || now.HookSendEmail != "" {
		return nil
	}
	server, err := mail.ParseServer(now.SMTPURL)
	if err != nil {
		return nil // Check has refused such
	}
	body := &admin.MailServerBody{Host: server.Host, Port: server.Port, Security: securities()[server.Security], User: server.User, Password: server.Password != ""}
	if auth.Secret(server.User) == server.Password { // some have one token for both
		body.User = ""
	}
	return body
}

// securities are the words of the dashboard.
func securities() map[mail.Security]string {
	return map[mail.Security]string{mail.STARTTLS: "starttls", mail.ImplicitTLS: "tls", mail.NoTLS: "none"}
}
