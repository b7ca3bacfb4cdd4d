package api

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/mail"
	"basalt/auth/outbox"
	"basalt/auth/outgoing"
	"basalt/auth/sms"
)

// MessageSettings are the settings of mails and text messages.
type MessageSettings struct {
	SMTPURL           auth.Secret `flag:"smtp-url" live:"true" title:"Mail server" help:"mail server, as smtp://user:password@host:587 (STARTTLS), smtps://… (TLS from the first byte on) or smtp://host?tls=none; @FILE reads it from a file; empty: mails are kept in the outbox, which the dashboard shows"`
	MailFrom          string      `flag:"mail-from" live:"true" title:"Sender address" help:"address that mails come from, needed with --smtp-url"`
	MailFromName      string      `flag:"mail-from-name" live:"true" title:"Sender name" help:"name beside that address"`
	MailTemplates     string      `flag:"mail-templates" title:"Mail templates folder" help:"folder of templates that take the places of the built-in ones: confirmation.html, confirmation.txt, de/confirmation.html …, their subject in the first line as Subject: …"`
	MailLanguage      string      `flag:"mail-language" default:"en" title:"Mail language" help:"language of mails to users whose metadata have no locale that there are templates for"`
	MailNotifications []string    `flag:"mail-notifications" default:"all" title:"Notification mails" help:"changes that users are told of by mail, comma-separated: password, email, phone, identity, factor, or all, or none"`

	TwilioAccount string      `flag:"twilio-account-sid" title:"Twilio account" help:"account at Twilio, or at a service with its API, that sends text messages; empty: they are kept in the outbox"`
	TwilioToken   auth.Secret `flag:"twilio-auth-token" title:"Twilio auth token" help:"its token; @FILE reads it from a file"`
	TwilioFrom    string      `flag:"twilio-from" title:"Twilio sender" help:"number or name that text messages come from, or the SID of a messaging service"`
	TwilioContent string      `flag:"twilio-content-sid" title:"Twilio template for WhatsApp" help:"template of WhatsApp messages with the code as its first variable; empty: they are sent as text"`
	TwilioURL     string      `flag:"twilio-url" start:"true" default:"https://api.twilio.com" title:"Twilio API URL" help:"base of the API"`
	SMSTemplate   string      `flag:"sms-template" default:"Your code is {{ .Code }}" title:"Text message template" help:"what text messages say"`
}

// noticesByName are the mails behind each name of --mail-notifications.
func noticesByName() map[string][]auth.MailKind {
	return map[string][]auth.MailKind{
		"all":      auth.Notifications(),
		"none":     nil,
		"password": {auth.MailPasswordChanged},
		"email":    {auth.MailEmailChanged},
		"phone":    {auth.MailPhoneChanged},
		"identity": {auth.MailIdentityLinked, auth.MailIdentityUnlinked},
		"factor":   {auth.MailFactorEnrolled, auth.MailFactorUnenrolled},
	}
}

// notices are the mails that tell users of changes.
func (s *Settings) notices() ([]auth.MailKind, error) {
	var kinds []auth.MailKind
	for _, name := range s.MailNotifications {
		more, known := noticesByName()[name]
		if !known {
			return nil, &SettingError{"mail-notifications", fmt.Sprintf("%q is none of password, email, phone, identity, factor, all, none", name)}
		}
		if (name == "all" || name == "none") && len(s.MailNotifications) > 1 {
			return nil, &SettingError{"mail-notifications", fmt.Sprintf("%q cannot stand beside others", name)}
		}
		kinds = append(kinds, more...)
	}
	return kinds, nil
}

// checkMessages refuses settings of messages that cannot work.
func (s *Settings) checkMessages() error {
	if _, err := s.notices(); err != nil {
		return err
	}
	templates, err := s.templates()
	if err != nil {
		return err
	}
	if _, err := s.mailer(templates); err != nil {
		return err
	}
	_, err = s.messenger()
	return err
}

// templates are those that mails are written by where none is stored.
func (s *Settings) templates() (*mail.Templates, error) {
	folder, err := s.templateFolder()
	if err != nil {
		return nil, err
	}
	t, err := mail.LoadTemplates(folder, s.MailLanguage)
	return t, s.ofTemplates(err)
}

// storedTemplates are those that mails are written by, with what is stored in the project's database.
func storedTemplates(p *Project, s *Settings, log zerolog.Logger) (*mail.Stored, error) {
	folder, err := s.templateFolder()
	if err != nil {
		return nil, err
	}
	t, err := mail.NewStored(p.DB.Pool(), folder, s.MailLanguage, log)
	return t, s.ofTemplates(err)
}

