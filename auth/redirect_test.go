package auth

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// redirecting is a service with a site and a list.
func redirecting(t testing.TB, patterns ...string) *Service {
	t.Helper()
	o := Options{SiteURL: "https://site.example"}
	for _, text := range patterns {
		p, err := ParseRedirectPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		o.RedirectURLs = append(o.RedirectURLs, p)
	}
	return &Service{options: o}
}

func TestARedirectIsTheOneThatWasAskedForWhenItIsListed(t *testing.T) {
	s := redirecting(t,
		"https://app.example.com/welcome", "https://*.preview.example.com/**", "https://shop.example.com/*",
		"http://localhost:3000/**", "http://127.0.0.1:*/callback", "http://192.168.1.*:8081/**", "http://[::1]:3000/**",
		"myapp://callback", "com.example.app:/oauth", "exp://192.168.*.*:*/--/**", "other://**", "bare://", "https://bücher.example/**",
		"https://deploy-preview-*--team.netlify.app/**", "https://number.example.com/item?",
	)
	for _, tc := range []struct{ name, asked, want string }{
		{"the site itself", "https://site.example", "https://site.example"},
		{"a page of the site", "https://site.example/a/b?c=d", "https://site.example/a/b?c=d"},
		{"the site with its default port", "https://site.example:443/a", "https://site.example/a"},
		{"the site in capitals", "HTTPS://SITE.example/A", "https://site.example/A"},
		{"the site with a fragment for its own router", "https://site.example/#/account", "https://site.example/#/account"},
		{"a path in another script", "https://site.example/größe?ü=ö", "https://site.example/gr%C3%B6%C3%9Fe?%C3%BC=%C3%B6"},
		{"an exact entry", "https://app.example.com/welcome", "https://app.example.com/welcome"},
		{"an exact entry with a fragment", "https://app.example.com/welcome#x", "https://app.example.com/welcome#x"},
		{"one label in a host's wildcard", "https://pr-7.preview.example.com/a/b.html", "https://pr-7.preview.example.com/a/b.html"},
		{"the root of an entry for all paths", "https://pr-7.preview.example.com", "https://pr-7.preview.example.com"},
		{"one segment in a path's wildcard", "https://shop.example.com/cart?step=1", "https://shop.example.com/cart?step=1"},
		{"the loopback at its port", "http://localhost:3000/x", "http://localhost:3000/x"},
		{"the loopback at any port", "http://127.0.0.1:61234/callback", "http://127.0.0.1:61234/callback"},
		{"an address of the house", "http://192.168.1.20:8081/a/b", "http://192.168.1.20:8081/a/b"},
		{"an IPv6 address", "http://[0:0::1]:3000/x", "http://[::1]:3000/x"},
		{"a mobile app", "myapp://callback", "myapp://callback"},
		{"a mobile app in capitals", "MyApp://callback", "myapp://callback"},
		{"a mobile app with a fragment", "myapp://callback#x", "myapp://callback#x"},
		{"a mobile app of the private-use form", "com.example.app:/oauth", "com.example.app:/oauth"},
		{"a development build", "exp://192.168.1.5:8081/--/auth/callback", "exp://192.168.1.5:8081/--/auth/callback"},
		{"anything of an app", "other://a.b/c?d=e@f", "other://a.b/c?d=e@f"},
		{"an app without a place in it", "bare://", "bare://"},
		{"a name in another script", "https://bücher.example/x", "https://xn--bcher-kva.example/x"},
		{"the same name in punycode", "https://xn--bcher-kva.example/x", "https://xn--bcher-kva.example/x"},
		{"hyphens within a label", "https://deploy-preview-12--team.netlify.app/", "https://deploy-preview-12--team.netlify.app/"},
		{"one character for a question mark", "https://number.example.com/item7", "https://number.example.com/item7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := s.redirectTarget(tc.asked); got != tc.want {
				t.Errorf("%q leads to %q, not to %q", tc.asked, got, tc.want)
			}
		})
	}
}

