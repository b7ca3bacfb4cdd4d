package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"basalt/query/pgjson"
)

// maxPointer is how many steps a pointer into a body may have: each costs another look at the value it leads to.
const maxPointer = 32

// parsePointer reads a JSON pointer (RFC 6901) that leads somewhere below the whole.
func parsePointer(text string) ([]string, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf("%q is not a JSON pointer (RFC 6901): it must begin with /", clip(text))
	}
	steps := strings.Split(text[1:], "/")
	if len(steps) > maxPointer {
		return nil, fmt.Errorf("a JSON pointer has more than %d steps", maxPointer)
	}
	for i, step := range steps {
		if strings.Count(step, "~") != strings.Count(step, "~0")+strings.Count(step, "~1") {
			return nil, fmt.Errorf("%q is not a JSON pointer (RFC 6901): behind ~ only 0 and 1 can stand", clip(text))
		}
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return steps, nil
}

// place is a value inside of a JSON text, with those inside of it that pointers lead to. One walk over the text finds
// them all, however many there are.
type place struct {
	leaf     string // what stands or goes there, "" for nothing
	children map[string]*place
}

// at gives the place that steps lead to, made where it was not there.
func (p *place) at(steps []string) *place {
	for _, step := range steps {
		next := p.children[step]
		if next == nil {
			next = &place{}
			if p.children == nil {
				p.children = map[string]*place{}
			}
			p.children[step] = next
		}
		p = next
	}
	return p
}

// find hands over the values of the leaves that a JSON text has.
func (p *place) find(text json.RawMessage, found func(leaf string, value json.RawMessage)) {
	if p.leaf != "" {
		found(p.leaf, text)
	}
	if len(p.children) == 0 {
		return
	}
	// The text was written by this server: it is valid.
	_ = eachMember(text, func(name string, value json.RawMessage) error {
		if child := p.children[name]; child != nil {
			child.find(value, found)
		}
		return nil
	})
}

// put appends a JSON text with the leaves in their places. Members that an object lacks are added.
func (p *place) put(dst []byte, text json.RawMessage, value func(leaf string) json.RawMessage) ([]byte, error) {
	if p.leaf != "" {
		return append(dst, value(p.leaf)...), nil
	}
	if len(p.children) == 0 {
		return append(dst, text...), nil
	}
	object := len(text) > 0 && text[0] == '{'
	closing := byte(']')
	if object {
		closing = '}'
	}
	start := len(dst)
	seen := 0
	met := make(map[string]bool, len(p.children))
	err := eachMember(text, func(name string, inner json.RawMessage) (err error) {
		dst = p.separate(dst, start, object, name)
		child := p.children[name]
		if child == nil {
			dst = append(dst, inner...)
			return nil
		}
		if !met[name] {
			met[name] = true
			seen++
		}
		dst, err = child.put(dst, inner, value)
		return err
	})
	if err != nil {
		return dst, err
	}
	if seen < len(p.children) {
		for name, child := range p.children {
			if met[name] {
				continue
			}
			if !object || child.leaf == "" {
				return dst, fmt.Errorf("there is no place %q", clip(name))
			}
			dst = append(p.separate(dst, start, object, name), value(child.leaf)...)
		}
	}
	if len(dst) == start {
		return dst, fmt.Errorf("an object or an array is wanted")
	}
	return append(dst, closing), nil
}

// separate writes what stands before a member.
func (p *place) separate(dst []byte, start int, object bool, name string) []byte {
	switch {
	case len(dst) > start:
		dst = append(dst, ',')
	case object:
		dst = append(dst, '{')
	default:
		dst = append(dst, '[')
	}
	if object {
		dst = append(pgjson.AppendString(dst, name), ':')
	}
	return dst
}

// eachMember visits the members of an object or the elements of an array, of anything else none.
func eachMember(text json.RawMessage, visit func(name string, value json.RawMessage) error) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	opening, err := decoder.Token()
	if err != nil {
		return err
	}
	object := opening == json.Delim('{')
	if !object && opening != json.Delim('[') {
		return nil
	}
	for i := 0; decoder.More(); i++ {
		name := strconv.Itoa(i)
		if object {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		if err := visit(name, value); err != nil {
			return err
		}
	}
	return nil
}

// eachLeaf visits what stands at the leaves.
func (p *place) eachLeaf(visit func(leaf string)) {
	if p == nil {
		return
	}
	if p.leaf != "" {
		visit(p.leaf)
	}
	for _, child := range p.children {
		child.eachLeaf(visit)
	}
}
