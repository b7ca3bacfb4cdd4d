package store

import (
	"encoding/binary"
	"errors"
	"math"

	"basalt/query/catalog"
)

// rowReader reads the columns of a row in binary format from left to right. NULL reads as the zero value. The
// first thing that does not fit stays in err.
type rowReader struct {
	values [][]byte
	next   int
	err    error
	// interned holds strings that many rows share: schemas, names of columns and arguments, defaults.
	interned map[string]string
}

var errColumn = errors.New("a column of a system table has an unexpected form")

func (r *rowReader) reset(values [][]byte) { r.values, r.next = values, 0 }

// column gives the next value, which must have the size unless NULL.
func (r *rowReader) column(size int) []byte {
	value := r.bytes()
	if value != nil && len(value) != size {
		r.err = errColumn
		return nil
	}
	return value
}

func (r *rowReader) bytes() []byte {
	if r.next == len(r.values) {
		r.err = errColumn
		return nil
	}
	value := r.values[r.next]
	r.next++
	return value
}

func (r *rowReader) bool() bool { return r.char() != 0 }

// char reads a "char", whose zero byte stands for none, or a boolean.
func (r *rowReader) char() byte {
	if value := r.column(1); value != nil {
		return value[0]
	}
	return 0
}

func (r *rowReader) int16() int16 {
	if value := r.column(2); value != nil {
		return int16(binary.BigEndian.Uint16(value))
	}
	return 0
}

func (r *rowReader) int32() int32 { return int32(r.oid()) }

func (r *rowReader) oid() catalog.OID {
	if value := r.column(4); value != nil {
		return binary.BigEndian.Uint32(value)
	}
	return 0
}

func (r *rowReader) float32() float32 { return math.Float32frombits(r.oid()) }

func (r *rowReader) text() string { return string(r.bytes()) }

// word reads a text that many rows are likely to share.
func (r *rowReader) word() string { return r.intern(r.bytes()) }

func (r *rowReader) intern(value []byte) string {
	if known, found := r.interned[string(value)]; found {
		return known
	}
	word := string(value)
	r.interned[word] = word
	return word
}

// name reads a schema and a name.
func (r *rowReader) name() catalog.Name { return catalog.Name{Schema: r.word(), Name: r.text()} }

// array reads a one-dimensional array and gives each element, nil for NULL, to the function.
func (r *rowReader) array(take func(n int, element []byte)) {
	const header, dimension = 12, 8
	value := r.bytes()
	if value == nil {
		return
	}
	if len(value) < header {
		r.err = errColumn
		return
	}
	dimensions := binary.BigEndian.Uint32(value)
	if dimensions == 0 {
		return
	}
	if dimensions != 1 || len(value) < header+dimension {
		r.err = errColumn
		return
	}
	n := int(binary.BigEndian.Uint32(value[header:]))
	value = value[header+dimension:]
	for range n {
		if len(value) < 4 {
			r.err = errColumn
			return
		}
		size := int32(binary.BigEndian.Uint32(value))
		value = value[4:]
		if size < 0 {
			take(n, nil)
			continue
		}
		if int(size) > len(value) {
			r.err = errColumn
			return
		}
		take(n, value[:size])
		value = value[size:]
	}
}

func (r *rowReader) int16s() []int16 {
	var list []int16
	r.array(func(n int, element []byte) {
		if len(element) != 2 {
			r.err = errColumn
			return
		}
		if list == nil {
			list = make([]int16, 0, n)
		}
		list = append(list, int16(binary.BigEndian.Uint16(element)))
	})
	return list
}

func (r *rowReader) oids() []catalog.OID {
	var list []catalog.OID
	r.array(func(n int, element []byte) {
		if len(element) != 4 {
			r.err = errColumn
			return
		}
		if list == nil {
			list = make([]catalog.OID, 0, n)
		}
		list = append(list, binary.BigEndian.Uint32(element))
	})
	return list
}

// chars reads a "char"[].
func (r *rowReader) chars() []byte {
	var list []byte
	r.array(func(n int, element []byte) {
		if len(element) != 1 {
			r.err = errColumn
			return
		}
		list = append(list, element[0])
	})
	return list
}

// words reads a text[] whose elements many rows are likely to share.
func (r *rowReader) words() []string {
	var list []string
	r.array(func(n int, element []byte) {
		if list == nil {
			list = make([]string, 0, n)
		}
		list = append(list, r.intern(element))
	})
	return list
}
