package accounts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"basalt/auth"
	"basalt/auth/hook"
	"basalt/auth/provider"
	"basalt/auth/provider/providertest"
	"basalt/store/storetest"
)

const victim = "victim@example.com"

// secondProvider lets a server sign users in under a second name.
func secondProvider(second *providertest.OpenID) func(*auth.Options) {
	return func(o *auth.Options) {
		o.Providers.Providers = append(o.Providers.Providers, second.Provider("second", loopbackClient(), nil))
	}
}

// at is the same service with another server of users.
func (v *visitors) at(second *providertest.OpenID) *visitors {
	other := *v
	other.openID = second
	return &other
}

// signInAt goes the whole way at a provider of another name.
func (b *browser) signInAt(name, subject string) *url.URL {
	b.t.Helper()
	_, location := b.get(b.url + "/auth/v1/authorize?provider=" + name)
	return b.arrive(b.consent(location, subject))
}

func TestAnAccountWithAConfirmedAddressGainsTheVerifiedIdentity(t *testing.T) {
	v := startWithOpenID(t, nil)
	created := v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"password":%q,"email_confirm":true}`, victim, goodPassword)), http.StatusOK, "")
	earlier := v.want(v.signIn(victim, goodPassword), http.StatusOK, "")
	v.openID.Is(openIDUser, victim, true)
	u := v.call("GET", "/user", v.browser().session(openIDUser), "")
	if u.str("id") != created.str("id") || u.get("app_metadata.providers.1") != "keycloak" || u.get("app_metadata.provider") != "email" {
		t.Errorf("the account is %s", u.text)
	}
	v.want(v.call("GET", "/user", earlier.str("access_token"), ""), http.StatusOK, "")
	v.want(v.signIn(victim, goodPassword), http.StatusOK, "")
}

// Whoever waits in an account for its owner to come by another way finds nothing of their own left there.
func TestNobodyCanWaitInAnAccountForItsOwner(t *testing.T) {
	second := openIDServer(t)
	for _, tc := range []struct {
		name string
		// autoconfirm takes addresses on trust.
		autoconfirm bool
		lie         func(*visitors) string
	}{
		{"by a password, unconfirmed", false, func(v *visitors) string {
			v.signUp(victim)
			return ""
		}},
		{"by a password, where addresses are taken on trust", true, func(v *visitors) string {
			return v.signUp(victim).str("access_token")
		}},
		{"by a change of address, where addresses are taken on trust", true, func(v *visitors) string {
			token := v.signUp(address()).str("access_token")
			v.want(v.call("PUT", "/user", token, fmt.Sprintf(`{"email":%q}`, victim)), http.StatusOK, "")
			return token
		}},
		{"by an anonymous account that takes the address, where that is on trust", true, func(v *visitors) string {
			token := v.call("POST", "/signup", v.keys.AnonKey, `{}`).str("access_token")
			v.want(v.call("PUT", "/user", token, fmt.Sprintf(`{"email":%q,"password":%q}`, victim, goodPassword)), http.StatusOK, "")
			return token
		}},
		{"by another provider that does not vouch for the address", true, func(v *visitors) string {
			second.Is("attacker", victim, false)
			return fragment(v.at(second).browser().signInAt("second", "attacker")).Get("access_token")
		}},
		{"by metadata", true, func(v *visitors) string {
			body := fmt.Sprintf(`{"email":%q,"password":%q,"data":{"email_verified":true,"sub":"x","role":"admin"}}`, victim, goodPassword)
			return v.call("POST", "/signup", v.keys.AnonKey, body).str("access_token")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := startWithOpenID(t, func(o *auth.Options) {
				o.Autoconfirm, o.Anonymous = tc.autoconfirm, true
				secondProvider(second)(o)
			})
			token := tc.lie(v)
			v.db.Exec(t, `
				insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
				select gen_random_uuid(), id, 'totp', 'unverified', now(), now() from auth.users;
				insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
				select gen_random_uuid(), id, 'recovery_token', 'x', 'x' from auth.users`)
			v.openID.Is("owner", victim, true)
			owner := v.browser().session("owner")
			u := v.want(v.call("GET", "/user", owner, ""), http.StatusOK, "")
			if u.str("email") != victim || u.get("identities.1") != nil || u.get("identities.0.id") != "owner" || u.get("user_metadata.role") != nil ||
				u.get("app_metadata.providers.1") != nil || u.get("factors") != nil {
				t.Errorf("the account is %s", u.text)
			}
			v.want(v.signIn(victim, goodPassword), http.StatusBadRequest, "invalid_credentials")
			if token != "" {
				v.want(v.call("GET", "/user", token, ""), http.StatusForbidden, "session_not_found")
			}
			if n := v.count(`select count(*) from auth.sessions`) + v.count(`select count(*) from auth.one_time_tokens`); n != 1 {
				t.Errorf("%d sessions and tokens are left", n)
			}
			if strings.HasPrefix(tc.name, "by another provider") {
				again := v.at(second).browser().signInAt("second", "attacker")
				if other := v.call("GET", "/user", fragment(again).Get("access_token"), ""); other.str("id") == u.str("id") {
					t.Error("the attacker's identity still opens the account")
				}
			}
		})
	}
}

func TestAnAddressThatTheProviderDoesNotVouchForOpensNoAccount(t *testing.T) {
	mails := &post{}
	v := startWithOpenID(t, func(o *auth.Options) { o.Outbound = mails })
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"password":%q,"email_confirm":true}`, victim, goodPassword)), http.StatusOK, "")
	v.openID.Is("one", victim, false)
	taken := v.browser().signIn("one", "")
	v.refusal(taken, auth.CodeProviderEmailNeedsVerification)
	v.openID.Is("two", "free@example.com", false)
	free := v.browser().signIn("two", "")
	if taken.String() != free.String() {
		t.Errorf("the answers differ: %s, %s", taken, free)
	}
	if n := v.count(`select count(*) from auth.identities where provider = 'keycloak' and user_id in (select id from auth.users where email = $1)`, victim); n != 0 {
		t.Error("the identity is linked")
	}
	if n := v.count(`select count(*) from auth.sessions`) + v.count(`select count(*) from auth.flow_state`); n != 0 {
		t.Errorf("there are %d sessions and flows", n)
	}
	// Who reads the mail that the new one was sent gets in, and by the provider from then on.
	v.refusal(v.browser().signIn("two", ""), auth.CodeProviderEmailNeedsVerification)
	if n := v.count(`select count(*) from auth.users where email = 'free@example.com' and email_confirmed_at is null`); n != 1 {
		t.Fatalf("there are %d accounts that wait", n)
	}
	if mails.sent() != 2 {
		t.Errorf("%d mails are sent", mails.sent())
	}
	link := mails.last(t, auth.MailConfirmation, "free@example.com").Link.Reveal()
	if _, location := v.browser().get(strings.Replace(link, "http://api.example", v.url, 1)); !strings.Contains(location, "access_token=") {
		t.Errorf("the mail's link leads to %s", location)
	}
	v.browser().session("two")
}

