package pgjson

import (
	"encoding/binary"
	"strconv"
)

// AppendCSVRow writes a row as PostgreSQL writes a record's text, without the parentheses: fields with commas
// between, empty for NULL.
func (e *Encoder) AppendCSVRow(dst []byte, values [][]byte) ([]byte, error) {
	if len(values) != len(e.columns) {
		return dst, &ShapeError{len(e.columns), len(values)}
	}
	start := len(dst)
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = e.AppendCSVValue(dst, i, value); err != nil {
			return dst[:start], err
		}
	}
	return dst, nil
}

// AppendCSVValue writes one field of such a row. An embed or a list is its JSON text.
func (e *Encoder) AppendCSVValue(dst []byte, column int, value []byte) ([]byte, error) {
	c, start := &e.columns[column], len(dst)
	if value == nil {
		if dst = append(dst, c.node.absent...); isNull(dst[start:]) {
			return dst[:start], nil
		}
		return quoteField(dst, start, c.node), nil
	}
	var err error
	switch c.kind {
	case Scalar:
		dst, err = e.appendText(dst, c.node, value)
	case Wrapped:
		dst = appendUnwrapped(dst, value, c.delimiter)
	default:
		dst, err = e.appendJSON(dst, c.node, value, false)
	}
	if err != nil {
		return dst[:start], c.explain(err)
	}
	return quoteField(dst, start, c.node), nil
}

// appendText writes a value as its type's output function does, with DateStyle ISO.
func (e *Encoder) appendText(dst []byte, n *node, v []byte) ([]byte, error) {
	switch n.form {
	case formText, formJSON:
		return append(dst, v...), nil
	case formJSONB:
		if len(v) == 0 || v[0] != jsonbVersion {
			return dst, n.malformed()
		}
		return append(dst, v[1:]...), nil
	case formBool:
		if len(v) != 1 {
			return dst, n.malformed()
		}
		if v[0] != 0 {
			return append(dst, 't'), nil
		}
		return append(dst, 'f'), nil
	case formInt2, formInt4, formInt8:
		return appendInteger(dst, n, v)
	case formFloat4, formFloat8, formNumeric:
		dst, _, err := appendNumber(dst, n, v)
		return dst, err
	case formUUID:
		if len(v) != 16 {
			return dst, n.malformed()
		}
		return appendUUID(dst, v), nil
	case formTimestamp, formTimestampTZ:
		if len(v) != 8 {
			return dst, n.malformed()
		}
		micros := int64(binary.BigEndian.Uint64(v))
		ok := false
		if n.form == formTimestampTZ {
			dst, ok = appendTimestampTZ(dst, micros, e.zone, textStyle)
		} else {
			dst, ok = appendTimestamp(dst, micros, textStyle)
		}
		if !ok {
			return dst, n.malformed()
		}
		return dst, nil
	case formBytea:
		return appendHex(append(dst, '\\', 'x'), v), nil
	case formChar:
		switch {
		case len(v) != 1:
			return dst, n.malformed()
		case v[0] == 0:
			return dst, nil
		case v[0] < 0x80:
			return append(dst, v[0]), nil
		default:
			return appendOctal(dst, v[0]), nil
		}
	case formArray:
		return e.appendArrayText(dst, n, v)
	case formRecord:
		return e.appendRecordText(dst, n, v)
	default:
		return e.appendScalar(dst, n, v)
	}
}

func (e *Encoder) appendArrayText(dst []byte, n *node, v []byte) ([]byte, error) {
	a, ok := openArray(n, v)
	if !ok {
		return dst, n.malformed()
	}
	if a.dimensions == 0 {
		if len(a.elements) != 0 {
			return dst, n.malformed()
		}
		return append(dst, "{}"...), nil
	}
	for _, bound := range a.bounds[:a.dimensions] {
		if bound != 1 {
			dst = append(a.appendBounds(dst), '=')
			break
		}
	}
	dst, rest, err := e.appendDimensionText(dst, n, &a, 0, a.elements)
	if err == nil && len(rest) != 0 {
		err = n.malformed()
	}
	return dst, err
}

// appendBounds writes [2:4][1:3], which text has only when a dimension does not begin at 1.
func (a *array) appendBounds(dst []byte) []byte {
	for i, bound := range a.bounds[:a.dimensions] {
		dst = strconv.AppendInt(append(dst, '['), int64(bound), 10)
		dst = strconv.AppendInt(append(dst, ':'), int64(bound)+int64(a.lengths[i])-1, 10)
		dst = append(dst, ']')
	}
	return dst
}

func (e *Encoder) appendDimensionText(dst []byte, n *node, a *array, depth int, v []byte) (_, rest []byte, err error) {
	inner := depth+1 < a.dimensions
	separator := byte('{')
	for range a.lengths[depth] {
		dst = append(dst, separator)
		separator = ','
		if inner {
			if dst, v, err = e.appendDimensionText(dst, n, a, depth+1, v); err != nil {
				return dst, nil, err
			}
			continue
		}
		value, rest, ok := cut(v)
		switch {
		case !ok:
			return dst, nil, n.malformed()
		case value == nil:
			dst = append(dst, "NULL"...)
		default:
			start := len(dst)
			if dst, err = e.appendText(dst, n.elem, value); err != nil {
				return dst, nil, err
			}
			dst = quoteElement(dst, start, n.elem)
		}
		v = rest
	}
	return append(dst, '}'), v, nil
}

func (e *Encoder) appendRecordText(dst []byte, n *node, v []byte) ([]byte, error) {
	r, err := openRecord(n, v)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '(')
	for i := range n.fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		value, bytes, err := e.next(&r, &n.fields[i])
		if err != nil {
			return dst, err
		}
		if bytes == nil {
			continue
		}
		start := len(dst)
		if dst, err = e.appendText(dst, value, bytes); err != nil {
			return dst, err
		}
		dst = quoteField(dst, start, value)
	}
	return append(dst, ')'), r.close()
}
