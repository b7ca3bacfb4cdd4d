package admin_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth/administrator"
)

func TestAnAdministratorSignsInAndOut(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	b := &browser{s: s}
	b.want(t, http.StatusUnauthorized, `"signed_out"`, "GET", "/session", "")
	b.want(t, http.StatusOK, `"role":"owner"`, "POST", "/session", credentials(" Ada@Example.com ", ""))
	var body struct {
		Administrator struct{ Email, Role string }
		Server        struct {
			APIURL     string `json:"api_url"`
			Version    string
			Production bool
		}
	}
	b.want(t, http.StatusOK, "", "GET", "/session", "").JSON(t, &body)
	if body.Administrator.Email != "ada@example.com" || body.Server.APIURL != s.URL || body.Server.Version != "test" || body.Server.Production {
		t.Errorf("%+v", body)
	}
	token := b.cookie
	b.want(t, http.StatusNoContent, "", "DELETE", "/session", "")
	if b.cookie != "" {
		t.Error("the cookie stays")
	}
	b.cookie = token
	b.want(t, http.StatusUnauthorized, `"signed_out"`, "GET", "/session", "")
}

func TestASignInIsRefused(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	if _, _, err := rules(s).Invite(t.Context(), administrator.Shell(), "eve@example.com", administrator.Owner); err != nil {
		t.Fatal(err)
	}
	b := &browser{s: s}
	unknown := b.want(t, http.StatusUnauthorized, `"invalid_credentials"`, "POST", "/session", credentials("nobody@example.com", "")).Body
	for name, body := range map[string]string{
		"with another password":      `{"email":"ada@example.com","password":"wrong horse battery"}`,
		"with no password":           `{"email":"ada@example.com","password":""}`,
		"with a password of 1 MB":    `{"email":"ada@example.com","password":"` + strings.Repeat("a", 1000000) + `"}`,
		"with no address":            `{"email":"","password":"x"}`,
		"with an address that is no": `{"email":"\u0000","password":"x"}`,
		"before they have joined":    credentials("eve@example.com", ""),
		"before, without a password": `{"email":"eve@example.com","password":""}`,
	} {
		if answer := b.want(t, http.StatusUnauthorized, "", "POST", "/session", body); answer.Body != unknown {
			t.Errorf("%s the answer differs: %s", name, answer.Body)
		}
	}
	for name, test := range map[string]struct {
		body   string
		status int
	}{
		"a list":           {`[]`, http.StatusBadRequest},
		"a field too many": {`{"email":"a@b.c","password":"x","role":"owner"}`, http.StatusBadRequest},
		"two objects":      {`{"email":"a@b.c","password":"x"}{}`, http.StatusBadRequest},
		"no object":        {``, http.StatusBadRequest},
		"no UTF-8":         {"{\"email\":\"\xff\"}", http.StatusBadRequest},
		"a number":         {`{"email":7,"password":"x"}`, http.StatusBadRequest},
		"too much":         {`{"email":"` + strings.Repeat("a", 2<<20) + `"}`, http.StatusRequestEntityTooLarge},
	} {
		if answer := b.do(t, "POST", "/session", test.body); answer.Status != test.status {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
	}
	b.headers = []string{"Content-Type: text/plain"}
	b.want(t, http.StatusUnsupportedMediaType, `"content_type"`, "POST", "/session", credentials("ada@example.com", ""))
	if strings.Contains(s.Log.String(), "horse") {
		t.Error("a password is in the log")
	}
}

func TestCookiesFitTheirTransport(t *testing.T) {
	t.Parallel()
	proxied := apitest.Start(t, "", func(settings *api.Settings) { settings.TrustedProxies = []string{"127.0.0.0/8"} })
	plain := apitest.Start(t, "", nil)
	for _, test := range []struct {
		name    string
		s       *apitest.Server
		headers []string
		want    string
	}{
		{"over HTTP", plain, nil, "basalt_admin=%; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict"},
		{"over HTTP from somebody who says he is a proxy", plain, []string{"X-Forwarded-Proto: https"}, "basalt_admin=%; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict"},
		{"over HTTP through a proxy", proxied, []string{"X-Forwarded-Proto: http"}, "basalt_admin=%; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict"},
		{"over TLS to a proxy", proxied, []string{"X-Forwarded-Proto: https"}, "__Host-basalt_admin=%; Path=/; Max-Age=604800; HttpOnly; Secure; SameSite=Strict"},
	} {
		t.Run(test.name, func(t *testing.T) {
			email := fmt.Sprintf("ada-%d@example.com", len(test.name))
			hire(t, test.s, email, administrator.Viewer)
			b := &browser{s: test.s, headers: test.headers}
			set := b.want(t, http.StatusOK, "", "POST", "/session", credentials(email, "")).Header.Get("Set-Cookie")
			_, value, _ := strings.Cut(b.cookie, "=")
			if len(value) != 43 || strings.Replace(set, value, "%", 1) != test.want {
				t.Errorf("the cookie is %s", set)
			}
			b.want(t, http.StatusOK, "", "GET", "/session", "")
			// What was set without TLS counts for nothing over TLS: whoever is between may have set it.
			if strings.HasPrefix(b.cookie, "__Host-") {
				b.cookie = "basalt_admin=" + value
				b.want(t, http.StatusUnauthorized, "", "GET", "/session", "")
			}
		})
	}
}

func TestTheCookieIsSecureAtAPublicAddressWithTLS(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Viewer)
	settings := apitest.Settings(t, s.Database.URL)
	settings.PublicURL = "https://api.example.com"
	settings.Listen = freeAddress(t)
	public := apitest.Over(t, s.Database, settings)
	request, err := http.NewRequest("POST", "http://"+settings.Listen+"/admin/api/session", strings.NewReader(credentials("ada@example.com", "")))
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "api.example.com"
	for name, value := range map[string]string{"Content-Type": "application/json", "X-Basalt-Dashboard": "1", "Origin": "https://api.example.com"} {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if set := response.Header.Get("Set-Cookie"); response.StatusCode != http.StatusOK || !strings.HasPrefix(set, "__Host-basalt_admin=") || !strings.Contains(set, "; Secure") {
		t.Errorf("%d, the cookie is %s", response.StatusCode, set)
	}
	public.Stop(t)
}

func TestASessionThatWasPlantedEndsWithTheSignIn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "mallory@example.com", administrator.Viewer)
	hire(t, s, "ada@example.com", administrator.Owner)
	mallory := enter(t, s, "mallory@example.com")
	victim := &browser{s: s, cookie: mallory.cookie} // planted
	victim.want(t, http.StatusOK, `"owner"`, "POST", "/session", credentials("ada@example.com", ""))
	if victim.cookie == mallory.cookie {
		t.Error("the planted token goes on")
	}
	mallory.want(t, http.StatusUnauthorized, `"signed_out"`, "GET", "/session", "")
	victim.want(t, http.StatusOK, `"ada@example.com"`, "GET", "/session", "")

	// A token that nobody has given out does not become one.
	made := &browser{s: s, cookie: "basalt_admin=chosen-by-somebody-else"}
	made.want(t, http.StatusOK, "", "POST", "/session", credentials("ada@example.com", ""))
	if strings.Contains(made.cookie, "chosen") {
		t.Error("a token that was made up is taken")
	}

	// With more power comes another token.
	before := *victim
	victim.want(t, http.StatusOK, "", "POST", "/session/elevate", `{"password":"`+secret+`"}`)
	before.want(t, http.StatusUnauthorized, `"signed_out"`, "GET", "/session", "")
	victim.want(t, http.StatusOK, "", "GET", "/session", "")
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	for i, test := range []struct {
		name, sql string
		good      bool
	}{
		{"used a while ago", `update basalt.administrator_sessions s set last_seen_at = now() - interval '11 hours 59 minutes'`, true},
		{"left for half a day", `update basalt.administrator_sessions s set last_seen_at = now() - interval '12 hours 1 second'`, false},
		{"a week old", `update basalt.administrator_sessions s set expires_at = now()`, false},
		{"killed in the database", `delete from basalt.administrator_sessions s`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			email := fmt.Sprintf("ada-%d@example.com", i)
			a := hire(t, s, email, administrator.Viewer)
			b := enter(t, s, email)
			if _, err := s.Database.Pool.Exec(t.Context(), test.sql+` where s.administrator_id = $1`, a.ID); err != nil {
				t.Fatal(err)
			}
			status := http.StatusUnauthorized
			if test.good {
				status = http.StatusOK
			}
			b.want(t, status, "", "GET", "/session", "")
			b.want(t, status, "", "GET", "/session", "")
		})
	}
	t.Run("and no row of a session holds its token", func(t *testing.T) {
		hire(t, s, "eve@example.com", administrator.Viewer)
		b := enter(t, s, "eve@example.com")
		_, value, _ := strings.Cut(b.cookie, "=")
		var rows string
		if err := s.Database.Pool.QueryRow(t.Context(), `select string_agg(s::text, ' ') from basalt.administrator_sessions s`).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(rows, value) || strings.Contains(rows, fmt.Sprintf("%x", value)) || strings.Contains(s.Log.String(), value) {
			t.Error("the token is kept as it is")
		}
	})
}

