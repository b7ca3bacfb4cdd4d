package accounts_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"basalt/auth"
)

func TestAdministratorsKeepClients(t *testing.T) {
	s := startOAuth(t, "ES256", nil)
	made := s.admin("POST", "/oauth/clients", `{"client_name":"A","redirect_uris":["https://a.example/cb","http://localhost:3000/cb","com.example.app:/cb"],"client_uri":"https://a.example","logo_uri":"https://a.example/logo.png"}`)
	id, secret := made.str("client_id"), made.str("client_secret")
	if made.status != 201 || secret == "" || made.str("client_type") != "confidential" || made.str("registration_type") != "manual" || made.str("token_endpoint_auth_method") != "client_secret_basic" ||
		fmt.Sprint(made.get("grant_types")) != "[authorization_code refresh_token]" || fmt.Sprint(made.get("response_types")) != "[code]" {
		t.Fatalf("%d %s", made.status, made.text)
	}
	public := s.admin("POST", "/oauth/clients", `{"redirect_uris":["https://b.example/cb"],"client_type":"public"}`)
	if public.status != 201 || public.str("client_secret") != "" || public.str("token_endpoint_auth_method") != "none" {
		t.Errorf("%d %s", public.status, public.text)
	}
	listed := s.want(s.admin("GET", "/oauth/clients?page=1&per_page=1", ""), 200, "")
	if len(listed.get("clients").([]any)) != 1 || listed.str("clients.0.client_id") != public.str("client_id") || listed.header.Get("X-Total-Count") != "2" || !strings.Contains(listed.header.Get("Link"), `page=2&per_page=1>; rel="next"`) {
		t.Errorf("%s %v", listed.text, listed.header)
	}
	shown := s.want(s.admin("GET", "/oauth/clients/"+id, ""), 200, "")
	if shown.str("client_name") != "A" || shown.str("client_secret") != "" || strings.Contains(shown.text, "hash") {
		t.Errorf("%s", shown.text)
	}
	changed := s.want(s.admin("PUT", "/oauth/clients/"+id, `{"client_name":"B","redirect_uris":["https://a.example/new"]}`), 200, "")
	if changed.str("client_name") != "B" || fmt.Sprint(changed.get("redirect_uris")) != "[https://a.example/new]" || changed.str("client_uri") != "https://a.example" {
		t.Errorf("%s", changed.text)
	}
	renewed := s.want(s.admin("POST", "/oauth/clients/"+id+"/regenerate_secret", ""), 200, "").str("client_secret")
	if renewed == "" || renewed == secret {
		t.Error("the secret is the old one")
	}
	for with, want := range map[string]string{secret: "invalid_client", renewed: "invalid_grant"} {
		if a := s.form(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {id}, "client_secret": {with}}); a.str("error") != want {
			t.Errorf("%s", a.text)
		}
	}
	s.want(s.admin("POST", "/oauth/clients/"+public.str("client_id")+"/regenerate_secret", ""), 400, "validation_failed")
	s.want(s.admin("PUT", "/oauth/clients/"+id, `{}`), 400, "validation_failed")
	s.want(s.admin("PUT", "/oauth/clients/"+id, `{"token_endpoint_auth_method":"none"}`), 400, "validation_failed")
	s.want(s.admin("PUT", "/oauth/clients/"+id, `{"token_endpoint_auth_method":"client_secret_post"}`), 200, "")
	s.want(s.admin("GET", "/oauth/clients/x", ""), 400, "validation_failed")
	s.want(s.admin("DELETE", "/oauth/clients/"+id, ""), 204, "")
	for _, c := range [][2]string{{"GET", ""}, {"DELETE", ""}, {"PUT", `{"client_name":"C"}`}} {
		s.want(s.admin(c[0], "/oauth/clients/"+id, c[1]), 404, "oauth_client_not_found")
	}
	user := s.signUp(address()).str("access_token")
	s.want(s.call("GET", "/admin/oauth/clients", user, ""), 403, "not_admin")
	if stored := s.count(`select count(*) from auth.oauth_clients where client_secret_hash in ($1, $2)`, secret, renewed); stored != 0 {
		t.Error("a secret can be read in the database")
	}
	for _, metadata := range []string{
		`{}`, `{"redirect_uris":[]}`, `{"redirect_uris":["https://a.example/cb"],"grant_types":["password"]}`, `{"redirect_uris":["https://a.example/cb"],"grant_types":["refresh_token"]}`,
		`{"redirect_uris":["https://a.example/cb"],"token_endpoint_auth_method":"private_key_jwt"}`, `{"redirect_uris":["https://a.example/cb"],"client_type":"secret"}`,
		`{"redirect_uris":["https://a.example/cb"],"client_type":"public","token_endpoint_auth_method":"client_secret_basic"}`, `{"redirect_uris":["https://a.example/cb"],"client_name":"` + strings.Repeat("x", 1025) + `"}`,
		`{"redirect_uris":["https://a.example/cb"],"logo_uri":"javascript:alert(1)"}`, `{"redirect_uris":["https://a.example/cb"],"client_uri":"ftp://a.example"}`,
		`{"redirect_uris":["https://a.example/cb"],"client_name":"\u0000"}`,
	} {
		a := s.admin("POST", "/oauth/clients", metadata)
		if a.status != 400 || !slices.Contains([]string{"validation_failed", "invalid_redirect_uri"}, a.code()) {
			t.Errorf("%s: %d %s", metadata, a.status, a.text)
		}
	}
	for _, redirect := range []string{
		"", "/cb", "//a.example/cb", "http://a.example/cb", "https://a.example/cb#x", "https://u@a.example/cb", "https://u:p@a.example/cb", "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@a.example",
		"https://a.example/a,b", "https://a.example\\@b.example/", "https://a.example/../cb", "https://a .example/", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/", "https://", "https://0x7f.1/", "about:blank", "blob:https://a.example/x", "vbscript:x",
	} {
		text, _ := json.Marshal(redirect)
		s.want(s.admin("POST", "/oauth/clients", `{"redirect_uris":[`+string(text)+`]}`), 400, "invalid_redirect_uri")
	}
}