func TestAProviderWithoutAddressesNeedsTheOperatorsConsent(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, "", false)
	v.refusal(v.browser().signIn(openIDUser, ""), auth.CodeProviderEmailNeedsVerification)

	other := openIDServer(t)
	v = startWithOpenIDAgain(t, other)
	u := v.want(v.call("GET", "/user", v.browser().session(openIDUser), ""), http.StatusOK, "")
	if u.str("email") != "" || u.get("is_anonymous") != false || u.str("email_confirmed_at") != "" {
		t.Errorf("the account is %s", u.text)
	}
}

// startWithOpenIDAgain takes users without an address, in a database of its own.
func startWithOpenIDAgain(t *testing.T, other *providertest.OpenID) *visitors {
	t.Helper()
	o := options()
	o.Providers.Providers = []*provider.Provider{other.Provider("keycloak", loopbackClient(), func(c *provider.Config) { c.EmailOptional = true })}
	other.Is(openIDUser, "", false)
	return &visitors{server: startOver(t, storetest.New(t), o), openID: other}
}

func TestSSOUsersAreNobodyElse(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.db.Exec(t, `insert into auth.users (id, email, is_sso_user, email_confirmed_at, created_at) values (gen_random_uuid(), 'victim@example.com', true, now(), now())`)
	v.openID.Is(openIDUser, victim, true)
	v.browser().session(openIDUser)
	if n := v.count(`select count(*) from auth.users where email = $1`, victim); n != 2 {
		t.Errorf("there are %d accounts", n)
	}
}

