package token

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Path is where a claim stands: member names and array positions, from the root of the claims, and at the end a
// comparison that chooses among the texts of an array. It is the part of RFC 9535 that names exactly one value, but for
// the comparison, whose first match counts. The zero Path is `$.role`.
type Path struct {
	steps []step
}

type step struct {
	name   string
	index  int
	array  bool
	choice *choice
}

// ParsePath reads `$.role`, `$.app.roles[0]`, `$['https://example.com/role']`, `$.roles[?(@ == "editor")]`.
// The leading `$` may be missing, as in PostgREST's older configuration files.
func ParsePath(text string) (Path, error) {
	rest := strings.TrimPrefix(text, "$")
	var path Path
	for rest != "" {
		next, tail, err := parseStep(rest)
		if err != nil {
			return Path{}, fmt.Errorf("role claim path %q: %w", text, err)
		}
		if next.choice != nil && tail != "" {
			return Path{}, fmt.Errorf("role claim path %q: a comparison must be its end", text)
		}
		path.steps = append(path.steps, next)
		rest = tail
	}
	if len(path.steps) == 0 {
		return Path{}, fmt.Errorf("role claim path %q names no claim; write it like $.role", text)
	}
	return path, nil
}

func parseStep(rest string) (step, string, error) {
	switch {
	case strings.HasPrefix(rest, "['"), strings.HasPrefix(rest, `["`):
		quote := rest[1:2]
		name, tail, found := strings.Cut(rest[2:], quote+"]")
		if !found || name == "" {
			return step{}, "", fmt.Errorf("no end of the name after %q", rest[:2])
		}
		return step{name: name}, tail, nil
	case strings.HasPrefix(rest, "[?"):
		chosen, tail, err := parseChoice(rest[2:])
		return step{choice: chosen}, tail, err
	case rest[0] == '[':
		digits, tail, found := strings.Cut(rest[1:], "]")
		index, err := strconv.Atoi(digits)
		if !found || err != nil || index < 0 {
			return step{}, "", fmt.Errorf("%q is no array position", rest)
		}
		return step{index: index, array: true}, tail, nil
	case rest[0] == '.':
		rest = rest[1:]
		if strings.HasPrefix(rest, `"`) {
			name, tail, found := strings.Cut(rest[1:], `"`)
			if !found || name == "" {
				return step{}, "", fmt.Errorf("no end of the name in %q", rest)
			}
			return step{name: name}, tail, nil
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return step{}, "", fmt.Errorf("a name is missing after the dot")
		}
		return step{name: rest[:end]}, rest[end:], nil
	}
	return step{}, "", fmt.Errorf("%q begins neither with a dot nor with a bracket", rest)
}

// find follows the path from the root of the claims.
func (p Path) find(root object) (json.RawMessage, bool) {
	if len(p.steps) == 0 {
		return root.lookup("role")
	}
	value, ok := root.lookup(p.steps[0].name)
	if p.steps[0].array || p.steps[0].choice != nil {
		return nil, false
	}
	for _, s := range p.steps[1:] {
		if !ok {
			return nil, false
		}
		value, ok = s.enter(value)
	}
	return value, ok
}

func (s step) enter(value json.RawMessage) (json.RawMessage, bool) {
	if s.choice != nil {
		return s.choice.first(value)
	}
	if s.array {
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil || s.index >= len(items) {
			return nil, false
		}
		return items[s.index], true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return nil, false
	}
	inner, ok := members[s.name]
	return inner, ok
}
