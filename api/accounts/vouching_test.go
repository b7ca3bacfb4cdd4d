package accounts_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// A provider vouches for the address that it has checked, and for no other one that is written alike: mailboxes whose
// names are folded into one here may be different people's there.
func TestAnAddressThatIsOnlyWrittenAlikeOpensNoAccount(t *testing.T) {
	v := startWithOpenID(t, nil)
	v.want(v.admin("POST", "/users", fmt.Sprintf(`{"email":%q,"password":%q,"email_confirm":true}`, victim, goodPassword)), http.StatusOK, "")
	for i, email := range []string{
		"ⓥictim@example.com", "ｖictim@example.com", "vict\u0131m@example.com", "v\u0130ctim@example.com", "victim@ｅxample.com", "victi\u1d39@example.com",
	} {
		subject := fmt.Sprint("attacker-", i)
		v.openID.Is(subject, email, true)
		if at := v.browser().signIn(subject, ""); fragment(at).Get("access_token") != "" {
			u := v.call("GET", "/user", fragment(at).Get("access_token"), "")
			if u.str("email") == victim {
				t.Errorf("%s opens the account of %s", email, victim)
			}
		}
		v.grant("keycloak", v.openID.Sign(v.openID.Claims(jwt.MapClaims{"sub": subject, "email": email})), "")
	}
	if n := v.count(`select count(*) from auth.identities i join auth.users u on u.id = i.user_id where u.email = $1 and i.provider = 'keycloak'`, victim); n != 0 {
		t.Errorf("%d identities of others are linked", n)
	}
	v.want(v.signIn(victim, goodPassword), http.StatusOK, "")
	for i, email := range []string{"Victim@Example.COM", " victim@example.com"} {
		subject := fmt.Sprint("owner-", i)
		a := v.want(v.grant("keycloak", v.openID.Sign(v.openID.Claims(jwt.MapClaims{"sub": subject, "email": email})), ""), http.StatusOK, "")
		if a.str("user.email") != victim {
			t.Errorf("%q opens the account of %s", email, a.str("user.email"))
		}
	}
	a := v.want(v.grant("keycloak", v.openID.Sign(v.openID.Claims(jwt.MapClaims{"sub": "e", "email": "\u00c9ve@example.com"})), ""), http.StatusOK, "")
	if a.str("user.email") != "\u00e9ve@example.com" {
		t.Errorf("the account is %s", a.text)
	}
}

func TestADomainThatIsNoTextHasNoIdentityProvider(t *testing.T) {
	s := start(t, ssoOptions(t))
	for _, domain := range []string{`\u0000`, `corp\u0000.example`, strings.Repeat("a", 300)} {
		a := s.call("POST", "/sso", "", fmt.Sprintf(`{"domain":"%s","skip_http_redirect":true}`, domain))
		if a.status != http.StatusBadRequest && a.status != http.StatusNotFound {
			t.Errorf("%s is answered with %d %s", domain, a.status, a.text)
		}
	}
}
