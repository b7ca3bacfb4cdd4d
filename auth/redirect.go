package auth

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

const (
	// maxRedirect bounds what is looked at, in bytes. It is what servers and proxies take as a Location.
	maxRedirect = 4096

	// anyRun is a wildcard's reach within a part of a host or a path; beyond these only ** goes.
	anyRun = `[^./]*`
)

// RedirectPattern is one entry of the list of places that links and sign-ins may lead back to: `*` stands for any run
// of characters but dots and slashes, `?` for one such character, `**` for any run at all. For http and https a
// wildcard never reaches beyond the part it stands in: host, port, or path with query.
type RedirectPattern struct {
	scheme string
	// host and port are those of http and https; other schemes are the apps' own, and are matched whole.
	host, port *regexp.Regexp
	// numeric is set when only IPv4 addresses can be meant.
	numeric bool
	rest    *regexp.Regexp
}

// ParseRedirectPattern reads an entry. The error says what is wrong with it.
func ParseRedirectPattern(text string) (RedirectPattern, error) {
	p := RedirectPattern{}
	if len(text) > maxRedirect || hasForeignRune(text) {
		return p, fmt.Errorf("%q has characters that are not part of a URL", text)
	}
	scheme, rest, found := strings.Cut(text, ":")
	p.scheme = strings.ToLower(scheme)
	switch {
	case !found || !isScheme(p.scheme):
		return p, fmt.Errorf("%q does not begin with a scheme such as https:// or myapp://", text)
	case isScript(p.scheme):
		return p, fmt.Errorf("%q: the scheme %s can never be led to", text, p.scheme)
	case strings.ContainsAny(rest, "@#{}"):
		return p, fmt.Errorf("%q: a pattern has no user, no fragment and no braces", text)
	case !isWeb(p.scheme):
		p.rest = glob(rest)
		return p, nil
	}
	rest, found = strings.CutPrefix(rest, "//")
	authority, path, _ := strings.Cut(rest, "/")
	host, port, literal := cutPort(authority)
	switch {
	case !found || host == "":
		return p, fmt.Errorf("%q names no host", text)
	case port == "":
		port = defaultPort(p.scheme)
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	switch {
	case literal || !strings.ContainsAny(host, "*?"):
		ascii, ok := canonicalHost(host)
		if !ok {
			return p, fmt.Errorf("%q: %q is no host", text, host)
		}
		host = ascii
	case strings.Trim(last, "0123456789*?") == "" || strings.ContainsAny(last, "*?"):
		// What ends in a wildcard can end in anybody's domain, but for addresses, which are nobody's names.
		if p.numeric = isNumericPattern(labels); !p.numeric {
			return p, fmt.Errorf("%q: a host that ends in a wildcard could be anybody's", text)
		}
	}
	p.host, p.port, p.rest = glob(strings.ToLower(host)), glob(port), glob("/"+path)
	return p, nil
}

// matches tells whether a target is one that the pattern means.
func (p RedirectPattern) matches(t target) bool {
	if p.scheme != t.scheme {
		return false
	}
	if isWeb(p.scheme) {
		if !p.host.MatchString(t.host) || !p.port.MatchString(t.port) {
			return false
		}
		if _, err := netip.ParseAddr(t.host); p.numeric && err != nil {
			return false
		}
	}
	return p.rest.MatchString(t.rest)
}

// target is an absolute URL in parts, as a browser would take it.
type target struct {
	// text is the URL written anew from what was looked at.
	text string
	// scheme in lower case; host in lower case and ASCII, port never empty, both empty outside http and https.
	scheme, host, port string
	// rest is what follows: path and query, or everything behind the scheme of an app.
	rest string
}

// parseTarget reads a URL that somebody asks to be led to. What browsers and this parser could read differently is none.
func parseTarget(text string) (target, bool) {
	if text == "" || len(text) > maxRedirect || hasForeignRune(text) {
		return target{}, false
	}
	u, err := url.Parse(text)
	if err != nil || !isScheme(u.Scheme) || isScript(u.Scheme) || u.User != nil {
		return target{}, false
	}
	t := target{scheme: u.Scheme}
	if !isWeb(t.scheme) {
		_, rest, _ := strings.Cut(text, ":")
		t.text = t.scheme + ":" + escaped(rest)
		t.rest, _, _ = strings.Cut(escaped(rest), "#")
		// An @ in front of the path is a user to some readers, if not to others.
		authority := strings.TrimPrefix(t.rest, "//")
		if end := strings.IndexAny(authority, "/?"); end >= 0 {
			authority = authority[:end]
		}
		return t, !strings.Contains(authority, "@") && !climbs(u.EscapedPath())
	}
	host, ok := canonicalHost(u.Hostname())
	if u.Opaque != "" || !ok || climbs(u.EscapedPath()) {
		return target{}, false
	}
	t.host, t.port = host, defaultPort(t.scheme)
	if port := u.Port(); port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return target{}, false
		}
		t.port = strconv.FormatUint(number, 10)
	}
	u.Host = host
	if strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if t.port != defaultPort(t.scheme) {
		u.Host += ":" + t.port
	}
	if t.rest = u.EscapedPath(); t.rest == "" {
		t.rest = "/"
	}
	if u.RawQuery = escaped(u.RawQuery); u.RawQuery != "" || u.ForceQuery {
		t.rest += "?" + u.RawQuery
	}
	t.text = u.String()
	return t, true
}

