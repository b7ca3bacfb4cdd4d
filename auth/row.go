package auth

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// row gives the values of a row of the database from left to right, in the order of the statement that asked for
// them. They are read from the wire as they are: accounts have some thirty columns, and to find out by reflection what
// to do with each takes longer than to read it. NULL is the zero value.
type row struct {
	values [][]byte
	err    error
}

// reader takes what it wants from a row. It is a destination for Scan.
type reader func(*row)

// ScanRow implements pgx.RowScanner.
func (read reader) ScanRow(rows pgx.Rows) error {
	r := row{values: rows.RawValues()}
	read(&r)
	return r.err
}

// next gives the bytes of the next value; they are good until the row is left.
func (r *row) next() []byte {
	if len(r.values) == 0 {
		r.fail("a column too few")
		return nil
	}
	value := r.values[0]
	r.values = r.values[1:]
	return value
}

// fixed gives the next value of a type with a fixed length.
func (r *row) fixed(length int) []byte {
	value := r.next()
	if value != nil && len(value) != length {
		r.fail(fmt.Sprintf("%d bytes where %d belong", len(value), length))
		return nil
	}
	return value
}

func (r *row) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("read a row: %s", what)
	}
	r.values = nil
}

// text is a value of any type whose form on the wire is its text: text, varchar, enums.
func (r *row) text() string { return string(r.next()) }

func (r *row) flag() bool {
	value := r.fixed(1)
	return value != nil && value[0] == 1
}

func (r *row) id() (id uuid.UUID) {
	copy(id[:], r.fixed(16))
	return id
}

// number is a value of type float8.
func (r *row) number() float64 {
	value := r.fixed(8)
	if value == nil {
		return 0
	}
	return math.Float64frombits(binary.BigEndian.Uint64(value))
}

// time is a value of type timestamptz; nil is NULL. A ban for ever is written as infinity in dumps, which Go has no
// time for.
func (r *row) time() *time.Time {
	value := r.fixed(8)
	if value == nil {
		return nil
	}
	var t time.Time
	switch sinceEpoch := int64(binary.BigEndian.Uint64(value)); sinceEpoch {
	case math.MaxInt64:
		t = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)
	case math.MinInt64:
		// The zero time.
	default:
		const seconds = 1_000_000
		epoch := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
		t = time.Unix(epoch+sinceEpoch/seconds, sinceEpoch%seconds*1000).UTC()
	}
	return &t
}

// object is a value of type jsonb, which has a version byte in its binary form. Rows from elsewhere may hold what is
// no object, or nothing: that is an empty one.
func (r *row) object() json.RawMessage {
	value := r.next()
	if len(value) > 0 && value[0] == 1 {
		value = value[1:]
	}
	if len(value) == 0 || value[0] != '{' {
		return json.RawMessage(`{}`)
	}
	return append(json.RawMessage(nil), value...)
}

// records reads a value that is an array of records.
func (r *row) records(read reader) {
	array := words{rest: r.next()}
	if array.rest == nil {
		return
	}
	dimensions := array.number()
	array.take(8) // whether there are NULLs, the type
	if dimensions == 0 {
		return
	}
	length := array.number()
	array.take(4) // the lower bound
	for range length {
		record := words{rest: array.value()}
		inner := row{}
		for range record.number() {
			record.take(4) // the type
			inner.values = append(inner.values, record.value())
		}
		if array.short || record.short {
			r.fail("an array that ends too early")
			return
		}
		if read(&inner); inner.err != nil {
			r.err, r.values = inner.err, nil
			return
		}
	}
}

// words reads PostgreSQL's binary form of arrays and records.
type words struct {
	rest  []byte
	short bool
}

func (w *words) take(length int) []byte {
	if length < 0 || length > len(w.rest) {
		w.rest, w.short = nil, true
		return nil
	}
	taken := w.rest[:length:length]
	w.rest = w.rest[length:]
	return taken
}

func (w *words) number() int {
	digits := w.take(4)
	if digits == nil {
		return 0
	}
	return int(int32(binary.BigEndian.Uint32(digits)))
}

// value reads a length and so many bytes; nil is NULL.
func (w *words) value() []byte {
	length := w.number()
	if length < 0 {
		return nil
	}
	return w.take(length)
}
