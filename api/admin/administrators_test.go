package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"basalt/api/apitest"
	"basalt/auth/administrator"
)

type invitation struct {
	Administrator struct {
		ID     string
		Joined bool
	}
	Link string
}

// joinToken is the token of a link.
func joinToken(t *testing.T, s *apitest.Server, link string) string {
	t.Helper()
	token, found := strings.CutPrefix(link, s.URL+"/admin/join#token=")
	if !found {
		t.Fatalf("the link is %q", link)
	}
	return token
}

func join(token, password string) string {
	return fmt.Sprintf(`{"token":%q,"password":%q}`, token, password)
}

func TestAnAdministratorIsInvitedAndJoins(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	ada := enter(t, s, "ada@example.com")
	var invited invitation
	ada.want(t, http.StatusCreated, `"joined":false`, "POST", "/administrators", `{"email":"Bob@example.com","role":"editor"}`).JSON(t, &invited)
	for _, test := range []struct {
		body   string
		status int
		part   string
	}{
		{`{"email":"bob@example.com","role":"viewer"}`, http.StatusConflict, `"email_taken"`},
		{`{"email":"bob","role":"viewer"}`, http.StatusUnprocessableEntity, `"email_invalid"`},
		{`{"email":"c@example.com","role":"king"}`, http.StatusUnprocessableEntity, `"role_invalid"`},
		{`{"email":"c@example.com"}`, http.StatusUnprocessableEntity, `"role_invalid"`},
	} {
		ada.want(t, test.status, test.part, "POST", "/administrators", test.body)
	}
	token := joinToken(t, s, invited.Link)
	bob := &browser{s: s}
	bob.want(t, http.StatusForbidden, `"link_invalid"`, "POST", "/join", join("guess", secret))
	bob.want(t, http.StatusConflict, `"already_set_up"`, "POST", "/setup", setup(token, "eve@example.com")) // it is no set-up link
	bob.want(t, http.StatusUnprocessableEntity, `"weak_password"`, "POST", "/join", join(token, "12345678"))
	statuses := make([]int, 10)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i] = (&browser{s: s}).do(t, "POST", "/join", join(token, secret)).Status })
	}
	all.Wait()
	joined := 0
	for _, status := range statuses {
		switch status {
		case http.StatusOK:
			joined++
		case http.StatusForbidden:
		default:
			t.Errorf("joining is answered %d", status)
		}
	}
	if joined != 1 {
		t.Errorf("the link was good %d times", joined)
	}
	bob.want(t, http.StatusOK, `"role":"editor"`, "POST", "/session", credentials("bob@example.com", ""))

	// A reset ends what was opened with the old password.
	var reset struct{ Link string }
	ada.want(t, http.StatusOK, "", "POST", "/administrators/"+invited.Administrator.ID+"/reset-link", "").JSON(t, &reset)
	old := joinToken(t, s, reset.Link)
	ada.want(t, http.StatusOK, "", "POST", "/administrators/"+invited.Administrator.ID+"/reset-link", "").JSON(t, &reset)
	bob.want(t, http.StatusForbidden, `"link_invalid"`, "POST", "/join", join(old, "another horse battery")) // the newer one counts
	bob.want(t, http.StatusOK, "", "GET", "/session", "")
	before := *bob
	bob.want(t, http.StatusOK, `"bob@example.com"`, "POST", "/join", join(joinToken(t, s, reset.Link), "another horse battery"))
	before.want(t, http.StatusUnauthorized, `"signed_out"`, "GET", "/session", "")
	bob.want(t, http.StatusOK, "", "GET", "/session", "")
	bob = &browser{s: s}
	bob.want(t, http.StatusUnauthorized, `"invalid_credentials"`, "POST", "/session", credentials("bob@example.com", ""))
	bob.want(t, http.StatusOK, "", "POST", "/session", `{"email":"bob@example.com","password":"another horse battery"}`)
	for _, path := range []string{"/administrators/00000000-0000-0000-0000-000000000000/reset-link"} {
		ada.want(t, http.StatusNotFound, `"not_found"`, "POST", path, "")
	}
}