type ownSession struct {
	ID        string
	Current   bool
	UserAgent string `json:"user_agent"`
	IP        string
}

func sessionsOf(t *testing.T, b *browser) []ownSession {
	t.Helper()
	var body struct{ Sessions []ownSession }
	b.want(t, http.StatusOK, "", "GET", "/sessions", "").JSON(t, &body)
	return body.Sessions
}

func TestOwnSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Viewer)
	hire(t, s, "bob@example.com", administrator.Owner)
	here, there, third, bob := enter(t, s, "ada@example.com"), enter(t, s, "ada@example.com"), enter(t, s, "ada@example.com"), enter(t, s, "bob@example.com")
	list := sessionsOf(t, there)
	if len(list) != 3 {
		t.Fatalf("%+v", list)
	}
	for _, session := range list {
		if session.IP != "127.0.0.1" || !strings.HasPrefix(session.UserAgent, "Go-http-client") {
			t.Errorf("%+v", session)
		}
		if session.Current {
			bob.want(t, http.StatusNotFound, `"not_found"`, "DELETE", "/sessions/"+session.ID, "")
			here.want(t, http.StatusNoContent, "", "DELETE", "/sessions/"+session.ID, "")
			here.want(t, http.StatusNotFound, "", "DELETE", "/sessions/"+session.ID, "")
		}
	}
	there.want(t, http.StatusUnauthorized, "", "GET", "/session", "")
	here.want(t, http.StatusOK, `{"ended":1}`, "DELETE", "/sessions", "")
	third.want(t, http.StatusUnauthorized, "", "GET", "/session", "")
	bob.want(t, http.StatusOK, "", "GET", "/session", "")
	here.want(t, http.StatusBadRequest, `"bad_id"`, "DELETE", "/sessions/7", "")
}

