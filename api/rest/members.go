package rest

import (
	"encoding/json"
	"iter"
	"strconv"
)

// members gives the members of an object or the elements of an array, named by their index, of anything else none. The
// text must be valid JSON. Its values are parts of it and not copies: however deep a pointer leads, the text is held
// once.
func members(text []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		pos := skipSpace(text, 0)
		if pos == len(text) || text[pos] != '{' && text[pos] != '[' {
			return
		}
		object := text[pos] == '{'
		for i := 0; ; i++ {
			pos = skipSpace(text, pos+1) // behind the opening or a comma
			if pos >= len(text) || text[pos] == ']' || text[pos] == '}' {
				return
			}
			name := strconv.Itoa(i)
			if object {
				end := skipValue(text, pos)
				_ = json.Unmarshal(text[pos:end], &name) // it is a string
				pos = skipSpace(text, skipSpace(text, end)+1)
			}
			end := skipValue(text, pos)
			if pos > end || !yield(name, text[pos:end:end]) {
				return
			}
			if pos = skipSpace(text, end); pos >= len(text) || text[pos] != ',' {
				return
			}
		}
	}
}

func skipSpace(text []byte, pos int) int {
	for pos < len(text) {
		switch text[pos] {
		case ' ', '\t', '\n', '\r':
			pos++
		default:
			return pos
		}
	}
	return pos
}

// skipValue gives the place behind the value at pos.
func skipValue(text []byte, pos int) int {
	for depth := 0; pos < len(text); {
		switch text[pos] {
		case '"':
			pos = skipString(text, pos)
		case '{', '[':
			depth++
			pos++
		case '}', ']':
			depth--
			pos++
		case ',', ':', ' ', '\t', '\n', '\r':
			pos++
		default:
			pos = skipWord(text, pos)
		}
		if depth <= 0 {
			return pos
		}
	}
	return len(text)
}

// skipString gives the place behind the string at pos.
func skipString(text []byte, pos int) int {
	for pos++; pos < len(text); pos++ {
		switch text[pos] {
		case '\\':
			pos++
		case '"':
			return pos + 1
		}
	}
	return len(text)
}

// skipWord gives the place behind the number or literal at pos.
func skipWord(text []byte, pos int) int {
	for pos < len(text) {
		switch text[pos] {
		case ',', ':', ']', '}', ' ', '\t', '\n', '\r':
			return pos
		}
		pos++
	}
	return pos
}
