package mail_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"basalt/auth"
	"basalt/auth/mail"
)

func files(texts map[string]string) fs.FS {
	folder := fstest.MapFS{}
	for name, text := range texts {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return folder
}

func allKinds() []auth.MailKind {
	return append([]auth.MailKind{
		auth.MailConfirmation, auth.MailInvite, auth.MailMagicLink, auth.MailRecovery, auth.MailEmailChange, auth.MailReauthentication,
	}, auth.Notifications()...)
}

func TestEachMailIsThereInEachLanguage(t *testing.T) {
	t.Parallel()
	templates, err := mail.LoadTemplates(nil, "en")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, locale := range []string{"en", "de"} {
		for _, kind := range allKinds() {
			letter, err := templates.Write(auth.Mail{
				Kind: kind, To: "ann@example.com", Link: "https://api.example/v?a=1&b=2", Token: "123456", NewEmail: "new@example.com",
				OldEmail: "old@example.com", Phone: "4915550100", OldPhone: "4915550101", Provider: "github", FactorType: "totp",
				Data: json.RawMessage(`{"locale":"` + locale + `"}`),
			}, siteURL)
			if err != nil {
				t.Fatalf("%s in %s: %v", kind, locale, err)
			}
			if letter.Subject == "" || letter.Text == "" || !strings.Contains(letter.HTML, `<html lang="`+locale+`">`) {
				t.Errorf("%s in %s lacks a part: %+v", kind, locale, letter)
			}
			if seen[letter.Subject] {
				t.Errorf("%s in %s has the subject of another: %s", kind, locale, letter.Subject)
			}
			seen[letter.Subject] = true
			for _, text := range []string{letter.Subject, letter.Text, letter.HTML} {
				if strings.Contains(text, "{{") || strings.Contains(text, "<no value>") || strings.Contains(text, "ZgotmplZ") {
					t.Errorf("%s in %s: %s", kind, locale, text)
				}
			}
		}
	}
}

func TestTheLanguageIsTheOneOfTheReader(t *testing.T) {
	t.Parallel()
	own := map[string]string{"pt-BR/confirmation.txt": "Subject: Confirme\n\nOlá"}
	templates, err := mail.LoadTemplates(files(own), "en")
	if err != nil {
		t.Fatal(err)
	}
	const english, german, portuguese = "Confirm your email address", "Bestätigen Sie Ihre E-Mail-Adresse", "Confirme"
	for data, subject := range map[string]string{
		``: english, `{}`: english, `{"locale":"de"}`: german, `{"locale":"de-AT"}`: german, `{"locale":"de_CH"}`: german,
		`{"locale":"pt-BR"}`: portuguese, `{"locale":"pt"}`: portuguese, `{"locale":"ja"}`: english, `{"locale":7}`: english,
		`{"locale":"../../etc"}`: english, `{"locale":"` + strings.Repeat("de-", 100) + `"}`: english, `{"locale":null}`: english,
	} {
		letter, err := templates.Write(auth.Mail{Kind: auth.MailConfirmation, To: "a@example.com", Data: json.RawMessage(data)}, siteURL)
		if err != nil || letter.Subject != subject {
			t.Errorf("%s gets %q (%v)", data, letter.Subject, err)
		}
		if (letter.HTML == "") != (subject == portuguese) {
			t.Errorf("%s gets the HTML %q", data, letter.HTML)
		}
	}
	german2, err := mail.LoadTemplates(nil, "de")
	if err != nil {
		t.Fatal(err)
	}
	for data, subject := range map[string]string{`{}`: german, `{"locale":"en-GB"}`: english, `{"locale":"ja"}`: german} {
		letter, err := german2.Write(auth.Mail{Kind: auth.MailConfirmation, To: "a@example.com", Data: json.RawMessage(data)}, siteURL)
		if err != nil || letter.Subject != subject {
			t.Errorf("with German as the default %s gets %q (%v)", data, letter.Subject, err)
		}
	}
}

func TestOwnTemplatesTakeThePlacesOfTheBuiltInOnes(t *testing.T) {
	t.Parallel()
	own := map[string]string{
		// As they stand in Supabase projects.
		"confirmation.html": "<h2>Hi {{ .Data.first.name }}</h2><a href=\"{{ .SiteURL }}/confirm?token_hash={{ .TokenHash }}&type=email&next={{ .RedirectTo }}\">go</a> {{ .Email }} {{ .SendingTo }}",
		"recovery.html":     "subject:  Reset, {{ .Email }} \r\n\r\n<p>{{ .Token }}</p>",
		"recovery.txt":      "",
		"invite.html":       "",
		"de/invite.txt":     "Subject: Einladung\n\n{{ .ConfirmationURL }}",
		"layout.html":       `{{ define "top" }}<header>ACME</header>{{ end }}{{ define "bottom" }}{{ end }}{{ define "code" }}{{ .Token }}{{ end }}`,
		"README.md":         "{{ not a template",
		".hidden.html":      "{{ not a template",
	}
	templates, err := mail.LoadTemplates(files(own), "en")
	if err != nil {
		t.Fatal(err)
	}
	write := func(kind auth.MailKind, locale string) mail.Letter {
		t.Helper()
		letter, err := templates.Write(auth.Mail{
			Kind: kind, To: "ann@example.com", Link: "https://api.example/v", Token: "123456", TokenHash: "abc", RedirectTo: "myapp://back?a=1&b=2",
			Data: json.RawMessage(`{"locale":"` + locale + `","first":{"name":"<b>Ann</b>"}}`),
		}, siteURL)
		if err != nil {
			t.Fatal(err)
		}
		return letter
	}
	letter := write(auth.MailConfirmation, "en")
	if letter.HTML != `<h2>Hi &lt;b&gt;Ann&lt;/b&gt;</h2><a href="https://site.example/confirm?token_hash=abc&type=email&next=myapp%3a%2f%2fback%3fa%3d1%26b%3d2">go</a> ann@example.com ann@example.com` {
		t.Errorf("the own HTML is %s", letter.HTML)
	}
	if letter.Subject != "Confirm your email address" || !strings.Contains(letter.Text, "https://api.example/v") {
		t.Errorf("what is not replaced stays: %+v", letter)
	}
	if letter := write(auth.MailRecovery, "en"); letter.Subject != "Reset, ann@example.com" || letter.HTML != "<p>123456</p>" || letter.Text != "" {
		t.Errorf("%+v", letter)
	}
	if letter := write(auth.MailInvite, "de"); letter.Subject != "Einladung" || letter.Text != "https://api.example/v\n" || letter.HTML == "" || !strings.Contains(letter.HTML, "Einladung annehmen") {
		t.Errorf("%+v", letter)
	}
	if letter := write(auth.MailInvite, "en"); letter.HTML != "" || letter.Text == "" || letter.Subject != "You have been invited" {
		t.Errorf("%+v", letter)
	}
	if letter := write(auth.MailMagicLink, "en"); !strings.HasPrefix(letter.HTML, "<header>ACME</header>") {
		t.Errorf("the frame is the own one: %s", letter.HTML)
	}
}

func TestATemplateThatDoesNotWorkIsNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, text string
		want             []string
	}{
		{"a misspelled file", "confirm.html", "x", []string{"confirm.html", "confirmation, email_change"}},
		{"a misspelled file of a language", "de/welcome.txt", "x", []string{"de/welcome.txt"}},
		{"a folder that is no language", "nonsense-language-x/confirmation.html", "x", []string{"nonsense-language-x", "no language"}},
		{"a brace too few", "confirmation.html", "Subject: x\n\n<p>\n{{ .Token }</p>", []string{"confirmation.html", "unexpected"}},
		{"a variable that is none", "invite.txt", "Subject: x\n\n{{ .Tokn }}", []string{"invite.txt", "Tokn"}},
		{"a variable that is none behind a condition", "invite.txt", "Subject: x\n\n{{ if .Token }}{{ .Tokn }}{{ end }}", []string{"invite.txt", "Tokn"}},
		{"a variable that is none where another is empty", "invite.txt", "Subject: x\n\n{{ if .Token }}x{{ else }}{{ .Tokn }}{{ end }}", []string{"invite.txt", "Tokn"}},
		{"a variable that is none in a subject", "invite.txt", "Subject: {{ .Nam }}\n\nx", []string{"invite.txt", "Nam"}},
		{"a part that is none", "invite.html", `{{ template "footer" . }}`, []string{"invite.html", "footer"}},
		{"a tag without its end", "invite.html", `<a href="{{ .SiteURL }}`, []string{"invite.html", "ends in"}},
		{"a file that is too large", "invite.html", strings.Repeat("x", 1<<20+1), []string{"invite.html", "larger"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := mail.LoadTemplates(files(map[string]string{test.file: test.text}), "en")
			if err == nil {
				t.Fatal("it is taken")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
	if _, err := mail.LoadTemplates(files(map[string]string{"invite.html": "", "invite.txt": " \n"}), "en"); err == nil {
		t.Error("a mail with nothing in it is taken")
	}
	if _, err := mail.LoadTemplates(nil, "ja"); err == nil {
		t.Error("a default language without templates is taken")
	}
	if _, err := mail.LoadTemplates(nil, "no language"); err == nil {
		t.Error("a default language that is none is taken")
	}
}
