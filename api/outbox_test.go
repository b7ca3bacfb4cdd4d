package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/mail/mailtest"
	"basalt/store/storetest"
)

// confirming makes sign-ups wait for a mail, which goes to a server unless that is nil.
func confirming(server *mailtest.Server) func(*api.Settings) {
	return func(s *api.Settings) {
		s.AutoConfirm = "false"
		s.SiteURL = "https://site.example"
		if server != nil {
			s.SMTPURL, s.MailFrom, s.MailFromName = auth.Secret(server.URL()), "no-reply@mail.example", "Example"
		}
	}
}

func signUp(t *testing.T, s *apitest.Server, email string, headers ...string) *apitest.Answer {
	t.Helper()
	return s.Do(t, "POST", "/auth/v1/signup", fmt.Sprintf(`{"email":%q,"password":"correct horse battery"}`, email), headers...)
}

// linkIn finds the link of a mail that proves who reads it.
func linkIn(t *testing.T, text string) *url.URL {
	t.Helper()
	link, err := url.Parse(regexp.MustCompile(`https?://\S+/verify\?\S+`).FindString(text))
	if err != nil || link.Host == "" {
		t.Fatalf("there is no link in %q (%v)", text, err)
	}
	return link
}

type message struct {
	ID, Channel, Kind, State, To, Link, Token, Failure string
	UserID                                             *string `json:"user_id"`
	Attempts                                           int
}

func outboxOf(t *testing.T, s *apitest.Server) []message {
	t.Helper()
	answer := s.Do(t, "GET", "/admin/api/outbox", "", s.Administrator(t, administrator.Editor)...)
	if answer.Status != http.StatusOK {
		t.Fatalf("the outbox is answered %d %s", answer.Status, answer.Body)
	}
	var body struct{ Messages []message }
	answer.JSON(t, &body)
	return body.Messages
}

func TestMailsAreSentByTheServerOfTheSettings(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{Plain: true})
	s := apitest.Start(t, "", confirming(server))
	if answer := signUp(t, s, "ann@example.com"); answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	got := server.Wait(t, 1)[0]
	if got.To[0] != "ann@example.com" || got.Header(t, "From") != `"Example" <no-reply@mail.example>` {
		t.Errorf("to %v, from %s", got.To, got.Header(t, "From"))
	}
	if link := linkIn(t, got.Body(t, "text/plain")); !strings.HasPrefix(link.String(), s.URL+"/auth/v1/verify?") {
		t.Errorf("the link is %s", link)
	}
	apitest.Until(t, "the outbox is empty", func() bool { return len(outboxOf(t, s)) == 0 })
}

func TestTheOutboxIsMeasured(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := mailtest.Start(t, mailtest.Options{Plain: true, Judge: func(m mailtest.Received) error {
		if m.To[0] == "eve@example.com" {
			return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "not from you"}
		}
		<-release
		return nil
	}})
	s := apitest.Start(t, "", confirming(server))
	measured := func(queued, sent, failed, waiting string) func() bool {
		return func() bool {
			return metric(t, s, "basalt_outbox_queued_total") == queued && metric(t, s, "basalt_outbox_sent_total") == sent &&
				metric(t, s, "basalt_outbox_failed_total") == failed && metric(t, s, "basalt_outbox_waiting") == waiting
		}
	}
	apitest.Until(t, "nothing is counted", measured("0", "0", "0", "0"))
	signUp(t, s, "ann@example.com")
	apitest.Until(t, "a mail waits", measured("1", "0", "0", "1"))
	close(release)
	apitest.Until(t, "the mail is sent", measured("1", "1", "0", "0"))
	signUp(t, s, "eve@example.com")
	apitest.Until(t, "a mail is given up", measured("2", "1", "1", "0"))
}

func TestMailsOfAServerThatStopsAreSentByTheNext(t *testing.T) {
	t.Parallel()
	first := mailtest.Start(t, mailtest.Options{Plain: true})
	first.Stop()
	database := storetest.New(t)
	settings := apitest.Settings(t, database.URL)
	confirming(first)(&settings)
	s := apitest.Over(t, database, settings)
	for i := range 3 {
		signUp(t, s, fmt.Sprintf("user-%d@example.com", i))
	}
	if n := len(outboxOf(t, s)); n != 3 {
		t.Errorf("%d mails wait", n)
	}
	s.Stop(t)
	second := mailtest.Start(t, mailtest.Options{Plain: true, Address: first.Address})
	apitest.Over(t, database, settings)
	second.Wait(t, 3)
}