func TestALinkTellsItsHolderWhomItIsFor(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	ada, bob := enter(t, s, "ada@example.com"), &browser{s: s}
	see := func(token string) string { return fmt.Sprintf(`{"token":%q}`, token) }
	var invited invitation
	ada.want(t, http.StatusCreated, "", "POST", "/administrators", `{"email":"bob@example.com","role":"editor"}`).JSON(t, &invited)
	token := joinToken(t, s, invited.Link)
	const whole = `{"purpose":"invite","email":"bob@example.com","role":"editor","invited_by":"ada@example.com"}`
	for range 2 { // it stays good
		bob.want(t, http.StatusOK, whole, "POST", "/join/link", see(token))
	}
	for _, wrong := range []string{"", "guess", token[1:]} {
		bob.want(t, http.StatusForbidden, `"link_invalid"`, "POST", "/join/link", see(wrong))
	}
	// A second link for the same invitation: the first one is good no more, and tells nothing.
	var again struct{ Link string }
	ada.want(t, http.StatusOK, "", "POST", "/administrators/"+invited.Administrator.ID+"/reset-link", "").JSON(t, &again)
	bob.want(t, http.StatusForbidden, `"link_invalid"`, "POST", "/join/link", see(token))
	token = joinToken(t, s, again.Link)
	bob.want(t, http.StatusOK, whole, "POST", "/join/link", see(token))
	s.Database.Exec(t, `delete from basalt.administrator_audit`)
	bob.want(t, http.StatusOK, `"invited_by":""`, "POST", "/join/link", see(token))
	bob.want(t, http.StatusOK, "", "POST", "/join", join(token, secret))
	bob.want(t, http.StatusForbidden, `"link_invalid"`, "POST", "/join/link", see(token))
	ada.want(t, http.StatusOK, "", "POST", "/administrators/"+invited.Administrator.ID+"/reset-link", "").JSON(t, &again)
	token = joinToken(t, s, again.Link)
	bob.want(t, http.StatusOK, `"purpose":"reset"`, "POST", "/join/link", see(token))
	s.Database.Exec(t, `update basalt.administrator_links set expires_at = now() - interval '1 second'`)
	bob.want(t, http.StatusForbidden, `"link_invalid"`, "POST", "/join/link", see(token))
}

func TestARoleCountsFromTheNextRequestOn(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Owner)
	bob := hire(t, s, "bob@example.com", administrator.Owner)
	a, b := enter(t, s, "ada@example.com"), enter(t, s, "bob@example.com")
	b.want(t, http.StatusOK, `"bob@example.com"`, "GET", "/administrators", "")
	a.want(t, http.StatusOK, `"role":"viewer"`, "PATCH", "/administrators/"+bob.ID.String(), `{"role":"viewer"}`)
	b.want(t, http.StatusForbidden, `"role_too_low"`, "GET", "/administrators", "")
	b.want(t, http.StatusForbidden, `"role_too_low"`, "PATCH", "/administrators/"+bob.ID.String(), `{"role":"owner"}`)
	a.want(t, http.StatusNoContent, "", "DELETE", "/administrators/"+bob.ID.String(), "")
	b.want(t, http.StatusUnauthorized, `"signed_out"`, "GET", "/session", "")
	a.want(t, http.StatusNotFound, "", "DELETE", "/administrators/"+bob.ID.String(), "")
	a.want(t, http.StatusNotFound, "", "PATCH", "/administrators/"+bob.ID.String(), `{"role":"owner"}`)
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	ada, bob := hire(t, s, "ada@example.com", administrator.Owner), hire(t, s, "bob@example.com", administrator.Owner)
	// Each takes the other's place away, and their own, all at once.
	var all sync.WaitGroup
	a, b := enter(t, s, "ada@example.com"), enter(t, s, "bob@example.com")
	for i, by := range []*browser{a, b, a, b} {
		cookie := by.cookie
		for _, id := range []string{ada.ID.String(), bob.ID.String()} {
			all.Go(func() {
				asks := &browser{s: s, cookie: cookie}
				if i < 2 {
					asks.do(t, "PATCH", "/administrators/"+id, `{"role":"viewer"}`)
				} else {
					asks.do(t, "DELETE", "/administrators/"+id, "")
				}
			})
		}
	}
	all.Wait()
	list, err := rules(s).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	owners := 0
	var last administrator.Administrator
	for _, one := range list {
		if one.Role == administrator.Owner {
			owners, last = owners+1, one
		}
	}
	if owners != 1 {
		t.Fatalf("%d owners are left", owners)
	}
	x := enter(t, s, last.Email)
	// Somebody who was invited and has never come is none to rely on.
	x.want(t, http.StatusCreated, "", "POST", "/administrators", `{"email":"eve@example.com","role":"owner"}`)
	x.want(t, http.StatusConflict, `"last_owner"`, "DELETE", "/administrators/"+last.ID.String(), "")
	x.want(t, http.StatusConflict, `"last_owner"`, "PATCH", "/administrators/"+last.ID.String(), `{"role":"editor"}`)
}

