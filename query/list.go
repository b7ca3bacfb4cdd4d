package query

import "strings"

// list reads ("a,b",c): white space around elements does not count, and what is not quoted ends at a comma or a
// closing parenthesis. It gives the text as it stands, with its parentheses.
func (s *scanner) list() (string, error) {
	s.space()
	start := s.pos
	if !s.accept('(') {
		return "", s.fail(`"("`)
	}
	for n := 1; ; n++ {
		if n > maxElements {
			return "", tooMany("list elements", maxElements)
		}
		_, end := cutElement(s.text, s.pos)
		s.pos = end
		switch {
		case s.accept(','):
		case s.accept(')'):
			return s.text[start:s.pos], nil
		default:
			return "", s.fail(`"," or ")"`)
		}
	}
}

// cutElement gives the element of a list that begins at pos, still quoted if it is, and where it ends.
func cutElement(text string, pos int) (element string, end int) {
	for pos < len(text) && isSpace(text[pos]) {
		pos++
	}
	if pos < len(text) && text[pos] == '"' {
		if end, _ := skipQuoted(text, pos); end >= 0 && elementEnds(text, end) {
			element = text[pos:end]
			for end < len(text) && isSpace(text[end]) {
				end++
			}
			return element, end
		}
	}
	end = len(text)
	if i := strings.IndexAny(text[pos:], ",)"); i >= 0 {
		end = pos + i
	}
	return trimSpace(text[pos:end]), end
}

// AppendArrayLiteral writes a list of Query.Values as PostgreSQL reads arrays. A list in parentheses becomes an array
// of its elements, each literal text: null is the text. Anything else is PostgreSQL's own spelling ({a,b}) already
// and stays as it is.
func AppendArrayLiteral(dst []byte, list string) []byte {
	if list == "" || list[0] != '(' {
		return append(dst, list...)
	}
	dst = append(dst, '{')
	for pos := 1; ; {
		element, end := cutElement(list, pos)
		switch {
		case len(element) > 0 && element[0] == '"' && isQuoted(element):
			dst = appendQuotedElement(dst, element[1:len(element)-1])
		case element == "" && pos == 1 && end < len(list) && list[end] == ')': // no element at all
		default:
			dst = AppendElement(dst, element)
		}
		if end >= len(list) || list[end] == ')' {
			return append(dst, '}')
		}
		dst = append(dst, ',')
		pos = end + 1
	}
}

func isQuoted(element string) bool {
	end, _ := skipQuoted(element, 0)
	return end == len(element)
}

// appendQuotedElement writes the inside of a quoted element, whose backslashes mean the same to PostgreSQL.
func appendQuotedElement(dst []byte, inside string) []byte {
	dst = append(dst, '"')
	dst = append(dst, inside...)
	return append(dst, '"')
}

// AppendElement writes one text as an element of an array literal, quoted where it would not be taken as it stands.
func AppendElement[T string | []byte](dst []byte, text T) []byte {
	if !needsQuotes(text) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' {
			dst = append(dst, text[start:i]...)
			dst = append(dst, '\\')
			start = i
		}
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}

func needsQuotes[T string | []byte](text T) bool {
	if len(text) == 0 || len(text) == 4 && strings.EqualFold(string(text), "null") {
		return true
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c <= ' ', c == '{', c == '}', c == ',', c == '"', c == '\\':
			return true
		}
	}
	return false
}
