package auth

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const maxEmail = 255

// normalizeEmail gives the one spelling of an address under which an account is kept:
// without outer blanks, in lower case, compatibility forms folded, so that the forms in
// which one address can be typed are one account.
func normalizeEmail(text string) (string, *Error) {
	address := norm.NFKC.String(strings.ToLower(norm.NFKC.String(strings.TrimSpace(text))))
	if address == "" {
		return "", refuse(CodeValidationFailed, "An email address is required")
	}
	local, domain, found := strings.Cut(address, "@")
	if len(address) > maxEmail || !found || local == "" || !plausibleDomain(domain) ||
		strings.ContainsFunc(address, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) || r == unicode.ReplacementChar || strings.ContainsRune(`<>(),;:\"[]`, r)
		}) {
		return "", refuse(CodeValidationFailed, "Unable to validate email address: invalid format")
	}
	return address, nil
}

func plausibleDomain(domain string) bool {
	return domain != "" && !strings.Contains(domain, "@") && !strings.Contains(domain, "..") &&
		!strings.HasPrefix(domain, ".") && !strings.HasSuffix(domain, ".")
}

// SameMailbox tells whether an address is, wherever it comes from, the mailbox of the spelling under which it is kept:
// they may differ in case and in outer blanks. The other forms that are folded here can be mailboxes of different people
// elsewhere, so that the word of another server for the one says nothing about the other.
func SameMailbox(address, kept string) bool {
	lower := func(r rune) rune {
		if l := unicode.ToLower(r); (l < utf8.RuneSelf) == (r < utf8.RuneSelf) {
			return l
		}
		return r // the sign of the Kelvin has k as its lower case
	}
	return strings.Map(lower, norm.NFC.String(strings.TrimSpace(address))) == kept
}

// NormalizeEmail gives the one spelling of an address under which an account is kept.
func NormalizeEmail(text string) (string, error) {
	address, refusal := normalizeEmail(text)
	if refusal != nil {
		return "", refusal
	}
	return address, nil
}
