// Package factor computes what second factors are made of: codes of the time, their pictures, codes to fall back on.
package factor

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
)

const (
	// Step is how long a code is shown (RFC 6238 §5.2).
	Step = 30 * time.Second
	// skew is how many steps a clock may be off, either way.
	skew = 1
	// secretBytes is the length of SHA-1's output, which RFC 4226 §4 R6 recommends.
	secretBytes = 20
	digits      = otp.DigitsSix
)

// ErrSecret means that what is kept as a secret is none.
var ErrSecret = errors.New("the secret is not base32")

// TOTP is a new secret for codes of the time (RFC 6238), with SHA-1, six digits and steps of 30 seconds: what every
// authenticator app knows.
type TOTP struct {
	// Secret is in base32.
	Secret string
	// URI is what apps read from a QR code: otpauth://totp/….
	URI string
}

// NewTOTP makes a secret. The issuer and the account are what an app shows beside the code.
func NewTOTP(issuer, account string) TOTP {
	var random [secretBytes]byte
	rand.Read(random[:]) // never fails
	secret := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:])
	issuer = label(issuer)
	query := url.Values{
		"secret": {secret}, "issuer": {issuer}, "algorithm": {"SHA1"}, "digits": {digits.String()},
		"period": {strconv.Itoa(int(Step / time.Second))},
	}
	uri := url.URL{
		Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + label(account),
		RawQuery: strings.ReplaceAll(query.Encode(), "+", "%20"), // apps show a plus as it is
	}
	return TOTP{Secret: secret, URI: uri.String()}
}

// label takes away what divides the issuer from the account in a URI.
func label(text string) string { return strings.ReplaceAll(text, ":", " ") }

// MatchTOTP tells which step a code belongs to: the one of the time, the one before or the one behind. All are looked
// at, so that the time it takes does not tell which it was.
func MatchTOTP(secret, code string, at time.Time) (step int64, ok bool, err error) {
	current := at.Unix() / int64(Step/time.Second)
	for candidate := current - skew; candidate <= current+skew; candidate++ {
		expected, err := codeOf(secret, candidate)
		if err != nil {
			return 0, false, err
		}
		if subtle.ConstantTimeCompare([]byte(expected), []byte(code)) == 1 {
			step, ok = candidate, true
		}
	}
	return step, ok, nil
}

func codeOf(secret string, step int64) (string, error) {
	code, err := hotp.GenerateCodeCustom(secret, uint64(step), hotp.ValidateOpts{Digits: digits, Algorithm: otp.AlgorithmSHA1})
	if err != nil {
		return "", ErrSecret // the library's error may hold the secret
	}
	return code, nil
}
