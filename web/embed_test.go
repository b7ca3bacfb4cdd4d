package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"basalt/web"
)

func TestFilesAreServedByTheirExactNames(t *testing.T) {
	handler := http.StripPrefix("/admin/", web.Handler())
	for _, test := range []struct {
		path, kind string
		status     int
	}{
		{"/admin/", "text/html; charset=utf-8", 200},
		{"/admin/start.js", "text/javascript; charset=utf-8", 200},
		{"/admin/start.css", "text/css; charset=utf-8", 200},
		{"/admin/none.js", "", 404},
		{"/admin/dist/", "", 404},
		{"/admin/start.js/", "", 404},
		{"/admin/assets/", "", 404},
		{"/admin/../embed.go", "", 404},
		{"/admin/..%5cembed.go", "", 404},
		{"/admin/START.JS", "", 404},
	} {
		recorder := httptest.NewRecorder()
		request := httptest.NewRequest("GET", "/", nil)
		request.URL.Path = strings.ReplaceAll(test.path, "%5c", `\`)
		handler.ServeHTTP(recorder, request)
		if recorder.Code != test.status || test.kind != "" && recorder.Header().Get("Content-Type") != test.kind {
			t.Errorf("%s: %d %s", test.path, recorder.Code, recorder.Header().Get("Content-Type"))
		}
		if recorder.Code == 200 && (recorder.Header().Get("X-Content-Type-Options") != "nosniff" || recorder.Header().Get("Content-Security-Policy") == "") {
			t.Errorf("%s without its headers", test.path)
		}
	}
}
