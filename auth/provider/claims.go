package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxClaim bounds one text that a server says about a user, in bytes. Longer ones are left out.
const maxClaim = 2048

// claims are what a server says about a user. Servers differ in the types that they give.
type claims map[string]any

// text gives a claim as text; what is none is empty.
func (c claims) text(name string) string {
	switch v := c[name].(type) {
	case string:
		return clean(v)
	case json.Number:
		return v.String()
	case float64:
		return fmt.Sprintf("%.0f", v)
	}
	return ""
}

// flag gives a claim that is true in any of the forms that servers write it in.
func (c claims) flag(name string) bool {
	switch v := c[name].(type) {
	case bool:
		return v
	case string:
		return v == "true" || v == "1"
	case json.Number:
		return v == "1"
	}
	return false
}

// inner gives a claim that is an object.
func (c claims) inner(name string) claims {
	v, _ := c[name].(map[string]any)
	return v
}

// first gives the first of some claims that is there.
func (c claims) first(names ...string) string {
	for _, name := range names {
		if text := c.text(name); text != "" {
			return text
		}
	}
	return ""
}

// mapped adds claims under the names that the operator knows them by.
func (c claims) mapped(mapping map[string]string) claims {
	for name, from := range mapping {
		value, found := c[from]
		if object, inside, nested := strings.Cut(from, "."); !found && nested {
			value, found = c.inner(object)[inside]
		}
		if found {
			c[name] = value
		}
	}
	return c
}

// clean leaves out what a database does not take as text, and what is too long. It never makes one name of another.
func clean(text string) string {
	if len(text) > maxClaim || strings.Contains(text, "\x00") || !utf8.ValidString(text) {
		return ""
	}
	return text
}
