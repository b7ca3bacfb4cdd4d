package rest

import (
	"net/http"
	"slices"
	"strings"

	"basalt/auth"
	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/store"
)

// session gives a request's identity and settings to SQL: its search path, the settings of the role it runs as, what
// it says itself, those of the routine it calls that must hold from the beginning, and the operator's. There are the
// same ones for most requests, so that one prepared statement sets them. The store sets the role behind them, because it
// may lose the right to set others.
func (h *Handler) session(r *http.Request, path string, p *auth.Principal, request *query.Request, c *catalog.Catalog, called *catalog.Routine) store.Session {
	s := store.Session{Role: p.Role, Settings: make([]store.Setting, 0, 10), Before: h.preRequest}
	s.Settings = append(s.Settings, store.Setting{Name: "search_path", Value: h.searchPaths[request.Schema]})
	if role := c.Role(p.Role); role != nil {
		for _, setting := range role.Settings {
			impose(&s, setting)
		}
	}
	s.Settings = append(s.Settings,
		store.Setting{Name: "request.jwt.claims", Value: p.Claims},
		store.Setting{Name: "request.method", Value: r.Method},
		store.Setting{Name: "request.path", Value: path},
		store.Setting{Name: "request.headers", Value: headersJSON(r)},
		store.Setting{Name: "request.cookies", Value: cookiesJSON(r)},
	)
	if zone := request.Prefer.TimeZone; zone != "" {
		s.Settings = append(s.Settings, store.Setting{Name: "timezone", Value: zone})
	}
	if request.Action == query.Read && request.Prefer.Page == query.PageKeyset {
		s.Settings = append(s.Settings, exact()...)
	}
	if called != nil {
		for _, setting := range called.Settings {
			if h.hoists(setting.Name) {
				impose(&s, setting)
			}
		}
	}
	s.Settings = append(s.Settings, h.options.AppSettings...)
	return s
}

// exact are the settings by which values become text that is read back as the same value, whatever the role's own are.
// Cursors are such text: a rounded number or the name of a zone would make the next page begin elsewhere.
func exact() []store.Setting {
	return []store.Setting{{Name: "extra_float_digits", Value: "1"}, {Name: "datestyle", Value: "ISO"}}
}

// hoists says that a setting of a routine is set for its whole transaction.
func (h *Handler) hoists(name string) bool {
	for _, hoisted := range h.options.Hoisted {
		if strings.EqualFold(hoisted, name) {
			return true
		}
	}
	return false
}

// impose adds a setting. The default isolation is that of the next transaction for PostgreSQL; here it is the
// request's, which is one transaction.
func impose(s *store.Session, setting catalog.Setting) {
	if strings.EqualFold(setting.Name, "default_transaction_isolation") {
		switch setting.Value {
		case "repeatable read", "serializable":
			s.Isolation = setting.Value
		default:
			s.Isolation = ""
		}
		return
	}
	s.Settings = append(s.Settings, store.Setting{Name: setting.Name, Value: setting.Value})
}

// headersJSON is the object that request.headers holds: lower-case names, several lines joined, no cookies.
func headersJSON(r *http.Request) string {
	size := len(r.Host) + 16
	for name, values := range r.Header {
		size += len(name) + 8
		for _, value := range values {
			size += len(value) + 2
		}
	}
	dst := make([]byte, 0, size)
	dst = append(dst, `{"host":`...)
	dst = appendValidString(dst, r.Host)
	for name, values := range r.Header {
		if name == "Cookie" {
			continue
		}
		dst = append(dst, ',')
		dst = appendLowerString(dst, name)
		dst = append(dst, ':')
		if len(values) == 1 {
			dst = appendValidString(dst, values[0])
		} else {
			dst = appendValidString(dst, strings.Join(values, ", "))
		}
	}
	return string(append(dst, '}'))
}

// dashboardCookies sign administrators in: a browser sends them along, and no function of an app may see them.
var dashboardCookies = [...]string{"basalt_admin", "__Host-basalt_admin"}

// cookiesJSON is the object that request.cookies holds, empty text when there are none.
func cookiesJSON(r *http.Request) string {
	if _, ok := r.Header["Cookie"]; !ok {
		return ""
	}
	dst := append(make([]byte, 0, 256), '{')
	for _, cookie := range r.Cookies() {
		if slices.Contains(dashboardCookies[:], cookie.Name) {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = appendValidString(dst, cookie.Name)
		dst = append(dst, ':')
		dst = appendValidString(dst, cookie.Value)
	}
	return string(append(dst, '}'))
}

// appendValidString writes header text, which may be any bytes, as JSON that PostgreSQL takes.
func appendValidString(dst []byte, s string) []byte {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] == 0 {
			s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
			break
		}
	}
	return pgjson.AppendString(dst, s)
}

// appendLowerString writes a header's name, which net/http has checked to be a token, in lower case.
func appendLowerString(dst []byte, name string) []byte {
	dst = append(dst, '"')
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
