package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/mail/mailtest"
)

// template finds a template in an answer.
func template(t *testing.T, answer *apitest.Answer, language, name string) admin.MailTemplateBody {
	t.Helper()
	if answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	var body admin.MailTemplatesBody
	answer.JSON(t, &body)
	for _, template := range body.Templates {
		if template.Language == language && template.Name == name {
			return template
		}
	}
	t.Fatalf("there is no %s in %s", name, language)
	return admin.MailTemplateBody{}
}

func confirming(server *mailtest.Server) func(*api.Settings) {
	return func(s *api.Settings) {
		s.AutoConfirm, s.SiteURL = "false", "https://site.example"
		s.SMTPURL, s.MailFrom = auth.Secret(server.URL()), "no-reply@mail.example"
	}
}

func TestAStoredTemplateIsWhatEveryServerWritesMailsBy(t *testing.T) {
	t.Parallel()
	mails := mailtest.Start(t, mailtest.Options{Plain: true})
	s := apitest.Start(t, "", confirming(mails))
	settings := apitest.Settings(t, s.Database.URL)
	confirming(mails)(&settings)
	second := apitest.Over(t, s.Database, settings)
	d := &dashboard{s, s.Administrator(t, administrator.Owner)}

	list := d.call(t, "GET", "/mail-templates", nil)
	was := template(t, list, "en", "confirmation")
	if was.Origin != "built-in" || was.Version != 0 || !strings.Contains(was.HTML, "{{ .ConfirmationURL }}") || was.Subject != "Confirm your email address" {
		t.Fatalf("%+v", was)
	}
	if template(t, list, "de", "invite").Subject == "" || template(t, list, "en", "layout").HTML == "" || !strings.Contains(list.Body, `{"name":"ConfirmationURL"`) {
		t.Errorf("%s", list.Body)
	}
	const path = "/mail-templates/en/confirmation"
	change := admin.MailTemplateChange{Subject: "Hi {{ .Email }}", HTML: "<p>Welcome aboard {{ .ConfirmationURL }}", Text: "Welcome aboard {{ .Token }}"}
	stored := template(t, d.call(t, "PUT", path, change), "en", "confirmation")
	if stored.Origin != "stored" || stored.Beneath != "built-in" || stored.Version == 0 || stored.ChangedAt == nil {
		t.Errorf("%+v", stored)
	}
	for i, server := range []*apitest.Server{s, second} {
		email := fmt.Sprintf("user%d@example.com", i)
		if answer := server.Do(t, "POST", "/auth/v1/signup", fmt.Sprintf(`{"email":%q,"password":"correct horse battery"}`, email)); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		got := mails.Wait(t, i+1)[i]
		if got.Header(t, "Subject") != "Hi "+email || !strings.HasPrefix(got.Body(t, "text/html"), "<p>Welcome aboard http") || !strings.HasPrefix(got.Body(t, "text/plain"), "Welcome aboard ") {
			t.Errorf("mail %d: %s %s %s", i, got.Header(t, "Subject"), got.Body(t, "text/plain"), got.Body(t, "text/html"))
		}
	}

	change.Text = "another"
	if answer := d.call(t, "PUT", path, change); answer.Status != http.StatusConflict || !strings.Contains(answer.Body, `"conflict"`) {
		t.Errorf("who has not seen the last version: %d %s", answer.Status, answer.Body)
	}
	if answer := d.call(t, "DELETE", path, admin.MailTemplateReset{Version: stored.Version + 7}); answer.Status != http.StatusConflict {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if again := template(t, d.call(t, "DELETE", path, admin.MailTemplateReset{Version: stored.Version}), "en", "confirmation"); again != was {
		t.Errorf("after the reset: %+v", again)
	}
	if answer := d.call(t, "DELETE", path, admin.MailTemplateReset{}); answer.Status != http.StatusNotFound {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	if answer := second.Do(t, "POST", "/auth/v1/signup", `{"email":"last@example.com","password":"correct horse battery"}`); answer.Status != http.StatusOK {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	if got := mails.Wait(t, 3)[2]; got.Header(t, "Subject") != "Confirm your email address" {
		t.Errorf("after the reset: %s", got.Header(t, "Subject"))
	}
	audit := d.call(t, "GET", "/audit?target="+url.QueryEscape("en/confirmation"), nil)
	for _, part := range []string{"mail_template.change", "mail_template.reset", "Welcome aboard"} {
		if !strings.Contains(audit.Body, part) {
			t.Errorf("%s is not in the audit log: %s", part, audit.Body)
		}
	}
}

func TestATemplateThatDoesNotWorkIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Owner)
	for _, test := range []struct {
		name, path string
		change     admin.MailTemplateChange
		status     int
		want       []string
	}{
		{"a variable that is none", "en/invite", admin.MailTemplateChange{Subject: "x", HTML: "<p>\n{{ .Tokn }}"}, 422, []string{`"details":"html"`, "Line 2", "Tokn"}},
		{"below blank lines", "en/invite", admin.MailTemplateChange{Subject: "x", Text: "\n\n \nx\n{{ .Tokn }}"}, 422, []string{`"details":"text"`, "Line 5", "Tokn"}},
		{"a brace too few", "en/invite", admin.MailTemplateChange{Subject: "x", HTML: "<p>x</p>\n<p>{{ .Token }</p>"}, 422, []string{`"details":"html"`, "Line 2", "unexpected"}},
		{"a subject with a variable that is none", "de/invite", admin.MailTemplateChange{Subject: "{{ .Nam }}", HTML: "x"}, 422, []string{`"details":"subject"`, "Nam"}},
		{"no subject", "en/invite", admin.MailTemplateChange{HTML: "x"}, 422, []string{`"details":"subject"`}},
		{"a subject of two lines", "en/invite", admin.MailTemplateChange{Subject: "x\nBcc: y", HTML: "x"}, 422, []string{`"details":"subject"`}},
		{"nothing in it", "en/invite", admin.MailTemplateChange{Subject: "x", HTML: " \n"}, 422, []string{"neither the HTML nor the text"}},
		{"a tag without its end", "en/invite", admin.MailTemplateChange{Subject: "x", HTML: `<a href="{{ .SiteURL }}`}, 422, []string{`"details":"html"`, "ends in"}},
		{"a NUL", "en/invite", admin.MailTemplateChange{Subject: "x", HTML: "a\x00b"}, 422, []string{`"details":"html"`, "NUL"}},
		{"too much", "en/invite", admin.MailTemplateChange{Subject: "x", HTML: strings.Repeat("x", 128<<10+1)}, 422, []string{`"details":"html"`, "larger"}},
		{"a template that writes without an end", "en/invite", admin.MailTemplateChange{Subject: "x", Text: "{{ range 4000 }}" + strings.Repeat("x", 1000) + "{{ end }}"}, 422, []string{`"details":"text"`, "more than 2097152 bytes"}},
		{"a template that never ends", "en/invite", admin.MailTemplateChange{Subject: "x", HTML: "<p>{{ range 9000000000000000000 }}{{ end }}"}, 422, []string{`"details":"html"`, "more than 5000 steps"}},
		{"a text that is doubled again and again", "en/invite", admin.MailTemplateChange{Subject: "x", Text: "\n" + `{{ $x := "x" }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}`}, 422, []string{`"details":"text"`, "Line 2", "longer than"}},
		{"a part that takes itself in", "en/layout", admin.MailTemplateChange{HTML: "\n{{ define \"top\" }}\n{{ template \"top\" . }}{{ end }}{{ define \"bottom\" }}{{ end }}{{ define \"code\" }}{{ end }}"}, 422, []string{`"details":"html"`, "Line 3", "takes itself in"}},
		{"ranges in one another", "en/invite", admin.MailTemplateChange{Subject: "x", HTML: "<p>\n" + strings.Repeat("{{ range .Data }}", 60) + strings.Repeat("{{ end }}", 60)}, 422, []string{`"details":"html"`, "Line 2", "in one another"}},
		{"a layout that others do not work with", "en/layout", admin.MailTemplateChange{HTML: `{{ define "top" }}{{ end }}`}, 422, []string{`"details":""`, "would not work any more"}},
		{"a layout with a subject", "en/layout", admin.MailTemplateChange{Subject: "x", HTML: "x"}, 422, []string{"HTML alone"}},
		{"a mail that is none", "en/welcome", admin.MailTemplateChange{Subject: "x", HTML: "x"}, 404, []string{"no such mail"}},
		{"a language that is none", "xx/invite", admin.MailTemplateChange{Subject: "x", HTML: "x"}, 404, []string{"no such mail"}},
		{"a path", "..%2Fen/invite", admin.MailTemplateChange{Subject: "x", HTML: "x"}, 404, []string{"no such mail"}},
	} {
		for method, path := range map[string]string{"PUT": test.path, "POST": test.path + "/preview"} {
			answer := d.call(t, method, "/mail-templates/"+path, test.change)
			if answer.Status != test.status {
				t.Errorf("%s %s: %d %s", method, test.name, answer.Status, answer.Body)
			}
			for _, want := range test.want {
				if !strings.Contains(answer.Body, want) {
					t.Errorf("%s %s: %s does not say %q", method, test.name, answer.Body, want)
				}
			}
		}
	}
	d.Database.Exec(t, `do $$ begin assert not exists (select from basalt.mail_templates); end $$`)
}

func TestAMailIsSeenBeforeItIsStored(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Owner)
	const path = "/mail-templates/de/magic_link/preview"
	if answer := d.call(t, "GET", path+"/html", nil); answer.Status != http.StatusNotFound {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
	change := admin.MailTemplateChange{Subject: "Für {{ .Data.name }}", HTML: `{{ template "top" . }}<script>alert(1)</script><img src=x onerror=alert(1)>{{ .Token }}{{ template "bottom" . }}`, Text: "{{ .RedirectTo }}"}
	var preview admin.MailPreviewBody
	d.call(t, "POST", path, change).JSON(t, &preview)
	if preview.Subject != "Für Ada Lovelace" || !preview.HTML || preview.Text != "http://localhost:3000\n" {
		t.Errorf("%+v", preview)
	}
	drawn := d.call(t, "GET", path+"/html", nil)
	if policy := drawn.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox") || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script") {
		t.Errorf("its scripts may run: %s", policy)
	}
	if !strings.HasPrefix(drawn.Body, `<!doctype html>`) || !strings.Contains(drawn.Body, `lang="de"`) || !strings.Contains(drawn.Body, "123456") {
		t.Errorf("%s", drawn.Body)
	}
	other := &dashboard{d.Server, d.Administrator(t, administrator.Owner)}
	if answer := other.call(t, "GET", path+"/html", nil); answer.Status != http.StatusNotFound {
		t.Errorf("another owner sees it: %d %s", answer.Status, answer.Body)
	}
	d.call(t, "POST", "/mail-templates/en/layout/preview", admin.MailTemplateChange{HTML: `{{ define "top" }}<b>ACME</b>{{ end }}{{ define "bottom" }}{{ end }}{{ define "code" }}{{ .Token }}{{ end }}`})
	if drawn := d.call(t, "GET", "/mail-templates/en/layout/preview/html", nil); !strings.HasPrefix(drawn.Body, "<b>ACME</b>") {
		t.Errorf("the frame of a mail: %s", drawn.Body)
	}
}

