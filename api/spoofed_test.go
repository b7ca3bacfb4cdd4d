package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

// Whoever connects may say anything about whom they speak for: only proxies that are trusted are believed.
func TestAnAddressThatSomebodyMakesUpMovesNoLimit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		proxies []string
		guesses int
	}{
		"nobody is trusted":        {nil, 10},
		"another proxy is trusted": {[]string{"10.0.0.0/8"}, 10},
		"the proxy is trusted":     {[]string{"127.0.0.0/8"}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apitest.Start(t, "", func(settings *api.Settings) { settings.Limits, settings.TrustedProxies = "on", tc.proxies })
			s.SignUp(t, "ann@example.com")
			guesses := 0
			for i := range 20 {
				from := fmt.Sprintf("203.0.113.%d", i+1)
				a := s.Do(t, "POST", "/auth/v1/token?grant_type=password", `{"email":"ann@example.com","password":"Wrong-pass-1"}`,
					"X-Forwarded-For: "+from, "X-Real-Ip: "+from, "Forwarded: for="+from, "Cf-Connecting-Ip: "+from, "True-Client-Ip: "+from)
				switch {
				case a.Status == http.StatusBadRequest:
					guesses++
				case a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "":
					t.Errorf("answered %d %v", a.Status, a.Header)
				}
			}
			if guesses != tc.guesses {
				t.Errorf("%d guesses were looked at, not %d", guesses, tc.guesses)
			}
		})
	}
}