func TestWithoutAMailServerAnAdministratorReadsTheMails(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", confirming(nil))
	signUp(t, s, "ann@example.com")
	signUp(t, s, "bob@example.com")
	messages := outboxOf(t, s)
	if len(messages) != 2 || messages[0].To != "bob@example.com" || messages[0].State != "held" || messages[0].Kind != "signup" || messages[0].Channel != "email" {
		t.Fatalf("%+v", messages)
	}
	editor := s.Administrator(t, administrator.Editor)
	answer := s.Do(t, "GET", "/admin/api/outbox?limit=1", "", editor...)
	if !strings.Contains(answer.Body, `"link":"`+messages[0].Link+`"`) || strings.Contains(answer.Body, "ann@example.com") {
		t.Errorf("the link is to be copied as it stands, and of one mail: %s", answer.Body)
	}
	if answer.Header.Get("Cache-Control") != "no-store" {
		t.Error("links may be cached")
	}
	log := s.Log.String()
	for _, m := range messages {
		if token := linkIn(t, m.Link).Query().Get("token"); token == "" || strings.Contains(log, token) || strings.Contains(log, m.Link) {
			t.Errorf("the token %q is in the log", token)
		}
		if !strings.Contains(log, m.ID) {
			t.Error("the log does not tell that a mail waits")
		}
	}
	for _, test := range []struct {
		name, method, path string
		status             int
	}{
		{"a limit that is none", "GET", "/admin/api/outbox?limit=x", http.StatusBadRequest},
		{"a limit of nothing", "GET", "/admin/api/outbox?limit=0", http.StatusBadRequest},
		{"a limit that is too much", "GET", "/admin/api/outbox?limit=1001", http.StatusBadRequest},
		{"an id that is none", "DELETE", "/admin/api/outbox/7", http.StatusBadRequest},
		{"a mail", "DELETE", "/admin/api/outbox/" + messages[0].ID, http.StatusNoContent},
		{"a mail that is gone", "DELETE", "/admin/api/outbox/" + messages[0].ID, http.StatusNotFound},
		{"all", "DELETE", "/admin/api/outbox", http.StatusOK},
	} {
		if answer := s.Do(t, test.method, test.path, "", editor...); answer.Status != test.status {
			t.Errorf("%s: %d %s, not %d", test.name, answer.Status, answer.Body, test.status)
		}
	}
	if n := len(outboxOf(t, s)); n != 0 {
		t.Errorf("%d mails are left", n)
	}
	var audited int
	if err := s.Database.Pool.QueryRow(t.Context(), `select count(*) from basalt.administrator_audit where action in ('outbox.remove', 'outbox.clear')`).Scan(&audited); err != nil || audited != 2 {
		t.Errorf("%d removals are in the audit log, %v", audited, err)
	}
}

// GHSA-3529-5m8x-rpv3: links of mails were made of what a request said about its host.
func TestLinksOfMailsAreMadeOfTheSettingsAlone(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t, mailtest.Options{Plain: true})
	s := apitest.Start(t, "", func(settings *api.Settings) {
		confirming(server)(settings)
		settings.RedirectURLs = []string{"https://*.app.example/welcome"}
		settings.TrustedProxies = []string{"127.0.0.0/8"}
	})
	const evil = "evil.example"
	hostile := [][]string{
		{"Host: " + evil}, {"X-Forwarded-Host: " + evil}, {"X-Forwarded-Host: " + evil, "X-Forwarded-Proto: https", "X-Forwarded-Port: 443"},
		{"Forwarded: host=" + evil + ";proto=https"}, {"X-Original-Host: " + evil}, {"X-Host: " + evil}, {"X-Forwarded-Server: " + evil},
		{"Referer: https://" + evil + "/"}, {"Origin: https://" + evil}, {"X-Original-URL: https://" + evil + "/"}, {"X-Rewrite-URL: //" + evil},
		{"X-Forwarded-Prefix: //" + evil}, {"Redirect-To: https://" + evil}, {"X-External-Url: https://" + evil}, {"Via: " + evil}, nil,
	}
	redirects := []string{
		"", "https://" + evil + "/", "//" + evil, "https://site.example@" + evil, "https://site.example." + evil, "https://" + evil + "#.app.example/welcome",
		"https://" + evil + "/.app.example/welcome", "javascript:alert(1)", "https://site.example%00." + evil, `https://` + evil + `\.app.example/welcome`,
		"http://" + evil,
	}
	// What takes its time is asked for less often: sign-ups hash, and what must not tell of accounts waits.
	for i := range 3 {
		s.Do(t, "POST", "/auth/v1/admin/users", fmt.Sprintf(`{"email":"user-%d@example.com","email_confirm":true}`, i), s.Service())
	}
	flows := []struct{ path, body string }{
		{"/auth/v1/recover", `{"email":"user-0@example.com"}`}, {"/auth/v1/invite", `{"email":"guest-%d@example.com"}`},
		{"/auth/v1/invite", `{"email":"guest-%d@example.com"}`}, {"/auth/v1/otp", `{"email":"user-1@example.com"}`},
		{"/auth/v1/invite", `{"email":"guest-%d@example.com"}`}, {"/auth/v1/invite", `{"email":"guest-%d@example.com"}`},
		{"/auth/v1/magiclink", `{"email":"user-2@example.com"}`}, {"/auth/v1/invite", `{"email":"guest-%d@example.com"}`},
		{"/auth/v1/invite", `{"email":"guest-%d@example.com"}`},
	}
	const mails, signUps = 100, 8
	for i := range mails {
		flow := flows[i%len(flows)]
		if i < signUps {
			flow.path, flow.body = "/auth/v1/signup", `{"email":"first-%d@example.com","password":"correct horse battery"}`
		}
		path := flow.path
		if redirect := redirects[i%len(redirects)]; redirect != "" {
			path += "?redirect_to=" + url.QueryEscape(redirect)
		}
		body := flow.body
		if strings.Contains(body, "%d") {
			body = fmt.Sprintf(body, i)
		}
		headers := append([]string{s.Service()}, hostile[i%len(hostile)]...)
		if flow.path != "/auth/v1/invite" {
			headers = headers[1:]
		}
		answer := s.Do(t, "POST", path, body, headers...)
		if answer.Status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", path, body, answer.Status, answer.Body)
		}
	}
	for _, got := range server.Wait(t, mails) {
		text := got.Body(t, "text/plain") + got.Body(t, "text/html")
		if strings.Contains(text, evil) || strings.Contains(text, "javascript:") {
			t.Errorf("to %v: %s", got.To, text)
		}
		link := linkIn(t, text)
		target, err := url.Parse(link.Query().Get("redirect_to"))
		if err != nil || !strings.HasPrefix(link.String(), s.URL+"/auth/v1/verify?") || target.Scheme != "https" || target.Host != "site.example" {
			t.Errorf("to %v: %s (%v)", got.To, link, err)
		}
	}
}

