package mail_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/mail"
	"basalt/store/storetest"
)

// readerOver names the database of a process that writes the subject of an invitation for each line that it is given.
const readerOver = "BASALT_TEST_MAIL_DATABASE"

func TestMain(m *testing.M) {
	if url := os.Getenv(readerOver); url != "" {
		if err := writeSubjects(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func writeSubjects(url string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	stored, err := mail.NewStored(pool, nil, "en", zerolog.Nop())
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		current, err := stored.Current(ctx)
		if err != nil {
			return err
		}
		letter, err := current.Write(auth.Mail{Kind: auth.MailInvite, To: "ann@example.com"}, siteURL)
		if err != nil {
			return err
		}
		fmt.Println(letter.Subject)
	}
	return lines.Err()
}

// shelf is what is stored in a database, with what is done in a transaction of its own.
type shelf struct {
	*mail.Stored
	db *storetest.Database
}

func shelfOver(t *testing.T, db *storetest.Database, own fs.FS) shelf {
	t.Helper()
	stored, err := mail.NewStored(db.Pool, own, "en", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return shelf{stored, db}
}

func (s shelf) store(ctx context.Context, sheet mail.Sheet, seen int64) error {
	return pgx.BeginFunc(ctx, s.db.Pool, func(tx pgx.Tx) error {
		_, err := s.Store(ctx, tx, sheet, seen)
		return err
	})
}

func (s shelf) forget(ctx context.Context, language, name string, seen int64) error {
	return pgx.BeginFunc(ctx, s.db.Pool, func(tx pgx.Tx) error {
		_, err := s.Forget(ctx, tx, language, name, seen)
		return err
	})
}

// version is the one of a stored sheet; 0 is none.
func (s shelf) version(t *testing.T, language, name string) int64 {
	t.Helper()
	_, stored, _, err := s.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, sheet := range stored {
		if sheet.Language == language && sheet.Name == name {
			return sheet.Version
		}
	}
	return 0
}

func (s shelf) write(t *testing.T, kind auth.MailKind, data string) mail.Letter {
	t.Helper()
	current, err := s.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	letter, err := current.Write(auth.Mail{Kind: kind, To: "ann@example.com", Token: "123456", Link: "https://api.example/v?a=1&b=2", Data: json.RawMessage(data)}, siteURL)
	if err != nil {
		t.Fatal(err)
	}
	return letter
}

func (s shelf) mustStore(t *testing.T, sheet mail.Sheet) {
	t.Helper()
	if err := s.store(t.Context(), sheet, s.version(t, sheet.Language, sheet.Name)); err != nil {
		t.Fatal(err)
	}
}

func (s shelf) mustForget(t *testing.T, language, name string) {
	t.Helper()
	if err := s.forget(t.Context(), language, name, s.version(t, language, name)); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsStoredComesBeforeTheFolderAndThatBeforeTheBuiltIn(t *testing.T) {
	t.Parallel()
	s := shelfOver(t, storetest.New(t), files(map[string]string{"invite.html": "Subject: Of the folder\n\n<p>folder", "invite.txt": "folder", "de/recovery.txt": "Subject: Aus dem Ordner\n\nOrdner"}))
	subjects := func(want ...string) {
		t.Helper()
		got := []string{
			s.write(t, auth.MailInvite, `{}`).Subject, s.write(t, auth.MailInvite, `{"locale":"de"}`).Subject,
			s.write(t, auth.MailRecovery, `{}`).Subject, s.write(t, auth.MailRecovery, `{"locale":"de"}`).Subject,
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const builtInDE, builtInEN = "Sie wurden eingeladen", "Reset your password"
	subjects("Of the folder", builtInDE, builtInEN, "Aus dem Ordner")
	s.mustStore(t, mail.Sheet{Language: "en", Name: "invite", Subject: "Stored", Text: "stored"})
	s.mustStore(t, mail.Sheet{Language: "de", Name: "recovery", Subject: "Gespeichert", HTML: "<p>gespeichert"})
	subjects("Stored", builtInDE, builtInEN, "Gespeichert")
	if letter := s.write(t, auth.MailInvite, `{}`); letter.HTML != "" || letter.Text != "stored\n" {
		t.Errorf("a part that is left empty is not that of the folder: %+v", letter)
	}
	if letter := s.write(t, auth.MailRecovery, `{"locale":"de"}`); letter.Text != "" || letter.HTML != "<p>gespeichert" {
		t.Errorf("%+v", letter)
	}
	s.mustForget(t, "en", "invite")
	subjects("Of the folder", builtInDE, builtInEN, "Gespeichert")
	s.mustForget(t, "de", "recovery")
	subjects("Of the folder", builtInDE, builtInEN, "Aus dem Ordner")

	origins := map[mail.Origin]int{}
	s.mustStore(t, mail.Sheet{Language: "en", Name: "magic_link", Subject: "Stored", Text: "stored"})
	current, err := s.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range current.Sources() {
		origins[source.Origin]++
	}
	if origins[mail.Kept] != 1 || origins[mail.Folder] != 2 || origins[mail.BuiltIn] == 0 {
		t.Errorf("they come from %v", origins)
	}
}

func TestAnotherProcessWritesByWhatIsStoredAtOnce(t *testing.T) {
	t.Parallel()
	s := shelfOver(t, storetest.New(t), nil)
	other := exec.CommandContext(t.Context(), os.Args[0])
	other.Env, other.Stderr = append(os.Environ(), readerOver+"="+s.db.URL), os.Stderr
	ask, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(answers)
	writes := func(want string) {
		t.Helper()
		if _, err := fmt.Fprintln(ask); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("it writes %q, not %q (%v)", lines.Text(), want, lines.Err())
		}
	}
	const builtIn = "You have been invited"
	writes(builtIn)
	s.mustStore(t, mail.Sheet{Language: "en", Name: "invite", Subject: "First", Text: "x"})
	writes("First")
	s.mustStore(t, mail.Sheet{Language: "en", Name: "invite", Subject: "Second", Text: "x"})
	writes("Second")
	s.mustForget(t, "en", "invite")
	writes(builtIn)
	s.mustStore(t, mail.Sheet{Language: "en", Name: "invite", Subject: "Third", Text: "x"})
	writes("Third")
	ask.Close()
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
}

func TestOfManyWhoHaveSeenTheSameVersionOneStores(t *testing.T) {
	t.Parallel()
	s := shelfOver(t, storetest.New(t), nil)
	s.mustStore(t, mail.Sheet{Language: "en", Name: "invite", Subject: "First", Text: "x"})
	seen := s.version(t, "en", "invite")
	const authors = 8
	results := make([]error, authors)
	var all sync.WaitGroup
	for i := range authors {
		all.Go(func() {
			results[i] = s.store(t.Context(), mail.Sheet{Language: "en", Name: "invite", Subject: fmt.Sprintf("Of %d", i), Text: "x"}, seen)
		})
	}
	all.Wait()
	stored := -1
	for i, err := range results {
		switch {
		case err == nil && stored < 0:
			stored = i
		case !errors.Is(err, mail.ErrTemplateChanged):
			t.Errorf("author %d: %v", i, err)
		}
	}
	if letter := s.write(t, auth.MailInvite, `{}`); stored < 0 || letter.Subject != fmt.Sprintf("Of %d", stored) {
		t.Errorf("%q is in force, and %d was told that theirs is", letter.Subject, stored)
	}
}

func TestAStoredTemplateThatDoesNotWorkTakesNoneOfTheOthersPlaces(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	log := bytes.Buffer{}
	stored, err := mail.NewStored(db.Pool, nil, "en", zerolog.New(&log))
	if err != nil {
		t.Fatal(err)
	}
	s := shelf{stored, db}
	db.Exec(t, `insert into basalt.mail_templates (language, name, subject, html, text) values
		('en', 'invite', 'Own', '', 'x'), ('en', 'recovery', 'Own', E'<p>\n{{ .Gone }}', ''), ('en', 'of_another_version', '{{', '{{', '{{'), ('tlh', 'invite', 'Own', 'x', 'x')`)
	for range 3 {
		if letter := s.write(t, auth.MailInvite, `{}`); letter.Subject != "You have been invited" {
			t.Errorf("%q is in force", letter.Subject)
		}
	}
	if said := strings.Count(log.String(), "\n"); said != 1 || !strings.Contains(log.String(), "stored/en/recovery.html") {
		t.Errorf("the log says %d times what is wrong: %s", said, log.String())
	}
	_, sheets, wrong, err := s.Look(t.Context())
	if err != nil || len(sheets) != 4 || wrong == nil {
		t.Fatalf("%+v %v %v", sheets, wrong, err)
	}
	if place, ours := wrong.Place(); !ours || place.Language != "en" || place.Name != "recovery" || place.Part != "html" || place.Line != 2 || !strings.Contains(place.Reason, "Gone") {
		t.Errorf("%+v", place)
	}
	s.mustForget(t, "en", "recovery")
	if letter := s.write(t, auth.MailInvite, `{}`); letter.Subject != "Own" {
		t.Errorf("after it is gone, %q is in force", letter.Subject)
	}
}

func TestASheetThatIsNoMailIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	s := shelfOver(t, storetest.New(t), nil)
	for _, test := range []struct {
		name  string
		sheet mail.Sheet
		place mail.Place // Reason is a part of it
	}{
		{"a variable that is none", mail.Sheet{Name: "invite", Subject: "x", HTML: "<p>\n\n{{ .Tokn }}"}, mail.Place{Part: "html", Line: 3, Reason: "Tokn"}},
		{"a brace too few", mail.Sheet{Name: "invite", Subject: "x", Text: "x\n{{ .Token }"}, mail.Place{Part: "text", Line: 2, Reason: "unexpected"}},
		{"a subject with a variable that is none", mail.Sheet{Name: "invite", Subject: "{{ .Tokn }}", Text: "x"}, mail.Place{Part: "subject", Line: 1, Reason: "Tokn"}},
		{"no subject", mail.Sheet{Name: "invite", Subject: " \n", Text: "x"}, mail.Place{Part: "subject", Reason: "no subject"}},
		{"a subject of two lines", mail.Sheet{Name: "invite", Subject: "x\r\nBcc: eve@example.com", Text: "x"}, mail.Place{Part: "subject", Reason: "more than one line"}},
		{"a subject that is too long", mail.Sheet{Name: "invite", Subject: strings.Repeat("x", 1001), Text: "x"}, mail.Place{Part: "subject", Reason: "larger than 1000"}},
		{"HTML that is too long", mail.Sheet{Name: "invite", Subject: "x", HTML: strings.Repeat("x", 128<<10+1)}, mail.Place{Part: "html", Reason: "larger than 131072"}},
		{"text that is too long", mail.Sheet{Name: "invite", Subject: "x", Text: strings.Repeat("x", 128<<10+1)}, mail.Place{Part: "text", Reason: "larger than 131072"}},
		{"a NUL", mail.Sheet{Name: "invite", Subject: "x", Text: "x\x00"}, mail.Place{Part: "text", Reason: "NUL"}},
		{"nothing in it", mail.Sheet{Name: "invite", Subject: "x", HTML: "\n", Text: " "}, mail.Place{Part: "html", Reason: "neither"}},
		{"a layout with a text", mail.Sheet{Name: "layout", HTML: "x", Text: "x"}, mail.Place{Part: "html", Reason: "HTML alone"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.sheet.Language = "en"
			_, tried := s.Try(t.Context(), test.sheet)
			for _, err := range []error{tried, s.store(t.Context(), test.sheet, 0)} {
				wrong, ok := errors.AsType[*mail.TemplateError](err)
				if !ok {
					t.Fatalf("it is answered by %v", err)
				}
				place, ours := wrong.Place()
				if !ours || place.Language != "en" || place.Name != test.sheet.Name || place.Part != test.place.Part || place.Line != test.place.Line || !strings.Contains(place.Reason, test.place.Reason) {
					t.Errorf("%+v, want %+v", place, test.place)
				}
			}
		})
	}
	for name, sheet := range map[string]mail.Sheet{
		"a mail that is none": {Language: "en", Name: "welcome"}, "a language without templates": {Language: "fr", Name: "invite"},
		"a language in another spelling": {Language: "EN", Name: "invite"}, "a path": {Language: "en/..", Name: "../invite"},
	} {
		sheet.Subject, sheet.Text = "x", "x"
		if err := s.store(t.Context(), sheet, 0); !errors.Is(err, mail.ErrNoSuchTemplate) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, stored, _, err := s.Look(t.Context()); err != nil || len(stored) != 0 {
		t.Errorf("of what is refused, %d are stored (%v)", len(stored), err)
	}
}

func TestALayoutThatAnotherMailDoesNotWorkWithNamesThatMail(t *testing.T) {
	t.Parallel()
	s := shelfOver(t, storetest.New(t), nil)
	err := s.store(t.Context(), mail.Sheet{Language: "en", Name: "layout", HTML: `{{ define "top" }}{{ end }}`}, 0)
	wrong, ok := errors.AsType[*mail.TemplateError](err)
	if !ok {
		t.Fatal(err)
	}
	if place, ours := wrong.Place(); ours || place.Name == "layout" || !strings.Contains(place.Reason, "bottom") {
		t.Errorf("%+v", place)
	}
	s.mustStore(t, mail.Sheet{Language: "en", Name: "layout", HTML: `{{ define "top" }}<b>ACME</b>{{ end }}{{ define "bottom" }}{{ end }}{{ define "code" }}{{ .Token }}{{ end }}`})
	if letter := s.write(t, auth.MailMagicLink, `{}`); !strings.HasPrefix(letter.HTML, "<b>ACME</b>") {
		t.Errorf("the frame is another: %s", letter.HTML)
	}
}

func TestWhatUsersWriteIsEscapedWhereItStands(t *testing.T) {
	t.Parallel()
	s := shelfOver(t, storetest.New(t), nil)
	s.mustStore(t, mail.Sheet{
		Language: "en", Name: "invite", Subject: `{{ .Data.name }}{{ "\r\nBcc: mallory@example.com" }}`, Text: "{{ .Data.name }} {{ .Data.nothing }}",
		HTML: `<p title="{{ .Data.name }}">{{ .Data.name }}</p><a href="{{ .Data.link }}">{{ .Data.nothing }}</a><a href="{{ .ConfirmationURL }}">x</a>`,
	})
	letter := s.write(t, auth.MailInvite, `{"name":"<img src=x onerror=\"alert(1)\">\r\nBcc: eve@example.com\u2028\u0000x","link":"javascript:alert(1)"}`)
	if strings.Contains(letter.HTML, "<img") || strings.Contains(letter.HTML, `"alert`) || strings.Contains(letter.HTML, "javascript:") || !strings.Contains(letter.HTML, "&lt;img") {
		t.Errorf("the HTML is not escaped: %s", letter.HTML)
	}
	if !strings.Contains(letter.HTML, `<a href="https://api.example/v?a=1&amp;b=2">`) {
		t.Errorf("the link is %s", letter.HTML)
	}
	if letter.Subject != `<img src=x onerror="alert(1)"> Bcc: eve@example.com x Bcc: mallory@example.com` {
		t.Errorf("the subject is %q", letter.Subject)
	}
	if strings.Contains(letter.Text, "no value") || !strings.HasPrefix(letter.Text, `<img src=x onerror="alert(1)">`) {
		t.Errorf("the text is %q", letter.Text)
	}
}

func TestASampleHasAllThatATemplateCanWrite(t *testing.T) {
	t.Parallel()
	s := shelfOver(t, storetest.New(t), nil)
	for _, kind := range append(allKinds(), "") {
		sheet := mail.Sheet{Language: "de", Name: "layout"}
		for _, source := range s.Under().Sources() {
			if source.Kind == kind && source.Language == "de" {
				sheet = source.Sheet
			}
		}
		seen := map[string]bool{}
		for _, variable := range mail.VariablesOf(kind) {
			if variable.Help == "" || seen[variable.Name] {
				t.Errorf("%s of %q has no help, or is there twice", variable.Name, kind)
			}
			seen[variable.Name] = true
			if kind != "" && variable.Name != "Data" {
				sheet.Text += "\n" + variable.Name + "=[{{ ." + variable.Name + " }}]"
			}
		}
		templates, err := s.Try(t.Context(), sheet)
		if err != nil {
			t.Fatalf("%q: %v", kind, err)
		}
		sample, err := mail.Sample(kind, "ann@example.com", "de", "https://api.example", siteURL)
		if err != nil {
			t.Fatal(err)
		}
		letter, err := templates.Write(sample, siteURL)
		if err != nil || letter.HTML == "" || strings.Contains(letter.Text, "[]") || !strings.Contains(letter.HTML, `lang="de"`) {
			t.Errorf("%q: %+v %v", kind, letter, err)
		}
	}
	if s.version(t, "de", "invite") != 0 {
		t.Error("what was tried is stored")
	}
}