func TestBannedUsersAndNewOnesWhereThereAreNoneAreRefused(t *testing.T) {
	v := startWithOpenID(t, func(o *auth.Options) { o.DisableSignup = true })
	v.openID.Is(openIDUser, victim, true)
	v.refusal(v.browser().signIn(openIDUser, ""), auth.CodeSignupDisabled)
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"email_confirm":true}`, victim)), http.StatusOK, "")
	v.browser().session(openIDUser)
	v.db.Exec(t, `update auth.users set banned_until = 'infinity'`)
	v.refusal(v.browser().signIn(openIDUser, ""), auth.CodeUserBanned)
}

func TestManyFirstSignInsAtOnceMakeOneAccount(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, victim, true)
	var backs [12]string
	var browsers [12]*browser
	for i := range backs {
		browsers[i] = v.browser()
		backs[i] = browsers[i].consent(browsers[i].depart(""), openIDUser)
	}
	var wg sync.WaitGroup
	for i := range backs {
		wg.Go(func() {
			_, location := browsers[i].get(strings.Replace(backs[i], "http://api.example", v.url, 1))
			if !strings.Contains(location, "access_token=") {
				t.Errorf("a sign-in ends at %s", location)
			}
		})
	}
	wg.Wait()
	if users, identities := v.count(`select count(*) from auth.users`), v.count(`select count(*) from auth.identities`); users != 1 || identities != 1 {
		t.Errorf("there are %d accounts with %d identities", users, identities)
	}
}

func TestAUserAddsAndRemovesIdentities(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":"own@example.com","password":%q,"email_confirm":true}`, goodPassword)), http.StatusOK, "")
	token := v.signIn("own@example.com", goodPassword).str("access_token")
	v.openID.Is(openIDUser, "other@example.com", true)
	b := v.browser()
	link := func() *url.URL {
		a := v.want(v.call("GET", "/user/identities/authorize?provider=keycloak&skip_http_redirect=true", token, ""), http.StatusOK, "")
		return b.arrive(b.consent(a.str("url"), openIDUser))
	}
	if at := link(); fragment(at).Get("access_token") == "" {
		t.Fatalf("it ends at %s", at)
	}
	v.refusal(link(), auth.CodeIdentityAlreadyExists)
	u := v.call("GET", "/user", token, "")
	if u.str("email") != "own@example.com" || u.get("app_metadata.providers.1") != "keycloak" {
		t.Errorf("the account is %s", u.text)
	}
	ids := map[string]string{u.str("identities.0.provider"): u.str("identities.0.identity_id"), u.str("identities.1.provider"): u.str("identities.1.identity_id")}

	// The address goes with the identity, and the password with the address's own identity.
	v.want(v.call("DELETE", "/user/identities/"+ids["email"], token, ""), http.StatusOK, "")
	u = v.call("GET", "/user", token, "")
	if u.str("email") != "other@example.com" || u.str("email_confirmed_at") == "" || u.get("identities.1") != nil || u.get("app_metadata.providers.1") != nil {
		t.Errorf("the account is %s", u.text)
	}
	for _, email := range []string{"own@example.com", "other@example.com"} {
		v.want(v.signIn(email, goodPassword), http.StatusBadRequest, "invalid_credentials")
	}
	v.want(v.call("DELETE", "/user/identities/"+ids["keycloak"], token, ""), http.StatusUnprocessableEntity, "single_identity_not_deletable")
	v.want(v.call("DELETE", "/user/identities/"+ids["email"], token, ""), http.StatusUnprocessableEntity, "identity_not_found")
	v.want(v.call("DELETE", "/user/identities/x", token, ""), http.StatusNotFound, "validation_failed")
	v.want(v.call("DELETE", "/user/identities/"+ids["keycloak"], "", ""), http.StatusUnauthorized, "no_authorization")
}