func TestGuessingIsSlowedDownAndLocksNobodyElseOut(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", func(settings *api.Settings) {
		limited(settings)
		settings.TrustedProxies = []string{"127.0.0.0/8"}
	})
	hire(t, s, "ada@example.com", administrator.Owner)
	thief := &browser{s: s, headers: []string{"X-Forwarded-For: 203.0.113.7"}}
	for _, email := range []string{"ada@example.com", "nobody@example.com"} {
		refused := 0
		for range 12 {
			answer := thief.do(t, "POST", "/session", fmt.Sprintf(`{"email":%q,"password":"wrong"}`, email))
			if answer.Status != http.StatusTooManyRequests {
				continue
			}
			refused++
			if after, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || after < 1 || after > 3600 {
				t.Errorf("Retry-After is %q", answer.Header.Get("Retry-After"))
			}
			if !strings.Contains(answer.Body, `"rate_limited"`) {
				t.Errorf("%s", answer.Body)
			}
		}
		if refused == 0 {
			t.Errorf("none of 12 guesses at %s is refused", email)
		}
	}
	// The right password opens nothing to whom has guessed too often, not even by the way.
	thief.want(t, http.StatusTooManyRequests, "", "POST", "/session", credentials("ada@example.com", ""))
	ada := &browser{s: s, headers: []string{"X-Forwarded-For: 198.51.100.9"}}
	ada.want(t, http.StatusOK, "", "POST", "/session", credentials("ada@example.com", ""))
}

func TestASiegeFromEverywhereLocksNobodyOutWhereTheyAreAtHome(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", func(settings *api.Settings) {
		limited(settings)
		settings.TrustedProxies = []string{"127.0.0.0/8"}
	})
	hire(t, s, "ada@example.com", administrator.Owner)
	home := &browser{s: s, headers: []string{"X-Forwarded-For: 198.51.100.9"}}
	home.want(t, http.StatusOK, "", "POST", "/session", credentials("ada@example.com", ""))
	if _, err := s.Database.Pool.Exec(t.Context(), `update basalt.rate_limits set hits = 100 where key like 'admin_siege:%'`); err != nil {
		t.Fatal(err)
	}
	abroad := &browser{s: s, headers: []string{"X-Forwarded-For: 203.0.113.7"}}
	abroad.want(t, http.StatusTooManyRequests, "", "POST", "/session", credentials("ada@example.com", ""))
	home.want(t, http.StatusOK, "", "POST", "/session", credentials("ada@example.com", ""))
}

func TestElevationRunsOutAndIsGivenForAProof(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", limited)
	hire(t, s, "ada@example.com", administrator.Owner)
	b := enter(t, s, "ada@example.com")
	b.want(t, http.StatusCreated, "", "POST", "/administrators", `{"email":"bob@example.com","role":"viewer"}`) // a sign-in is a proof
	if _, err := s.Database.Pool.Exec(t.Context(), `update basalt.administrator_sessions set elevated_until = now()`); err != nil {
		t.Fatal(err)
	}
	for _, route := range [][3]string{
		{"POST", "/administrators", `{"email":"c@example.com","role":"viewer"}`}, {"POST", "/me/totp", ""}, {"DELETE", "/me/totp", ""},
		{"POST", "/me/passkeys/options", ""},
	} {
		b.want(t, http.StatusForbidden, `"elevation_needed"`, route[0], route[1], route[2])
	}
	b.want(t, http.StatusBadRequest, "", "POST", "/session/elevate", `{}`)
	b.want(t, http.StatusBadRequest, "", "POST", "/session/elevate", `{"password":"x","code":"y"}`)
	b.want(t, http.StatusUnauthorized, `"invalid_credentials"`, "POST", "/session/elevate", `{"code":"123456"}`)
	b.want(t, http.StatusOK, "", "POST", "/session/elevate", `{"password":"`+secret+`"}`)
	b.want(t, http.StatusCreated, "", "POST", "/administrators", `{"email":"c@example.com","role":"viewer"}`)
	refused := 0
	for range 12 {
		if b.do(t, "POST", "/session/elevate", `{"password":"wrong"}`).Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("none of 12 guesses is refused")
	}
	b.want(t, http.StatusOK, "", "GET", "/session", "") // the session itself goes on
}
