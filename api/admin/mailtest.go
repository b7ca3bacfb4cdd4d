package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
)

// mailTestPatience is for a mail that tries a server: less than the route's own patience, so that the reason is told.
const mailTestPatience = 15 * time.Second

// MailServerTest is the body of POST /settings/mail-test.
type MailServerTest struct {
	// To is who gets the mail; empty is who asks.
	To string `json:"to"`
	// Changes are those of PATCH /settings, which need not be stored to be tried.
	Changes map[string]*string `json:"changes"`
}

// MailServerTestBody is the answer of POST /settings/mail-test.
type MailServerTestBody struct {
	To string `json:"to"`
	// Refused is why the server has not taken the mail; empty when it has.
	Refused string `json:"refused"`
}

// testMailServer answers POST /settings/mail-test: a mail goes by the server that there would be with the changes stored,
// and past the outbox, so that its answer is known at once.
func (o *Options) testMailServer(c echo.Context) error {
	var in MailServerTest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if o.Running.MailHook {
		return refuse(http.StatusConflict, "mails_by_hook", "Mails are handed to a hook, which sends them itself")
	}
	if in.To == "" {
		in.To = administratorOf(c).Email
	}
	to, err := auth.NormalizeEmail(in.To)
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, "email_invalid", "A mail cannot be sent to this address")
	}
	secrets, err := o.secretsAmong(in.Changes)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	stored, err := StoredSettings(ctx, o.DB, o.Vault)
	if err != nil {
		return err
	}
	for name, value := range in.Changes {
		_, secret := secrets[name]
		stored.set(name, value, secret)
	}
	mailer, err := o.Mailer(stored)
	if err != nil {
		return ofSettings(err)
	}
	if mailer == nil {
		return settingRefused("smtp-url", "there is no mail server to try")
	}
	if err := o.Administrators.AdmitMailTest(ctx, administratorOf(c).ID); err != nil {
		return err
	}
	if err := o.audit(c, o.DB, administrator.Change{Action: "settings.mail_test", Target: to}); err != nil {
		return err
	}
	brief, cancel := context.WithTimeout(ctx, mailTestPatience)
	defer cancel()
	body := MailServerTestBody{To: to}
	if err := mailer.Try(brief, to); err != nil {
		body.Refused = err.Error()
	}
	return c.JSON(http.StatusOK, body)
}
