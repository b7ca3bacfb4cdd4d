package api

import (
	"fmt"
	"time"

	"basalt/auth"
)

// LinkSettings are the settings of the links and codes that are mailed and texted.
type LinkSettings struct {
	MailLinkLife   time.Duration `flag:"mail-link-life" default:"1h" title:"Mail link: life" help:"how long the link in a mail is good"`
	MailCodeLife   time.Duration `flag:"mail-code-life" default:"10m" title:"Mail code: life" help:"how long the code in a mail is good, which can be typed in place of following the link"`
	SMSCodeLife    time.Duration `flag:"sms-code-life" default:"60s" title:"Text message code: life" help:"how long the code in a text message is good"`
	MailCodeLength int           `flag:"mail-code-length" default:"6" title:"Mail code: length" help:"digits of the code in a mail, 6 to 10"`
	SMSCodeLength  int           `flag:"sms-code-length" default:"6" title:"Text message code: length" help:"digits of the code in a text message, 6 to 10"`
	MailInterval   time.Duration `flag:"mail-interval" default:"60s" title:"Shortest time between mails" help:"shortest time between two mails of one kind to one address; sign-ins by mail and password resets are one kind"`
	SMSInterval    time.Duration `flag:"sms-interval" default:"60s" title:"Shortest time between text messages" help:"shortest time between two text messages of one kind to one number"`
	MailQuota      int           `flag:"mail-quota" default:"30" title:"Most mails per hour" help:"most mails in an hour that are sent because somebody asks for one; 0: any number; those that stay in the outbox are not counted"`
	SMSQuota       int           `flag:"sms-quota" default:"30" title:"Most text messages per hour" help:"most text messages in an hour; 0: any number"`

	SecureEmailChange        bool `flag:"secure-email-change" default:"true" title:"Secure e-mail change" help:"a new e-mail address is confirmed at the old one too"`
	PasswordReauthentication bool `flag:"password-reauthentication" default:"false" title:"Reauthentication for a new password" help:"a new password needs a nonce, sent by mail or text message, in sessions that are older than a day"`
	MailConfirmPage          bool `flag:"mail-confirm-page" default:"false" title:"Confirmation page behind mail links" help:"show a page with a button to who follows a link, so that programs which look at links in mails do not use them up"`

	Phone            string `flag:"phone" default:"auto" title:"Phone numbers" help:"allow accounts with telephone numbers: true, false, or auto (when text messages can be sent)"`
	PhoneAutoconfirm bool   `flag:"phone-autoconfirm" default:"false" title:"Automatic phone confirmation" help:"telephone numbers need no confirmation"`
}

// checkLinks refuses settings of links and codes that cannot work.
func (s *Settings) checkLinks() error {
	if err := (choice{"phone", s.Phone, []string{"auto", "true", "false"}}).check(); err != nil {
		return err
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{
		{"mail-link-life", s.MailLinkLife}, {"mail-code-life", s.MailCodeLife}, {"sms-code-life", s.SMSCodeLife},
		{"mail-interval", s.MailInterval}, {"sms-interval", s.SMSInterval},
	} {
		if d.value < time.Second {
			return &SettingError{d.flag, fmt.Sprintf("%s is less than a second", d.value)}
		}
	}
	for _, n := range []struct {
		flag   string
		digits int
	}{{"mail-code-length", s.MailCodeLength}, {"sms-code-length", s.SMSCodeLength}} {
		if n.digits < auth.MinCodeLength || n.digits > auth.MaxCodeLength {
			return &SettingError{n.flag, fmt.Sprintf("%d digits are not between %d and %d", n.digits, auth.MinCodeLength, auth.MaxCodeLength)}
		}
	}
	return nil
}

// links are the rules of links and codes as the settings ask.
func (s *Settings) links() auth.LinkOptions {
	return auth.LinkOptions{
		MailLinkLife: s.MailLinkLife, MailCodeLife: s.MailCodeLife, SMSCodeLife: s.SMSCodeLife,
		MailCodeLength: s.MailCodeLength, SMSCodeLength: s.SMSCodeLength,
		MailInterval: s.MailInterval, SMSInterval: s.SMSInterval, MailQuota: s.MailQuota, SMSQuota: s.SMSQuota,
		OneSidedEmailChange: !s.SecureEmailChange, Reauthentication: s.PasswordReauthentication, ConfirmPage: s.MailConfirmPage,
		Phone: s.Phone == "true" || s.Phone == "auto" && s.smsProvider() != "", PhoneAutoconfirm: s.PhoneAutoconfirm,
	}
}
