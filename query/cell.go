package query

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// CellForm is how a cell of a JSON body becomes the text that a column's input function reads. Cells of other bodies
// are such text already.
type CellForm byte

// The forms. In each of them null is NULL.
const (
	PlainCell     CellForm = iota // strings unquoted, other tokens as they stand
	JSONCell                      // the token itself: of json and jsonb columns
	ArrayCell                     // arrays as PostgreSQL spells them, elements in plain form; other tokens plain
	JSONArrayCell                 // the same with elements as tokens: of json[] and jsonb[] columns
)

// AppendCellText writes a cell as its column's input function reads it, or tells that it is NULL.
func AppendCellText(dst, cell []byte, format PayloadFormat, form CellForm) (out []byte, null bool) {
	// What needs rewriting is written where it will stay, if there is room.
	w := cellWriter{scratch: dst[len(dst):]}
	text, null := w.text(cell, format, form)
	return append(dst, text...), null
}

// AppendCellArray writes the cells of one key in all rows as an array of text in PostgreSQL's binary format, NULL where
// a cell is null or absent. Its elements need no quotes, which are what takes the time in array literals.
func AppendCellArray(dst []byte, p *Payload, key int, form CellForm) []byte {
	var w cellWriter
	dst = appendArrayHeader(dst, textOID, p.Rows)
	for row := range p.Rows {
		if text, null := w.text(p.Cell(row, key), p.Format, form); null {
			dst = append(dst, 0xff, 0xff, 0xff, 0xff) // a length of -1
		} else {
			dst = binary.BigEndian.AppendUint32(dst, uint32(len(text)))
			dst = append(dst, text...)
		}
	}
	return dst
}

// AppendGivenArray writes which rows have a key, as an array of booleans in PostgreSQL's binary format.
func AppendGivenArray(dst []byte, p *Payload, key int) []byte {
	dst = appendArrayHeader(dst, boolOID, p.Rows)
	for row := range p.Rows {
		dst = append(dst, 0, 0, 0, 1, flag(p.Cell(row, key) != nil))
	}
	return dst
}

// CellArraySize is how many bytes the array of one key takes at most, unless its cells are arrays themselves.
func (p *Payload) CellArraySize(key int) int {
	size := arrayHeaderSize + 4*p.Rows
	for row := range p.Rows {
		size += len(p.Cell(row, key))
	}
	return size
}

// What an array of one dimension begins with.
const (
	boolOID         = 16
	textOID         = 25
	arrayHeaderSize = 20
)

func appendArrayHeader(dst []byte, element uint32, length int) []byte {
	const dimensions, withNulls, firstIndex = 1, 1, 1
	for _, n := range [...]uint32{dimensions, withNulls, element, uint32(length), firstIndex} {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	return dst
}

// cellWriter keeps the memory of texts that are not in the body as they are.
type cellWriter struct{ scratch []byte }

// text gives a cell's text, valid until the next call.
func (w *cellWriter) text(cell []byte, format PayloadFormat, form CellForm) (text []byte, null bool) {
	switch {
	case cell == nil:
		return nil, true
	case format != JSON:
		return cell, false
	case cell[0] == 'n':
		return nil, true
	case form == JSONCell:
		return cell, false
	case cell[0] == '"':
		inside := cell[1 : len(cell)-1]
		if bytes.IndexByte(inside, '\\') < 0 {
			return inside, false
		}
		w.scratch = appendUnescaped(w.scratch[:0], inside)
		return w.scratch, false
	case cell[0] == '[' && form != PlainCell:
		w.scratch = appendArray(w.scratch[:0], cell, form, dimensions(cell))
		return w.scratch, false
	}
	return cell, false
}

// dimensions counts those of a JSON array by the brackets before its first element, as PostgreSQL's own
// json_populate_record does: an array further down is an element.
func dimensions(array []byte) (n int) {
	for _, c := range array {
		switch c {
		case '[':
			n++
		case ' ', '\t', '\n', '\r':
		default:
			return n
		}
	}
	return n
}

// appendArray writes a JSON array as an array literal of so many dimensions. The reader has bounded how deep it is.
// PostgreSQL's only array without elements is {}, however deep the brackets.
func appendArray(dst, array []byte, form CellForm, dimensions int) []byte {
	if len(bytes.Trim(array, "[], \t\n\r")) == 0 {
		return append(dst, "{}"...)
	}
	s := jsonScanner{text: array}
	open := byte('{')
	// The reader has found the text valid, so that there is no error to look at.
	_ = s.elements(func() error {
		dst = append(dst, open)
		open = ','
		start := s.pos
		err := s.value(0)
		if element := array[start:s.pos]; element[0] == '[' && dimensions > 1 {
			dst = appendArray(dst, element, form, dimensions-1)
		} else {
			dst = appendArrayElement(dst, element, form)
		}
		return err
	})
	if open == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

func appendArrayElement(dst, element []byte, form CellForm) []byte {
	switch {
	case element[0] == 'n':
		return append(dst, "NULL"...)
	case element[0] != '"' || form == JSONArrayCell:
		return AppendElement(dst, element)
	}
	inside := element[1 : len(element)-1]
	if bytes.IndexByte(inside, '\\') >= 0 {
		inside = appendUnescaped(nil, inside)
	}
	return AppendElement(dst, inside)
}

// appendUnescaped writes what the inside of a JSON string stands for. It must be valid.
func appendUnescaped(dst, inside []byte) []byte {
	for {
		at := bytes.IndexByte(inside, '\\')
		if at < 0 {
			return append(dst, inside...)
		}
		dst = append(dst, inside[:at]...)
		c := inside[at+1]
		inside = inside[at+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hexRune(inside)
			inside = inside[4:]
			if utf16.IsSurrogate(r) {
				low, _ := hexRune(inside[2:])
				r, inside = utf16.DecodeRune(r, low), inside[6:]
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
}
