package factor

import (
	"encoding/base32"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"
)

var rfcSecret = base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))

// The codes of RFC 6238 Appendix B for SHA-1, of which six digits are shown here: the last of the eight there.
func TestCodesAreThoseOfRFC6238(t *testing.T) {
	for unix, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		step, ok, err := MatchTOTP(rfcSecret, code, time.Unix(unix, 0))
		if err != nil || !ok || step != unix/30 {
			t.Errorf("at %d: step %d, %v, %v", unix, step, ok, err)
		}
	}
}

func TestAClockMayBeOneStepOff(t *testing.T) {
	at := time.Unix(1_700_000_010, 0)
	step := at.Unix() / 30
	for off, want := range map[int64]bool{-3: false, -2: false, -1: true, 0: true, 1: true, 2: false, 3: false} {
		code, err := codeOf(rfcSecret, step+off)
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := MatchTOTP(rfcSecret, code, at)
		if err != nil || ok != want || ok && got != step+off {
			t.Errorf("%d steps off: %d, %v, %v", off, got, ok, err)
		}
	}
	for _, code := range []string{"", "0", "28708", "2870820", " 287082", "287082\x00", strings.Repeat("9", 1000), "٢٨٧٠٨٢"} {
		if _, ok, err := MatchTOTP(rfcSecret, code, time.Unix(59, 0)); ok || err != nil {
			t.Errorf("%q: %v, %v", code, ok, err)
		}
	}
}

func TestSecretsOfDumpsAreReadInEverySpelling(t *testing.T) {
	for _, secret := range []string{rfcSecret, strings.ToLower(rfcSecret), " " + rfcSecret + "\n", strings.TrimRight(rfcSecret, "=")} {
		if _, ok, err := MatchTOTP(secret, "287082", time.Unix(59, 0)); !ok || err != nil {
			t.Errorf("%q: %v, %v", secret, ok, err)
		}
	}
	if _, _, err := MatchTOTP("not base32!", "287082", time.Unix(59, 0)); !errors.Is(err, ErrSecret) || strings.Contains(err.Error(), "not base32!") {
		t.Errorf("a broken secret: %v", err)
	}
}

func TestASecretHas160BitsAndAURIThatAppsRead(t *testing.T) {
	a := NewTOTP("Acme: Shop & Sons", "jane+doe@example.com")
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(a.Secret)
	if err != nil || len(raw) != 20 {
		t.Errorf("the secret has %d bytes, %v", len(raw), err)
	}
	u, err := url.Parse(a.URI)
	if err != nil || u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/Acme  Shop & Sons:jane+doe@example.com" {
		t.Errorf("the URI is %s", a.URI)
	}
	q := u.Query()
	if q.Get("secret") != a.Secret || q.Get("issuer") != "Acme  Shop & Sons" || q.Get("digits") != "6" || q.Get("period") != "30" || q.Get("algorithm") != "SHA1" {
		t.Errorf("the URI says %v", q)
	}
	if b := NewTOTP("Acme", "jane"); b.Secret == a.Secret {
		t.Error("two secrets are the same")
	}
}
