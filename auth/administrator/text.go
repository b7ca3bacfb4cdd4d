package administrator

import "strings"

// plain gives a text as a text column takes it, cut to so many bytes.
func plain(text string, most int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// withoutNUL takes escapes of NUL from JSON, which PostgreSQL's jsonb refuses, and leaves an escaped backslash before
// a u alone.
func withoutNUL(text string) string {
	if !strings.Contains(text, `\u0000`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], `\u0000`):
			b.WriteString(`\ufffd`)
			i += 5
		case text[i] == '\\' && i+1 < len(text):
			b.WriteString(text[i : i+2])
			i++
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// literalLike writes a text as a pattern of LIKE that only the text itself fits.
func literalLike(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}
