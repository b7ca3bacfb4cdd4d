package pgjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth bounds the recursion; PostgreSQL's own limit (its stack) comes earlier.
const maxJSONDepth = 10_000

// appendWithoutNulls writes JSON as json_strip_nulls does: without the members of objects that are null, without white
// space, and with strings escaped anew. It returns false when the text is no JSON.
func appendWithoutNulls(dst, json []byte) ([]byte, bool) {
	dst, rest, ok := stripValue(dst, json, 0)
	return dst, ok && len(skipSpace(rest)) == 0
}

func skipSpace(json []byte) []byte {
	for len(json) > 0 && (json[0] == ' ' || json[0] == '\n' || json[0] == '\t' || json[0] == '\r') {
		json = json[1:]
	}
	return json
}

func stripValue(dst, json []byte, depth int) (_, rest []byte, ok bool) {
	json = skipSpace(json)
	if len(json) == 0 || depth > maxJSONDepth {
		return dst, nil, false
	}
	switch json[0] {
	case '{':
		return stripObject(dst, json[1:], depth+1)
	case '[':
		return stripArray(dst, json[1:], depth+1)
	case '"':
		return stripString(dst, json[1:])
	default:
		return stripWord(dst, json)
	}
}

func stripObject(dst, json []byte, depth int) (_, rest []byte, ok bool) {
	dst = append(dst, '{')
	first := len(dst)
	if json = skipSpace(json); len(json) > 0 && json[0] == '}' {
		return append(dst, '}'), json[1:], true
	}
	for {
		start := len(dst)
		if start > first {
			dst = append(dst, ',')
		}
		if json = skipSpace(json); len(json) == 0 || json[0] != '"' {
			return dst, nil, false
		}
		if dst, json, ok = stripString(dst, json[1:]); !ok {
			return dst, nil, false
		}
		if json = skipSpace(json); len(json) == 0 || json[0] != ':' {
			return dst, nil, false
		}
		dst = append(dst, ':')
		value := len(dst)
		if dst, json, ok = stripValue(dst, json[1:], depth); !ok {
			return dst, nil, false
		}
		if isNull(dst[value:]) {
			dst = dst[:start]
		}
		more, rest, ok := nextItem(json, '}')
		if !ok {
			return dst, nil, false
		}
		if !more {
			return append(dst, '}'), rest, true
		}
		json = rest
	}
}

func stripArray(dst, json []byte, depth int) (_, rest []byte, ok bool) {
	dst = append(dst, '[')
	if json = skipSpace(json); len(json) > 0 && json[0] == ']' {
		return append(dst, ']'), json[1:], true
	}
	for {
		if dst, json, ok = stripValue(dst, json, depth); !ok {
			return dst, nil, false
		}
		more, rest, ok := nextItem(json, ']')
		if !ok {
			return dst, nil, false
		}
		if !more {
			return append(dst, ']'), rest, true
		}
		dst = append(dst, ',')
		json = rest
	}
}

// nextItem passes the comma before a further item or the bracket that ends them.
func nextItem(json []byte, end byte) (more bool, rest []byte, ok bool) {
	json = skipSpace(json)
	if len(json) == 0 || json[0] != ',' && json[0] != end {
		return false, nil, false
	}
	return json[0] == ',', json[1:], true
}

// stripWord copies a number, true, false or null.
func stripWord(dst, json []byte) (_, rest []byte, ok bool) {
	end := 0
	for end < len(json) {
		c := json[end]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' && c != '+' && c != '.' && c != 'E' {
			break
		}
		end++
	}
	return append(dst, json[:end]...), json[end:], end > 0
}

// stripString copies a string behind its opening quote. Escapes that are not needed become the character itself.
func stripString(dst, json []byte) (_, rest []byte, ok bool) {
	dst = append(dst, '"')
	for {
		run := plainRun(json)
		dst = append(dst, json[:run]...)
		json = json[run:]
		switch {
		case len(json) > 0 && json[0] == '"':
			return append(dst, '"'), json[1:], true
		case len(json) < 2 || json[0] != '\\':
			return dst, nil, false
		case json[1] == 'u':
			if dst, json, ok = stripUnicode(dst, json); !ok {
				return dst, nil, false
			}
		case json[1] == '/':
			dst, json = append(dst, '/'), json[2:]
		default:
			dst, json = append(dst, '\\', json[1]), json[2:]
		}
	}
}

// stripUnicode resolves \uXXXX, two of them for a surrogate pair. PostgreSQL has no character 0 and refuses
// json that spells one as text; here it stays an escape.
func stripUnicode(dst, json []byte) (_, rest []byte, ok bool) {
	r, json, ok := cutUnicode(json)
	if !ok {
		return dst, nil, false
	}
	if utf16.IsSurrogate(r) {
		low, rest, ok := cutUnicode(json)
		if !ok {
			return dst, nil, false
		}
		r, json = utf16.DecodeRune(r, low), rest
	}
	if r < 0x20 || r == '"' || r == '\\' {
		return appendEscape(dst, byte(r)), json, true
	}
	return utf8.AppendRune(dst, r), json, true
}

func cutUnicode(json []byte) (r rune, rest []byte, ok bool) {
	if len(json) < 6 || json[0] != '\\' || json[1] != 'u' {
		return 0, nil, false
	}
	for _, c := range json[2:6] {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c >= 'a' && c <= 'f':
			r |= rune(c - 'a' + 10)
		case c >= 'A' && c <= 'F':
			r |= rune(c - 'A' + 10)
		default:
			return 0, nil, false
		}
	}
	return r, json[6:], true
}