// Who is made to follow a link of somebody else's making does not give their identity away: the app that asked has to
// bring the code, with the verifier that it alone has.
func TestAnIdentityIsLinkedWhenTheAppThatAskedBringsTheCode(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":"own@example.com","password":%q,"email_confirm":true}`, goodPassword)), http.StatusOK, "")
	token := v.signIn("own@example.com", goodPassword).str("access_token")
	v.openID.Is(openIDUser, victim, true)
	follow := func() *url.URL {
		a := v.want(v.call("GET", "/user/identities/authorize?provider=keycloak&skip_http_redirect=true&"+challenge(), token, ""), http.StatusOK, "")
		b := v.browser()
		return b.arrive(b.consent(a.str("url"), openIDUser))
	}
	identities := func() int { return v.count(`select count(*) from auth.identities where provider = 'keycloak'`) }
	code, other := follow().Query().Get("code"), follow().Query().Get("code")
	if code == "" || identities() != 0 {
		t.Fatalf("there are %d identities before the code is brought", identities())
	}
	exchange := func(code, verifier string) answer {
		return v.call("POST", "/token?grant_type=pkce", "", fmt.Sprintf(`{"auth_code":%q,"code_verifier":%q}`, code, verifier))
	}
	v.want(exchange(code, verifier+"x"), http.StatusBadRequest, "bad_code_verifier")
	if identities() != 0 {
		t.Error("a wrong verifier links")
	}
	a := v.want(exchange(code, verifier), http.StatusOK, "")
	if a.str("user.email") != "own@example.com" || a.get("user.app_metadata.providers.1") != "keycloak" || identities() != 1 || a.str("provider_token") == "" {
		t.Errorf("the session is %s", a.text)
	}
	v.want(exchange(other, verifier), http.StatusUnprocessableEntity, "identity_already_exists")
	v.refusal(follow(), auth.CodeIdentityAlreadyExists)
}

// Whoever had a session for a while must not finish with it what they began, after they were thrown out.
func TestALinkingEndsWithTheSessions(t *testing.T) {
	for name, end := range map[string]func(v *visitors, user, token, refresh string){
		"by a new password": func(v *visitors, _, token, _ string) {
			v.want(v.call("PUT", "/user", token, `{"password":"Another-pass-1"}`), http.StatusOK, "")
		},
		"by an administrator's new password": func(v *visitors, user, _, _ string) {
			v.want(v.admin("PUT", "/users/"+user, `{"password":"Another-pass-1"}`), http.StatusOK, "")
		},
		"by a sign-out": func(v *visitors, _, token, _ string) {
			v.want(v.call("POST", "/logout?scope=others", token, ""), http.StatusNoContent, "")
		},
		"by an administrator": func(v *visitors, user, _, _ string) {
			v.want(v.admin("DELETE", "/users/"+user+"/sessions", ""), http.StatusNoContent, "")
		},
		"by the first second factor": func(v *visitors, _, token, _ string) {
			u := &factorUser{server: v.server, access: token}
			u.prove(u.enroll("app"))
		},
		"by a used refresh token that comes back": func(v *visitors, _, _, refresh string) {
			v.want(v.refresh(refresh), http.StatusOK, "")
			v.db.Exec(v.t, `update auth.refresh_tokens set updated_at = now() - interval '1 hour'`)
			v.want(v.refresh(refresh), http.StatusBadRequest, "refresh_token_already_used")
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := startWithOpenID(t, nil)
			u := v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":"own@example.com","password":%q,"email_confirm":true}`, goodPassword)), http.StatusOK, "")
			token := v.signIn("own@example.com", goodPassword).str("access_token")
			thief := v.signIn("own@example.com", goodPassword)
			stolen := thief.str("access_token")
			v.openID.Is("thief", "thief@example.com", true)
			b := v.browser()
			begin := func(query string) string {
				a := v.want(v.call("GET", "/user/identities/authorize?provider=keycloak&skip_http_redirect=true"+query, stolen, ""), http.StatusOK, "")
				return b.consent(a.str("url"), "thief")
			}
			plain, app, brought := begin(""), begin("&"+challenge()), b.arrive(begin("&"+challenge())).Query().Get("code")
			end(v, u.str("id"), token, thief.str("refresh_token"))
			v.refusal(b.arrive(plain), auth.CodeBadOAuthState)
			v.refusal(b.arrive(app), auth.CodeBadOAuthState)
			v.want(v.call("POST", "/token?grant_type=pkce", "", fmt.Sprintf(`{"auth_code":%q,"code_verifier":%q}`, brought, verifier)),
				http.StatusNotFound, "flow_state_not_found")
			if n := v.count(`select count(*) from auth.identities where provider = 'keycloak'`); n != 0 {
				t.Errorf("%d identities are linked", n)
			}
		})
	}
}

