package pgjson

import "strconv"

// UnknownTypeError says that values of a type cannot be written from their binary form: the catalog that the
// encoder was given does not know the type, knows it otherwise than the server sends it, or it is not Native.
type UnknownTypeError struct{ OID uint32 }

func (e *UnknownTypeError) Error() string {
	return "type " + strconv.FormatUint(uint64(e.OID), 10) + " has no known binary form"
}

// ValueError says that a value is not what PostgreSQL sends for its type.
type ValueError struct {
	Column string // the result column's name
	OID    uint32 // the type of the value that is wrong, which may be inside an array or record
}

func (e *ValueError) Error() string {
	return "column " + strconv.Quote(e.Column) + " holds a malformed binary value of type " +
		strconv.FormatUint(uint64(e.OID), 10)
}

// ShapeError says that a row has another number of columns than its layout.
type ShapeError struct{ Want, Got int }

func (e *ShapeError) Error() string {
	return "result has " + strconv.Itoa(e.Got) + " columns where the layout has " + strconv.Itoa(e.Want)
}

// IntervalStyleError says that PostgreSQL reported an IntervalStyle that is none of its four.
type IntervalStyleError struct{ Style string }

func (e *IntervalStyleError) Error() string { return "unknown IntervalStyle " + strconv.Quote(e.Style) }

// ZoneError says that a name is no time zone.
type ZoneError struct{ Name string }

func (e *ZoneError) Error() string { return "unknown time zone " + strconv.Quote(e.Name) }
