package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// member is one name and value of a JSON object, with the place of the value in the text.
type member struct {
	name       string
	start, end int
}

// object is JSON text that is one object without a repeated name at any depth.
// The text is kept as it came: numbers keep their digits.
type object struct {
	text    []byte
	members []member
}

var errNotObject = errors.New("not a JSON object")

// parseObject reads text as one JSON object. Repeated names are refused, because two
// readers of one token could each believe another of them (RFC 8725 §2.4, RFC 8259 §4).
func parseObject(text []byte) (object, error) {
	if !utf8.Valid(text) {
		return object{}, errors.New("not UTF-8")
	}
	// The decoder hands out tokens before it knows that the text goes on as it should.
	if !json.Valid(text) {
		return object{}, errors.New("not JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	first, err := decoder.Token()
	if err != nil {
		return object{}, err
	}
	if first != json.Delim('{') {
		return object{}, errNotObject
	}
	o := object{text: text}
	err = walkMembers(decoder, func(name string) error {
		start := int(decoder.InputOffset())
		for text[start] == ':' || text[start] == ' ' || text[start] == '\t' || text[start] == '\n' || text[start] == '\r' {
			start++
		}
		if err := walkValue(decoder); err != nil {
			return err
		}
		o.members = append(o.members, member{name: name, start: start, end: int(decoder.InputOffset())})
		return nil
	})
	if err != nil {
		return object{}, err
	}
	return o, nil
}

// walkMembers reads the members up to and including the closing brace.
func walkMembers(decoder *json.Decoder, value func(name string) error) error {
	seen := map[string]struct{}{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return errNotObject
		}
		if _, repeated := seen[name]; repeated {
			return fmt.Errorf("the name %q stands twice", name)
		}
		seen[name] = struct{}{}
		if err := value(name); err != nil {
			return err
		}
	}
	_, err := decoder.Token()
	return err
}

func walkValue(decoder *json.Decoder) error {
	first, err := decoder.Token()
	if err != nil {
		return err
	}
	switch first {
	case json.Delim('{'):
		return walkMembers(decoder, func(string) error { return walkValue(decoder) })
	case json.Delim('['):
		for decoder.More() {
			if err := walkValue(decoder); err != nil {
				return err
			}
		}
		_, err := decoder.Token()
		return err
	}
	return nil
}

// lookup gives the text of a member's value.
func (o object) lookup(name string) (json.RawMessage, bool) {
	for _, m := range o.members {
		if m.name == name {
			return o.text[m.start:m.end], true
		}
	}
	return nil, false
}

// with gives the text with one member set to a string and the rest untouched.
func (o object) with(name, value string) string {
	quoted, _ := json.Marshal(value)
	for _, m := range o.members {
		if m.name == name {
			return string(o.text[:m.start]) + string(quoted) + string(o.text[m.end:])
		}
	}
	quotedName, _ := json.Marshal(name)
	brace := bytes.IndexByte(o.text, '{')
	separator := ","
	if len(o.members) == 0 {
		separator = ""
	}
	return string(o.text[:brace+1]) + string(quotedName) + ":" + string(quoted) + separator + string(o.text[brace+1:])
}