func TestAPasswordIsChangedByWhoKnowsIt(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	hire(t, s, "ada@example.com", administrator.Viewer)
	here, there := enter(t, s, "ada@example.com"), enter(t, s, "ada@example.com")
	before := *here
	here.want(t, http.StatusUnauthorized, `"invalid_credentials"`, "PATCH", "/me", `{"password":"another horse battery","current":"wrong"}`)
	here.want(t, http.StatusUnauthorized, `"invalid_credentials"`, "PATCH", "/me", `{"password":"another horse battery"}`)
	here.want(t, http.StatusUnprocessableEntity, `"weak_password"`, "PATCH", "/me", `{"password":"aaaaaaaa","current":"`+secret+`"}`)
	there.want(t, http.StatusOK, "", "GET", "/session", "")
	here.want(t, http.StatusOK, "", "PATCH", "/me", `{"password":"another horse battery","current":"`+secret+`"}`)
	here.want(t, http.StatusOK, "", "GET", "/session", "")
	before.want(t, http.StatusUnauthorized, "", "GET", "/session", "")
	there.want(t, http.StatusUnauthorized, "", "GET", "/session", "")
}

func TestChangesAreInTheAuditLog(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	token := link(t, s).Reveal()
	ada := &browser{s: s}
	ada.want(t, http.StatusOK, "", "POST", "/setup", setup(token, "ada@example.com"))
	var invited invitation
	ada.want(t, http.StatusCreated, "", "POST", "/administrators", `{"email":"bob@example.com","role":"editor"}`).JSON(t, &invited)
	id := invited.Administrator.ID
	ada.want(t, http.StatusOK, "", "PATCH", "/administrators/"+id, `{"role":"viewer"}`)
	ada.want(t, http.StatusNoContent, "", "DELETE", "/administrators/"+id, "")
	type entry struct {
		ID                        int64
		Email, Action, Target, IP string
		RequestID                 string `json:"request_id"`
		Before, After             struct{ Email, Role string }
		AdministratorID           string `json:"administrator_id"`
	}
	type page struct {
		Entries []entry
		Next    *int64
	}
	read := func(query string) page {
		t.Helper()
		var p page
		ada.want(t, http.StatusOK, "", "GET", "/audit"+query, "").JSON(t, &p)
		return p
	}
	all := read("")
	var actions []string
	for _, e := range all.Entries {
		actions = append(actions, e.Action)
		if e.Email != "ada@example.com" || e.IP != "127.0.0.1" || e.RequestID == "" || e.AdministratorID == "" {
			t.Errorf("%+v", e)
		}
	}
	if strings.Join(actions, " ") != "administrator.delete administrator.update administrator.invite administrator.setup" || all.Next != nil {
		t.Fatalf("%v, next %v", actions, all.Next)
	}
	if e := all.Entries[1]; e.Target != id || e.Before.Role != "editor" || e.After.Role != "viewer" || e.After.Email != "bob@example.com" {
		t.Errorf("%+v", e)
	}
	for query, want := range map[string]int{
		"?action=administrator": 4, "?action=administrator.update": 1, "?action=admin": 0, "?action=%25": 0, "?target=" + id: 3,
		"?administrator=" + all.Entries[0].AdministratorID: 4, "?administrator=" + id: 0,
	} {
		if got := read(query); len(got.Entries) != want {
			t.Errorf("%s finds %d entries, not %d", query, len(got.Entries), want)
		}
	}
	var seen []int64
	for query := "?limit=3"; ; {
		p := read(query)
		for _, e := range p.Entries {
			seen = append(seen, e.ID)
		}
		if p.Next == nil {
			break
		}
		query = fmt.Sprintf("?limit=3&before=%d", *p.Next)
	}
	if len(seen) != 4 {
		t.Errorf("the pages have %v", seen)
	}
	for _, query := range []string{"?limit=0", "?limit=201", "?limit=x", "?before=x", "?before=0", "?administrator=7", "?action=%00", "?target=%ff"} {
		if answer := ada.do(t, "GET", "/audit"+query, ""); answer.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, answer.Status, answer.Body)
		}
	}
	var rows string
	if err := s.Database.Pool.QueryRow(t.Context(), `select string_agg(a::text, ' ') from basalt.administrator_audit a`).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(rows, "horse") || strings.Contains(rows, token) || strings.Contains(rows, "argon2") || strings.Contains(rows, joinToken(t, s, invited.Link)) {
		t.Error("a secret is in the audit log")
	}
}

func TestAServerRemovesOldEntriesOfTheAuditLog(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, "", nil)
	s.Database.Exec(t, `
insert into basalt.administrator_audit (at, email, action, target)
values (now() - interval '366 days', 'ada@example.com', 'test', 'old'), (now() - interval '364 days', 'ada@example.com', 'test', 'young')`)
	s.Stop(t)
	apitest.Over(t, s.Database, apitest.Settings(t, s.Database.URL))
	apitest.Until(t, "the old entry is gone", func() bool {
		var left []string
		err := s.Database.Pool.QueryRow(t.Context(), `select array_agg(target) from basalt.administrator_audit where action = 'test'`).Scan(&left)
		return err == nil && len(left) == 1 && left[0] == "young"
	})
}
