package mail

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	text "text/template"

	"golang.org/x/text/language"
)

const (
	mostTemplate = 1 << 20

	// ofSubject is behind the name of a file where its first line is meant.
	ofSubject = " (subject)"
)

// Origin is where a template comes from.
type Origin string

// The origins. What is stored counts before what is in a folder, and that before what is built in.
const (
	BuiltIn Origin = "built-in"
	Folder  Origin = "folder"
	Kept    Origin = "stored"
)

// folder is where templates of one language are looked for.
type folder struct {
	origin Origin
	in     string
	open   func(name string) ([]byte, error)
}

func folderOf(files fs.FS, origin Origin, in string) folder {
	return folder{origin, in, func(name string) ([]byte, error) { return fs.ReadFile(files, name) }}
}

// addFolders finds the folders of each language. What is in none is of the default language.
func addFolders(folders map[language.Tag][]folder, files fs.FS, first language.Tag, origin Origin) error {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case strings.HasPrefix(name, "."):
		case entry.IsDir():
			tag, err := language.Parse(name)
			if err != nil {
				return &TemplateError{name, errors.New("the name of the folder is no language such as en or pt-BR")}
			}
			if err := checkNames(files, name); err != nil {
				return err
			}
			folders[tag] = append(folders[tag], folderOf(files, origin, name))
		}
	}
	if origin == BuiltIn {
		return nil
	}
	if err := checkNames(files, "."); err != nil {
		return err
	}
	folders[first] = append(folders[first], folderOf(files, origin, "."))
	return nil
}

// checkNames refuses files that would never be read: they are misspelled.
func checkNames(files fs.FS, in string) error {
	entries, err := fs.ReadDir(files, in)
	if err != nil {
		return err
	}
	known := []string{layout}
	for _, name := range names() {
		known = append(known, name)
	}
	slices.Sort(known)
	for _, entry := range entries {
		name, extension := entry.Name(), path.Ext(entry.Name())
		if entry.IsDir() || strings.HasPrefix(name, ".") || extension != ".html" && extension != ".txt" {
			continue
		}
		if !slices.Contains(known, strings.TrimSuffix(name, extension)) {
			return &TemplateError{path.Join(in, name), fmt.Errorf("there is no such mail; the names are %s", strings.Join(known, ", "))}
		}
	}
	return nil
}

// source is a file, with its subject taken off.
type source struct {
	file, subject, body string
	origin              Origin
}

// find reads a file from the last folder that has it; nil is none.
func find(search []folder, file string) (*source, error) {
	for _, f := range slices.Backward(search) {
		if s, err := f.read(file); s != nil || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// read reads a file; nil is none.
func (f folder) read(file string) (*source, error) {
	name := path.Join(f.in, file)
	content, err := f.open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &TemplateError{name, err}
	case len(content) > mostTemplate:
		return nil, &TemplateError{name, fmt.Errorf("it is larger than %d bytes", mostTemplate)}
	}
	s := &source{file: name, origin: f.origin, body: strings.ReplaceAll(strings.TrimPrefix(string(content), "\ufeff"), "\r\n", "\n")}
	line, rest, _ := strings.Cut(s.body, "\n")
	if label, subject, found := strings.Cut(line, ":"); found && strings.EqualFold(strings.TrimSpace(label), "subject") {
		s.subject, s.body = strings.TrimSpace(subject), rest
	}
	s.body = strings.TrimSpace(s.body)
	return s, nil
}

// subject finds the subject of a mail in the last folder that has one, in the HTML before the text.
func subject(search []folder, name string) (*text.Template, *source, error) {
	for _, f := range slices.Backward(search) {
		for _, extension := range []string{".html", ".txt"} {
			s, err := f.read(name + extension)
			if err != nil {
				return nil, nil, err
			}
			if s == nil || s.subject == "" {
				continue
			}
			t, err := parseText(s.file+ofSubject, s.subject)
			return t, s, err
		}
	}
	return nil, nil, &TemplateError{name, errors.New("there is no subject; write `Subject: …` in the first line")}
}
