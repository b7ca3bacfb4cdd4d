package migrations

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// userFile is one file of the user's folder.
type userFile struct {
	// file is the name in the folder, <version>_<name>.sql.
	file, version, name string
	text                string
	sum                 string
}

var fileName = regexp.MustCompile(`^([0-9]+)_(.*)\.sql$`)

// readFolder returns the migrations of a folder by file name, the order in which
// Supabase's command line takes them too, and the .sql files whose names make them
// none.
func readFolder(dir string) (files []userFile, others []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there is no folder %s: begin one with 'basalt migrate new NAME', or point --dir at yours", dir)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the migrations folder: %w", err)
	}
	byVersion := map[string]string{}
	for _, entry := range entries {
		if entry.IsDir() || filepath.Ext(entry.Name()) != ".sql" {
			continue
		}
		match := fileName.FindStringSubmatch(entry.Name())
		if match == nil {
			others = append(others, entry.Name())
			continue
		}
		version := match[1]
		if twin, ok := byVersion[version]; ok {
			return nil, nil, fmt.Errorf("%s and %s have the same version %s: rename one of them", twin, entry.Name(), version)
		}
		byVersion[version] = entry.Name()
		raw, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, nil, fmt.Errorf("read a migration: %w", err)
		}
		text := strings.TrimPrefix(string(raw), "\ufeff")
		files = append(files, userFile{
			file:    entry.Name(),
			version: version,
			name:    match[2],
			text:    text,
			// Git may check the same file out with other line ends.
			sum: checksum([]byte(strings.ReplaceAll(text, "\r\n", "\n"))),
		})
	}
	return files, others, nil
}

// UserNew makes an empty migration in dir, which it makes too if need be, and
// returns the path of the file. Its version is the time in UTC, later than that of
// every file already there.
func UserNew(dir, name string) (string, error) {
	slug := slugify(name)
	if slug == "" {
		return "", fmt.Errorf("the name %q has no letter or digit to call a file by", name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the migrations folder: %w", err)
	}
	files, _, err := readFolder(dir)
	if err != nil {
		return "", err
	}
	const layout = "20060102150405"
	at := time.Now().UTC()
	if len(files) > 0 {
		if last, err := time.Parse(layout, files[len(files)-1].version); err == nil && at.Before(last.Add(time.Second)) {
			at = last.Add(time.Second)
		}
	}
	path := filepath.Join(dir, at.Format(layout)+"_"+slug+".sql")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", fmt.Errorf("make the migration: %w", err)
	}
	return path, file.Close()
}

// slugify keeps letters and digits and joins what lies between by underscores.
func slugify(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "_")
}
