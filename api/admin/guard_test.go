package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

// routes are all routes of the API.
func routes(t *testing.T) []admin.Route {
	t.Helper()
	e := echo.New()
	all := admin.Register(e.Group("/admin/api"), admin.Options{})
	named := map[string]bool{}
	for _, route := range all {
		named[route.Method+" /admin/api"+route.Path] = true
	}
	for _, route := range e.Routes() {
		if route.Method != echo.RouteNotFound && !named[route.Method+" "+route.Path] {
			t.Errorf("%s %s is registered without a least role", route.Method, route.Path)
		}
	}
	return all
}

func TestNoRouteIsRegisteredTwice(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, route := range routes(t) {
		name := route.Method + " " + route.Path
		if seen[name] {
			t.Errorf("%s is registered twice: the one that came last counts, with its least role", name)
		}
		seen[name] = true
	}
}

// at gives a path with something in the place of each parameter.
func at(route admin.Route) string {
	parts := strings.Split("/admin/api"+route.Path, "/")
	for i, part := range parts {
		switch {
		case part == ":id":
			parts[i] = uuid.NewString()
		case strings.HasPrefix(part, ":"), part == "*":
			parts[i] = "none"
		}
	}
	return strings.Join(parts, "/")
}

func changes(route admin.Route) bool {
	return route.Method != http.MethodGet && route.Method != http.MethodHead && route.Method != http.MethodOptions
}

func TestNoKeyAndNoTokenOfTheAppOpensARoute(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	user, _ := s.SignUp(t, "ada@example.com")
	for _, route := range append(routes(t), admin.Route{Method: "GET", Path: "/no-such-route", Least: administrator.Viewer}) {
		if route.Least == "" {
			continue
		}
		for name, headers := range map[string][]string{
			"nobody":              {"Apikey:"},
			"the anonymous key":   nil,
			"a user":              {user},
			"the service key":     {s.Service(), "Apikey: " + s.Keys.ServiceKey.Reveal()},
			"a service token":     {s.As(t, "service_role", "")},
			"a cookie of no one":  {"Cookie: basalt_admin=" + strings.Repeat("x", 43)},
			"an empty cookie":     {"Cookie: basalt_admin="},
			"a token as a cookie": {"Cookie: basalt_admin=" + s.Keys.ServiceKey.Reveal()},
		} {
			answer := s.Do(t, route.Method, at(route), "", append(headers, apitest.Dashboard)...)
			if answer.Status != http.StatusUnauthorized || !strings.Contains(answer.Body, `"signed_out"`) && route.Method != http.MethodHead {
				t.Errorf("%s %s tells %s %d %s", route.Method, route.Path, name, answer.Status, answer.Body)
			}
			if cache := answer.Header.Get("Cache-Control"); cache != "no-store" {
				t.Errorf("%s %s may be cached: %q", route.Method, route.Path, cache)
			}
		}
	}
}

func TestEachRouteNeedsItsLeastRole(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	cookies := map[administrator.Role][]string{}
	for _, role := range []administrator.Role{administrator.Viewer, administrator.Editor} {
		cookies[role] = s.Administrator(t, role)
	}
	for _, route := range routes(t) {
		for role, cookie := range cookies {
			if route.Least == "" || role.Includes(route.Least) {
				continue
			}
			answer := s.Do(t, route.Method, at(route), "", cookie...)
			if answer.Status != http.StatusForbidden || !strings.Contains(answer.Body, `"role_too_low"`) && route.Method != http.MethodHead {
				t.Errorf("%s %s tells the %s %d %s", route.Method, route.Path, role, answer.Status, answer.Body)
			}
		}
		if changes(route) && route.Least == administrator.Viewer && !ownAffair(route.Path) {
			t.Errorf("%s %s changes something and is open to viewers", route.Method, route.Path)
		}
	}
}

// ownAffair tells routes by which administrators change nothing but their own sessions and factors.
func ownAffair(path string) bool {
	return strings.HasPrefix(path, "/session") || strings.HasPrefix(path, "/me") ||
		strings.HasPrefix(path, "/sql") || strings.HasPrefix(path, "/queries") || // plans, and what they keep for themselves
		path == "/performance/hypothetical" || // indexes that are made for one plan and for nobody else
		path == "/rest-sql" // the text of a statement that is not run
}

func TestPagesOfOtherOriginsCannotUseTheCookie(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	owner := s.Administrator(t, administrator.Owner)
	cookie := owner[0]
	for _, route := range routes(t) {
		for _, test := range []struct {
			name    string
			headers []string
			reads   bool // reading is refused too
		}{
			{"without the header", []string{cookie}, false},
			{"with another value in the header", []string{cookie, "X-Basalt-Dashboard: true"}, false},
			{"of another origin", []string{cookie, apitest.Dashboard, "Origin: https://evil.example"}, false},
			{"of another port", []string{cookie, apitest.Dashboard, "Origin: http://127.0.0.1:1"}, false},
			{"of a page that hides its origin", []string{cookie, apitest.Dashboard, "Origin: null"}, false},
			{"from another site", []string{cookie, apitest.Dashboard, "Sec-Fetch-Site: cross-site"}, true},
			{"from the same site", []string{cookie, apitest.Dashboard, "Sec-Fetch-Site: same-site"}, true},
		} {
			if !changes(route) && !test.reads {
				continue
			}
			answer := s.Do(t, route.Method, at(route), "", test.headers...)
			if answer.Status != http.StatusForbidden {
				t.Errorf("%s %s %s: %d %s", route.Method, route.Path, test.name, answer.Status, answer.Body)
			}
		}
	}
	if answer := s.Do(t, "GET", "/admin/api/session", "", cookie, "Sec-Fetch-Site: same-origin"); answer.Status != http.StatusOK {
		t.Errorf("after all that the session is answered %d %s", answer.Status, answer.Body)
	}
	if answer := s.Do(t, "GET", "/admin/api/no-such-route", "", owner...); answer.Status != http.StatusNotFound {
		t.Errorf("an unknown route is answered %d", answer.Status)
	}
}

func TestHEADIsAnsweredAsGETWithoutABody(t *testing.T) {
	t.Parallel()
	d := openDashboard(t, "", administrator.Owner)
	paths := []string{"/", "/admin", "/admin/", "/admin/sql", "/admin/no-such-file.js"}
	for _, route := range routes(t) {
		if route.Method == http.MethodGet && route.Path != "/logs/live" { // which does not end
			paths = append(paths, at(route))
		}
	}
	for _, path := range paths {
		get, head := d.Do(t, "GET", path, "", d.headers...), d.Do(t, "HEAD", path, "", d.headers...)
		if head.Status != get.Status || head.Body != "" || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") ||
			head.Header.Get("Content-Security-Policy") != get.Header.Get("Content-Security-Policy") {
			t.Errorf("%s: HEAD %d %q of %q, GET %d of %q", path, head.Status, head.Body, head.Header.Get("Content-Type"), get.Status, get.Header.Get("Content-Type"))
		}
	}
	if head := d.Do(t, "HEAD", "/admin/api/logs/live", "", d.headers...); head.Status != http.StatusOK || head.Body != "" {
		t.Errorf("what never ends is answered %d %q", head.Status, head.Body)
	}
}
