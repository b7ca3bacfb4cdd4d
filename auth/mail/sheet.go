package mail

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"basalt/auth"
)

// Sheet is a template that is in no file. That of the layout has HTML alone.
type Sheet struct {
	Language, Name      string
	Subject, HTML, Text string
}

// Source is a template as it is written, with where it comes from. Kind is empty for the layout.
type Source struct {
	Sheet
	Kind   auth.MailKind
	Origin Origin
}

// Sources are all templates in force: of each language, the default one first, the layout and then the mails.
func (t *Templates) Sources() []Source {
	kinds := []auth.MailKind{
		auth.MailConfirmation, auth.MailInvite, auth.MailMagicLink, auth.MailRecovery, auth.MailEmailChange, auth.MailReauthentication,
	}
	kinds = append(kinds, auth.Notifications()...)
	var all []Source
	for i, set := range t.sets {
		for _, kind := range kinds {
			all = append(all, set[kind].written)
		}
		all = append(all, t.frames[i])
	}
	return all
}

// files are a sheet as a folder would have it. The first line of each is its subject, be it empty: what follows is never
// taken for one.
func (s *Sheet) files() map[string]string {
	head := "Subject: " + s.Subject + "\n"
	if s.Name == layout {
		return map[string]string{layout + ".html": head + s.HTML}
	}
	return map[string]string{s.Name + ".html": head + s.HTML, s.Name + ".txt": head + s.Text}
}

// inStore begins the names of the files of sheets.
const inStore = "stored/"

// addSheets adds a folder with the sheets of each language.
func addSheets(folders map[language.Tag][]folder, sheets []Sheet) error {
	stored := map[language.Tag]map[string]string{}
	for i := range sheets {
		sheet := &sheets[i]
		tag, err := language.Parse(sheet.Language)
		if err != nil || tag.String() != sheet.Language {
			return &TemplateError{inStore + sheet.Language, errors.New("it is no language such as en or pt-BR")}
		}
		if stored[tag] == nil {
			files := map[string]string{}
			stored[tag] = files
			folders[tag] = append(folders[tag], folder{Kept, inStore + sheet.Language, func(name string) ([]byte, error) {
				if text, there := files[name]; there {
					return []byte(text), nil
				}
				return nil, fs.ErrNotExist
			}})
		}
		for name, text := range sheet.files() {
			stored[tag][inStore+sheet.Language+"/"+name] = text
		}
	}
	return nil
}

// Place is where a template is wrong.
type Place struct {
	Language, Name string
	// Part is subject, html or text.
	Part string
	// Line is from 1; 0 when it is not known.
	Line   int
	Reason string
}

// Place tells where a sheet is wrong; false for what is in a file.
func (e *TemplateError) Place() (Place, bool) {
	p := Place{Reason: e.Err.Error()}
	file := e.File
	if parts := regexp.MustCompile(`(?s)^(?:html/)?template: ?([^:]+):(?:(\d+):)?(?:\d+:)? (?:executing .*? at )?(.*)$`).FindStringSubmatch(p.Reason); parts != nil {
		file, p.Reason = parts[1], parts[3]
		p.Line, _ = strconv.Atoi(parts[2])
	}
	file, ours := strings.CutPrefix(file, inStore)
	for end, part := range map[string]string{ofSubject: "subject", ".html": "html", ".txt": "text"} {
		if strings.HasSuffix(file, end) {
			p.Part = part
		}
	}
	name := strings.TrimSuffix(file, ofSubject)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".html"), ".txt")
	p.Language, p.Name, _ = strings.Cut(name, "/")
	return p, ours
}

// Bounds of a sheet.
const (
	mostSheet        = 128 << 10 // bytes of its HTML, and of its text
	mostSheetSubject = 1000
)

// tidy brings a sheet into the form that it is kept in, and refuses what no mail can be.
func (s *Sheet) tidy() error {
	wrong := func(part, reason string) error {
		end := map[string]string{"subject": ".html" + ofSubject, "html": ".html", "text": ".txt"}[part]
		return &TemplateError{inStore + s.Language + "/" + s.Name + end, errors.New(reason)}
	}
	s.HTML, s.Text = strings.ReplaceAll(s.HTML, "\r\n", "\n"), strings.ReplaceAll(s.Text, "\r\n", "\n")
	s.Subject = strings.TrimSpace(s.Subject)
	for part, text := range map[string]string{"subject": s.Subject, "html": s.HTML, "text": s.Text} {
		most := mostSheet
		if part == "subject" {
			most = mostSheetSubject
		}
		switch {
		case strings.ContainsRune(text, 0):
			return wrong(part, "it has a NUL, which no mail can have")
		case len(text) > most:
			return wrong(part, fmt.Sprintf("it is larger than %d bytes", most))
		}
	}
	switch {
	case s.Name == layout && (s.Subject != "" || s.Text != ""):
		return wrong("html", "the layout has HTML alone")
	case strings.ContainsRune(s.Subject, '\n'):
		return wrong("subject", "it is more than one line")
	case s.Name != layout && s.Subject == "":
		return wrong("subject", "there is no subject")
	}
	return nil
}

// known tells whether there is such a mail, or the layout.
func (s *Sheet) known() bool {
	for _, name := range names() {
		if name == s.Name {
			return true
		}
	}
	return s.Name == layout
}

// Languages are the tags of those that there are templates in, the default one first.
func (t *Templates) Languages() []string {
	all := make([]string, len(t.languages))
	for i, tag := range t.languages {
		all[i] = tag.String()
	}
	return all
}
