package api_test

import (
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

func TestPagesThatBrowsersKeepFromPasskeysAreToldOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, site, domain, origins string
		told                        string
	}{
		{"the host itself", "https://example.com", "", "", ""},
		{"a domain above the host", "https://app.example.com/welcome", "example.com", "", ""},
		{"the own machine", "http://localhost:3000", "", "", ""},
		{"an app beside the pages", "https://example.com", "", "https://app.example.com,android:apk-key-hash:x", ""},
		{"a page of another domain too", "https://example.com", "example.com", "https://example.com,https://example.org", `"origins":["https://example.org"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.Start(t, "", func(s *api.Settings) {
				s.Passkeys, s.SiteURL, s.WebAuthnRPID = true, test.site, test.domain
				if test.origins != "" {
					s.WebAuthnOrigins = strings.Split(test.origins, ",")
				}
			})
			if log := s.Log.String(); test.told == "" && strings.Contains(log, "Related Origin") || !strings.Contains(log, test.told) {
				t.Error(log)
			}
		})
	}
}
