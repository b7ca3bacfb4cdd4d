package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"basalt/api/apitest"
	"basalt/auth/administrator"
)

// withApp signs somebody in and sets up an authenticator app. It gives the recovery codes, and a code of the app.
func withApp(t *testing.T, s *apitest.Server, email string) (b *browser, recovery []string, code string) {
	t.Helper()
	b = enter(t, s, email)
	var drawn struct{ Secret string }
	b.want(t, http.StatusOK, "", "POST", "/me/totp", "").JSON(t, &drawn)
	first, code := codes(t, drawn.Secret)
	var made struct{ Codes []string }
	b.want(t, http.StatusOK, "", "POST", "/me/totp/verify", `{"code":"`+first+`"}`).JSON(t, &made)
	return b, made.Codes, code
}

func TestRecoveryCodesStandInForTheAppEachOnce(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	hire(t, s, "bob@example.com", administrator.Viewer)
	ada, made, code := withApp(t, s, "ada@example.com")
	if len(made) != 10 {
		t.Fatalf("%d codes", len(made))
	}
	ada.want(t, http.StatusOK, `"recovery_codes":10`, "GET", "/session", "")
	with := func(code string) string { return credentials("ada@example.com", `,"code":"`+code+`"`) }

	wantGoodOnce(t, s, with(made[0]))
	b := &browser{s: s}
	b.want(t, http.StatusUnauthorized, "used already", "POST", "/session", with(made[0]))
	b.want(t, http.StatusUnauthorized, `"invalid_credentials"`, "POST", "/session", `{"email":"ada@example.com","password":"wrong","code":"`+made[1]+`"}`)
	b.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/session", with(strings.Repeat("a", 16)))
	b.want(t, http.StatusOK, `"recovery_codes":8`, "POST", "/session", with(strings.ToUpper(made[1][:4]+"-"+made[1][4:8]+" "+made[1][8:])))
	b.want(t, http.StatusOK, `"recovery_codes":7`, "POST", "/session/elevate", `{"code":"`+made[2]+`"}`)
	b.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/session/elevate", `{"code":"`+made[2]+`"}`)
	ada.want(t, http.StatusOK, `"recovery_codes.use"`, "GET", "/audit?action=recovery_codes.use", "")
	ada.want(t, http.StatusOK, `"left":7`, "GET", "/audit?action=recovery_codes.use", "")

	// They are another administrator's no more than the app is.
	other, _, _ := withApp(t, s, "bob@example.com")
	other.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/session/elevate", `{"code":"`+made[3]+`"}`)

	var renewed struct{ Codes []string }
	b.want(t, http.StatusOK, "", "POST", "/me/recovery-codes", "").JSON(t, &renewed)
	b.want(t, http.StatusUnauthorized, `"code_invalid"`, "POST", "/session", with(made[4]))
	(&browser{s: s}).want(t, http.StatusOK, `"recovery_codes":10`, "POST", "/session", with(code)) // the app goes on as before
	(&browser{s: s}).want(t, http.StatusOK, `"recovery_codes":9`, "POST", "/session", with(renewed.Codes[0]))

	for _, each := range append(made, renewed.Codes...) {
		var kept int
		err := s.Database.Pool.QueryRow(t.Context(), `
select count(*)
from basalt.administrator_recovery_codes c
full join basalt.administrator_audit a on false
where concat(c::text, a::text) like '%' || $1 || '%'`, each).Scan(&kept)
		if err != nil || kept != 0 || strings.Contains(s.Log.String(), each) {
			t.Fatalf("a code is kept as it is, or logged: %d, %v", kept, err)
		}
	}

	ada.want(t, http.StatusNoContent, "", "DELETE", "/me/totp", "")
	ada.want(t, http.StatusOK, `"recovery_codes":0`, "GET", "/session", "")
	ada.want(t, http.StatusConflict, `"totp_missing"`, "POST", "/me/recovery-codes", "")
}

func TestRecoveryCodesNeedProofAndAreGuessedSlowly(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", limited)
	hire(t, s, "ada@example.com", administrator.Owner)
	ada, _, _ := withApp(t, s, "ada@example.com")
	s.Database.Exec(t, `update basalt.administrator_sessions set elevated_until = now() - interval '1 second'`)
	ada.want(t, http.StatusForbidden, `"elevation_needed"`, "POST", "/me/recovery-codes", "")
	refused := 0
	for range 12 {
		answer := (&browser{s: s}).do(t, "POST", "/session", credentials("ada@example.com", `,"code":"aaaaaaaaaaaaaaaa"`))
		if answer.Status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 {
		t.Error("none of 12 codes is refused")
	}
}
