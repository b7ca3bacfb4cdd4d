package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// The bounds of a code challenge and its verifier, in characters (RFC 7636 §4.1, §4.2).
const (
	minChallenge = 43
	maxChallenge = 128
)

// codeChallenge is what a client keeps the other half of (RFC 7636). The zero value is of flows without one.
type codeChallenge struct {
	text   string
	method string
}

// The methods of challenges, as the database names them.
const (
	challengeS256  = "s256"
	challengePlain = "plain"
)

// readChallenge checks what a client sends as its challenge. Both texts empty is a flow without one.
func (s *Service) readChallenge(text, method string) (codeChallenge, *Error) {
	method = strings.ToLower(method)
	switch {
	case text == "" && method == "":
		return codeChallenge{}, nil
	case text == "" || method == "":
		return codeChallenge{}, refuse(CodeValidationFailed, "PKCE flow requires code_challenge_method and code_challenge")
	case method == challengePlain && !s.options.PlainChallenges:
		return codeChallenge{}, refuse(CodeValidationFailed, "code_challenge_method plain protects nobody and is not allowed on this server: use s256")
	case method != challengeS256 && method != challengePlain:
		return codeChallenge{}, refuse(CodeValidationFailed, "code_challenge_method has to be s256")
	case len(text) < minChallenge || len(text) > maxChallenge:
		return codeChallenge{}, refuse(CodeValidationFailed, "code challenge has to be between 43 and 128 characters")
	case strings.ContainsFunc(text, outsideChallenges):
		return codeChallenge{}, refuse(CodeValidationFailed, "code challenge can only contain alphanumeric characters, hyphens, periods, underscores and tildes")
	}
	return codeChallenge{text: text, method: method}, nil
}

// asked tells whether the flow ends with a code.
func (c codeChallenge) asked() bool { return c.text != "" }

// challengeOf gives the challenge of a verifier by the method s256 (RFC 7636 §4.6).
func challengeOf(verifier Secret) string {
	digest := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

// isVerifier tells whether a text can be a verifier at all.
func isVerifier(verifier Secret) bool {
	text := verifier.Reveal()
	return len(text) >= minChallenge && len(text) <= maxChallenge && !strings.ContainsFunc(text, outsideChallenges)
}

// outsideChallenges are the characters that neither half may have: all but the unreserved ones of RFC 3986 §2.3.
func outsideChallenges(r rune) bool { return outsideTokens(r) && r != '.' && r != '~' }
