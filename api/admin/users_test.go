package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"basalt/api/apitest"
	"basalt/auth/administrator"
)

type userPage struct {
	Users []struct{ ID, Email string }
	Next  string
}

// staff are an editor and a viewer of a server.
func staff(t *testing.T, s *apitest.Server) (edits, views *browser) {
	t.Helper()
	hire(t, s, "ed@example.com", administrator.Editor)
	hire(t, s, "vi@example.com", administrator.Viewer)
	return enter(t, s, "ed@example.com"), enter(t, s, "vi@example.com")
}

func TestUsersAreListedInPagesAndFound(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	_, b := staff(t, s)
	s.Database.Exec(t, `
insert into auth.users (id, email, created_at, banned_until, is_anonymous, email_confirmed_at, is_sso_user)
select gen_random_uuid(), 'u' || lpad(n::text, 3, '0') || '_x@example.com', case when n > 5 then now() - n * interval '1 minute' end,
  case when n = 7 then now() + interval '1 day' when n = 8 then now() - interval '1 day' end, n = 9, case when n % 2 = 0 then now() end, n = 10
from generate_series(1, 23) as n;
insert into auth.users (id, phone, created_at) values (gen_random_uuid(), '4915112345678', now());
insert into auth.identities (provider_id, user_id, identity_data, provider)
select id::text, id, '{}', case when email like 'u011%' then 'github' else 'email' end from auth.users where email is not null`)
	seen := map[string]bool{}
	for after, pages := "", 0; ; pages++ {
		var page userPage
		b.want(t, http.StatusOK, "", "GET", "/users?limit=5&after="+after, "").JSON(t, &page)
		for _, u := range page.Users {
			if seen[u.ID] {
				t.Errorf("%s is listed twice", u.Email)
			}
			seen[u.ID] = true
		}
		if after = page.Next; after == "" || pages > 10 {
			break
		}
	}
	if len(seen) != 24 {
		t.Errorf("%d of 24 are listed", len(seen))
	}
	for query, want := range map[string]int{
		"search=u00": 9, "search=U001_x": 1, "search=u00%25": 0, "search=u001-x": 0, "search=%2B49151": 1, "search=nobody": 0, "search=%00": 0,
		"banned=true": 1, "banned=false": 23, "anonymous=true": 1, "sso=true": 1, "provider=github": 1, "provider=none": 0,
		"confirmed=true": 11, "confirmed=false": 13, "search=u01&confirmed=true": 5,
	} {
		var page userPage
		b.want(t, http.StatusOK, "", "GET", "/users?"+query, "").JSON(t, &page)
		if len(page.Users) != want {
			t.Errorf("%s finds %d, not %d", query, len(page.Users), want)
		}
	}
	for id := range seen {
		var page userPage
		b.want(t, http.StatusOK, "", "GET", "/users?search="+id, "").JSON(t, &page)
		if len(page.Users) != 1 || page.Users[0].ID != id {
			t.Errorf("%s is not found by its id", id)
		}
		break
	}
	b.want(t, http.StatusOK, `"count":24,"exact":true,"providers":["email","github"],"mails":false`, "GET", "/users/summary", "")
	for _, query := range []string{"limit=0", "limit=x", "after=x", "after=99999999999999999999.x", "banned=maybe", "after=" + url.QueryEscape("9.9")} {
		b.want(t, http.StatusBadRequest, `"bad_parameter"`, "GET", "/users?"+query, "")
	}
}

