package accounts_test

import (
	"strings"
	"testing"
)

func TestAdministratorsSeeRenameAndRemoveFactors(t *testing.T) {
	s := start(t, options())
	u, f := s.protected()
	other := u.enroll("other")
	user := u.claims().str("sub")
	u.want(u.do("POST", "/factors/recovery-codes", ""), 200, "")

	list := s.want(s.admin("GET", "/users/"+user+"/factors", ""), 200, "")
	if list.get("2.id") == nil || list.get("3") != nil || strings.Contains(list.text, f.secret) || strings.Contains(list.text, "enc:") {
		t.Errorf("the factors are %s", list.text)
	}
	path := "/users/" + user + "/factors/" + f.id
	if a := s.want(s.admin("PUT", path, `{"friendly_name":"renamed"}`), 200, ""); a.str("friendly_name") != "renamed" || a.str("id") != f.id {
		t.Errorf("the renamed factor is %s", a.text)
	}
	s.want(s.admin("PUT", path, `{"friendly_name":"other"}`), 422, "mfa_factor_name_conflict")
	s.want(s.admin("PUT", path, `{"phone":"nobody"}`), 400, "validation_failed")
	s.want(s.admin("PUT", path, `{"friendly_name":"a\u0000"}`), 400, "validation_failed")
	if a := s.want(s.admin("DELETE", path, ""), 200, ""); a.str("id") != f.id || a.str("status") != "verified" {
		t.Errorf("the removed factor is %s", a.text)
	}
	s.want(s.admin("DELETE", path, ""), 404, "mfa_factor_not_found")
	s.want(s.admin("PUT", path, `{"friendly_name":"x"}`), 404, "mfa_factor_not_found")
	list = s.want(s.admin("GET", "/users/"+user+"/factors", ""), 200, "")
	if list.str("0.id") != other.id || list.get("1") != nil {
		t.Errorf("recovery codes outlive the factor that they stand in for: %s", list.text)
	}
	u.adopt(s.refresh(u.refresh))
	if u.standing() != "aal1 password" {
		t.Errorf("the session stands at %s", u.standing())
	}

	nobody := strings.Replace(user, user[:8], "00000000", 1)
	s.want(s.admin("GET", "/users/"+nobody+"/factors", ""), 404, "user_not_found")
	s.want(s.admin("PUT", "/users/"+nobody+"/factors/"+other.id, `{"friendly_name":"x"}`), 404, "user_not_found")
	s.want(s.admin("DELETE", "/users/"+nobody+"/factors/"+other.id, ""), 404, "user_not_found")
	s.want(s.admin("DELETE", "/users/"+user+"/factors/1", ""), 404, "validation_failed")
	s.want(u.do("GET", "/admin/users/"+user+"/factors", ""), 403, "not_admin")
	s.want(u.do("DELETE", "/admin/users/"+user+"/factors/"+other.id, ""), 403, "not_admin")
	if a := s.want(s.admin("DELETE", "/users/"+user+"/factors/"+other.id, ""), 200, ""); a.str("status") != "unverified" {
		t.Errorf("the removed factor is %s", a.text)
	}
	if a := s.want(s.admin("GET", "/users/"+user+"/factors", ""), 200, ""); strings.TrimSpace(a.text) != "[]" {
		t.Errorf("no factors are %s", a.text)
	}
}