// redirectTricks are what lists were passed with elsewhere.
var redirectTricks = []string{
	"", "/", "/welcome", "welcome", "//evil.example", "///evil.example", "////evil.example", `\\evil.example`, `/\evil.example`,
	`https:\\evil.example`, `https:/\evil.example`, "https:evil.example", "https:/evil.example", "https:///evil.example",
	"https://evil.example", "https://evil.example/https://site.example", "https://evil.example?https://site.example",
	"https://evil.example#https://site.example", "https://site.example@evil.example", "https://site.example:443@evil.example",
	"https://user@site.example", "https://user:secret@site.example/", "https://@site.example", "https://site.example%40evil.example",
	"https://site.example%2eevil.example", `https://evil.example\@site.example`, `https://evil.example\.site.example`,
	"https://site.example.evil.example", "https://evilsite.example", "https://sub.site.example", "https://site.example.", "https://site.example..",
	"https://site.example:8443", "https://site.example:0", "https://site.example:99999", "https://site.example:44x", "https://site.example:-443",
	"http://site.example", "ftp://site.example", "wss://site.example", "http://site.example:443",
	"https://site.example\t", "https://site.\texample", "\thttps://site.example", "ht\ntps://site.example", "https://site.example\r\nSet-Cookie: a=b",
	" https://site.example", "https://site.example /", "https://site.example\x00", "https://evil.example\x00.site.example",
	"https://sité.example", "https://xn--sit-dma.example", "https://ѕite.example", "https://site。example.evil.example", "https://site.example／evil.example",
	"javascript:alert(1)", "JavaScript:alert(1)", "java\tscript:alert(1)", "javascript://site.example/%0aalert(1)", "data:text/html,<script>1</script>",
	"vbscript:x", "file:///etc/passwd", "blob:https://site.example/1", "view-source:https://site.example", "about:blank", "filesystem:https://site.example/x",
	"https://2130706433", "https://0x7f.1", "https://0177.0.0.1", "https://[::ffff:127.0.0.1]", "https://[fe80::1%25eth0]", "https://[::1", "https://",
	"https://app.example.com", "https://app.example.com/welcome/", "https://app.example.com/welcome?x", "https://app.example.com/Welcome",
	"https://app.example.com/x/../welcome/..", "https://a.b.preview.example.com/", "https://.preview.example.com.evil.example/", "https://evil.example/.preview.example.com/",
	"https://evil.example?.preview.example.com/", "https://evil.example#.preview.example.com/", "https://evil.example:443.preview.example.com/",
	"https://pr.preview.example.com@evil.example/", "https://pr.preview.example.com/../x", "https://pr.preview.example.com/%2e%2e/x", "https://pr.preview.example.com/a/%2E./x",
	"https://shop.example.com/a/b", "https://shop.example.com/a.b", "https://shop.example.com/../a", "https://shop.example.com/a?next=/b",
	"http://192.168.1.evil:8081/", "http://192.168.1.1.evil.example:8081/", "http://192.168.1.0x14:8081/", "http://192.168.2.1:8081/",
	"myapp://callback.evil", "myapp://callback/more", "myapp://callback?x=y", "myapp://evil", "myapp:callback", "myapp://user@callback", "myapp:////callback", "myapps://callback",
	"other://user@a/", `other://a\b`, "other://a/../b", "unlisted://x", "intent://x#Intent;scheme=https;end",
	"https://number.example.com/item/", "https://number.example.com/item.", "https://number.example.com/item12", "https://number.example.com/item",
	"https://site.example/" + strings.Repeat("a", maxRedirect),
	"https://site.example/%zz", "https://site.example/\ufffd", "https://site.example/a\u0085b", "https://site.example/<script>", "://site.example", ":", "#", "?",
}

func TestARedirectThatIsNotListedLeadsSilentlyToTheSite(t *testing.T) {
	s := redirecting(t,
		"https://app.example.com/welcome", "https://*.preview.example.com/**", "https://shop.example.com/*", "http://192.168.1.*:8081/**",
		"myapp://callback", "other://**", "https://number.example.com/item?",
	)
	if len(redirectTricks) < 60 {
		t.Errorf("%d tricks are too few", len(redirectTricks))
	}
	for _, trick := range redirectTricks {
		if got := s.redirectTarget(trick); got != "https://site.example" {
			t.Errorf("%q leads to %q", trick, got)
		}
	}
}

func TestAPatternThatCouldMeanAnybodyIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "*", "**", "https://*", "https://**", "https://**/callback", "https://example.**", "https://example.com**", "https://*.*",
		"https://example.com*/x", "http://*.168.1.1", "http://192.168.*", "http://192.168.1.**", "//example.com", "example.com", "/welcome",
		"javascript:*", "data:**", "file://**", "https://user@example.com", "https://example.com/#x", "https://{a,b}.example.com",
		"http*://example.com", "https:example.com", "https:///x", `https://example.com\x`, "https://exa mple.com", "https://example.com.", "https://2130706433",
	} {
		if _, err := ParseRedirectPattern(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestTheFirstRedirectThatIsGivenDecides(t *testing.T) {
	s := redirecting(t, "https://app.example.com/**")
	for _, tc := range []struct {
		name  string
		asked []string
		want  string
	}{
		{"none", nil, "https://site.example"},
		{"the second stands in for an empty first", []string{"", "https://app.example.com/a"}, "https://app.example.com/a"},
		{"the second does not mend a bad first", []string{"https://evil.example", "https://app.example.com/a"}, "https://site.example"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := s.RedirectTarget(tc.asked...); got != tc.want {
				t.Errorf("it is %q, not %q", got, tc.want)
			}
		})
	}
}

// Whatever is asked, the answer has the origin of the site or of the list, and asking for the answer changes nothing.
func FuzzRedirectTarget(f *testing.F) {
	for _, trick := range redirectTricks {
		f.Add(trick)
	}
	f.Add("https://pr.preview.example.com/a?b=c#d")
	s := redirecting(f, "https://*.preview.example.com/**", "myapp://callback/**")
	f.Fuzz(func(t *testing.T, asked string) {
		got := s.redirectTarget(asked)
		u, err := url.Parse(got)
		if err != nil || u.User != nil || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
			t.Fatalf("%q leads to %q", asked, got)
		}
		origin := u.Scheme + "://" + u.Host
		label, preview := strings.CutSuffix(u.Host, ".preview.example.com")
		if !slices.Contains([]string{"https://site.example", "myapp://callback"}, origin) &&
			(u.Scheme != "https" || !preview || strings.ContainsAny(label, ".:@/")) {
			t.Fatalf("%q leads to %q", asked, got)
		}
		if again := s.redirectTarget(got); again != got {
			t.Fatalf("%q leads to %q, which leads to %q", asked, got, again)
		}
	})
}
