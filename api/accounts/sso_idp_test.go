package accounts_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"basalt/auth"
	"basalt/auth/sso"
	"basalt/auth/sso/ssotest"
)

// samlKey is made once: it takes its time.
var samlKey = sync.OnceValue(ssotest.NewKey)

// ssoOptions are those of a project with single sign-on.
func ssoOptions(t *testing.T) auth.Options {
	t.Helper()
	o := options()
	key, err := sso.ParseKey(samlKey())
	if err != nil {
		t.Fatal(err)
	}
	o.Providers.ManualLinking = true
	if o.SSO.SAML, err = sso.New(key, o.Issuer, false); err != nil {
		t.Fatal(err)
	}
	return o
}

// identityProvider is that of an organisation, in process.
type identityProvider struct {
	*ssotest.IdentityProvider
	server *server
}

// newIdentityProvider makes one that trusts a server, and is not known to it yet.
func newIdentityProvider(s *server) *identityProvider {
	s.t.Helper()
	return &identityProvider{ssotest.New(s.t, func() string { return s.call("GET", "/sso/saml/metadata", "", "").text }), s}
}

// register makes the identity provider known to its server under a domain.
func (idp *identityProvider) register(domain string, more ...string) answer {
	idp.server.t.Helper()
	body := fmt.Sprintf(`{"type":"saml","metadata_xml":%q,"domains":[%q]%s}`, idp.Description(), domain, strings.Join(more, ""))
	return idp.server.want(idp.server.admin("POST", "/sso/providers", body), 201, "")
}

// askSSO begins a sign-in here.
func (s *server) askSSO(body string) string {
	s.t.Helper()
	return s.want(s.call("POST", "/sso", s.keys.AnonKey, body), 200, "").str("url")
}

// landing is where a browser is sent to.
type landing struct {
	status          int
	url             *url.URL
	query, fragment url.Values
}

// post sends a form as a browser does, and stays where it is sent to.
func (s *server) post(path string, form url.Values) landing {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "POST", s.url+"/auth/v1"+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Error(err)
		return landing{}
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	l := landing{status: response.StatusCode}
	if l.url, err = response.Location(); err != nil {
		s.t.Errorf("the answer %d leads nowhere", l.status)
		return landing{}
	}
	l.query = l.url.Query()
	l.fragment, _ = url.ParseQuery(l.url.Fragment)
	return l
}

func (s *server) consume(form url.Values) landing {
	s.t.Helper()
	return s.post("/sso/saml/acs", form)
}

// entered fails the test unless a browser came back with a session, and gives its user.
func (s *server) entered(l landing) answer {
	s.t.Helper()
	if l.status != 303 || l.fragment.Get("access_token") == "" {
		s.t.Fatalf("the browser is sent to %s", l.url)
	}
	return s.want(s.call("GET", "/user", l.fragment.Get("access_token"), ""), 200, "")
}

// turnedAway fails the test unless a browser came back to the site with an error.
func (s *server) turnedAway(l landing, code string) {
	s.t.Helper()
	if l.status != 303 || l.query.Get("error_code") != code || l.fragment.Get("access_token") != "" || l.query.Get("code") != "" {
		s.t.Errorf("the browser is sent to %s, not turned away with %s", l.url, code)
	}
}