func TestAnEditorManagesAUserAndEachChangeIsWrittenDown(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	b, v := staff(t, s)
	const body = `{"email":"Ann@example.com","password":"a very long password","user_metadata":"{\"n\":12345678901234567890,\"gone\":1}"}`
	v.want(t, http.StatusForbidden, `"role_too_low"`, "POST", "/users", body)
	var ann struct{ ID string }
	b.want(t, http.StatusCreated, `"email":"ann@example.com"`, "POST", "/users", body).JSON(t, &ann)
	b.want(t, http.StatusUnprocessableEntity, `"email_exists"`, "POST", "/users", body)
	b.want(t, http.StatusBadRequest, `"validation_failed"`, "POST", "/users", `{}`)
	path := "/users/" + ann.ID
	v.want(t, http.StatusOK, `12345678901234567890`, "GET", path, "")
	v.want(t, http.StatusForbidden, `"role_too_low"`, "PATCH", path, `{"email":"x@example.com"}`)

	changed := b.want(t, http.StatusOK, `"plan`, "PATCH", path, `{"user_metadata":"{\"n\":12345678901234567890}","app_metadata":"{\"plan\":\"pro\"}","email_confirm":true,"phone":"+4915112345678"}`)
	if strings.Contains(changed.Body, "gone") || strings.Contains(changed.Body, `"email_confirmed_at":null`) {
		t.Errorf("changed to %s", changed.Body)
	}
	b.want(t, http.StatusUnprocessableEntity, "must be a JSON object", "PATCH", path, `{"user_metadata":"[1]"}`)
	b.want(t, http.StatusUnprocessableEntity, "must be a JSON object", "PATCH", path, `{"app_metadata":"{"}`)
	b.want(t, http.StatusUnprocessableEntity, `"weak_password"`, "PATCH", path, `{"password":"12345678"}`)
	b.want(t, http.StatusBadRequest, `"validation_failed"`, "PATCH", path, `{"ban_duration":"a while"}`)
	b.want(t, http.StatusOK, `"banned_until":"2`, "PATCH", path, `{"ban_duration":"24h"}`)
	b.want(t, http.StatusOK, `"banned_until":null`, "PATCH", path, `{"ban_duration":"none"}`)
	b.want(t, http.StatusOK, "", "PATCH", path, `{"password":"another long password"}`)

	b.want(t, http.StatusNoContent, "", "POST", path+"/send", `{"kind":"recovery"}`)
	b.want(t, http.StatusConflict, `"confirmed"`, "POST", path+"/send", `{"kind":"confirmation"}`)
	b.want(t, http.StatusUnprocessableEntity, `"validation_failed"`, "POST", path+"/send", `{"kind":"x"}`)
	link := b.want(t, http.StatusOK, `/auth/v1/verify?`, "POST", path+"/link", `{"type":"magiclink"}`)
	b.want(t, http.StatusUnprocessableEntity, `"validation_failed"`, "POST", path+"/link", `{"type":"signup"}`)
	v.want(t, http.StatusForbidden, `"role_too_low"`, "POST", path+"/link", `{"type":"magiclink"}`)
	b.want(t, http.StatusCreated, `"bob@example.com"`, "POST", "/users/invite", `{"email":"bob@example.com"}`)

	b.want(t, http.StatusNoContent, "", "DELETE", path, "")
	b.want(t, http.StatusNotFound, `"user_not_found"`, "DELETE", path, "")
	b.want(t, http.StatusNotFound, `"user_not_found"`, "GET", path, "")

	rows, err := s.Database.Pool.Query(t.Context(), `select action, coalesce(before::text, '') || coalesce(after::text, '') from basalt.administrator_audit where action like 'user.%' order by id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var actions []string
	for rows.Next() {
		var action, states string
		if err := rows.Scan(&action, &states); err != nil {
			t.Fatal(err)
		}
		actions = append(actions, action)
		for _, hidden := range []string{"long password", "$argon2", "token="} {
			if strings.Contains(states, hidden) {
				t.Errorf("%s tells %s", action, hidden)
			}
		}
	}
	want := "[user.create user.update user.ban user.unban user.update user.send user.link user.invite user.delete]"
	if fmt.Sprint(actions) != want {
		t.Errorf("written down: %v", actions)
	}
	if strings.Contains(s.Log.String(), "long password") || strings.Contains(link.Body, "long password") {
		t.Error("a password is in the log")
	}
}

func TestSessionsOfAUserAreListedAndEnded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	b, v := staff(t, s)
	_, id := s.SignUp(t, "ann@example.com")
	var list struct{ Sessions []struct{ ID string } }
	v.want(t, http.StatusOK, "", "GET", "/users/"+id+"/sessions", "").JSON(t, &list)
	if len(list.Sessions) != 1 {
		t.Fatalf("%d sessions", len(list.Sessions))
	}
	one := "/users/" + id + "/sessions/" + list.Sessions[0].ID
	v.want(t, http.StatusForbidden, `"role_too_low"`, "DELETE", one, "")
	b.want(t, http.StatusNoContent, "", "DELETE", one, "")
	b.want(t, http.StatusForbidden, `"session_not_found"`, "DELETE", one, "")
	b.want(t, http.StatusBadRequest, `"bad_id"`, "DELETE", "/users/"+id+"/sessions/x", "")
	b.want(t, http.StatusNoContent, "", "DELETE", "/users/"+id+"/sessions", "")
	b.want(t, http.StatusNotFound, `"mfa_factor_not_found"`, "DELETE", "/users/"+id+"/factors/"+id, "")
	v.want(t, http.StatusOK, `"action":"user_signedup"`, "GET", "/users/"+id+"/audit", "")
}

func TestAMailIsReadAsItsReaderGetsItAndCanDoNothing(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	b, v := staff(t, s)
	b.want(t, http.StatusCreated, "", "POST", "/users/invite", `{"email":"bob@example.com"}`)
	var list struct {
		Mails    bool
		Messages []struct{ ID, Link string }
	}
	v.want(t, http.StatusForbidden, `"role_too_low"`, "GET", "/outbox", "")
	b.want(t, http.StatusOK, `"state":"held"`, "GET", "/outbox", "").JSON(t, &list)
	if list.Mails || len(list.Messages) != 1 {
		t.Fatalf("%+v", list)
	}
	path := "/outbox/" + list.Messages[0].ID
	var letter struct {
		Subject, Text string
		HTML          bool
	}
	b.want(t, http.StatusOK, "", "GET", path, "").JSON(t, &letter)
	if letter.Subject == "" || !letter.HTML || !strings.Contains(letter.Text, list.Messages[0].Link) {
		t.Errorf("%+v", letter)
	}
	drawn := b.want(t, http.StatusOK, "<", "GET", path+"/html", "")
	policy := drawn.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "sandbox") || strings.Contains(policy, "script") || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
	b.want(t, http.StatusConflict, `"not_retried"`, "POST", path+"/retry", "")
	b.want(t, http.StatusNoContent, "", "DELETE", path, "")
	for _, gone := range []string{path, path + "/html"} {
		b.want(t, http.StatusNotFound, `"message_not_found"`, "GET", gone, "")
	}
}
