package pgjson

import "encoding/binary"

// maxDimensions is PostgreSQL's own limit.
const maxDimensions = 6

// array is the head of an array's binary form: its dimensions with their lower bounds, then the elements one by one,
// the last dimension running fastest.
type array struct {
	dimensions int
	lengths    [maxDimensions]int32
	bounds     [maxDimensions]int32
	elements   []byte
}

// openArray reads the head: dimensions, flags, element type, then length and lower bound of each dimension.
func openArray(n *node, v []byte) (a array, ok bool) {
	if len(v) < 12 {
		return a, false
	}
	dimensions := binary.BigEndian.Uint32(v)
	if dimensions > maxDimensions || binary.BigEndian.Uint32(v[8:]) != n.elem.oid {
		return a, false
	}
	a.dimensions = int(dimensions)
	v = v[12:]
	if len(v) < 8*a.dimensions {
		return a, false
	}
	elements := 1
	for i := range a.dimensions {
		a.lengths[i] = int32(binary.BigEndian.Uint32(v))
		a.bounds[i] = int32(binary.BigEndian.Uint32(v[4:]))
		v = v[8:]
		// An element takes four bytes at least, so no product that passes is beyond the value's own length.
		elements *= int(a.lengths[i])
		if a.lengths[i] < 1 || elements > len(v)/4+1 {
			return a, false
		}
	}
	a.elements = v
	return a, true
}

// cut takes the next value, which has its length before it; nil with ok is NULL.
func cut(v []byte) (value, rest []byte, ok bool) {
	if len(v) < 4 {
		return nil, nil, false
	}
	length := int32(binary.BigEndian.Uint32(v))
	v = v[4:]
	if length == -1 {
		return nil, v, true
	}
	if length < 0 || int(length) > len(v) {
		return nil, nil, false
	}
	return v[:length:length], v[length:], true
}

func (e *Encoder) appendArray(dst []byte, n *node, v []byte, strip bool) ([]byte, error) {
	a, ok := openArray(n, v)
	if !ok {
		return dst, n.malformed()
	}
	if a.dimensions == 0 {
		if len(a.elements) != 0 {
			return dst, n.malformed()
		}
		return append(dst, "[]"...), nil
	}
	dst, rest, err := e.appendDimension(dst, n, &a, 0, a.elements, strip)
	if err == nil && len(rest) != 0 {
		err = n.malformed()
	}
	return dst, err
}

func (e *Encoder) appendDimension(dst []byte, n *node, a *array, depth int, v []byte, strip bool) (_, rest []byte, err error) {
	inner := depth+1 < a.dimensions
	separator := byte('[')
	for range a.lengths[depth] {
		dst = append(dst, separator)
		separator = ','
		if inner {
			if dst, v, err = e.appendDimension(dst, n, a, depth+1, v, strip); err != nil {
				return dst, nil, err
			}
			continue
		}
		value, rest, ok := cut(v)
		switch {
		case !ok:
			return dst, nil, n.malformed()
		case value == nil:
			dst = append(dst, n.elem.absent...)
		default:
			if dst, err = e.appendJSON(dst, n.elem, value, strip); err != nil {
				return dst, nil, err
			}
		}
		v = rest
	}
	return append(dst, ']'), v, nil
}

// record reads a record's binary form: the number of its fields, then type and value of each.
type record struct {
	owner *node
	rest  []byte
}

func openRecord(n *node, v []byte) (r record, err error) {
	if len(v) < 4 {
		return r, n.malformed()
	}
	if int64(binary.BigEndian.Uint32(v)) != int64(len(n.fields)) {
		if n.known {
			return r, &UnknownTypeError{n.oid} // it has been altered
		}
		return r, n.malformed()
	}
	return record{n, v[4:]}, nil
}

// next takes the value of the field, which must be asked for in order.
func (e *Encoder) next(r *record, field *recordField) (*node, []byte, error) {
	if len(r.rest) < 8 {
		return nil, nil, r.owner.malformed()
	}
	oid := binary.BigEndian.Uint32(r.rest)
	value, rest, ok := cut(r.rest[4:])
	if !ok {
		return nil, nil, r.owner.malformed()
	}
	r.rest = rest
	n := field.node.Load()
	if n == nil || n.oid != oid {
		if r.owner.known {
			return nil, nil, &UnknownTypeError{r.owner.oid}
		}
		var err error
		if n, err = resolve(e.types, field.column, oid); err != nil {
			return nil, nil, err
		}
		field.node.Store(n)
	}
	return n, value, nil
}

func (r *record) close() error {
	if len(r.rest) != 0 {
		return r.owner.malformed()
	}
	return nil
}

func (e *Encoder) appendRecord(dst []byte, n *node, v []byte, strip bool) ([]byte, error) {
	r, err := openRecord(n, v)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	first := len(dst)
	for i := range n.fields {
		field := &n.fields[i]
		value, bytes, err := e.next(&r, field)
		switch {
		case err != nil:
			return dst, err
		case strip:
			if dst, err = e.appendStrippedMember(dst, first, field.key, value, bytes); err != nil {
				return dst, err
			}
			continue
		}
		dst = append(dst, field.key...)
		if bytes == nil {
			dst = append(dst, value.absent...)
			continue
		}
		if dst, err = e.appendJSON(dst, value, bytes, false); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), r.close()
}

// appendOnly writes the only field of a record in the record's place.
func (e *Encoder) appendOnly(dst []byte, n *node, v []byte, strip bool) ([]byte, error) {
	r, err := openRecord(n, v)
	if err != nil {
		return dst, err
	}
	value, bytes, err := e.next(&r, &n.fields[0])
	switch {
	case err != nil:
		return dst, err
	case bytes == nil:
		dst = append(dst, value.absent...)
	default:
		if dst, err = e.appendJSON(dst, value, bytes, strip); err != nil {
			return dst, err
		}
	}
	return dst, r.close()
}
