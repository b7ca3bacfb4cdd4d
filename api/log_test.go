package api_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"basalt/api"
	"basalt/api/apitest"
)

func TestTheLogHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	const canary = "canary-of-a-secret-0123456789"
	s := apitest.Start(t, things+`
create function fails(p text) returns void language plpgsql as $$ begin raise sqlstate 'XX000' using message = 'broken'; end $$;`,
		func(s *api.Settings) { s.LogLevel = "debug" })
	signed, _ := s.SignUp(t, "a@example.com")
	userToken := strings.TrimPrefix(signed, "Authorization: Bearer ")
	var session struct {
		RefreshToken string `json:"refresh_token"`
	}
	s.Do(t, "POST", "/auth/v1/token?grant_type=password", `{"email":"a@example.com","password":"correct horse battery"}`).JSON(t, &session)
	for _, request := range []struct {
		method, path, body string
		headers            []string
	}{
		{"GET", "/rest/v1/thing?apikey=" + s.Keys.AnonKey, "", []string{"Apikey:"}},
		{"GET", "/rest/v1/thing?name=eq." + canary, "", nil},
		{"GET", "/rest/v1/thing?id=eq." + canary, "", nil},
		{"GET", "/rest/v1/thing?nonsense=" + canary, "", nil},
		{"GET", "/rest/v1/thing", "", []string{"Authorization: Bearer " + canary}},
		{"GET", "/rest/v1/thing", "", []string{"Authorization: Bearer a." + canary + ".c"}},
		{"GET", "/rest/v1/thing", "", []string{"Authorization: Basic " + canary, "Cookie: session=" + canary, "X-Own: " + canary, "Referer: http://x/?t=" + canary, "User-Agent: " + canary}},
		{"GET", "/rest/v1/thing", "", []string{signed}},
		{"GET", "/rest/v1/thing", "", []string{s.Service()}},
		{"POST", "/rest/v1/thing", `{"id":8,"name":"` + canary + `"}`, nil},
		{"POST", "/rest/v1/thing", `{"id":8,"name":"` + canary + `"}`, nil}, // taken
		{"POST", "/rest/v1/thing", `{"id":"` + canary + `"}`, nil},
		{"POST", "/rest/v1/rpc/fails", `{"p":"` + canary + `"}`, nil},
		{"POST", "/auth/v1/signup", `{"email":"b@example.com","password":"` + canary + `"}`, nil},
		{"POST", "/auth/v1/token?grant_type=password", `{"email":"b@example.com","password":"` + canary + `"}`, nil},
		{"POST", "/auth/v1/token?grant_type=password", `{"email":"b@example.com","password":"wrong ` + canary + `"}`, nil},
		{"POST", "/auth/v1/token?grant_type=refresh_token", `{"refresh_token":"` + canary + `"}`, nil},
		{"POST", "/auth/v1/token?grant_type=refresh_token", `{"refresh_token":"` + session.RefreshToken + `"}`, nil},
		{"GET", "/auth/v1/verify?token=" + canary, "", nil},
		{"GET", "/nowhere?token=" + canary, "", nil},
		{"PUT", "/auth/v1/user", `{"password":"new ` + canary + `"}`, []string{signed}},
		{"POST", "/auth/v1/signup", `{"email":"` + canary, nil},
	} {
		s.Do(t, request.method, request.path, request.body, request.headers...)
	}
	s.Stop(t)
	log := s.Log.String()
	if lines := strings.Count(log, `"message":"request"`); lines < 22 {
		t.Errorf("only %d requests are in the log", lines)
	}
	for name, secret := range map[string]string{
		"a value": canary, "the service key": s.Keys.ServiceKey.Reveal(), "the JWT secret": s.Keys.Secret.Reveal(), "a user's token": userToken,
		"a refresh token": session.RefreshToken, "a password": "correct horse battery", "the signature of a key": s.Keys.AnonKey[strings.LastIndex(s.Keys.AnonKey, "."):],
	} {
		if at := strings.Index(log, secret); secret != "" && at >= 0 {
			t.Errorf("the log shows %s: …%s…", name, log[max(0, at-200):min(len(log), at+60)])
		}
	}
}

func TestEachLineOfTheLogIsOneLine(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, nil)
	for _, path := range []string{
		"/rest/v1/a%0d%0a%7b%22level%22:%22error%22,%22message%22:%22forged%22%7d", "/rest/v1/%1b%5b31mred", "/%0aforged", "/rest/v1/%22,%22status%22:200,%22x%22:%22", "/rest/v1/%e2%80%a8%c2%85line",
	} {
		s.Do(t, "GET", path, "", "User-Agent: a\tb", "X-Forwarded-For: forged")
	}
	s.Stop(t)
	for line := range strings.Lines(s.Log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("no JSON: %q", line)
			continue
		}
		if entry["message"] == "forged" || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\r\n") {
			t.Errorf("forged: %q", line)
		}
		if ip, ok := entry["ip"]; ok && ip != "127.0.0.1" {
			t.Errorf("a client chooses its address: %v", ip)
		}
	}
}

func TestConsoleLinesAreLinesToo(t *testing.T) {
	t.Parallel()
	file, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	settings := api.Defaults()
	settings.LogFormat = "console"
	log := api.NewLoggerForTest(&settings, file)
	log.Info().Str("path", "/a\r\n12:00:00 ERR forged\x1b[31m").Str("ip", "1.2.3.4").Msg("request")
	log.Close()
	text, err := os.ReadFile(file.Name())
	if err != nil || strings.Count(string(text), "\n") != 1 || strings.ContainsAny(strings.TrimSuffix(string(text), "\n"), "\r\x1b") {
		t.Errorf("%q %v", text, err)
	}
}

func TestTrustedProxiesTellTheAddress(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, things, func(s *api.Settings) { s.TrustedProxies = []string{"127.0.0.0/8", "10.0.0.0/8"} })
	s.Do(t, "GET", "/rest/v1/thing", "", "X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.1.2.3", "X-Request-Id: forwarded")
	s.Do(t, "GET", "/rest/v1/thing", "", "X-Real-Ip: 6.6.6.6", "Forwarded: for=6.6.6.6", "X-Request-Id: otherwise")
	s.Stop(t)
	for line := range strings.Lines(s.Log.String()) {
		if strings.Contains(line, "forwarded") && !strings.Contains(line, `"ip":"203.0.113.7"`) || strings.Contains(line, "otherwise") && !strings.Contains(line, `"ip":"127.0.0.1"`) {
			t.Errorf("%s", line)
		}
	}
}

func TestLogSinkThatBlocksCostsLinesOnly(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	settings := api.Defaults()
	settings.LogFormat = "json"
	log := api.NewLoggerForTest(&settings, writer)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 50_000 {
			log.Info().Str("path", strings.Repeat("x", 100)).Msg("request")
		}
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("a log that nobody reads stops the requests")
	}
	reader.Close()
	apitest.Until(t, "the lost lines are counted", func() bool { return log.Dropped() > 0 })
	log.Close()
	writer.Close()
}