func TestAnIdentityOfSomebodyElseIsNotLinked(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.openID.Is(openIDUser, victim, true)
	v.browser().session(openIDUser)
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":"own@example.com","password":%q,"email_confirm":true}`, goodPassword)), http.StatusOK, "")
	token := v.signIn("own@example.com", goodPassword).str("access_token")
	a := v.want(v.call("GET", "/user/identities/authorize?provider=keycloak&skip_http_redirect=true", token, ""), http.StatusOK, "")
	b := v.browser()
	v.refusal(b.arrive(b.consent(a.str("url"), openIDUser)), auth.CodeIdentityAlreadyExists)
}

func TestAnAnonymousUserBecomesWhoTheProviderKnows(t *testing.T) {
	v := startWithOpenID(t, func(o *auth.Options) { o.Anonymous = true })
	anonymous := v.want(v.call("POST", "/signup", v.keys.AnonKey, `{}`), http.StatusOK, "")
	v.openID.Is(openIDUser, victim, true)
	a := v.want(v.call("GET", "/user/identities/authorize?provider=keycloak&skip_http_redirect=true", anonymous.str("access_token"), ""), http.StatusOK, "")
	b := v.browser()
	b.arrive(b.consent(a.str("url"), openIDUser))
	u := v.call("GET", "/user", anonymous.str("access_token"), "")
	if u.str("id") != anonymous.str("user.id") || u.str("email") != victim || u.get("is_anonymous") != false {
		t.Errorf("the account is %s", u.text)
	}
}

func TestLinkingByHandIsTheOperatorsChoice(t *testing.T) {
	v := startWithOpenID(t, func(o *auth.Options) { o.Autoconfirm, o.Providers.ManualLinking = true, false })
	token := v.signUp(address()).str("access_token")
	v.want(v.call("GET", "/user/identities/authorize?provider=keycloak", token, ""), http.StatusNotFound, "manual_linking_disabled")
	v.want(v.call("GET", "/user/identities/authorize?provider=keycloak", "", ""), http.StatusUnauthorized, "no_authorization")
}

func TestOfTwoLastIdentitiesOneStays(t *testing.T) {
	v := startWithOpenID(t, func(o *auth.Options) { o.Autoconfirm = true })
	for range 5 {
		signedUp := v.signUp(address())
		user, token := signedUp.str("user.id"), signedUp.str("access_token")
		v.db.Exec(t, fmt.Sprintf(`insert into auth.identities (provider_id, user_id, identity_data, provider, created_at) values ('x-%[1]s', '%[1]s', '{}', 'github', now())`, user))
		u := v.call("GET", "/user", token, "")
		var wg sync.WaitGroup
		for _, path := range []string{"identities.0.identity_id", "identities.1.identity_id"} {
			wg.Go(func() { v.call("DELETE", "/user/identities/"+u.str(path), token, "") })
		}
		wg.Wait()
		if n := v.count(`select count(*) from auth.identities where user_id = $1`, user); n != 1 {
			t.Errorf("%d identities are left", n)
		}
	}
}

func TestAnIdentityWhoseRemovalTakesSomebodyElsesAddressStays(t *testing.T) {
	v := startWithOpenID(t, func(o *auth.Options) { o.Autoconfirm = true })
	v.signUp("taken@example.com")
	signedUp := v.signUp("own@example.com")
	v.db.Exec(t, fmt.Sprintf(`
		insert into auth.identities (provider_id, user_id, identity_data, provider, created_at)
		values ('x', '%s', '{"email":"taken@example.com","email_verified":true}', 'github', now())`, signedUp.str("user.id")))
	v.want(v.call("DELETE", "/user/identities/"+signedUp.str("user.identities.0.identity_id"), signedUp.str("access_token"), ""),
		http.StatusUnprocessableEntity, "email_conflict_identity_not_deletable")
}

