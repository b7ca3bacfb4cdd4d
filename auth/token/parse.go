// Package token reads and writes the signed tokens (RFC 7519) that say who is calling.
package token

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	// MaxLength is the longest token that is looked at: dots and digits cost memory
	// before the signature is known to be good.
	MaxLength = 8 << 10
	// Leeway is how far the clocks of signer and verifier may be apart.
	Leeway = 30 * time.Second

	// UseClaim says what a token is for, where that is not access; UseID is an ID token (OpenID Connect Core §2).
	UseClaim = "token_use"
	UseID    = "id"

	// latestTime is the last second of the year 9999: a later time is a mistake or an attack.
	latestTime = 253402300799
)

// Rules say what is demanded of a token beside a good signature.
type Rules struct {
	// Role is where the role stands.
	Role Path
	// Audience, when set, must be among the token's audiences if it names any.
	Audience string
}

// Claims are the contents of a token whose signature, times and types are good.
type Claims struct {
	object    object
	Role      string
	Subject   string
	SessionID string
	ClientID  string // the OAuth client that the token was given to
	ExpiresAt time.Time
	Foreign   bool // signed by another issuer
}

// Text is the claims' JSON as the signer wrote it, but for `role`, which is the given one.
func (c *Claims) Text(role string) string {
	if raw, ok := c.object.lookup("role"); ok {
		if text, isText := textValue(raw); isText && text == role {
			return string(c.object.text)
		}
	}
	return c.object.with("role", role)
}

// Parse verifies a token. The signature is checked before any claim is believed; a token
// with several faults is refused for the gravest.
func Parse(raw string, ring Ring, rules Rules, now time.Time) (*Claims, *Error) {
	if raw == "" {
		return nil, undecodable("Empty JWT is sent in Authorization header")
	}
	if len(raw) > MaxLength {
		return nil, undecodable("JWT is longer than %d bytes", MaxLength)
	}
	if parts := strings.Count(raw, ".") + 1; parts != 3 {
		return nil, undecodable("Expected 3 parts in JWT; got %d", parts)
	}
	// base64 readers skip line breaks: the same token would have many spellings.
	if strings.IndexFunc(raw, outsideAlphabet) >= 0 {
		return nil, undecodable("JWT cryptographic operation failed")
	}
	header, refusal := parseHeader(raw)
	if refusal != nil {
		return nil, refusal
	}
	keys, refusal := ring.choose(header.algorithm, header.kid)
	if refusal != nil {
		return nil, refusal
	}
	payload, key, refusal := verify(raw, header.algorithm, keys)
	if refusal != nil {
		return nil, refusal
	}
	o, err := parseObject(payload)
	if err != nil {
		return nil, badClaims("Parsing claims failed")
	}
	claims, refusal := readClaims(o, rules, now)
	if refusal != nil {
		return nil, refusal
	}
	// An ID token of ours tells a client who its user is and opens nothing, though the same key signs it (RFC 8725
	// §3.12). Of other issuers' tokens their operator says which are for us.
	if use, found := o.lookup(UseClaim); found && !key.Foreign && string(use) == `"`+UseID+`"` {
		return nil, badClaims("JWT is an ID token")
	}
	claims.Foreign = key.Foreign
	return claims, nil
}

func outsideAlphabet(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
}

type header struct {
	algorithm string
	kid       string
}

func parseHeader(raw string) (header, *Error) {
	first, _, _ := strings.Cut(raw, ".")
	text, err := base64.RawURLEncoding.Strict().DecodeString(first)
	if err != nil {
		return header{}, undecodable("JWT cryptographic operation failed")
	}
	members, err := parseObject(text)
	if err != nil {
		return header{}, undecodable("JWT cryptographic operation failed")
	}
	// A token must not bring or point at the key that verifies it, and an extension
	// that we do not know must not be ignored (RFC 8725 §3.10, RFC 7515 §4.1.11).
	for _, name := range []string{"crit", "jku", "jwk", "x5u", "x5c", "zip", "enc", "b64"} {
		if _, found := members.lookup(name); found {
			return header{}, undecodable("No suitable key or wrong key type")
		}
	}
	var h header
	algorithm, _ := members.lookup("alg")
	if h.algorithm, _ = textValue(algorithm); h.algorithm == "" {
		return header{}, undecodable("Wrong or unsupported encoding algorithm")
	}
	if kid, found := members.lookup("kid"); found {
		if h.kid, _ = textValue(kid); h.kid == "" {
			return header{}, undecodable("No suitable key or wrong key type")
		}
	}
	if kind, found := members.lookup("typ"); found {
		if name, ok := textValue(kind); !ok || !knownType(name) {
			return header{}, undecodable("JWT cryptographic operation failed")
		}
	}
	return h, nil
}

