package token

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
)

// pairs are a key of each algorithm.
func pairs(t testing.TB) []*Pair {
	t.Helper()
	var all []*Pair
	for _, algorithm := range PairAlgorithms() {
		p, err := NewPair(algorithm)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestTokensOfEachAlgorithmAreBelieved(t *testing.T) {
	for _, p := range pairs(t) {
		raw, err := p.Signer().Sign(json.RawMessage(goodClaims()))
		if err != nil {
			t.Fatal(err)
		}
		claims, refusal := Parse(raw, Ring{SharedKey(testSecret), p.Key()}, Rules{Audience: "authenticated"}, testNow)
		if refusal != nil || claims.Role != "authenticated" || claims.Foreign || !strings.Contains(claims.Text("x"), "12345678901234567890.10") {
			t.Errorf("%s: %v, %+v", p.Algorithm, refusal, claims)
		}
		if !p.Signer().Asymmetric() || p.Signer().Algorithm() != p.Algorithm {
			t.Errorf("%s: the signer does not say what it is", p.Algorithm)
		}
	}
	if SharedSigner(testSecret, "x").Asymmetric() {
		t.Error("a shared secret is said to have a public half")
	}
}

func TestAPairIsReadAsItIsWritten(t *testing.T) {
	for _, p := range pairs(t) {
		text, err := p.PrivateJWK()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParsePair(text)
		if err != nil {
			t.Fatalf("%s: %v", p.Algorithm, err)
		}
		if again.ID != p.ID || again.ID != again.thumbprint() || again.Algorithm != p.Algorithm || again.State != StateCurrent {
			t.Errorf("%s: %+v", p.Algorithm, again)
		}
		raw, err := again.Signer().Sign(json.RawMessage(goodClaims()))
		if err != nil {
			t.Fatal(err)
		}
		if _, refusal := Parse(raw, Ring{p.Key()}, Rules{}, testNow); refusal != nil {
			t.Errorf("%s: %v", p.Algorithm, refusal)
		}
		public, err := json.Marshal(p.JWK())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{`"d":`, `"p":`, `"q":`, `"k":`} {
			if strings.Contains(string(public), name) {
				t.Errorf("%s: what is published has %s", p.Algorithm, name)
			}
		}
		half, err := ParsePair(public)
		if err != nil || half.Signer() != nil || half.ID != p.ID {
			t.Errorf("%s: the public half: %v", p.Algorithm, err)
		}
		ring, err := ParseKeys(public)
		if err != nil || ring[0].ID != p.ID || ring[0].Algorithm != p.Algorithm {
			t.Errorf("%s: another service reads: %v", p.Algorithm, err)
		}
	}
}

func TestAThumbprintIsThatOfTheStandard(t *testing.T) {
	// RFC 8037 appendix A.3.
	p, err := ParsePair([]byte(`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`))
	if err != nil || p.ID != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" {
		t.Errorf("%v, %v", p, err)
	}
}

func TestSigningKeysSayWhichSigns(t *testing.T) {
	all := pairs(t)
	text := func(i int, more string) string {
		private, err := all[i].PrivateJWK()
		if err != nil {
			t.Fatal(err)
		}
		return string(private[:len(private)-1]) + more + "}"
	}
	public := func(i int, more string) string {
		half, _ := json.Marshal(all[i].JWK())
		return string(half[:len(half)-1]) + more + "}"
	}
	for name, c := range map[string]struct {
		text   string
		states []State
		fault  string
	}{
		"one key alone is current":   {text(0, ""), []State{StateCurrent}, ""},
		"a set with statuses":        {`{"keys":[` + text(0, `,"status":"standby"`) + `,` + text(1, `,"status":"current"`) + `,` + public(2, `,"status":"previous"`) + `]}`, []State{StateStandby, StateCurrent, StatePrevious}, ""},
		"an array, as Supabase's":    {`[` + text(0, "") + `,` + public(1, "") + `]`, []State{StateCurrent, StatePrevious}, ""},
		"two that may sign":          {`[` + text(0, "") + `,` + text(1, "") + `]`, nil, "2 keys are current"},
		"none that may sign":         {`[` + public(0, "") + `,` + public(1, "") + `]`, nil, "0 keys are current"},
		"a current key without d":    {public(0, `,"status":"current"`), nil, "no private half"},
		"a status that is none":      {text(0, `,"status":"retired"`), nil, "its status is none of"},
		"a shared secret":            {`{"kty":"oct","k":"` + strings.Repeat("YQ", 30) + `"}`, nil, "--jwt-secret"},
		"the halves of two keys":     {strings.Replace(text(2, ""), all[2].JWK().X, pairs(t)[2].JWK().X, 1), nil, "belongs to another key"},
		"a d that is no base64url":   {`{"kty":"OKP","crv":"Ed25519","x":"` + all[2].JWK().X + `","d":"?"}`, nil, "not base64url"},
		"a d that is too short":      {`{"kty":"OKP","crv":"Ed25519","x":"` + all[2].JWK().X + `","d":"YQ"}`, nil, "no Ed25519 key"},
		"an algorithm of encryption": {`{"kty":"OKP","crv":"X25519","x":"` + all[2].JWK().X + `"}`, nil, "none of ES256, RS256, EdDSA"},
		"the same key twice":         {`[` + text(0, "") + `,` + public(0, "") + `]`, nil, "kid of another"},
		"no JSON":                    {`secret text`, nil, "no JSON Web Key"},
		"too many":                   {`[` + strings.Repeat(`{},`, maxKeys) + `{}]`, nil, "32 are the most"},
	} {
		found, err := ParsePairs([]byte(c.text))
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, p := range found {
			if p.State != c.states[i] {
				t.Errorf("%s: key %d is %s", name, i+1, p.State)
			}
		}
	}
}

// TestMutationsOfATokenAreRefused makes hundreds of changes to genuine tokens of each algorithm, with a ring in which all
// algorithms have a key: whatever a token says, a key is used for its own algorithm alone (RFC 8725 §2.1, §3.1).
func TestMutationsOfATokenAreRefused(t *testing.T) {
	all := pairs(t)
	ring := Ring{SharedKey(testSecret)}
	for _, p := range all {
		ring = append(ring, p.Key())
	}
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for i, p := range all {
		genuine, err := p.Signer().Sign(json.RawMessage(goodClaims()))
		if err != nil {
			t.Fatal(err)
		}
		refuseAll := func(what string, tokens ...string) {
			t.Helper()
			for _, raw := range tokens {
				tried++
				if _, refusal := Parse(raw, ring, Rules{Audience: "authenticated"}, testNow); refusal == nil {
					t.Errorf("%s: %s passes: %s", p.Algorithm, what, raw)
				}
			}
		}
		if _, refusal := Parse(genuine, ring, Rules{Audience: "authenticated"}, testNow); refusal != nil {
			t.Fatalf("%s: the genuine token: %v", p.Algorithm, refusal)
		}
		parts := strings.Split(genuine, ".")
		body, signature := parts[1], parts[2]
		other := all[(i+1)%len(all)]
		public, _ := json.Marshal(p.JWK())

		// The algorithm is exchanged under a genuine signature, and under none.
		for _, algorithm := range []string{"none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "ES256K", "EdDSA", "Ed25519", "hs256", "A128KW", "dir", "RSA-OAEP"} {
			if algorithm == p.Algorithm {
				continue
			}
			for _, kid := range []string{"", p.ID, other.ID, SharedKeyID(testSecret)} {
				header := b64(fmt.Sprintf(`{"alg":%q,"typ":"JWT","kid":%q}`, algorithm, kid))
				if kid == "" {
					header = b64(fmt.Sprintf(`{"alg":%q,"typ":"JWT"}`, algorithm))
				}
				refuseAll("alg "+algorithm, header+"."+body+"."+signature, header+"."+body+".")
			}
		}
		// HS256 with what is public as its secret (CVE-2015-9235).
		jwk := p.JWK()
		for _, secret := range []string{string(public), jwk.X, jwk.N, p.ID, "", jwk.X + jwk.Y} {
			for _, kid := range []string{`,"kid":"` + p.ID + `"`, "", `,"kid":"` + SharedKeyID(testSecret) + `"`} {
				head := b64(`{"alg":"HS256","typ":"JWT"`+kid+`}`) + "." + body
				refuseAll("HS256 with the public key", head+"."+mac(sha256.New, secret, head))
			}
		}
		// Headers that bring or name keys, or that must be understood.
		for _, more := range []string{
			`"jku":"https://evil.example/jwks.json"`, `"jwk":` + string(public), `"x5u":"https://evil.example/c.pem"`, `"x5c":["MIIB"]`, `"crit":["exp"]`, `"crit":[]`,
			`"b64":false,"crit":["b64"]`, `"zip":"DEF"`, `"enc":"A256GCM"`, `"cty":7,"crit":null`, `"alg":"none"`, `"kid":"x"`, `"\u0061lg":"` + p.Algorithm + `"`,
		} {
			head := b64(`{"alg":"`+p.Algorithm+`","kid":"`+p.ID+`",`+more+`}`) + "." + body
			refuseAll("header "+more, signHead(t, p, head))
		}
		for _, kid := range []string{`""`, `null`, `7`, `[]`, `{}`, `"` + other.ID + `"`, `"../../dev/null"`, `"' or '1'='1"`, `"` + p.ID + ` "`, `"` + strings.ToUpper(p.ID) + `x"`, `"` + SharedKeyID(testSecret) + `"`} {
			head := b64(`{"alg":"`+p.Algorithm+`","kid":`+kid+`}`) + "." + body
			refuseAll("kid "+kid, signHead(t, p, head))
		}
		for _, typ := range []string{`"dpop+jwt"`, `"logout+jwt"`, `7`, `"secevent+jwt"`, `null`} {
			head := b64(`{"alg":"`+p.Algorithm+`","typ":`+typ+`}`) + "." + body
			refuseAll("typ "+typ, signHead(t, p, head))
		}
		// Claims that forbid the use, genuinely signed.
		for _, claims := range []string{
			`{}`, `{"exp":1}`, `{"exp":"1800000100"}`, `{"exp":1e300}`, `{"exp":-1}`, `{"exp":null}`, `{"exp":1800000100,"exp":1800000100}`, `{"exp":1800000100,"nbf":1800000031}`,
			`{"exp":1800000100,"nbf":-1}`, `{"exp":1800000100,"iat":1800000031}`, `{"exp":1800000100,"iat":"1"}`, `{"exp":1800000100,"aud":"other"}`, `{"exp":1800000100,"aud":7}`,
			`{"exp":1800000100,"sub":7}`, `{"exp":1800000100,"role":["service_role"]}`, `{"exp":1800000100,"role":"a","role":"service_role"}`, `{"exp":1799999969}`, `[]`, `"x"`, `null`, ``,
			`{"exp":1800000100,"token_use":"id"}`,
		} {
			refuseAll("claims "+claims, signHead(t, p, b64(`{"alg":"`+p.Algorithm+`","kid":"`+p.ID+`"}`)+"."+b64(claims)))
		}
		// Signatures of other keys, of other texts, in other forms.
		foreign := []*Pair{{ID: p.ID, Algorithm: "RS256", private: stranger}}
		foreign = append(foreign, pairs(t)...)
		for _, q := range append(foreign, other) {
			refuseAll("a signature of another key", signHead(t, q, b64(`{"alg":"`+p.Algorithm+`","kid":"`+p.ID+`"}`)+"."+body))
		}
		refuseAll("another form", genuine+"=", genuine+".", "."+genuine, genuine+"."+signature, parts[0]+"."+body, parts[0]+".."+signature, "Bearer "+genuine, genuine+" ", "\n"+genuine,
			parts[0]+"."+body+"."+signature[:len(signature)-2], parts[0]+"."+body+"."+signature+"AA", parts[0]+"."+body+"."+strings.Repeat("A", len(signature)), `{"payload":"`+body+`"}`, parts[0]+"."+b64(genuine)+"."+signature)
		for at := 0; at < len(genuine); at += len(genuine)/60 + 1 {
			if genuine[at] != '.' {
				changed := byte('A')
				if genuine[at] == changed {
					changed = 'B'
				}
				refuseAll(fmt.Sprintf("a change at %d", at), genuine[:at]+string(changed)+genuine[at+1:])
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d changes were tried", tried)
	}
}

// signHead signs a header and claims of any content with a key, by the key's own algorithm.
func signHead(t *testing.T, p *Pair, head string) string {
	t.Helper()
	signature, err := jwt.GetSigningMethod(p.Algorithm).Sign(head, p.private)
	if err != nil {
		t.Fatal(err)
	}
	return head + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func TestOnlyTokensThatNameAnUnknownKeyOfOurAlgorithmsAskForNewerKeys(t *testing.T) {
	known, unknown := pairs(t)[0], pairs(t)[0]
	raw, err := unknown.Signer().Sign(json.RawMessage(goodClaims()))
	if err != nil {
		t.Fatal(err)
	}
	for _, ring := range []Ring{{known.Key()}, {SharedKey(testSecret)}} {
		if _, refusal := Parse(raw, ring, Rules{}, testNow); refusal == nil || !refusal.UnknownKey {
			t.Errorf("%v", refusal)
		}
	}
	for _, raw := range []string{sign(`{"alg":"HS256","kid":"other"}`, goodClaims()), sign(`{"alg":"none","kid":"other"}`, goodClaims()), sign(`{"alg":"ES256"}`, goodClaims())} {
		if _, refusal := Parse(raw, Ring{SharedKey(testSecret)}, Rules{}, testNow); refusal == nil || refusal.UnknownKey {
			t.Errorf("%s: %v", raw, refusal)
		}
	}
}

func TestNoKeyIsNamedLikeAnOption(t *testing.T) {
	for range 1000 { // one in 64 thumbprints begins with a dash
		p, err := NewPair("EdDSA")
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ID, "-") {
			t.Fatalf("%s", p.ID)
		}
	}
}
