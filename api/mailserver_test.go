package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/admin"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/mail/mailtest"
)

// storeSettings stores settings, null ones are forgotten, and gives the answer.
func storeSettings(t *testing.T, s *apitest.Server, headers []string, changes map[string]*string) *apitest.Answer {
	t.Helper()
	body, err := json.Marshal(admin.SettingChanges{Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	answer := s.Do(t, "PATCH", "/admin/api/settings", string(body), headers...)
	if answer.Status != http.StatusOK {
		t.Fatalf("store: %d %s", answer.Status, answer.Body)
	}
	return answer
}

// mailServerOf is the mail server that the dashboard tells of.
func mailServerOf(t *testing.T, answer *apitest.Answer) *admin.MailServerBody {
	t.Helper()
	var body admin.SettingsBody
	answer.JSON(t, &body)
	return body.MailServer
}

func TestAStoredMailServerCountsAtOnceInEveryProcess(t *testing.T) {
	t.Parallel()
	first, second := mailtest.Start(t, mailtest.Options{Plain: true}), mailtest.Start(t, mailtest.Options{Plain: true})
	here := apitest.Start(t, "", confirming(nil))
	settings := apitest.Settings(t, here.Database.URL)
	confirming(nil)(&settings)
	there := apitest.Over(t, here.Database, settings)
	owner := here.Administrator(t, administrator.Owner)
	held := func() (count int) {
		t.Helper()
		for _, m := range outboxOf(t, here) {
			if m.State == "held" {
				count++
			}
		}
		return count
	}
	mailDone := func(s *apitest.Server) bool {
		t.Helper()
		var overview admin.OverviewBody
		s.Do(t, "GET", "/admin/api/overview", "", owner...).JSON(t, &overview)
		return slices.ContainsFunc(overview.Steps, func(step admin.StepBody) bool { return step.Key == "mail" && step.Done })
	}

	signUp(t, here, "kept@example.com")
	if held() != 1 || mailDone(here) {
		t.Fatalf("without a mail server %d mails are kept", held())
	}

	from, url, other := "no-reply@mail.example", first.URL(), second.URL()
	answer := storeSettings(t, here, owner, map[string]*string{"smtp-url": &url, "mail-from": &from})
	if told := named(t, answer, "smtp-url"); told.Value != "set" || told.Source != "stored" || told.Waiting || !told.AtOnce {
		t.Errorf("stored: %+v", told)
	}
	if told := mailServerOf(t, answer); told == nil || told.Host != "127.0.0.1" || told.Security != "none" || told.Password {
		t.Errorf("told of it: %+v", told)
	}
	if !mailDone(here) {
		t.Error("the first screen does not know of it")
	}
	signUp(t, here, "ann@example.com")
	if got := first.Wait(t, 1)[0]; got.To[0] != "ann@example.com" {
		t.Errorf("it went to %v", got.To)
	}
	apitest.Until(t, "another process does not take it over", func() bool { return mailDone(there) })
	signUp(t, there, "bob@example.com")
	first.Wait(t, 2)

	storeSettings(t, there, owner, map[string]*string{"smtp-url": &other})
	signUp(t, there, "cyd@example.com")
	if got := len(second.Wait(t, 1)); got != 1 {
		t.Errorf("%d mails went by the other server", got)
	}
	apitest.Until(t, "the first process keeps the server before", func() bool {
		told := mailServerOf(t, here.Do(t, "GET", "/admin/api/settings", "", owner...))
		return told != nil && strings.HasSuffix(second.Address, fmt.Sprintf(":%d", told.Port))
	})
	signUp(t, here, "dan@example.com")
	second.Wait(t, 2)

	storeSettings(t, here, owner, map[string]*string{"smtp-url": nil, "mail-from": nil})
	signUp(t, here, "eve@example.com")
	if held() != 2 || mailDone(here) {
		t.Errorf("without a mail server again %d mails are kept, not 2", held())
	}
	if len(first.Received())+len(second.Received()) != 4 {
		t.Errorf("%d and %d mails were sent", len(first.Received()), len(second.Received()))
	}
}

func TestTheStoredMailServerIsToldWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	owner := s.Administrator(t, administrator.Owner)
	from := "no-reply@mail.example"
	for url, want := range map[string]admin.MailServerBody{
		"smtp://ada:s3cr3tword@mail.example":            {Host: "mail.example", Port: 587, Security: "starttls", User: "ada", Password: true},
		"smtps://mail.example:4650":                     {Host: "mail.example", Port: 4650, Security: "tls"},
		"smtps://one-token:one-token@[2001:db8::1]:465": {Host: "2001:db8::1", Port: 465, Security: "tls", Password: true}, // the user is the secret, too
	} {
		answer := storeSettings(t, s, owner, map[string]*string{"smtp-url": &url, "mail-from": &from})
		if told := mailServerOf(t, answer); told == nil || *told != want {
			t.Errorf("%s: %+v", url, told)
		}
		if strings.Contains(answer.Body, "s3cr3tword") || strings.Contains(answer.Body, "one-token") {
			t.Errorf("%s: %s", url, answer.Body)
		}
	}
}

func TestAMailServerThatIsGivenIsNotTold(t *testing.T) {
	t.Parallel()
	given := mailtest.Start(t, mailtest.Options{Plain: true})
	s := apitest.Start(t, "", func(set *api.Settings) {
		set.SMTPURL, set.MailFrom = auth.Secret(given.URL()), "no-reply@mail.example"
	})
	answer := s.Do(t, "GET", "/admin/api/settings", "", s.Administrator(t, administrator.Owner)...)
	if told := mailServerOf(t, answer); told != nil {
		t.Errorf("told of it: %+v", told)
	}
}