// knownType tells access tokens from other things that may be signed with the same key (RFC 8725 §3.11).
func knownType(name string) bool {
	name = strings.TrimPrefix(strings.ToLower(name), "application/")
	return name == "jwt" || name == "at+jwt"
}

// rawClaims lets golang-jwt verify without reading the claims: we read them ourselves
// and keep the text.
type rawClaims struct {
	jwt.MapClaims
	text []byte
}

func (c *rawClaims) UnmarshalJSON(text []byte) error {
	c.text = append([]byte(nil), text...)
	return nil
}

// verify tries the keys in turn and gives the payload with the key that has signed it.
func verify(raw, algorithm string, keys Ring) ([]byte, *Key, *Error) {
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{algorithm}),
		jwt.WithStrictDecoding(),
		jwt.WithoutClaimsValidation(),
	)
	for i := range keys {
		claims := &rawClaims{}
		_, err := parser.ParseWithClaims(raw, claims, func(*jwt.Token) (any, error) { return keys[i].Verification, nil })
		if err == nil {
			return claims.text, &keys[i], nil
		}
	}
	return nil, nil, undecodable("JWT cryptographic operation failed")
}

func readClaims(o object, rules Rules, now time.Time) (*Claims, *Error) {
	c := &Claims{object: o}
	expires, found, refusal := timeClaim(o, "exp")
	switch {
	case refusal != nil:
		return nil, refusal
	case !found:
		e := badClaims("Parsing claims failed")
		e.Details = "The claim exp, the end of the token in seconds since 1970, is missing"
		return nil, e
	}
	notBefore, hasNotBefore, refusal := timeClaim(o, "nbf")
	if refusal != nil {
		return nil, refusal
	}
	issued, hasIssued, refusal := timeClaim(o, "iat")
	if refusal != nil {
		return nil, refusal
	}
	if refusal := checkAudience(o, rules.Audience); refusal != nil {
		return nil, refusal
	}
	c.ExpiresAt = expires
	switch {
	case now.After(expires.Add(Leeway)):
		return nil, Expired()
	case hasNotBefore && notBefore.After(now.Add(Leeway)):
		return nil, badClaims("JWT not yet valid")
	case hasIssued && issued.After(now.Add(Leeway)):
		return nil, badClaims("JWT issued at future")
	}
	for name, target := range map[string]*string{"sub": &c.Subject, "session_id": &c.SessionID} {
		if refusal := optionalText(o, name, target); refusal != nil {
			return nil, refusal
		}
	}
	if client, found := o.lookup("client_id"); found {
		c.ClientID, _ = textValue(client) // other issuers write there what they like
	}
	if value, found := rules.Role.find(o); found && string(value) != "null" {
		role, ok := textValue(value)
		if !ok {
			return nil, badClaims("Parsing claims failed")
		}
		c.Role = role
	}
	return c, nil
}

func optionalText(o object, name string, target *string) *Error {
	value, found := o.lookup(name)
	if !found || string(value) == "null" {
		return nil
	}
	text, ok := textValue(value)
	if !ok {
		return badClaims("Parsing claims failed")
	}
	*target = text
	return nil
}

// timeClaim reads a NumericDate (RFC 7519 §2): a JSON number of seconds, fractions allowed.
func timeClaim(o object, name string) (time.Time, bool, *Error) {
	value, found := o.lookup(name)
	if !found {
		return time.Time{}, false, nil
	}
	if c := value[0]; c != '-' && (c < '0' || c > '9') {
		return time.Time{}, false, badClaims("The JWT '" + name + "' claim must be a number")
	}
	seconds, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.IsNaN(seconds) || seconds < 0 || seconds > latestTime {
		return time.Time{}, false, badClaims("Parsing claims failed")
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)), true, nil
}

func checkAudience(o object, demanded string) *Error {
	value, found := o.lookup("aud")
	if !found {
		return nil
	}
	var audiences []string
	if single, ok := textValue(value); ok {
		audiences = []string{single}
	} else {
		var items []json.RawMessage
		if value[0] != '[' || json.Unmarshal(value, &items) != nil {
			return badAudience()
		}
		for _, item := range items {
			text, ok := textValue(item)
			if !ok {
				return badAudience()
			}
			audiences = append(audiences, text)
		}
	}
	if demanded == "" {
		return nil
	}
	for _, audience := range audiences {
		if audience == demanded {
			return nil
		}
	}
	return badClaims("JWT not in audience")
}

func badAudience() *Error {
	return badClaims("The JWT 'aud' claim must be a string or an array of strings")
}

// textValue is the value of a JSON string; null and all other types are refused.
func textValue(value json.RawMessage) (string, bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	var text string
	return text, json.Unmarshal(value, &text) == nil
}
