package pgjson

import (
	"bytes"
	"unicode/utf8"
)

// appendUnwrapped writes the text that to_json has put into JSON: of a string what it says, and of an array of strings
// an array's text, as far as JSON tells (lower bounds it does not). What else to_json makes stays JSON.
func appendUnwrapped(dst, json []byte, delimiter byte) []byte {
	start := len(dst)
	dst, rest, ok := unwrapValue(dst, json, delimiter)
	if !ok || len(rest) != 0 {
		return append(dst[:start], json...)
	}
	return dst
}

func unwrapValue(dst, json []byte, delimiter byte) (_, rest []byte, ok bool) {
	switch {
	case len(json) == 0:
		return dst, nil, false
	case json[0] == '"':
		return unwrapString(dst, json[1:])
	case json[0] == '[':
		return unwrapArray(dst, json[1:], delimiter)
	default:
		return dst, nil, false
	}
}

// unwrapArray writes the array behind its bracket. Its elements are strings, arrays or null.
func unwrapArray(dst, json []byte, delimiter byte) (_, rest []byte, ok bool) {
	dst = append(dst, '{')
	if rest, ok = bytes.CutPrefix(json, []byte{']'}); ok {
		return append(dst, '}'), rest, true
	}
	for {
		start := len(dst)
		if rest, ok = bytes.CutPrefix(json, []byte("null")); ok {
			dst, json = append(dst, "NULL"...), rest
		} else {
			text := len(json) > 0 && json[0] == '"'
			if dst, json, ok = unwrapValue(dst, json, delimiter); !ok {
				return dst, nil, false
			}
			if text && needsElementQuotes(dst[start:], delimiter) {
				dst = quote(dst, start, '\\')
			}
		}
		more, rest, ok := nextItem(json, ']')
		if !ok {
			return dst, nil, false
		}
		if !more {
			return append(dst, '}'), rest, true
		}
		dst, json = append(dst, delimiter), rest
	}
}

// unwrapString writes the characters of a string behind its opening quote.
func unwrapString(dst, json []byte) (_, rest []byte, ok bool) {
	for {
		run := plainRun(json)
		dst = append(dst, json[:run]...)
		json = json[run:]
		switch {
		case len(json) > 0 && json[0] == '"':
			return dst, json[1:], true
		case len(json) < 2 || json[0] != '\\':
			return dst, nil, false
		case json[1] == 'u':
			r, rest, ok := cutUnicode(json)
			if !ok {
				return dst, nil, false
			}
			dst, json = utf8.AppendRune(dst, r), rest
		default:
			dst, json = append(dst, unescape(json[1])), json[2:]
		}
	}
}

// unescape gives the character that a backslash and a letter stand for.
func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	default:
		return c
	}
}
