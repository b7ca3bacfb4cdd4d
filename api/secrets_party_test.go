package api_test

import (
	"encoding/base64"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"basalt/api/apitest"
)

const partyCallback = "https://party.example/callback"

// party goes through the sign-ins of a third party at this server.
func (w *elsewhere) party(s walkSession) {
	w.t.Helper()
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	w.do(201, "POST", "/oauth/clients/register", `{"client_name":"Another","redirect_uris":["`+partyCallback+`"]}`).JSON(w.t, &client)
	w.knows("client secret", client.Secret)
	w.do(201, "POST", "/admin/oauth/clients", `{"client_name":"An app","redirect_uris":["`+partyCallback+`"]}`, w.s.Service()).JSON(w.t, &client)
	w.knows("client secret", client.Secret)
	basic := func(secret string) string {
		return "Authorization: Basic " + w.knows("credentials of a client", base64.StdEncoding.EncodeToString([]byte(client.ID+":"+secret)))
	}
	form := func(status int, secret string, pairs ...string) *apitest.Answer {
		w.t.Helper()
		values := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			values.Set(pairs[i], pairs[i+1])
		}
		return w.do(status, "POST", "/oauth/token", values.Encode(), "Content-Type: application/x-www-form-urlencoded", basic(secret))
	}
	consent := func() (code, verifier string) {
		w.t.Helper()
		verifier, _, query := w.pkce()
		query = strings.Replace(query, "s256", "S256", 1)
		a := w.do(302, "GET", "/oauth/authorize?response_type=code&scope=openid+email&state=xyz&client_id="+client.ID+"&redirect_uri="+url.QueryEscape(partyCallback)+"&"+query, "")
		at, err := url.Parse(a.Header.Get("Location"))
		if err != nil {
			w.t.Fatal(err)
		}
		id := at.Query().Get("authorization_id")
		var led struct {
			To string `json:"redirect_url"`
		}
		w.do(200, "GET", "/oauth/authorizations/"+id, "", s.bearer()).JSON(w.t, &led)
		if led.To == "" {
			w.do(200, "POST", "/oauth/authorizations/"+id+"/consent", `{"action":"approve"}`, s.bearer()).JSON(w.t, &led)
		}
		to, err := url.Parse(led.To)
		if err != nil {
			w.t.Fatal(err)
		}
		return w.knows("code of a client", to.Query().Get("code")), verifier
	}
	code, _ := consent()
	form(401, w.knows("client secret", "client-secret-canary-that-is-wrong"), "grant_type", "authorization_code", "code", code, "redirect_uri", partyCallback)
	form(400, client.Secret, "grant_type", "authorization_code", "code", code, "redirect_uri", partyCallback, "code_verifier", w.knows("verifier", oauth2.GenerateVerifier()))
	code, verifier := consent()
	exchange := []string{"grant_type", "authorization_code", "code", code, "redirect_uri", partyCallback, "code_verifier", verifier}
	held := func(a *apitest.Answer) (tokens struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		ID      string `json:"id_token"`
	}) {
		w.t.Helper()
		a.JSON(w.t, &tokens)
		w.knows("access token of a client", tokens.Access)
		w.knows("refresh token of a client", tokens.Refresh)
		w.knows("ID token", tokens.ID)
		return tokens
	}
	tokens := held(form(200, client.Secret, exchange...))
	next := held(form(200, client.Secret, "grant_type", "refresh_token", "refresh_token", tokens.Refresh))
	form(400, client.Secret, "grant_type", "refresh_token", "refresh_token", w.knows("refresh token of a client", "refresh-token-canary-of-a-client"))
	w.do(200, "GET", "/oauth/userinfo", "", "Authorization: Bearer "+next.Access)
	w.do(401, "GET", "/oauth/userinfo", "", "Authorization: Bearer "+w.knows("access token of a client", "header.access-token-canary-of-a-client.signature"))
	form(400, client.Secret, exchange...) // used already
}
