package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strings"
	"testing"
	"time"
)

const (
	testSecret  = "a secret that is longer than thirty-two bytes"
	otherSecret = "another secret, longer than thirty-two bytes"
	goodHeader  = `{"alg":"HS256","typ":"JWT"}`
)

var testNow = time.Unix(1_800_000_000, 0)

func goodClaims() string {
	return `{"sub":"9f2579d4-000b-402a-b031-322420748e2a","role":"authenticated","aud":"authenticated","iat":1799999990,"exp":1800003600,"n":12345678901234567890.10}`
}

func b64(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func mac(newHash func() hash.Hash, secret, text string) string {
	m := hmac.New(newHash, []byte(secret))
	m.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// sign makes a genuine token of whatever header and claims it is given.
func sign(header, claims string) string {
	head := b64(header) + "." + b64(claims)
	return head + "." + mac(sha256.New, testSecret, head)
}

func parse(raw string) (*Claims, *Error) {
	return Parse(raw, Ring{SharedKey(testSecret)}, Rules{Audience: "authenticated"}, testNow)
}

func TestParseBelievesGenuineTokens(t *testing.T) {
	for name, raw := range map[string]string{
		"as the standard writes it":       sign(goodHeader, goodClaims()),
		"without a type":                  sign(`{"alg":"HS256"}`, goodClaims()),
		"with our key's name":             sign(`{"alg":"HS256","kid":"`+SharedKeyID(testSecret)+`"}`, goodClaims()),
		"with the type of access tokens":  sign(`{"alg":"HS256","typ":"at+jwt"}`, goodClaims()),
		"with blanks around the members":  sign(goodHeader, "\n { \"exp\" : 1800000001 , \"role\":\"anon\" } \n"),
		"without a role":                  sign(goodHeader, `{"exp":1800000001}`),
		"with a null role":                sign(goodHeader, `{"exp":1800000001,"role":null}`),
		"with one of several audiences":   sign(goodHeader, `{"exp":1800000001,"aud":["x","authenticated"]}`),
		"with a fraction of a second":     sign(goodHeader, `{"exp":1800000000.5}`),
		"ended within the leeway":         sign(goodHeader, `{"exp":1799999971}`),
		"beginning within the leeway":     sign(goodHeader, `{"exp":1800000100,"nbf":1800000029}`),
		"issued within the leeway":        sign(goodHeader, `{"exp":1800000100,"iat":1800000029}`),
		"with an exponent in its numbers": sign(goodHeader, `{"exp":1.8000001e9}`),
	} {
		if _, refusal := parse(raw); refusal != nil {
			t.Errorf("%s: refused: %v", name, refusal)
		}
	}
}

func TestParseRefusesEachChangedCharacter(t *testing.T) {
	raw := sign(goodHeader, goodClaims())
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range raw {
		if raw[i] == '.' {
			continue
		}
		// The neighbour in the alphabet differs in the lowest bit, which in the last character of a
		// part may be one that a lax reader throws away.
		changed := raw[:i] + string(alphabet[strings.IndexByte(alphabet, raw[i])^1]) + raw[i+1:]
		for _, mutation := range []string{changed, raw[:i] + raw[i+1:], raw[:i] + "A" + raw[i:], raw[:i] + "\n" + raw[i:], raw[:i] + "=" + raw[i:]} {
			if _, refusal := parse(mutation); refusal == nil {
				t.Errorf("a change at %d passes: %q", i, mutation)
			}
		}
	}
}

func TestParseRefusesForeignHeaders(t *testing.T) {
	claims := goodClaims()
	for _, algorithm := range []string{
		"none", "None", "NONE", "nOnE", "", "HS384", "HS512", "hs256", "HS256 ", "RS256", "ES256", "PS256", "EdDSA", "HS1", "dir", "A256KW", "RSA-OAEP",
	} {
		head := b64(fmt.Sprintf(`{"alg":%q,"typ":"JWT"}`, algorithm)) + "." + b64(claims)
		for _, signature := range []string{"", mac(sha256.New, testSecret, head), mac(sha512.New, testSecret, head), mac(sha512.New384, testSecret, head), mac(sha256.New, "", head)} {
			refused(t, head+"."+signature, CodeUndecodable, "Wrong or unsupported encoding algorithm")
		}
	}
	for _, header := range []string{
		`{"alg":"HS256","kid":"other"}`, `{"alg":"HS256","kid":""}`, `{"alg":"HS256","kid":1}`, `{"alg":"HS256","kid":null}`,
		`{"alg":"HS256","kid":"../../dev/null"}`, `{"alg":"HS256","kid":"' union select 'x"}`,
		`{"alg":"HS256","crit":[]}`, `{"alg":"HS256","crit":["exp"]}`, `{"alg":"HS256","b64":false,"crit":["b64"]}`,
		`{"alg":"HS256","jku":"https://evil.example/keys"}`, `{"alg":"HS256","x5u":"https://evil.example/cert"}`,
		`{"alg":"HS256","jwk":{"kty":"oct","k":"YQ"}}`, `{"alg":"HS256","x5c":["MIIB"]}`, `{"alg":"HS256","zip":"DEF"}`, `{"alg":"HS256","enc":"A256GCM"}`,
	} {
		refused(t, sign(header, claims), CodeUndecodable, "No suitable key or wrong key type")
	}
	for _, header := range []string{
		`{"alg":"HS256","alg":"HS256"}`, `{"alg":"none","\u0061lg":"HS256"}`, `{"alg":"HS256","typ":"dpop+jwt"}`, `{"alg":"HS256","typ":7}`, `[]`, `"HS256"`, `null`, ``, `{`, `{"alg":"HS256"} {}`, "{\"alg\":\"HS256\",\"x\":\"\xff\"}",
	} {
		refused(t, sign(header, claims), CodeUndecodable, "")
	}
	refused(t, sign(`{"alg":["HS256"]}`, claims), CodeUndecodable, "Wrong or unsupported encoding algorithm")
	refused(t, sign(`{"typ":"JWT"}`, claims), CodeUndecodable, "Wrong or unsupported encoding algorithm")
}

func TestParseRefusesForeignSignatures(t *testing.T) {
	head := b64(goodHeader) + "." + b64(goodClaims())
	for _, secret := range []string{"", otherSecret, testSecret + " ", strings.ToUpper(testSecret), testSecret[:32], "secret"} {
		refused(t, head+"."+mac(sha256.New, secret, head), CodeUndecodable, "JWT cryptographic operation failed")
	}
	genuine := sign(goodHeader, goodClaims())
	refused(t, genuine[:strings.LastIndex(genuine, ".")+1], CodeUndecodable, "")
	refused(t, genuine+"=", CodeUndecodable, "")
	refused(t, " "+genuine, CodeUndecodable, "")
	refused(t, genuine+"\r\n", CodeUndecodable, "")
	// Expired and badly signed: the signature is what counts.
	expired := b64(goodHeader) + "." + b64(`{"exp":1}`)
	refused(t, expired+"."+mac(sha256.New, otherSecret, expired), CodeUndecodable, "JWT cryptographic operation failed")
}

func TestParseRefusesOtherShapes(t *testing.T) {
	refused(t, "", CodeUndecodable, "Empty JWT is sent in Authorization header")
	genuine := sign(goodHeader, goodClaims())
	for dots := range 12 {
		text := strings.Repeat("a.", dots) + "a"
		if dots == 2 {
			refused(t, text, CodeUndecodable, "")
			continue
		}
		refused(t, text, CodeUndecodable, fmt.Sprintf("Expected 3 parts in JWT; got %d", dots+1))
		refused(t, genuine+strings.Repeat(".", dots+1), CodeUndecodable, "")
	}
	refused(t, strings.Repeat(".", MaxLength+1), CodeUndecodable, "JWT is longer than 8192 bytes")
	refused(t, sign(goodHeader, `{"exp":1800000100,"x":"`+strings.Repeat("x", MaxLength)+`"}`), CodeUndecodable, "JWT is longer than 8192 bytes")
	refused(t, sign(`{"alg":"HS256","cty":"JWT"}`, genuine), CodeUndecodable, "")
}

func TestParseRefusesClaimsOfTheWrongKind(t *testing.T) {
	for claims, message := range map[string]string{
		`{}`:                                  "Parsing claims failed",
		`{"role":"service_role"}`:             "Parsing claims failed",
		`[]`:                                  "",
		`"x"`:                                 "",
		`null`:                                "",
		``:                                    "",
		`{"exp":1800000100`:                   "",
		`{"exp":1800000100}{}`:                "",
		`{"exp":1800000100,"exp":1800000100}`: "Parsing claims failed",
		`{"exp":1,"\u0065xp":1800000100}`:     "Parsing claims failed",
		`{"exp":1800000100,"role":"a","role":"b"}`:        "Parsing claims failed",
		`{"exp":1800000100,"app_metadata":{"a":1,"a":2}}`: "Parsing claims failed",
		`{"exp":1800000100,"amr":[{"a":1,"a":2}]}`:        "Parsing claims failed",
		"{\"exp\":1800000100,\"x\":\"\xff\xfe\"}":         "Parsing claims failed",
		`{"exp":1800000100,"sub":7}`:                      "Parsing claims failed",
		`{"exp":1800000100,"sub":{"$ne":""}}`:             "Parsing claims failed",
		`{"exp":1800000100,"session_id":[]}`:              "Parsing claims failed",
		`{"exp":1800000100,"role":7}`:                     "Parsing claims failed",
		`{"exp":1800000100,"role":["service_role"]}`:      "Parsing claims failed",
		`{"exp":1800000100,"role":{"a":"service_role"}}`:  "Parsing claims failed",
		`{"exp":1800000100,"role":true}`:                  "Parsing claims failed",
		`{"exp":1799999969}`:                              "JWT expired",
		`{"exp":0}`:                                       "JWT expired",
		`{"exp":1800000100,"nbf":1800000031}`:             "JWT not yet valid",
		`{"exp":1800000100,"iat":1800000031}`:             "JWT issued at future",
		`{"exp":1800000100,"aud":"other"}`:                "JWT not in audience",
		`{"exp":1800000100,"aud":[]}`:                     "JWT not in audience",
		`{"exp":1800000100,"aud":"AUTHENTICATED"}`:        "JWT not in audience",
		`{"exp":1800000100,"aud":7}`:                      "The JWT 'aud' claim must be a string or an array of strings",
		`{"exp":1800000100,"aud":null}`:                   "The JWT 'aud' claim must be a string or an array of strings",
		`{"exp":1800000100,"aud":{}}`:                     "The JWT 'aud' claim must be a string or an array of strings",
		`{"exp":1800000100,"aud":["authenticated",7]}`:    "The JWT 'aud' claim must be a string or an array of strings",
		`{"exp":1800000100,"aud":["authenticated",null]}`: "The JWT 'aud' claim must be a string or an array of strings",
	} {
		refused(t, sign(goodHeader, claims), "", message)
	}
	for _, name := range []string{"exp", "nbf", "iat"} {
		rest := `,"exp":1800000100}`
		if name == "exp" {
			rest = `}`
		}
		for _, value := range []string{`"soon"`, `"1800000100"`, `true`, `null`, `{}`, `[]`, `[1800000100]`, `{"$gt":0}`} {
			refused(t, sign(goodHeader, `{"`+name+`":`+value+rest), CodeClaims, "The JWT '"+name+"' claim must be a number")
		}
		for _, value := range []string{`-1`, `-1800000100`, `1e400`, `-1e400`, `1e300`, `9e18`, `253402300800`, `18446744073709551616`} {
			refused(t, sign(goodHeader, `{"`+name+`":`+value+rest), CodeClaims, "Parsing claims failed")
		}
		for _, value := range []string{`NaN`, `Infinity`, `0x7fffffff`, `01800000100`, `1800000100.`, `+1800000100`} {
			refused(t, sign(goodHeader, `{"`+name+`":`+value+rest), "", "")
		}
	}
}

// refused fails the test when a token passes, or is refused otherwise than said. Empty texts say nothing.
func refused(t *testing.T, raw, code, message string) {
	t.Helper()
	claims, refusal := parse(raw)
	switch {
	case refusal == nil:
		t.Errorf("%.200q passes as %+v", raw, claims)
	case code != "" && refusal.Code != code, message != "" && refusal.Message != message:
		t.Errorf("%.200q is refused with %v, not %s %s", raw, refusal, code, message)
	}
}

func TestTextKeepsTheClaimsAsTheyWereWritten(t *testing.T) {
	for claims, want := range map[string]string{
		`{"exp":1800000100,"role":"anon","n":1.10}`:           `{"exp":1800000100,"role":"anon","n":1.10}`,
		`{"exp":1800000100,"n":12345678901234567890123}`:      `{"role":"anon","exp":1800000100,"n":12345678901234567890123}`,
		`{"role" : null , "exp":1800000100}`:                  `{"role" : "anon" , "exp":1800000100}`,
		`{ "exp":1800000100, "a":{"role":"x"}, "e":"\u0041"}`: `{"role":"anon", "exp":1800000100, "a":{"role":"x"}, "e":"\u0041"}`,
	} {
		c, refusal := parse(sign(goodHeader, claims))
		if refusal != nil {
			t.Fatal(refusal)
		}
		if got := c.Text("anon"); got != want {
			t.Errorf("%s\n becomes %s\n not     %s", claims, got, want)
		}
	}
}

func TestRoleIsFoundWhereThePathSays(t *testing.T) {
	claims := `{"exp":1800000100,"role":"top","app":{"roles":["first","second"],"my role":"spaced"},"https://example.com/role":"long"}`
	for text, want := range map[string]string{
		`$.role`:                        "top",
		`.role`:                         "top",
		`$.app.roles[1]`:                "second",
		`$['app']["roles"][0]`:          "first",
		`$.app."my role"`:               "spaced",
		`$["https://example.com/role"]`: "long",
		`$.app.roles[7]`:                "",
		`$.missing.role`:                "",
		`$[0]`:                          "",
		`.app.roles[?(@ == "second")]`:  "second",
		`$.app.roles[?@ == 'second']`:   "second",
		`$.app.roles[?( @=="third" )]`:  "",
		`.app.roles[?(@ != "first")]`:   "second",
		`.app.roles[?(@ ^== "se")]`:     "second",
		`.app.roles[?(@ ==^ "st")]`:     "first",
		`.app.roles[?(@ *== "co")]`:     "second",
		`.role[?(@ == "top")]`:          "",
		`$[?(@ == "top")]`:              "",
	} {
		path, err := ParsePath(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		c, refusal := Parse(sign(goodHeader, claims), Ring{SharedKey(testSecret)}, Rules{Role: path}, testNow)
		if refusal != nil {
			t.Fatalf("%s: %v", text, refusal)
		}
		if c.Role != want {
			t.Errorf("%s finds %q, not %q", text, c.Role, want)
		}
	}
	for _, text := range []string{"", "$", "role", "$.", "$..role", "$.a[", "$.a[x]", "$.a[-1]", "$['a", "$['']", "$.a..b",
		`.a[?(@ == "x")].b`, `.a[?(@ == x)]`, `.a[?(@ == "x"]`, `.a[?(@ == "x)]`, `.a[?(@ = "x")]`, `.a[?(x == "x")]`, `.a[?(@ == "x")`, `.a[?`, `.a[?(@`} {
		if _, err := ParsePath(text); err == nil {
			t.Errorf("the path %q passes", text)
		}
	}
}

func TestSignedTokensAreBelieved(t *testing.T) {
	raw, err := Sign([]byte(goodClaims()), testSecret, SharedKeyID(testSecret))
	if err != nil {
		t.Fatal(err)
	}
	c, refusal := parse(raw)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if got := c.Text("authenticated"); got != goodClaims() {
		t.Errorf("the claims come back as %s", got)
	}
}

func TestRefusalsDoNotRepeatTheToken(t *testing.T) {
	raw := sign(goodHeader, `{"exp":1800000100,"sub":["canary-7d1f"]}`)
	_, refusal := parse(raw)
	if refusal == nil || strings.Contains(refusal.Error(), "canary") || strings.Contains(refusal.Error(), raw[:20]) {
		t.Errorf("the refusal is %v", refusal)
	}
	var typed *Error
	if !errors.As(error(refusal), &typed) {
		t.Error("the refusal has no type")
	}
}

// FuzzParse: nothing makes the reader panic, and only what was signed with the secret passes.
func FuzzParse(f *testing.F) {
	genuine := sign(goodHeader, goodClaims())
	f.Add(genuine)
	f.Add("a.b.c")
	f.Add("..")
	f.Add(sign(goodHeader, `{"exp":1800000100,"role":null}`))
	f.Fuzz(func(t *testing.T, raw string) {
		c, refusal := parse(raw)
		if refusal != nil {
			return
		}
		head, signature := raw[:strings.LastIndex(raw, ".")], raw[strings.LastIndex(raw, ".")+1:]
		if mac(sha256.New, testSecret, head) != signature {
			t.Fatalf("%q passes without a good signature", raw)
		}
		if c.ExpiresAt.IsZero() {
			t.Fatalf("%q passes without an end", raw)
		}
	})
}

// FuzzClaims: genuine tokens with any claims do not make the reader panic, and the text
// for SQL is an object whose role is the one that was asked for.
func FuzzClaims(f *testing.F) {
	f.Add(goodClaims())
	f.Add(`{"exp":1800000100,"role":null,"a":{"b":[1,{"c":"\u0000"}]}}`)
	f.Add(`{"exp":1800000100,"\u0072ole":"x"}`)
	f.Fuzz(func(t *testing.T, claims string) {
		c, refusal := parse(sign(goodHeader, claims))
		if refusal != nil {
			return
		}
		o, err := parseObject([]byte(c.Text("some_role")))
		if err != nil {
			t.Fatalf("%s gives %s: %v", claims, c.Text("some_role"), err)
		}
		value, _ := o.lookup("role")
		if text, _ := textValue(value); text != "some_role" {
			t.Fatalf("%s has the role %s", claims, value)
		}
	})
}
