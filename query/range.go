package query

import (
	"math"
	"strconv"
	"strings"
)

// RowRange is a window of rows counted from 0, its ends included. Last is -1 when it is open.
type RowRange struct{ First, Last int64 }

// ParseRange reads a Range header in items, such as 0-24 or 10-. What is no such range (nor the empty text) asks for
// every row, as RFC 9110 §14.2 wants it; a range that ends before it begins is a *RangeError.
func ParseRange(header string) (RowRange, error) {
	all := RowRange{First: 0, Last: -1}
	first, last, ok := strings.Cut(strings.TrimSpace(header), "-")
	if !ok || !isDigits(first) || last != "" && !isDigits(strings.TrimPrefix(last, "-")) {
		return all, nil
	}
	r := RowRange{First: parseCount(first), Last: -1}
	if last == "" {
		return r, nil
	}
	if r.Last = parseCount(last); r.Last < r.First {
		return all, rangeError("The lower boundary must be lower than or equal to the upper boundary in the Range header.")
	}
	return r, nil
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// TopRange is limit and offset of the top level as the query string has them, nil when it has neither.
func (q *Query) TopRange() *Range {
	for i := range q.Ranges {
		if r := &q.Ranges[i]; len(r.Path) == 0 && (r.Limit >= 0 || r.Offset >= 0) {
			return r
		}
	}
	return nil
}

// Window brings together what the query string (nil for nothing), the Range header ("" for none) and the server's
// maximum (0 for none) allow. The limit is -1 when there is none. Windows that have no row in common are a
// *RangeError; a limit of 0 is not.
func Window(top *Range, header string, maxRows int64) (limit, offset int64, err error) {
	window := RowRange{First: 0, Last: math.MaxInt64}
	if header != "" {
		asked, err := ParseRange(header)
		if err != nil {
			return 0, 0, err
		}
		window.First = asked.First
		if asked.Last >= 0 {
			window.Last = asked.Last
		}
	}
	if top != nil {
		offset = max(top.Offset, 0)
		if top.Limit == 0 {
			return 0, offset, nil
		}
		window.First = max(window.First, offset)
		if top.Limit > 0 && offset <= math.MaxInt64-top.Limit {
			window.Last = min(window.Last, offset+top.Limit-1)
		}
	}
	if window.Last < window.First {
		return 0, 0, negativeLimit()
	}
	limit = -1
	if window.Last < math.MaxInt64 {
		limit = window.Last - window.First + 1
	}
	if maxRows > 0 && (limit < 0 || limit > maxRows) {
		limit = maxRows
	}
	return limit, window.First, nil
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