// redirectTarget is where a flow leads back to: the URL that was asked for, written in its canonical form, when it has
// the site's origin or stands in the list; else, and silently, the site's URL. Nothing else of a request decides.
func (s *Service) redirectTarget(asked string) string {
	t, ok := parseTarget(asked)
	if !ok {
		return s.options.SiteURL
	}
	if site, ok := parseTarget(s.options.SiteURL); ok && isWeb(site.scheme) &&
		site.scheme == t.scheme && site.host == t.host && site.port == t.port {
		return t.text
	}
	for _, p := range s.options.RedirectURLs {
		if p.matches(t) {
			return t.text
		}
	}
	return s.options.SiteURL
}

// RedirectTarget gives the first of some URLs that may be led back to, else the site's own.
func (s *Service) RedirectTarget(asked ...string) string {
	for _, text := range asked {
		if text != "" {
			return s.redirectTarget(text)
		}
	}
	return s.options.SiteURL
}

// glob makes the expression of a pattern. RE2 takes linear time whatever is asked.
func glob(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(pattern); i++ {
		switch {
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(`.*`)
			i++
		case pattern[i] == '*':
			b.WriteString(anyRun)
		case pattern[i] == '?':
			b.WriteString(`[^./]`)
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	b.WriteString(`\z`)
	return regexp.MustCompile(b.String()) // all that is not a wildcard is quoted
}

// hasForeignRune tells whether a text has what a URL may not have. Browsers drop tabs and line ends, and take a
// backslash for a slash: a text with these is not the one that they would follow.
func hasForeignRune(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\\' || r == '"' || r == '<' || r == '>' || r == '`' || r == 0xfffd
	})
}

// escaped writes what is not ASCII as it goes over the wire (RFC 3986 §2.1).
func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if text[i] < 0x80 {
			b.WriteByte(text[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", text[i])
		}
	}
	return b.String()
}

// climbs tells whether a path leads upwards, so that its beginning says nothing. %2e is a dot to browsers.
func climbs(path string) bool {
	for segment := range strings.SplitSeq(strings.ReplaceAll(strings.ToLower(path), "%2e", "."), "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

func isWeb(scheme string) bool { return scheme == "http" || scheme == "https" }

// isScript names the schemes whose URLs are content or code, not a place.
func isScript(scheme string) bool {
	switch scheme {
	case "javascript", "data", "vbscript", "blob", "file", "filesystem", "about", "view-source":
		return true
	}
	return false
}

// isScheme follows RFC 3986 §3.1.
func isScheme(text string) bool {
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || (r < '0' || r > '9') && r != '+' && r != '-' && r != '.') {
			return false
		}
	}
	return text != ""
}

func defaultPort(scheme string) string {
	if scheme == "http" {
		return "80"
	}
	return "443"
}

// cutPort divides a pattern's authority; literal is set for an IPv6 address, which has colons of its own.
func cutPort(authority string) (host, port string, literal bool) {
	if inner, found := strings.CutPrefix(authority, "["); found {
		host, port, _ = strings.Cut(inner, "]")
		return host, strings.TrimPrefix(port, ":"), true
	}
	host, port, _ = strings.Cut(authority, ":")
	return host, port, false
}

// canonicalHost gives a host as browsers write it: lower case, punycode, addresses in their shortest form. Names that
// end in a dot are other origins than those that do not, and none of ours.
func canonicalHost(host string) (string, bool) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String(), ip.Zone() == ""
	}
	// As browsers do (WHATWG URL §3.3): hyphens may stand anywhere.
	profile := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.CheckHyphens(false), idna.Transitional(false))
	ascii, err := profile.ToASCII(host)
	if err != nil || ascii == "" || strings.HasSuffix(ascii, ".") {
		return "", false
	}
	for _, r := range ascii {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' {
			return "", false
		}
	}
	// A name whose last label is a number is an address in one of its old forms (decimal, octal, hex) to browsers.
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil {
		return "", false
	}
	return ascii, true
}

// isNumericPattern tells whether a host can only be an IPv4 address: four labels, of which the first is a number.
func isNumericPattern(labels []string) bool {
	if len(labels) != 4 {
		return false
	}
	for i, label := range labels {
		if strings.Trim(label, "0123456789*?") != "" || i == 0 && strings.ContainsAny(label, "*?") || strings.Contains(label, "**") {
			return false
		}
	}
	return true
}
