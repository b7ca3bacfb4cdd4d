package pgjson

import "bytes"

// quoteField puts the text from start on into quotes when it cannot stand bare in a record's text: when it is empty or
// has a delimiter, a quote, a backslash or white space. Quotes and backslashes inside are doubled.
func quoteField(dst []byte, start int, n *node) []byte {
	if n.form.unquoted() {
		return dst
	}
	text := dst[start:]
	if len(text) != 0 && !bytes.ContainsAny(text, "\"\\(), \t\n\v\f\r") {
		return dst
	}
	return quote(dst, start, 0)
}

// quoteElement does so for an element of an array's text, where the word NULL needs quotes too. Quotes and backslashes
// inside get a backslash before them.
func quoteElement(dst []byte, start int, n *node) []byte {
	if n.form.unquoted() || !needsElementQuotes(dst[start:], ',') {
		return dst
	}
	return quote(dst, start, '\\')
}

func needsElementQuotes(text []byte, delimiter byte) bool {
	return len(text) == 0 || bytes.ContainsAny(text, "\"\\{} \t\n\v\f\r") || bytes.IndexByte(text, delimiter) >= 0 ||
		bytes.EqualFold(text, []byte("null"))
}

// quote works in place, from the end to the start. The escape goes before quotes and backslashes; 0 doubles them.
func quote(dst []byte, start int, escape byte) []byte {
	end := len(dst)
	specials := bytes.Count(dst[start:], []byte{'"'}) + bytes.Count(dst[start:], []byte{'\\'})
	for range specials + 2 {
		dst = append(dst, '"')
	}
	to := len(dst) - 2
	for from := end - 1; from >= start; from-- {
		c := dst[from]
		dst[to] = c
		to--
		if c == '"' || c == '\\' {
			if escape != 0 {
				c = escape
			}
			dst[to] = c
			to--
		}
	}
	dst[start] = '"'
	return dst
}