// templateFolder is the folder of own templates; nil is none.
func (s *Settings) templateFolder() (fs.FS, error) {
	if s.MailTemplates == "" {
		return nil, nil
	}
	if info, err := os.Stat(s.MailTemplates); err != nil || !info.IsDir() {
		return nil, &SettingError{"mail-templates", fmt.Sprintf("%q is no folder", s.MailTemplates)}
	}
	return os.DirFS(s.MailTemplates), nil
}

// ofTemplates names the setting that is wrong when templates cannot be loaded.
func (s *Settings) ofTemplates(err error) error {
	switch {
	case err == nil:
		return nil
	case s.MailTemplates == "":
		return &SettingError{"mail-language", err.Error()}
	}
	return &SettingError{"mail-templates", err.Error()}
}

// mailer sends mails; nil is none.
func (s *Settings) mailer(templates mail.Shelf) (*mail.Mailer, error) {
	if s.SMTPURL == "" {
		if s.MailFrom != "" || s.MailFromName != "" {
			return nil, &SettingError{"smtp-url", "mails have a sender but no server: set it, or leave out --mail-from and --mail-from-name"}
		}
		return nil, nil
	}
	text, err := fileOrText(s.SMTPURL.Reveal())
	if err != nil {
		return nil, &SettingError{"smtp-url", err.Error()}
	}
	server, err := mail.ParseServer(auth.Secret(text))
	if err != nil {
		return nil, &SettingError{"smtp-url", err.Error()}
	}
	if s.MailFrom == "" {
		return nil, &SettingError{"mail-from", "mails need an address that they come from, such as no-reply@example.com"}
	}
	from, err := mail.ParseFrom(s.MailFrom, s.MailFromName)
	if err != nil {
		return nil, &SettingError{"mail-from", err.Error()}
	}
	return mail.NewMailer(server, from, s.SiteURL, templates), nil
}

// messenger sends text messages; nil is none.
func (s *Settings) messenger() (outbox.Deliverer, error) {
	if _, err := sms.ParseTemplate(s.SMSTemplate); err != nil {
		return nil, &SettingError{"sms-template", err.Error()}
	}
	if s.TwilioAccount == "" {
		if s.TwilioToken != "" || s.TwilioFrom != "" {
			return nil, &SettingError{"twilio-account-sid", "it is needed with --twilio-auth-token and --twilio-from"}
		}
		return nil, nil
	}
	token, err := fileOrText(s.TwilioToken.Reveal())
	switch {
	case err != nil:
		return nil, &SettingError{"twilio-auth-token", err.Error()}
	case token == "":
		return nil, &SettingError{"twilio-auth-token", "it is needed with --twilio-account-sid"}
	case s.TwilioFrom == "":
		return nil, &SettingError{"twilio-from", "it is needed with --twilio-account-sid: a number such as +15550100, or the SID of a messaging service"}
	}
	if _, err := outgoing.ParseURL(s.TwilioURL); err != nil {
		return nil, &SettingError{"twilio-url", err.Error()}
	}
	client, err := s.outgoingClient(outgoing.Options{})
	if err != nil {
		return nil, err
	}
	return sms.NewTwilio(sms.Options{
		AccountSID: s.TwilioAccount, AuthToken: auth.Secret(token), From: s.TwilioFrom, ContentSID: s.TwilioContent,
		URL: s.TwilioURL, Template: s.SMSTemplate, Client: client,
	})
}

// smsProvider is what clients are told of it.
func (s *Settings) smsProvider() string {
	switch {
	case s.HookSendSMS != "":
		return "hook"
	case s.TwilioAccount != "":
		return "twilio"
	}
	return ""
}

// outboxOf makes the outbox of a project as the settings ask. A hook that sends messages goes before what else could.
func outboxOf(p *Project, s *Settings, apiURL string, log zerolog.Logger) (*outbox.Outbox, error) {
	var mails outbox.Deliverer
	mailer, err := s.mailer(p.Templates)
	if err != nil {
		return nil, err
	}
	if mailer != nil {
		mails = mailer
	}
	texts, err := s.messenger()
	if err != nil {
		return nil, err
	}
	hooks, err := s.hooks()
	if err != nil {
		return nil, err
	}
	byHook := outbox.ByHook{Messenger: &auth.HookMessenger{Pool: p.DB.Pool(), Hooks: hooks, APIURL: apiURL + "/auth/v1"}}
	if hooks.SendEmail != nil {
		mails = byHook
	}
	if hooks.SendSMS != nil {
		texts = byHook
	}
	return outbox.New(p.DB.Pool(), outbox.Options{
		Mail: mails, SMS: texts, Together: hooks.SendEmail != nil, Keys: s.EncryptionKeys(p.Keys.Secret), Log: log,
	}), nil
}
