package auth

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"basalt/auth/token"
)

const testSecret = "a secret that is longer than thirty-two bytes"

func testKeys(t testing.TB) Keys {
	t.Helper()
	keys := Keys{Secret: testSecret, KeyID: token.SharedKeyID(testSecret)}
	keys.AnonKey = signed(t, `{"iss":"supabase","role":"anon","iat":%d,"exp":%d}`, time.Now().Unix(), time.Now().Add(time.Hour).Unix())
	keys.ServiceKey = Secret(signed(t, `{"iss":"supabase","role":"service_role","iat":%d,"exp":%d}`, time.Now().Unix(), time.Now().Add(time.Hour).Unix()))
	return keys
}

func signed(t testing.TB, claims string, args ...any) string {
	t.Helper()
	raw, err := token.Sign(fmt.Appendf(nil, claims, args...), testSecret, token.SharedKeyID(testSecret))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestVerifierTellsWhoIsCalling(t *testing.T) {
	keys := testKeys(t)
	v := NewVerifier(keys, VerifierOptions{})
	user, session := uuid.New(), uuid.New()
	exp := time.Now().Add(time.Hour).Unix()
	for _, c := range []struct {
		name, raw string
		want      Principal
	}{
		{"the anon key", keys.AnonKey, Principal{Role: "anon", APIKeyOnly: true}},
		{"the service key", keys.ServiceKey.Reveal(), Principal{Role: "service_role", APIKeyOnly: true}},
		{"a user", signed(t, `{"sub":%q,"role":"authenticated","session_id":%q,"exp":%d}`, user, session, exp),
			Principal{Role: "authenticated", UserID: user, SessionID: session, Subject: user.String()}},
		{"a custom role", signed(t, `{"role":"reporter","exp":%d}`, exp), Principal{Role: "reporter"}},
		{"a token without a role", signed(t, `{"sub":"7","exp":%d}`, exp), Principal{Role: "anon", Subject: "7"}},
		{"a subject that only resembles a UUID", signed(t, `{"sub":"urn:uuid:%s","exp":%d}`, user, exp), Principal{Role: "anon", Subject: "urn:uuid:" + user.String()}},
	} {
		for range 2 {
			got, err := v.Verify(c.raw)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got.ExpiresAt.Unix() != exp && !got.APIKeyOnly {
				t.Errorf("%s ends at %v", c.name, got.ExpiresAt)
			}
			if !strings.Contains(got.Claims, fmt.Sprintf(`"role":%q`, got.Role)) {
				t.Errorf("%s has the claims %s", c.name, got.Claims)
			}
			bare := *got
			bare.Claims, bare.ExpiresAt = "", time.Time{}
			if bare != c.want {
				t.Errorf("%s is %+v", c.name, bare)
			}
		}
	}
	if p := Nobody(RoleAnon); p.Role != "anon" || p.Administers() {
		t.Errorf("nobody is %+v", p)
	}
}

func TestVerifierKnowsWhoHasSigned(t *testing.T) {
	keys := testKeys(t)
	const other = "the secret of another issuer, with many bytes"
	foreign := token.SharedKey(other)
	foreign.Foreign = true
	v := NewVerifier(keys, VerifierOptions{ForeignKeys: token.Ring{foreign}, DefaultRole: "web"})
	exp := time.Now().Add(time.Hour).Unix()
	raw, err := token.Sign(fmt.Appendf(nil, `{"sub":%q,"exp":%d}`, uuid.New(), exp), other, foreign.ID)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // read, then remembered
		p, err := v.Verify(raw)
		if err != nil || !p.Foreign || p.Role != "web" || !strings.Contains(p.Claims, `"role":"web"`) {
			t.Errorf("another issuer's token is %+v, %v", p, err)
		}
		if _, err := v.VerifyOwn(raw); err == nil {
			t.Error("another issuer's token passes for ours")
		}
		if p, err := v.VerifyOwn(keys.ServiceKey.Reveal()); err != nil || p.Foreign || p.Role != RoleService {
			t.Errorf("our key is %+v, %v", p, err)
		}
	}
	v.Rotate(keys)
	if _, err := v.Verify(raw); err != nil {
		t.Errorf("after new keys of ours: %v", err)
	}
	refusedAs(t, NewVerifier(keys, VerifierOptions{}), raw, token.CodeUndecodable, "No suitable key or wrong key type")
}

