package token

import (
	"encoding/json"
	"fmt"
	"strings"
)

// choice is a comparison that chooses among the texts of an array.
type choice struct {
	matches func(value, operand string) bool
	operand string
}

// comparisons are the operators of a choice, those before others that begin like them.
func comparisons() []comparison {
	return []comparison{
		{"==^", strings.HasSuffix},
		{"==", func(value, operand string) bool { return value == operand }},
		{"!=", func(value, operand string) bool { return value != operand }},
		{"^==", strings.HasPrefix},
		{"*==", strings.Contains},
	}
}

type comparison struct {
	operator string
	matches  func(value, operand string) bool
}

// parseChoice reads `(@ == "text")]` behind `[?`. RFC 9535 lets the parentheses be missing, and knows == and != of the
// operators; the others are PostgREST's.
func parseChoice(rest string) (*choice, string, error) {
	const want = `write a comparison like [?(@ == "editor")]`
	text := strings.TrimLeft(rest, " ")
	text, enclosed := strings.CutPrefix(text, "(")
	text, found := strings.CutPrefix(strings.TrimLeft(text, " "), "@")
	if !found {
		return nil, "", fmt.Errorf("%q: %s", rest, want)
	}
	text = strings.TrimLeft(text, " ")
	for _, c := range comparisons() {
		operand, ok := strings.CutPrefix(text, c.operator)
		if !ok {
			continue
		}
		operand = strings.TrimLeft(operand, " ")
		if operand == "" || operand[0] != '"' && operand[0] != '\'' {
			break
		}
		operand, tail, ended := strings.Cut(operand[1:], operand[:1])
		tail = strings.TrimLeft(tail, " ")
		if enclosed && ended {
			tail, ended = strings.CutPrefix(tail, ")")
			tail = strings.TrimLeft(tail, " ")
		}
		tail, closed := strings.CutPrefix(tail, "]")
		if !ended || !closed {
			break
		}
		return &choice{c.matches, operand}, tail, nil
	}
	return nil, "", fmt.Errorf("%q: %s", rest, want)
}

// first gives the first text of an array that matches.
func (c *choice) first(value json.RawMessage) (json.RawMessage, bool) {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return nil, false
	}
	for _, item := range items {
		if text, ok := textValue(item); ok && c.matches(text, c.operand) {
			return item, true
		}
	}
	return nil, false
}