func TestSettingsOfMessages(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := filepath.Dir(write("good/confirmation.html", "Subject: Hi\n\n<a href=\"{{ .ConfirmationURL }}\">x</a>"))
	bad := filepath.Dir(write("bad/confirmation.html", "Subject: Hi\n\n{{ .ConfirmationUrl }}"))
	urlFile := write("smtp-url", "smtps://u:p@mail.example\n")
	smtp := []string{"--smtp-url", "smtp://u:secret@mail.example", "--mail-from", "a@example.com"}
	twilio := []string{"--twilio-account-sid", "AC1", "--twilio-auth-token", "secret", "--twilio-from", "+15550100"}
	with := func(base []string, more ...string) []string { return append(append([]string(nil), base...), more...) }
	for _, args := range [][]string{
		nil, smtp, with(smtp, "--mail-from-name", "Example"), with(smtp, "--mail-templates", good), {"--smtp-url", "@" + urlFile, "--mail-from", "a@example.com"},
		{"--mail-language", "de"}, {"--mail-notifications", "none"}, {"--mail-notifications", "password,factor"}, {"--mail-notifications", ""},
		twilio, with(twilio, "--twilio-url", "https://sms.example/", "--sms-template", "{{ .Code }} is it"),
	} {
		if _, _, err := bind(t, nil, args...); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	for _, test := range []struct {
		args       []string
		flag, says string
	}{
		{[]string{"--smtp-url", "mail.example:secret", "--mail-from", "a@example.com"}, "smtp-url", "smtp://"},
		{[]string{"--smtp-url", "@" + folder + "/nothing", "--mail-from", "a@example.com"}, "smtp-url", "no such file"},
		{[]string{"--smtp-url", "smtp://u:secret@mail.example"}, "mail-from", "no-reply@"},
		{with(smtp, "--mail-from", "nobody"), "mail-from", "none"},
		{with(smtp, "--mail-from-name", "a\r\nBcc: b@example.com"), "mail-from", "one line"},
		{[]string{"--mail-from", "a@example.com"}, "smtp-url", "no server"},
		{[]string{"--mail-templates", folder + "/nothing"}, "mail-templates", "no folder"},
		{[]string{"--mail-templates", bad}, "mail-templates", "ConfirmationUrl"},
		{[]string{"--mail-language", "tlh"}, "mail-language", "no templates"},
		{[]string{"--mail-notifications", "everything"}, "mail-notifications", "everything"},
		{[]string{"--mail-notifications", "none,email"}, "mail-notifications", "beside"},
		{twilio[:4], "twilio-from", "needed"}, {twilio[:2], "twilio-auth-token", "needed"}, {twilio[2:], "twilio-account-sid", "needed"},
		{with(twilio, "--twilio-url", "ftp://sms.example"), "twilio-url", "http"},
		{[]string{"--sms-template", "hello"}, "sms-template", "{{ .Code }}"},
		{[]string{"--sms-template", "{{ .Cod }}"}, "sms-template", "Cod"},
	} {
		_, _, err := bind(t, nil, test.args...)
		if err == nil {
			t.Errorf("%v is taken", test.args)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "--"+test.flag+" ") || !strings.Contains(text, test.says) || strings.Contains(text, "secret") {
			t.Errorf("%v: %s", test.args, text)
		}
	}
}