func TestVerifierDemandsARoleWhereItMust(t *testing.T) {
	v := NewVerifier(testKeys(t), VerifierOptions{RoleRequired: true})
	exp := time.Now().Add(time.Hour).Unix()
	refusedAs(t, v, signed(t, `{"sub":"7","exp":%d}`, exp), token.CodeRequired, "Anonymous access is disabled")
	if p, err := v.Verify(signed(t, `{"role":"anon","exp":%d}`, exp)); err != nil || p.Role != RoleAnon {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestVerifierFindsTheRoleOfItsOwnKeysWhereItPutThem(t *testing.T) {
	path, err := token.ParsePath("$.app.role")
	if err != nil {
		t.Fatal(err)
	}
	keys := testKeys(t)
	v := NewVerifier(keys, VerifierOptions{RoleClaim: path})
	if p, err := v.Verify(keys.ServiceKey.Reveal()); err != nil || p.Role != RoleService || !p.APIKeyOnly {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := v.Verify(signed(t, `{"role":"service_role","app":{"role":"reporter"},"exp":%d}`, time.Now().Add(time.Hour).Unix())); err != nil || p.Role != "reporter" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestVerifierAsksForTheRoleEachTime(t *testing.T) {
	var dropped atomic.Bool
	v := NewVerifier(testKeys(t), VerifierOptions{RoleAllowed: func(role string) bool {
		return role == "reporter" && !dropped.Load()
	}})
	raw := signed(t, `{"role":"reporter","exp":%d}`, time.Now().Add(time.Hour).Unix())
	if _, err := v.Verify(raw); err != nil {
		t.Fatal(err)
	}
	dropped.Store(true)
	refusedAs(t, v, raw, token.CodeRole, `role "reporter" does not exist`)
	refusedAs(t, v, signed(t, `{"role":"postgres","exp":%d}`, time.Now().Add(time.Hour).Unix()), token.CodeRole, `role "postgres" does not exist`)
}

func refusedAs(t *testing.T, v *Verifier, raw, code, message string) {
	t.Helper()
	_, err := v.Verify(raw)
	var refusal *TokenError
	if !errors.As(err, &refusal) || refusal.Code != code || refusal.Message != message {
		t.Errorf("the refusal is %v, not %s %s", err, code, message)
	}
}

func TestVerifierForgetsWhenKeysRotate(t *testing.T) {
	keys := testKeys(t)
	v := NewVerifier(keys, VerifierOptions{})
	if _, err := v.Verify(keys.AnonKey); err != nil {
		t.Fatal(err)
	}
	next := Keys{Secret: "an entirely different secret of enough bytes"}
	v.Rotate(next)
	refusedAs(t, v, keys.AnonKey, token.CodeUndecodable, "No suitable key or wrong key type")
}

func TestVerifierRefusesWhatItRememberedOnceItsTimeIsOver(t *testing.T) {
	v := NewVerifier(testKeys(t), VerifierOptions{})
	raw := signed(t, `{"role":"anon","exp":%d}`, time.Now().Add(time.Hour).Unix())
	p, err := v.Verify(raw)
	if err != nil {
		t.Fatal(err)
	}
	// Only the test may change what others share.
	p.ExpiresAt = time.Now().Add(-token.Leeway - time.Second)
	refusedAs(t, v, raw, token.CodeClaims, "JWT expired")
}

func TestVerifierRemembersABoundedNumber(t *testing.T) {
	v := NewVerifier(testKeys(t), VerifierOptions{Remember: 64})
	exp := time.Now().Add(time.Hour).Unix()
	for i := range 1000 {
		if _, err := v.Verify(signed(t, `{"n":%d,"exp":%d}`, i, exp)); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	for i := range v.state.Load().shards {
		s := &v.state.Load().shards[i]
		kept += len(s.young) + len(s.old)
	}
	if kept > 64 || kept < 16 {
		t.Errorf("%d tokens are remembered", kept)
	}
}

func TestRememberedTokensCostNoAllocation(t *testing.T) {
	v := NewVerifier(testKeys(t), VerifierOptions{})
	raw := signed(t, `{"sub":%q,"role":"authenticated","exp":%d}`, uuid.New(), time.Now().Add(time.Hour).Unix())
	if _, err := v.Verify(raw); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = v.Verify(raw) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
