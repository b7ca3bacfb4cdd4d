// Package web holds the dashboard as it is served: the files of dist, inside the binary.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed dist
var files embed.FS

// policy lets pages load nothing but their own files, run no text as code and be framed by nobody. Frames are for what
// is shown but not trusted, such as the body of a mail; those pages bring a policy of their own.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
	"connect-src 'self'; frame-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types svelte-trusted-html"

// permissions turns off what pages never need; copying and passkeys are theirs.
const permissions = "accelerometer=(), autoplay=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), " +
	"microphone=(), midi=(), payment=(), usb=(), clipboard-write=(self), publickey-credentials-create=(self), publickey-credentials-get=(self)"

// Handler serves the dashboard below the path that is stripped before.
func Handler() http.Handler {
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		panic(err) // dist is embedded above
	}
	handler, err := New(dist)
	if err != nil {
		panic(err) // what is embedded can be read
	}
	return handler
}

// New serves a built dashboard: its files by their exact names, and index.html for the addresses of its screens. Of a
// file that compresses well, the build keeps NAME.br and NAME.gz in place of NAME.
func New(dist fs.FS) (http.Handler, error) {
	served := pages{}
	err := fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		served.add(name, content)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the dashboard: %w", err)
	}
	if served[index] == nil {
		return nil, fmt.Errorf("read the dashboard: %w: %s", fs.ErrNotExist, index)
	}
	return served, nil
}

// index is the page that all screens begin with; assets is where files are whose names change with their content.
const (
	index  = "index.html"
	assets = "assets/"
)

// pages are the files by name.
type pages map[string]*page

// page is a file in the forms that were built; plain is nil when only compressed forms are kept.
type page struct {
	kind            string
	plain, gzip, br []byte
}

func (p pages) add(name string, content []byte) {
	base := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".br")
	file := p[base]
	if file == nil {
		file = &page{kind: mime.TypeByExtension(path.Ext(base))}
		if known := kinds[path.Ext(base)]; known != "" {
			file.kind = known
		}
		p[base] = file
	}
	switch path.Ext(name) {
	case ".gz":
		file.gzip = content
	case ".br":
		file.br = content
	default:
		file.plain = content
	}
}

// kinds are the media types of what the build makes, whatever the machine says of them.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", permissions)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")

	name := strings.TrimPrefix(r.URL.Path, "/")
	file := p[name]
	if file == nil && screen(name) {
		name, file = index, p[index]
	}
	if file == nil {
		header.Set("Cache-Control", "no-store")
		http.NotFound(w, r)
		return
	}
	if strings.HasPrefix(name, assets) {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		header.Set("Cache-Control", "no-cache")
	}
	header.Set("Content-Type", file.kind)
	file.send(w, r)
}

// screen says whether a path can be the address of a screen. Names of tables stand in those, so that a dot in a deeper
// part is no extension; a name with one at the first level is a file that is not there.
func screen(name string) bool {
	name = strings.TrimSuffix(name, "/")
	if name == "" {
		return true
	}
	parts := strings.Split(name, "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return !strings.Contains(parts[0], ".") && parts[0] != strings.TrimSuffix(assets, "/") && parts[0] != "api"
}

// send sends the smallest form that the client takes.
func (f *page) send(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	content := f.plain
	if f.br != nil || f.gzip != nil {
		header.Add("Vary", "Accept-Encoding")
		accepted := strings.Join(r.Header["Accept-Encoding"], ",")
		switch {
		case f.br != nil && takes(accepted, "br"):
			content = f.br
			header.Set("Content-Encoding", "br")
		case f.gzip != nil && takes(accepted, "gzip"):
			content = f.gzip
			header.Set("Content-Encoding", "gzip")
		case content == nil:
			var err error
			if content, err = unzip(f.gzip); err != nil {
				http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
				return
			}
		}
	}
	sum := sha256.Sum256(content)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	header.Set("ETag", tag)
	if same(r.Header["If-None-Match"], tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // the client may be gone
}

func unzip(content []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// takes says whether a client accepts a coding that it names (RFC 9110 §12.5.3).
func takes(accepted, coding string) bool {
	for entry := range strings.SplitSeq(accepted, ",") {
		name, parameters, _ := strings.Cut(entry, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		rating, rated := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(parameters), " ", ""), "q=")
		if !rated {
			return true
		}
		quality, err := strconv.ParseFloat(rating, 64)
		return err == nil && quality > 0
	}
	return false
}

// same says whether a client has a form already (RFC 9110 §13.1.2).
func same(given []string, tag string) bool {
	for entry := range strings.SplitSeq(strings.Join(given, ","), ",") {
		if entry = strings.TrimSpace(entry); entry == "*" || strings.TrimPrefix(entry, "W/") == tag {
			return true
		}
	}
	return false
}
