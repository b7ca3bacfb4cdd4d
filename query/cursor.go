package query

import (
	"encoding/base64"
	"encoding/binary"
)

// Cursor is where a page of a read begins: behind the row that has these values in the terms of the order.
type Cursor struct {
	Order  uint64 // what tells the order that it belongs to from others
	Values []CursorValue
}

// CursorValue is the value of one term of an order.
type CursorValue struct {
	Text string // in PostgreSQL's own spelling, "" for null
	Null bool
}

const (
	// cursorVersion begins every cursor, so that another encoding can be told from this one.
	cursorVersion = 1
	// MaxCursor bounds the text of a cursor, which has to fit into the address of the next request.
	MaxCursor = 8 << 10
)

// Append writes the cursor as clients hold it: base64url of the version, the order, and each value behind its length
// plus one, or zero for null.
func (c *Cursor) Append(dst []byte) []byte {
	raw := binary.BigEndian.AppendUint64([]byte{cursorVersion}, c.Order)
	for _, value := range c.Values {
		if value.Null {
			raw = append(raw, 0)
			continue
		}
		raw = binary.AppendUvarint(raw, uint64(len(value.Text))+1)
		raw = append(raw, value.Text...)
	}
	return base64.RawURLEncoding.AppendEncode(dst, raw)
}

// ParseCursor reads what Append has written. Its error is a *SyntaxError.
func ParseCursor(text string) (*Cursor, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(text) > MaxCursor || len(raw) < 9 || raw[0] != cursorVersion {
		return nil, malformedCursor()
	}
	c := &Cursor{Order: binary.BigEndian.Uint64(raw[1:])}
	for rest := raw[9:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || len(c.Values) == maxTerms || size > uint64(len(rest)-n)+1 {
			return nil, malformedCursor()
		}
		rest = rest[n:]
		if size == 0 {
			c.Values = append(c.Values, CursorValue{Null: true})
			continue
		}
		value := string(rest[:size-1])
		if err := checkText(value); err != nil {
			return nil, malformedCursor()
		}
		c.Values = append(c.Values, CursorValue{Text: value})
		rest = rest[size-1:]
	}
	return c, nil
}

func malformedCursor() error {
	return &SyntaxError{
		Code:    CodeSyntax,
		Message: "The parameter after is no cursor of this server",
		Details: "It is to be taken as it stands from the Link header of the page before.",
	}
}

// appendShape writes what a statement depends on: the order that is spoken of, and which values are null.
func (c *Cursor) appendShape(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, c.Order)
	dst = binary.AppendUvarint(dst, uint64(len(c.Values)))
	for _, value := range c.Values {
		dst = append(dst, flag(value.Null))
	}
	return dst
}
