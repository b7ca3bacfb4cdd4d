// Package mail writes the mails of accounts and brings them to a mail server.
package mail

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	html "html/template"
	"io/fs"
	"slices"
	"strings"
	text "text/template"
	"text/template/parse"
	"unicode"

	"golang.org/x/text/language"

	"basalt/auth"
)

// Names of templates by what the mails are about. They are those of Supabase.
func names() map[auth.MailKind]string {
	all := map[auth.MailKind]string{
		auth.MailConfirmation:     "confirmation",
		auth.MailInvite:           "invite",
		auth.MailMagicLink:        "magic_link",
		auth.MailRecovery:         "recovery",
		auth.MailEmailChange:      "email_change",
		auth.MailReauthentication: "reauthentication",
	}
	for _, kind := range auth.Notifications() {
		all[kind] = string(kind)
	}
	return all
}

//go:embed templates
var embedded embed.FS

const (
	// DefaultLanguage is the one of the templates that are always there.
	DefaultLanguage = "en"

	// layout is the template that the others take their frame from: it defines `top` and `bottom`.
	layout = "layout"

	mostSubject = 200 // characters
)

// Variables are what templates can write.
type Variables struct {
	ConfirmationURL, SiteURL, RedirectTo string

	Token, TokenHash string
	// Email is the account's address, NewEmail the one that it is to have, SendingTo the one that reads this.
	Email, NewEmail, SendingTo string

	OldEmail, Phone, OldPhone, Provider, FactorType string
	// Data is the user's metadata, which users write themselves.
	Data map[string]any
	// Language is the one that the template is written in, as a BCP 47 tag.
	Language string
}

// Letter is a mail as it is read.
type Letter struct {
	Subject, Text, HTML string
}

// template makes the mails of one kind in one language.
type template struct {
	subject *text.Template
	text    *text.Template
	html    *html.Template
	written Source
}

// Templates make mails. They are immutable.
type Templates struct {
	languages []language.Tag // of the sets, the default one first
	sets      []map[auth.MailKind]*template
	frames    []Source // of the sets
	matcher   language.Matcher
}

// Current gives the templates themselves: they are always the same.
func (t *Templates) Current(context.Context) (*Templates, error) { return t, nil }

// A TemplateError names the file that is wrong, and why.
type TemplateError struct {
	File string
	Err  error
}

