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

const mostTemplate = 1 << 20

// folder is where templates of one language are looked for.
type folder struct {
	files fs.FS
	in    string
}

// addFolders finds the folders of each language. What is in none is of the default language.
func addFolders(folders map[language.Tag][]folder, files fs.FS, first language.Tag, stock bool) error {
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
			folders[tag] = append(folders[tag], folder{files, name})
		}
	}
	if stock {
		return nil
	}
	if err := checkNames(files, "."); err != nil {
		return err
	}
	folders[first] = append(folders[first], folder{files, "."})
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
	content, err := fs.ReadFile(f.files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &TemplateError{name, err}
	case len(content) > mostTemplate:
		return nil, &TemplateError{name, fmt.Errorf("it is larger than %d bytes", mostTemplate)}
	}
	s := &source{file: name, body: strings.ReplaceAll(strings.TrimPrefix(string(content), "\ufeff"), "\r\n", "\n")}
	line, rest, _ := strings.Cut(s.body, "\n")
	if label, subject, found := strings.Cut(line, ":"); found && strings.EqualFold(strings.TrimSpace(label), "subject") {
		s.subject, s.body = strings.TrimSpace(subject), rest
	}
	s.body = strings.TrimSpace(s.body)
	return s, nil
}

// subject finds the subject of a mail in the last folder that has one, in the HTML before the text.
func subject(search []folder, name string) (*text.Template, error) {
	for _, f := range slices.Backward(search) {
		for _, extension := range []string{".html", ".txt"} {
			s, err := f.read(name + extension)
			if err != nil {
				return nil, err
			}
			if s == nil || s.subject == "" {
				continue
			}
			t, err := text.New(s.file).Parse(s.subject)
			if err != nil {
				return nil, &TemplateError{s.file, err}
			}
			return t, nil
		}
	}
	return nil, &TemplateError{name, errors.New("there is no subject; write `Subject: …` in the first line")}
}
