package query

import (
	"math"
	"strconv"
	"strings"
)

// RowRange is a window of rows counted from 0, its ends included. Last is -1 when it is open.
type RowRange struct{ First, Last int64 }

// AllRows is the window of a request without a Range header.
func AllRows() RowRange { return RowRange{First: 0, Last: -1} }

// ParseRange reads a Range header in items, such as 0-24 or 10-. What is no such range is every row, as RFC 9110 §14.2
// wants it; a range that ends before it begins is a *RangeError.
func ParseRange(header string) (RowRange, error) {
	first, last, ok := strings.Cut(strings.TrimSpace(header), "-")
	if !ok || !isDigits(first) || last != "" && !isDigits(strings.TrimPrefix(last, "-")) {
		return AllRows(), nil
	}
	r := RowRange{First: parseCount(first), Last: -1}
	if last == "" {
		return r, nil
	}
	if r.Last = parseCount(last); r.Last < r.First {
		return AllRows(), rangeError("The lower boundary must be lower than or equal to the upper boundary in the Range header.")
	}
	return r, nil
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// Top gives limit and offset of the top level as the query string has them, -1 where absent.
func (q *Query) Top() Range {
	for i := range q.Ranges {
		if len(q.Ranges[i].Path) == 0 {
			return q.Ranges[i]
		}
	}
	return Range{Limit: -1, Offset: -1, LimitRef: None, OffsetRef: None}
}

// Window brings together what the query string, the Range header and the server's maximum (0 for none) allow. The
// limit is -1 when there is none. Windows that have no row in common are a *RangeError, a limit of 0 is not.
func Window(top Range, header RowRange, maxRows int64) (limit, offset int64, err error) {
	offset = max(top.Offset, 0)
	if top.Limit == 0 {
		return 0, offset, nil
	}
	last := int64(math.MaxInt64)
	if top.Limit > 0 && offset <= math.MaxInt64-top.Limit {
		last = offset + top.Limit - 1
	}
	if header.Last >= 0 {
		last = min(last, header.Last)
	}
	offset = max(offset, header.First)
	if last < offset {
		return 0, 0, negativeLimit()
	}
	limit = -1
	if last < math.MaxInt64 {
		limit = last - offset + 1
	}
	if maxRows > 0 && (limit < 0 || limit > maxRows) {
		limit = maxRows
	}
	return limit, offset, nil
}

// OutOfBounds is the error of an offset beyond a total that is known.
func OutOfBounds(offset, total int64) *RangeError {
	return rangeError("An offset of " + strconv.FormatInt(offset, 10) +
		" was requested, but there are only " + strconv.FormatInt(total, 10) + " rows.")
}

func negativeLimit() *RangeError {
	return rangeError("Limit should be greater than or equal to zero.")
}

func rangeError(details string) *RangeError {
	return &RangeError{Code: CodeRange, Message: "Requested range not satisfiable", Details: details}
}