func (e *TemplateError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap gives why.
func (e *TemplateError) Unwrap() error { return e.Err }

// LoadTemplates reads the templates. Own ones, nil for none, take the places of those of the same names that are always
// there: `confirmation.html` and `confirmation.txt` in the default language, `de/confirmation.html` in German. Their
// first line can be `Subject: …`. A file that is empty leaves that part of the mail out. Mails that a language lacks
// are in the default one. Each template is tried out: the error is a *TemplateError for one that does not work.
//
// Sheets, of which no two are the same mail in the same language, take the places of all of them.
func LoadTemplates(own fs.FS, defaultLanguage string, sheets ...Sheet) (*Templates, error) {
	first, err := language.Parse(defaultLanguage)
	if err != nil {
		return nil, fmt.Errorf("%q is no language such as en or pt-BR", defaultLanguage)
	}
	stock, err := fs.Sub(embedded, "templates")
	if err != nil {
		return nil, err
	}
	folders := map[language.Tag][]folder{}
	if err := addFolders(folders, stock, first, BuiltIn); err != nil {
		return nil, err
	}
	if own != nil {
		if err := addFolders(folders, own, first, Folder); err != nil {
			return nil, err
		}
	}
	if err := addSheets(folders, sheets); err != nil {
		return nil, err
	}
	if len(folders[first]) == 0 {
		return nil, fmt.Errorf("there are no templates in the language %q", defaultLanguage)
	}
	fallback := folders[language.MustParse(DefaultLanguage)]
	if first.String() != DefaultLanguage {
		fallback = append(slices.Clone(fallback), folders[first]...)
	}
	t := &Templates{}
	tags := []language.Tag{first}
	for tag := range folders {
		if tag != first {
			tags = append(tags, tag)
		}
	}
	slices.SortFunc(tags[1:], func(a, b language.Tag) int { return strings.Compare(a.String(), b.String()) })
	for _, tag := range tags {
		search := fallback
		if tag != first {
			search = append(slices.Clone(fallback), folders[tag]...)
		}
		frame, err := find(search, layout+".html")
		if err != nil {
			return nil, err
		}
		if frame == nil {
			return nil, &TemplateError{layout, errors.New("the template is not there")}
		}
		t.frames = append(t.frames, Source{Sheet: Sheet{Language: tag.String(), Name: layout, HTML: frame.body}, Origin: frame.origin})
		set := map[auth.MailKind]*template{}
		for kind, name := range names() {
			if set[kind], err = load(frame, search, search[len(fallback):], name); err != nil {
				return nil, err
			}
			set[kind].written.Language, set[kind].written.Kind = tag.String(), kind
			if err := set[kind].try(kind, tag); err != nil {
				return nil, err
			}
		}
		t.languages, t.sets = append(t.languages, tag), append(t.sets, set)
	}
	t.matcher = language.NewMatcher(t.languages)
	return t, nil
}

// load reads the templates of one mail. Of a mail that is there in another language than the default one, the part that
// is not is left out: nobody wants to read it in two.
func load(frame *source, search, translated []folder, name string) (*template, error) {
	t := &template{}
	page, err := find(search, name+".html")
	if err != nil {
		return nil, err
	}
	plain, err := find(search, name+".txt")
	if err != nil {
		return nil, err
	}
	if page == nil || plain == nil {
		return nil, &TemplateError{name, errors.New("the template is not there")}
	}
	ownPage, err := find(translated, name+".html")
	if err != nil {
		return nil, err
	}
	ownPlain, err := find(translated, name+".txt")
	if err != nil {
		return nil, err
	}
	switch {
	case ownPage != nil && ownPlain == nil:
		plain.body = ""
	case ownPage == nil && ownPlain != nil:
		page.body = ""
	}
	if page.body == "" && plain.body == "" {
		return nil, &TemplateError{page.file, errors.New("neither the HTML nor the text has anything in it")}
	}
	if page.body != "" {
		t.html = html.New(frame.file).Funcs(functions())
		if _, err := t.html.Parse(frame.body); err != nil {
			return nil, &TemplateError{frame.file, err}
		}
		if t.html, err = t.html.New(page.file).Parse(page.body); err != nil {
			return nil, &TemplateError{page.file, err}
		}
		var trees []*parse.Tree
		for _, part := range t.html.Templates() {
			trees = append(trees, part.Tree)
		}
		if err := limit(trees); err != nil {
			return nil, err
		}
	}
	if plain.body != "" {
		if t.text, err = parseText(plain.file, plain.body+"\n"); err != nil {
			return nil, err
		}
	}
	var headed *source
	if t.subject, headed, err = subject(search, name); err != nil {
		return nil, err
	}
	t.written = Source{Sheet: Sheet{Name: name, Subject: headed.subject, HTML: page.body, Text: plain.body}, Origin: headed.origin}
	for _, origin := range []Origin{Folder, Kept} {
		if page.origin == origin || plain.origin == origin {
			t.written.Origin = origin
		}
	}
	return t, nil
}

// parseText reads a template that writes text.
func parseText(name, body string) (*text.Template, error) {
	t, err := text.New(name).Funcs(functions()).Parse(body)
	if err != nil {
		return nil, &TemplateError{name, err}
	}
	var trees []*parse.Tree
	for _, part := range t.Templates() {
		trees = append(trees, part.Tree)
	}
	return t, limit(trees)
}

// try makes a mail of which everything is known, and one of which nothing is, so that a name that is none is found now.
func (t *template) try(kind auth.MailKind, tag language.Tag) error {
	_, err := t.write(Variables{
		ConfirmationURL: "https://api.example/auth/v1/verify?token=t&type=" + string(kind), SiteURL: "https://site.example", RedirectTo: "https://site.example/",
		Token: "123456", TokenHash: "abcdef", Email: "a@example.com", NewEmail: "b@example.com", SendingTo: "a@example.com",
		OldEmail: "b@example.com", Phone: "15550100", OldPhone: "15550101", Provider: "github", FactorType: "totp",
		Data: map[string]any{}, Language: tag.String(),
	})
	if err != nil {
		return err
	}
	_, err = t.write(Variables{})
	return err
}

// noValue is what the template packages write for a name that a user's metadata does not have.
const noValue = "<no value>"

func (t *template) write(v Variables) (Letter, error) {
	var letter Letter
	b := page{}
	if err := t.subject.Execute(&b, v); err != nil {
		return Letter{}, &TemplateError{t.subject.Name(), err}
	}
	letter.Subject = oneLine(strings.ReplaceAll(b.String(), noValue, ""))
	if t.text != nil {
		b = page{}
		if err := t.text.Execute(&b, v); err != nil {
			return Letter{}, &TemplateError{t.text.Name(), err}
		}
		letter.Text = strings.ReplaceAll(b.String(), noValue, "")
	}
	if t.html != nil {
		b = page{}
		if err := t.html.Execute(&b, v); err != nil {
			return Letter{}, &TemplateError{t.html.Name(), err}
		}
		letter.HTML = b.String()
	}
	return letter, nil
}

// oneLine makes a header's text of what users may have written: what would begin another line is a blank.
func oneLine(line string) string {
	line = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(line, ""))
	line = strings.Join(strings.Fields(line), " ")
	if runes := []rune(line); len(runes) > mostSubject {
		line = string(runes[:mostSubject-1]) + "…"
	}
	return line
}

// Write makes a mail. Its language is the one of the user's metadata, `locale`, as far as there are templates for it: the
// language of a request would be the one of whoever asks, who need not be who reads.
func (t *Templates) Write(m auth.Mail, siteURL string) (Letter, error) {
	data := map[string]any{}
	if len(m.Data) > 0 {
		if err := json.Unmarshal(m.Data, &data); err != nil {
			return Letter{}, fmt.Errorf("read the user's metadata: %w", err)
		}
	}
	chosen := t.choose(data["locale"])
	email := m.Email
	if email == "" {
		email = m.To
	}
	template, known := t.sets[chosen][m.Kind]
	if !known {
		return Letter{}, fmt.Errorf("there is no mail of the kind %q", m.Kind)
	}
	return template.write(Variables{
		ConfirmationURL: m.Link.Reveal(), SiteURL: siteURL, RedirectTo: m.RedirectTo,
		Token: m.Token.Reveal(), TokenHash: m.TokenHash.Reveal(), Email: email, NewEmail: m.NewEmail, SendingTo: m.To,
		OldEmail: m.OldEmail, Phone: m.Phone, OldPhone: m.OldPhone, Provider: m.Provider, FactorType: m.FactorType,
		Data: data, Language: t.languages[chosen].String(),
	})
}

// maxLocale is more than any language's tag has (RFC 5646 §4.4.1).
const maxLocale = 35

// choose gives the set for a locale of a user's metadata.
func (t *Templates) choose(locale any) int {
	name, ok := locale.(string)
	if !ok || len(name) > maxLocale {
		return 0
	}
	tag, err := language.Parse(name)
	if err != nil {
		return 0
	}
	_, chosen, confidence := t.matcher.Match(tag)
	if confidence == language.No {
		return 0
	}
	return chosen
}
