package sql

import (
	"fmt"
	"strconv"
	"strings"

	"basalt/query"
	"basalt/query/plan"
)

// Bind appends the parameters' values for one request to dst, in the format of each; nil is NULL. The request must be of the
// shape that the statement was compiled for; what it asks for beyond its shape may still be refused by a *plan.Error.
func (s *Statement) Bind(dst [][]byte, r *query.Request) ([][]byte, error) {
	if err := plan.CheckAffected(r, s.Single); err != nil {
		return dst, err
	}
	// All values share one buffer. Should it have to grow, the values already in dst keep the old one.
	buffer := make([]byte, 0, s.bindSize(r))
	for i := range s.Params {
		if source := s.Params[i].Source; source == Body || source == BodyBytes {
			dst = append(dst, r.Payload.Raw)
			continue
		}
		start := len(buffer)
		var null bool
		var err error
		if buffer, null, err = s.Params[i].append(buffer, r); err != nil {
			return dst, err
		}
		if null {
			dst = append(dst, nil)
			continue
		}
		dst = append(dst, buffer[start:len(buffer):len(buffer)])
	}
	return dst, nil
}

// numberSize is the most that a number takes; listSize what the quotes of a list may add.
const (
	numberSize = 20
	listSize   = 16
)

// bindSize guesses how many bytes the values take.
func (s *Statement) bindSize(r *query.Request) int {
	size := 0
	for i := range s.Params {
		switch p := &s.Params[i]; p.Source {
		case Value:
			if p.Index < len(r.Query.Values) {
				size += len(r.Query.Values[p.Index]) + listSize
			}
		case Constant:
			size += len(p.Text)
		case Cursor:
			size += len(r.Cursor.Values[p.Index].Text)
		case Cell:
			size += len(r.Payload.Cell(0, p.Index))
		case Cells:
			size += r.Payload.CellArraySize(p.Index)
		case Given:
			size += r.Payload.CellArraySize(p.Index) // more than it takes
		case Body, BodyBytes:
		default:
			size += numberSize
		}
	}
	return size
}

// append appends one value to the buffer.
func (p *Param) append(dst []byte, r *query.Request) (_ []byte, null bool, err error) {
	switch p.Source {
	case Value:
		if p.Index >= len(r.Query.Values) {
			return dst, false, fmt.Errorf("bind: value %d is wanted, the request has %d", p.Index+1, len(r.Query.Values))
		}
		return p.appendValue(dst, r.Query.Values[p.Index]), false, nil
	case Constant:
		return append(dst, p.Text...), false, nil
	case Limit:
		return strconv.AppendInt(dst, r.Limit, 10), false, nil
	case PageLimit:
		return strconv.AppendInt(dst, max(r.Limit, r.Limit+1), 10), false, nil // the largest number has none behind it
	case MaxAffected:
		return strconv.AppendInt(dst, r.Prefer.MaxAffected, 10), false, nil
	case Cursor:
		return append(dst, r.Cursor.Values[p.Index].Text...), false, nil
	case Offset:
		return strconv.AppendInt(dst, r.Offset, 10), false, nil
	case Argument:
		return p.appendArgument(dst, r), false, nil
	default:
		return p.appendPayload(dst, r.Payload)
	}
}

func (p *Param) appendValue(dst []byte, value string) []byte {
	start := len(dst)
	switch {
	case p.List:
		dst = query.AppendArrayLiteral(dst, value)
	case p.Max > 0 && !below(value, p.Max):
		dst = strconv.AppendInt(dst, p.Max, 10)
	default:
		dst = append(dst, value...)
	}
	if p.Like {
		for i := start; i < len(dst); i++ {
			if dst[i] == '*' {
				dst[i] = '%'
			}
		}
	}
	return dst
}

// appendArgument appends a routine's argument of the query string: its last value, or all of a variadic one.
func (p *Param) appendArgument(dst []byte, r *query.Request) []byte {
	values := r.Query.Arguments[p.Index].Values
	last := r.Query.Values[values[len(values)-1]]
	if !p.List || len(values) == 1 && strings.HasPrefix(last, "{") {
		return append(dst, last...)
	}
	dst = append(dst, '{')
	for i, ref := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = query.AppendElement(dst, r.Query.Values[ref])
	}
	return append(dst, '}')
}

// appendPayload appends a parameter that comes from the request's body.
func (p *Param) appendPayload(dst []byte, payload *query.Payload) (_ []byte, null bool, err error) {
	if payload == nil {
		return dst, false, fmt.Errorf("bind: parameter of source %d is wanted, the request has no body", p.Source)
	}
	switch p.Source {
	case Cell:
		dst, null = query.AppendCellText(dst, payload.Cell(0, p.Index), payload.Format, p.Form)
		return dst, null, nil
	case Cells:
		return query.AppendCellArray(dst, payload, p.Index, p.Form), false, nil
	case Given:
		return query.AppendGivenArray(dst, payload, p.Index), false, nil
	case Rows:
		return strconv.AppendInt(dst, int64(payload.Rows), 10), false, nil
	}
	return dst, false, fmt.Errorf("bind: parameter of unknown source %d", p.Source)
}

// below says whether a count is smaller than most; one too long for int64 is not.
func below(count string, most int64) bool {
	n, err := strconv.ParseInt(count, 10, 64)
	return err == nil && n < most
}
