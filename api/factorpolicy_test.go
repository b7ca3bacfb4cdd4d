package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
)

// TestPoliciesSeeWhetherASecondFactorWasProved is what applications build on levels of assurance.
func TestPoliciesSeeWhetherASecondFactorWasProved(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, `
		create table public.vault (id integer primary key, note text);
		insert into public.vault values (1, 'behind the second factor');
		alter table public.vault enable row level security;
		create policy "proved" on public.vault as restrictive for all to authenticated
		using ((select auth.jwt()->>'aal') = 'aal2');
		create policy "any" on public.vault for all to authenticated using (true);
		grant all on public.vault to authenticated;
	`, nil)
	bearer, _ := s.SignUp(t, "careful@example.com")
	rows := func(bearer string) int {
		t.Helper()
		var list []json.RawMessage
		a := s.Do(t, "GET", "/rest/v1/vault", "", bearer)
		if a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		a.JSON(t, &list)
		return len(list)
	}
	if n := rows(bearer); n != 0 {
		t.Errorf("%d rows without a second factor", n)
	}
	var enrolled struct {
		ID   string
		TOTP struct{ Secret string }
	}
	s.Do(t, "POST", "/auth/v1/factors", `{"factor_type":"totp","friendly_name":"app"}`, bearer).JSON(t, &enrolled)
	var challenge struct{ ID string }
	s.Do(t, "POST", "/auth/v1/factors/"+enrolled.ID+"/challenge", `{}`, bearer).JSON(t, &challenge)
	code, err := totp.GenerateCode(enrolled.TOTP.Secret, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var session struct {
		AccessToken string `json:"access_token"`
	}
	a := s.Do(t, "POST", "/auth/v1/factors/"+enrolled.ID+"/verify", fmt.Sprintf(`{"challenge_id":%q,"code":%q}`, challenge.ID, code), bearer)
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	a.JSON(t, &session)
	if n := rows("Authorization: Bearer " + session.AccessToken); n != 1 {
		t.Errorf("%d rows with the second factor", n)
	}
	if n := rows(bearer); n != 0 {
		t.Errorf("%d rows with the token from before", n)
	}
}

func TestAStartWithAnotherEncryptionKeySaysWhatCannotBeDone(t *testing.T) {
	t.Parallel()
	first, second := strings.Repeat("first-key", 5), strings.Repeat("second-key", 5)
	s := apitest.Start(t, "", func(settings *api.Settings) { settings.EncryptionKey = auth.Secret(first) })
	bearer, _ := s.SignUp(t, "user@example.com")
	enroll := func(on *apitest.Server, name string) int {
		return on.Do(t, "POST", "/auth/v1/factors", fmt.Sprintf(`{"factor_type":"totp","friendly_name":%q}`, name), bearer).Status
	}
	if status := enroll(s, "a"); status != 200 {
		t.Fatalf("enrolment: %d", status)
	}
	settings := apitest.Settings(t, s.Database.URL)
	settings.EncryptionKey = auth.Secret(second)
	wrong := apitest.Over(t, s.Database, settings)
	if log := wrong.Log.String(); !strings.Contains(log, "second factors cannot be verified") || strings.Contains(log, second) {
		t.Errorf("the log is %s", log)
	}
	if status := enroll(wrong, "b"); status != 500 {
		t.Errorf("enrolment without the key: %d", status)
	}
	settings.EncryptionKey = auth.Secret(second + "," + first)
	both := apitest.Over(t, s.Database, settings)
	if log := both.Log.String(); strings.Contains(log, "second factors cannot be verified") {
		t.Errorf("the log is %s", log)
	}
	if status := enroll(both, "c"); status != 200 {
		t.Errorf("enrolment with both keys: %d", status)
	}
}