func TestClientsRegisterThemselvesWhereThatIsAllowed(t *testing.T) {
	const metadata = `{"client_name":"Self","redirect_uris":["http://127.0.0.1:33418/callback"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"]}`
	closed := startOAuth(t, "ES256", nil)
	if a := closed.raw("POST", "/oauth/clients/register", metadata, nil); a.status != 403 || a.str("error") != "oauth_dynamic_client_registration_disabled" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if found := closed.call("GET", "/.well-known/oauth-authorization-server", "", ""); found.str("registration_endpoint") != "" {
		t.Errorf("%s", found.text)
	}
	o := options()
	o.OAuthServer = auth.OAuthServer{On: true, Registration: true, ConsentPath: "/c"}
	o.LimitsOff = false
	s := startOver(t, closed.db, o)
	made := s.raw("POST", "/oauth/clients/register", metadata, nil)
	if made.status != 201 || made.str("registration_type") != "dynamic" || made.str("client_type") != "public" || made.str("client_secret") != "" {
		t.Errorf("%d %s", made.status, made.text)
	}
	if a := s.raw("POST", "/oauth/clients/register", `{"redirect_uris":["http://a.example/"]}`, nil); a.status != 400 || a.str("error") != "invalid_redirect_uri" {
		t.Errorf("%d %s", a.status, a.text)
	}
	if a := s.raw("POST", "/oauth/clients/register", `{"redirect_uris":["https://a.example/"],"grant_types":["implicit"]}`, nil); a.status != 400 || a.str("error") != "invalid_client_metadata" {
		t.Errorf("%d %s", a.status, a.text)
	}
	limited := false
	for range 30 {
		if a := s.raw("POST", "/oauth/clients/register", metadata, nil); a.status == 429 {
			limited = a.str("error") == "temporarily_unavailable" && a.header.Get("Retry-After") != ""
		}
	}
	if !limited {
		t.Error("registrations are not limited")
	}
}