func TestATestMailGoesToWhoAsks(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Owner)
	d.call(t, "PUT", "/mail-templates/en/recovery", admin.MailTemplateChange{Subject: "Own words", Text: "{{ .SendingTo }} {{ .Token }}"})
	var sent admin.MailTestBody
	if answer := d.call(t, "POST", "/mail-templates/en/recovery/test", "{}"); answer.Status != http.StatusAccepted {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	} else if answer.JSON(t, &sent); !sent.Held || sent.To == "" {
		t.Errorf("%+v", sent)
	}
	var list admin.OutboxList
	d.call(t, "GET", "/outbox", nil).JSON(t, &list)
	if len(list.Messages) != 1 || list.Messages[0].To != sent.To {
		t.Fatalf("%+v", list)
	}
	if read := d.call(t, "GET", "/outbox/"+list.Messages[0].ID.String(), nil); !strings.Contains(read.Body, `"subject":"Own words"`) || !strings.Contains(read.Body, sent.To+" 123456") {
		t.Errorf("%s", read.Body)
	}
	for _, name := range []string{"nothing", "Recovery"} {
		if answer := d.call(t, "POST", "/mail-templates/en/"+name+"/test", "{}"); answer.Status != http.StatusNotFound {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
}

func TestStoredTemplatesThatDoNotWorkDoNotCountAndCanBeMended(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Owner)
	d.Database.Exec(t, `insert into basalt.mail_templates (language, name, subject, html, text) values
		('en', 'invite', 'x', '{{ .Gone }}', ''), ('en', 'recovery', 'Own words', '', 'y'), ('en', 'of_another_version', 'x', 'x', 'x')`)
	list := d.call(t, "GET", "/mail-templates", nil)
	broken := template(t, list, "en", "invite")
	if broken.Origin != "built-in" || broken.HTML != "{{ .Gone }}" || broken.Version == 0 || !strings.Contains(list.Body, `"refused":"stored/en/invite.html`) {
		t.Errorf("%+v %s", broken, list.Body)
	}
	d.call(t, "POST", "/mail-templates/en/recovery/test", "{}")
	if !strings.Contains(d.Log.String(), "stored/en/invite.html") {
		t.Error("the log does not say which")
	}
	if mended := template(t, d.call(t, "DELETE", "/mail-templates/en/invite", admin.MailTemplateReset{Version: broken.Version}), "en", "recovery"); mended.Origin != "stored" || mended.Subject != "Own words" {
		t.Errorf("%+v", mended)
	}
}

