package pgjson

import (
	"bytes"
	"cmp"
	"time"
)

// Encoder writes the rows of one prepared statement. It may be used by many goroutines at once.
//
// Values are what the server sends in the binary format, nil for NULL. The methods append to dst and return it; when
// they fail they return it as it was.
type Encoder struct {
	types    Types
	columns  []encoderColumn
	zone     *zone
	interval intervalStyle
}

type encoderColumn struct {
	key  string // with colon, behind the first with a comma before
	name string
	kind ColumnKind
	node *node
	// delimiter is that of a Wrapped array's text.
	delimiter byte
}

// NewEncoder finds out how each column is written, from the types that the server says the columns have and the
// session's TimeZone and IntervalStyle. It fails with an *UnknownTypeError when a type is not Native or not
// known; writing fails so when that is found inside a record.
func NewEncoder(layout *Layout, columnOIDs []uint32, types Types, zone *time.Location, intervalStyle string) (*Encoder, error) {
	if len(columnOIDs) != len(layout.Columns) {
		return nil, &ShapeError{len(layout.Columns), len(columnOIDs)}
	}
	style, err := parseIntervalStyle(intervalStyle)
	if err != nil {
		return nil, err
	}
	e := &Encoder{types: types, columns: make([]encoderColumn, len(columnOIDs)), zone: newZone(zone), interval: style}
	for i, column := range layout.Columns {
		n, err := resolve(types, column, columnOIDs[i])
		if err != nil {
			return nil, err
		}
		e.columns[i] = encoderColumn{memberKey(i, column.Key), column.Name, column.Kind, n, cmp.Or(column.Delimiter, ',')}
	}
	return e, nil
}

// AppendRow writes a row as a JSON object.
func (e *Encoder) AppendRow(dst []byte, values [][]byte) ([]byte, error) {
	if len(values) != len(e.columns) {
		return dst, &ShapeError{len(e.columns), len(values)}
	}
	start := len(dst)
	dst = append(dst, '{')
	for i := range e.columns {
		column := &e.columns[i]
		dst = append(dst, column.key...)
		if values[i] == nil {
			dst = append(dst, column.node.absent...)
			continue
		}
		var err error
		if dst, err = e.appendJSON(dst, column.node, values[i], false); err != nil {
			return dst[:start], column.explain(err)
		}
	}
	return append(dst, '}'), nil
}

// AppendRowStripped writes a row as a JSON object without the members that are null, neither in the object nor in
// any object inside it: json_strip_nulls.
func (e *Encoder) AppendRowStripped(dst []byte, values [][]byte) ([]byte, error) {
	if len(values) != len(e.columns) {
		return dst, &ShapeError{len(e.columns), len(values)}
	}
	start := len(dst)
	dst = append(dst, '{')
	first := len(dst)
	for i := range e.columns {
		column := &e.columns[i]
		var err error
		if dst, err = e.appendStrippedMember(dst, first, column.key, column.node, values[i]); err != nil {
			return dst[:start], column.explain(err)
		}
	}
	return append(dst, '}'), nil
}

// appendStrippedMember writes a member of the object whose content begins at first, unless its value is null.
func (e *Encoder) appendStrippedMember(dst []byte, first int, key string, n *node, value []byte) ([]byte, error) {
	start := len(dst)
	if start > first {
		dst = append(dst, ',')
	}
	if key[0] == ',' {
		key = key[1:]
	}
	dst = append(dst, key...)
	written := len(dst)
	if value == nil {
		dst = append(dst, n.absent...)
	} else {
		var err error
		if dst, err = e.appendJSON(dst, n, value, true); err != nil {
			return dst, err
		}
	}
	if isNull(dst[written:]) { // json and jsonb can hold null too
		return dst[:start], nil
	}
	return dst, nil
}

func isNull(json []byte) bool { return bytes.Equal(json, []byte("null")) }

// AppendValue writes one column's value as JSON.
func (e *Encoder) AppendValue(dst []byte, column int, value []byte) ([]byte, error) {
	return e.appendColumn(dst, column, value, false)
}

// AppendValueStripped writes one column's value as JSON without null members in the objects inside it.
func (e *Encoder) AppendValueStripped(dst []byte, column int, value []byte) ([]byte, error) {
	return e.appendColumn(dst, column, value, true)
}

func (e *Encoder) appendColumn(dst []byte, index int, value []byte, strip bool) ([]byte, error) {
	column, start := &e.columns[index], len(dst)
	if value == nil {
		return append(dst, column.node.absent...), nil
	}
	dst, err := e.appendJSON(dst, column.node, value, strip)
	if err != nil {
		return dst[:start], column.explain(err)
	}
	return dst, nil
}

// explain adds the column to an error about a value in it.
func (c *encoderColumn) explain(err error) error {
	if malformed, ok := err.(*ValueError); ok {
		malformed.Column = c.name
	}
	return err
}
