package query

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// eachParameter takes a percent-encoded query string or form apart. Parameters are separated by & or ;, a plus is a
// blank, and a percent sign that no two hexadecimal digits follow stands for itself. given is false for a key without
// an equals sign.
func eachParameter(raw string, do func(key, value string, given bool) error) error {
	escaped := strings.IndexByte(raw, '%') >= 0 || strings.IndexByte(raw, '+') >= 0
	if !escaped {
		if err := checkText(raw); err != nil {
			return err
		}
	}
	var decoded strings.Builder
	if escaped {
		decoded.Grow(len(raw)) // never grows again, so that all texts share one allocation
	}
	for raw != "" {
		var parameter string
		parameter, raw = cutParameter(raw)
		if parameter == "" {
			continue
		}
		key, value, given := strings.Cut(parameter, "=")
		if escaped {
			key, value = unescape(&decoded, key), unescape(&decoded, value)
			if err := checkText(key); err != nil {
				return err
			}
			if err := checkText(value); err != nil {
				return err
			}
		}
		if err := do(key, value, given); err != nil {
			return err
		}
	}
	return nil
}

func cutParameter(raw string) (parameter, rest string) {
	end := strings.IndexByte(raw, '&')
	if end < 0 {
		end = len(raw)
	}
	if semicolon := strings.IndexByte(raw[:end], ';'); semicolon >= 0 {
		end = semicolon
	}
	if end == len(raw) {
		return raw, ""
	}
	return raw[:end], raw[end+1:]
}

// checkText refuses what PostgreSQL can not hold as text.
func checkText(text string) error {
	if !utf8.ValidString(text) {
		return &SyntaxError{Code: CodeSyntax, Message: "Parameters must be valid UTF-8"}
	}
	if strings.IndexByte(text, 0) >= 0 {
		return &SyntaxError{Code: CodeSyntax, Message: "Parameters must not hold NUL characters"}
	}
	return nil
}

// unescape decodes one key or value; b must have room for it.
func unescape(b *strings.Builder, text string) string {
	if strings.IndexByte(text, '%') < 0 && strings.IndexByte(text, '+') < 0 {
		return text
	}
	start := b.Len()
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '+':
			b.WriteByte(' ')
		case c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			b.WriteByte(hexValue(text[i+1])<<4 | hexValue(text[i+2]))
			i += 2
		default:
			b.WriteByte(c)
		}
	}
	return b.String()[start:]
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hexValue(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	default:
		return c - 'a' + 10
	}
}

// Canonical is a query string in its canonical form for Content-Location: keys in order, and everything but RFC 3986's
// unreserved characters escaped. Parameters of one key keep their order. The query string must be one that Parse took.
func Canonical(raw string) string {
	type parameter struct{ key, value string }
	parameters := make([]parameter, 0, 1+strings.Count(raw, "&"))
	// The error is about characters, which Parse has looked at.
	_ = eachParameter(raw, func(key, value string, _ bool) error {
		parameters = append(parameters, parameter{key, value})
		return nil
	})
	slices.SortStableFunc(parameters, func(a, b parameter) int { return strings.Compare(a.key, b.key) })
	dst := make([]byte, 0, 2*len(raw))
	for i, p := range parameters {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(appendEscaped(dst, p.key), '=')
		dst = appendEscaped(dst, p.value)
	}
	return string(dst)
}

const upperHex = "0123456789ABCDEF"

func appendEscaped(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '.', c == '~':
			dst = append(dst, c)
		default:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&0xf])
		}
	}
	return dst
}

// HasArgument says whether a query string gives a key a value that does not look like a filter.
func HasArgument(raw, name string) bool {
	found := false
	err := eachParameter(raw, func(key, value string, given bool) error {
		found = found || given && key == name && !IsPredicate(value)
		return nil
	})
	return err == nil && found
}