func TestALayoutThatStoredMailsNeedIsNotReset(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Owner)
	layout := template(t, d.call(t, "GET", "/mail-templates", nil), "en", "layout")
	stored := template(t, d.call(t, "PUT", "/mail-templates/en/layout", admin.MailTemplateChange{HTML: layout.HTML + `{{ define "badge" }}ACME{{ end }}`}), "en", "layout")
	d.call(t, "PUT", "/mail-templates/en/invite", admin.MailTemplateChange{Subject: "x", HTML: `{{ template "badge" }}`})
	answer := d.call(t, "DELETE", "/mail-templates/en/layout", admin.MailTemplateReset{Version: stored.Version})
	if answer.Status != http.StatusUnprocessableEntity || !strings.Contains(answer.Body, "invite") {
		t.Errorf("%d %s", answer.Status, answer.Body)
	}
}

func TestTemplatesAreChangedByWhoHasProvedThemselves(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Owner)
	d.Database.Exec(t, `update basalt.administrator_sessions set elevated_until = now()`)
	for _, method := range []string{"PUT", "DELETE"} {
		if answer := d.call(t, method, "/mail-templates/en/invite", "{}"); answer.Status != http.StatusForbidden || !strings.Contains(answer.Body, "elevation_needed") {
			t.Errorf("%s: %d %s", method, answer.Status, answer.Body)
		}
	}
}
