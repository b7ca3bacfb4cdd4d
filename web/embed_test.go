package web_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"basalt/web"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// dashboard is a small one, as the build leaves it.
func dashboard(t *testing.T) http.Handler {
	t.Helper()
	handler, err := web.New(fstest.MapFS{
		"index.html.gz":         {Data: zipped(t, "<!doctype html>")},
		"index.html.br":         {Data: []byte("br of the page")},
		"assets/index-1.js.gz":  {Data: zipped(t, "start()")},
		"assets/index-1.js.br":  {Data: []byte("br of the code")},
		"assets/picture-1.webp": {Data: []byte("picture")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return http.StripPrefix("/admin/", handler)
}

func get(handler http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	request := httptest.NewRequest("GET", "/", nil)
	request.URL.Path = path
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	handler.ServeHTTP(recorder, request)
	return recorder
}

func TestFilesAreServedByTheirNamesAndScreensByTheFirstPage(t *testing.T) {
	handler := dashboard(t)
	const html, script, page = "text/html; charset=utf-8", "text/javascript; charset=utf-8", "<!doctype html>"
	for _, test := range []struct {
		name, path, kind, body string
		status                 int
	}{
		{"the first screen", "/admin/", html, page, 200},
		{"the page by its name", "/admin/index.html", html, page, 200},
		{"a screen", "/admin/sql", html, page, 200},
		{"a screen with a slash at its end", "/admin/sql/", html, page, 200},
		{"a screen of a table whose name has a dot", "/admin/tables/public/a.js", html, page, 200},
		{"a screen of a table whose name has a slash", "/admin/tables/public/a/b", html, page, 200},
		{"code", "/admin/assets/index-1.js", script, "start()", 200},
		{"what is not compressed", "/admin/assets/picture-1.webp", "image/webp", "picture", 200},
		{"code that is not there", "/admin/assets/index-2.js", "", "", 404},
		{"a compressed form by its name", "/admin/assets/index-1.js.gz", "", "", 404},
		{"a file that is not there", "/admin/none.js", "", "", 404},
		{"a file that is not there, as a folder", "/admin/none.js/", "", "", 404},
		{"the folder of files", "/admin/assets/", "", "", 404},
		{"the folder of files without a slash", "/admin/assets", "", "", 404},
		{"an address of the API", "/admin/api/none", "", "", 404},
		{"a folder above", "/admin/../embed.go", "", "", 404},
		{"a folder above, in the middle", "/admin/tables/../../embed.go", "", "", 404},
		{"a folder above by a backslash", `/admin/..\embed.go`, "", "", 404},
		{"an empty part", "/admin/tables//x", "", "", 404},
		{"other letters", "/admin/INDEX.HTML", "", "", 404},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := get(handler, test.path)
			if answer.Code != test.status || test.status == 200 && (answer.Header().Get("Content-Type") != test.kind || answer.Body.String() != test.body) {
				t.Errorf("%d %s %q", answer.Code, answer.Header().Get("Content-Type"), answer.Body)
			}
			header := answer.Header()
			if header.Get("X-Content-Type-Options") != "nosniff" || header.Get("X-Frame-Options") != "DENY" || header.Get("Cross-Origin-Resource-Policy") != "same-origin" ||
				header.Get("Cross-Origin-Opener-Policy") != "same-origin" || header.Get("Referrer-Policy") != "no-referrer" || header.Get("Permissions-Policy") == "" {
				t.Errorf("headers %v", header)
			}
			policy := header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
				t.Errorf("policy %q", policy)
			}
		})
	}
}

func TestAClientGetsTheSmallestFormThatItTakes(t *testing.T) {
	handler := dashboard(t)
	for _, test := range []struct{ accepted, coding, body string }{
		{"gzip, deflate, br, zstd", "br", "br of the code"},
		{"BR", "br", "br of the code"},
		{"gzip", "gzip", string(zipped(t, "start()"))},
		{"gzip;q=0.5, br;q=0", "gzip", string(zipped(t, "start()"))},
		{"br; q=0.1", "br", "br of the code"},
		{"br;q=x", "", "start()"},
		{"deflate", "", "start()"},
		{"", "", "start()"},
	} {
		t.Run(test.accepted, func(t *testing.T) {
			answer := get(handler, "/admin/assets/index-1.js", "Accept-Encoding", test.accepted)
			if answer.Header().Get("Content-Encoding") != test.coding || answer.Body.String() != test.body || answer.Header().Get("Vary") != "Accept-Encoding" {
				t.Errorf("%v %q", answer.Header(), answer.Body)
			}
		})
	}
}

func TestWhatHasItsContentInItsNameIsKeptAndTheRestAskedFor(t *testing.T) {
	handler := dashboard(t)
	if got := get(handler, "/admin/assets/index-1.js").Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("code: %q", got)
	}
	if got := get(handler, "/admin/assets/index-2.js").Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("code that is not there: %q", got)
	}
	page := get(handler, "/admin/sql", "Accept-Encoding", "br")
	if got := page.Header().Get("Cache-Control"); got != "no-cache" {
		t.Errorf("the page: %q", got)
	}
	tag := page.Header().Get("ETag")
	again := get(handler, "/admin/", "Accept-Encoding", "br", "If-None-Match", `"x", W/`+tag)
	if again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("the page that the client has: %d", again.Code)
	}
	if plain := get(handler, "/admin/", "If-None-Match", tag); plain.Code != http.StatusOK {
		t.Errorf("another form of the page that the client has: %d", plain.Code)
	}
}

func TestADashboardWithoutAPageIsNone(t *testing.T) {
	if _, err := web.New(fstest.MapFS{}); err == nil {
		t.Error("it is served")
	}
}

func TestTheEmbeddedDashboardHasAPage(t *testing.T) {
	if answer := get(http.StripPrefix("/admin/", web.Handler()), "/admin/"); answer.Code != http.StatusOK || !strings.HasPrefix(strings.ToLower(answer.Body.String()), "<!doctype html>") {
		t.Errorf("%d %.100s", answer.Code, answer.Body)
	}
}
