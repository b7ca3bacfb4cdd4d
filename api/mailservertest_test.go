package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"basalt/api"
	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/mail/mailtest"
)

// tryMail asks for a test mail with changes that are not stored.
func tryMail(t *testing.T, s *apitest.Server, to string, changes map[string]*string, headers []string) *apitest.Answer {
	t.Helper()
	body, err := json.Marshal(admin.MailServerTest{To: to, Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	return s.Do(t, "POST", "/admin/api/settings/mail-test", string(body), headers...)
}

// refusalOf is why the server did not take a test mail.
func refusalOf(t *testing.T, answer *apitest.Answer) string {
	t.Helper()
	var body admin.MailServerTestBody
	if answer.JSON(t, &body); answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	return body.Refused
}

func TestAMailServerIsTriedBeforeItIsStoredAndBeforeTheNextStart(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{Plain: true, Recipient: func(to string) error {
		if to == "nobody@example.com" {
			return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such mailbox"}
		}
		return nil
	}})
	s := apitest.Start(t, "", nil)
	owner := s.Administrator(t, administrator.Owner)
	url, from, file := server.URL(), "no-reply@mail.example", "@/etc/hostname"
	changes := map[string]*string{"smtp-url": &url, "mail-from": &from}

	if refused := refusalOf(t, tryMail(t, s, "", changes, owner)); refused != "" {
		t.Errorf("to who asks: %s", refused)
	}
	server.Wait(t, 1)
	if told := named(t, s.Do(t, "GET", "/admin/api/settings", "", owner...), "smtp-url"); told.Stored != nil {
		t.Errorf("what was tried is stored: %+v", told)
	}
	if refused := refusalOf(t, tryMail(t, s, "nobody@example.com", changes, owner)); !strings.Contains(refused, "550") || !strings.Contains(refused, "no such mailbox") {
		t.Errorf("the server's reason: %q", refused)
	}
	for what, test := range map[string]struct {
		to      string
		changes map[string]*string
		headers []string
		status  int
		details string
	}{
		"no server":            {"", nil, owner, http.StatusUnprocessableEntity, `"details":"smtp-url"`},
		"no sender":            {"", map[string]*string{"smtp-url": &url}, owner, http.StatusUnprocessableEntity, `"details":"mail-from"`},
		"a file of the server": {"", map[string]*string{"smtp-url": &file, "mail-from": &from}, owner, http.StatusUnprocessableEntity, `"details":"smtp-url"`},
		"no address":           {"ann", changes, owner, http.StatusUnprocessableEntity, "email_invalid"},
		"two lines":            {"ann@example.com\r\nRCPT TO:<eve@example.com>", changes, owner, http.StatusUnprocessableEntity, "email_invalid"},
		"an editor":            {"", changes, s.Administrator(t, administrator.Editor), http.StatusForbidden, ""},
	} {
		if answer := tryMail(t, s, test.to, test.changes, test.headers); answer.Status != test.status || !strings.Contains(strings.ReplaceAll(answer.Body, `": "`, `":"`), test.details) {
			t.Errorf("%s: %d %s", what, answer.Status, answer.Body)
		}
	}

	storeSettings(t, s, owner, changes)
	if refused := refusalOf(t, tryMail(t, s, "bob@example.com", nil, owner)); refused != "" {
		t.Errorf("by what is stored: %s", refused)
	}
	if got := server.Wait(t, 2)[1]; got.To[0] != "bob@example.com" {
		t.Errorf("it went to %v", got.To)
	}
	if audit := s.Do(t, "GET", "/admin/api/audit?action=settings.mail_test", "", owner...).Body; !strings.Contains(audit, "bob@example.com") || strings.Contains(audit, url) {
		t.Errorf("audit: %s", audit)
	}
}

func TestMailsThatTryAServerAreLimited(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{Plain: true})
	s := apitest.Start(t, "", func(set *api.Settings) {
		set.SMTPURL, set.MailFrom, set.Limits = auth.Secret(server.URL()), "no-reply@mail.example", "on"
	})
	owner := s.Administrator(t, administrator.Owner)
	for range 10 {
		if refused := refusalOf(t, tryMail(t, s, "ann@example.com", nil, owner)); refused != "" {
			t.Error(refused)
		}
	}
	if answer := tryMail(t, s, "ann@example.com", nil, owner); answer.Status != http.StatusTooManyRequests {
		t.Errorf("the eleventh: %d %s", answer.Status, answer.Body)
	}
	if got := len(server.Received()); got != 10 {
		t.Errorf("%d mails were sent", got)
	}
}
