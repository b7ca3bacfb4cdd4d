package accounts_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"basalt/auth"
	"basalt/auth/outgoing"
	"basalt/auth/provider"
)

func TestAProviderThatGivesNoAnswerIsNoFaultOfOurs(t *testing.T) {
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/page/") {
			_, _ = io.WriteString(w, "<html>")
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(broken.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	o := options()
	for name, c := range map[string]struct {
		issuer string
		client *http.Client
	}{
		"closed": {closed.URL + "/realm", loopbackClient()}, "inside": {broken.URL, outgoing.New(outgoing.Options{})},
		"broken": {broken.URL, loopbackClient()}, "page": {broken.URL + "/page", loopbackClient()},
	} {
		p, err := provider.New(provider.Config{Name: name, ClientID: "basalt", ClientSecret: "secret", URL: c.issuer, RedirectURI: ownCallback}, c.client)
		if err != nil {
			t.Fatal(err)
		}
		o.Providers.Providers = append(o.Providers.Providers, p)
	}
	s := start(t, o)
	for name, why := range map[string]string{
		"closed": "the provider does not answer", "inside": "the provider does not answer",
		"broken": "the provider answers 503", "page": "what the provider answers cannot be read",
	} {
		for what, a := range map[string]answer{
			"a sign-in": s.call("GET", "/authorize?provider="+name, "", ""),
			"a token":   s.call("POST", "/token?grant_type=id_token", s.keys.AnonKey, `{"provider":"`+name+`","id_token":"a.b.c"}`),
		} {
			s.want(a, http.StatusBadGateway, string(auth.CodeUnexpectedFailure))
			if got := a.str("msg"); got != "The provider cannot be reached: "+why {
				t.Errorf("%s at %s: %s", what, name, a.text)
			}
		}
	}
	if text := s.log.String(); !strings.Contains(text, "connection refused") || !strings.Contains(text, "--outgoing-allow") {
		t.Errorf("the log does not say why: %s", text)
	}
}