func TestTheSettingsShowWhichProvidersThereAre(t *testing.T) {
	v := startWithOpenID(t, nil)
	a := v.want(v.call("GET", "/settings", "", ""), http.StatusOK, "")
	if a.get("external.keycloak") != true || a.get("external.google") != false {
		t.Errorf("they are %s", a.text)
	}
}

func TestTheHooksAreAskedAboutAccountsOfOtherServers(t *testing.T) {
	other := openIDServer(t)
	after := newHookServer(t)
	v := &visitors{openID: other, server: startWithHooks(t, `
create function public.before(event jsonb) returns jsonb language plpgsql as $$
begin
  if event#>>'{user,email}' not like '%@example.com' or event#>>'{user,app_metadata,provider}' <> 'keycloak' then
    return '{"error":{"http_code":403,"message":"by invitation only"}}';
  end if;
  return '{}';
end $$;`, func(h *auth.Hooks) {
		h.BeforeUserCreated = functionHook(t, hook.BeforeUserCreated, "before")
		h.AfterUserCreated = after.hook(hook.AfterUserCreated)
	}, func(o *auth.Options) {
		o.Autoconfirm = false
		o.Providers.Providers = []*provider.Provider{other.Provider("keycloak", loopbackClient(), nil)}
	})}
	other.Is("one", "one@example.com", true)
	v.browser().session("one")
	v.browser().session("one")
	if said, n := after.last(); n != 1 || said.str("user.email") != "one@example.com" {
		t.Errorf("%d calls, %s", n, said.text)
	}
	other.Is("two", "two@elsewhere.example", true)
	values := fragment(v.browser().signIn("two", ""))
	if values.Get("error_description") != "by invitation only" || values.Get("access_token") != "" {
		t.Errorf("the refused sign-in ends with %v", values)
	}
	after.answer(func(string) string { return `{"error":{"message":"the books are closed"}}` })
	other.Is("three", "three@example.com", true)
	for _, query := range []string{"", challenge()} {
		at := v.browser().signIn("three", query)
		if at.Query().Get("code") != "" && query == "" || fragment(at).Get("access_token") != "" && query == "" {
			t.Errorf("it ends at %s", at)
		}
	}
	if n := v.count(`select count(*) from auth.users`); n != 2 {
		t.Errorf("there are %d accounts", n)
	}
}

func TestTheOwnerIsToldOfIdentitiesThatComeAndGo(t *testing.T) {
	mails := &post{}
	v := startWithOpenID(t, func(o *auth.Options) { o.Outbound, o.Notify = mails, auth.Notifications() })
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"password":%q,"email_confirm":true}`, victim, goodPassword)), http.StatusOK, "")
	v.openID.Is(openIDUser, victim, true)
	token := v.browser().session(openIDUser)
	if m := mails.last(t, auth.MailIdentityLinked, victim); m.Provider != "keycloak" {
		t.Errorf("the mail tells of %q", m.Provider)
	}
	u := v.call("GET", "/user", token, "")
	for _, at := range []string{"identities.0", "identities.1"} {
		if u.str(at+".provider") == "keycloak" {
			v.want(v.call("DELETE", "/user/identities/"+u.str(at+".identity_id"), token, ""), http.StatusOK, "")
		}
	}
	mails.last(t, auth.MailIdentityUnlinked, victim)
}

func TestASessionWithoutTheSecondFactorChangesNoIdentities(t *testing.T) {
	v := startWithOpenID(t, func(o *auth.Options) { o.Autoconfirm = true })
	signedUp := v.signUp(address())
	token := signedUp.str("access_token")
	v.db.Exec(t, `
		insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
		select gen_random_uuid(), id, 'totp', 'verified', now(), now() from auth.users`)
	v.want(v.call("GET", "/user/identities/authorize?provider=keycloak&skip_http_redirect=true", token, ""), http.StatusForbidden, "insufficient_aal")
	v.want(v.call("DELETE", "/user/identities/"+signedUp.str("user.identities.0.identity_id"), token, ""), http.StatusForbidden, "insufficient_aal")
}
