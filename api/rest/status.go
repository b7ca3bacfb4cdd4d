package rest

import (
	"net/http"
	"strconv"

	"basalt/query"
)

// count is the total that the client asked for, -1 when it did not.
func (a *answer) count() int64 {
	switch a.request.Prefer.Count {
	case query.CountNone:
		return -1
	case query.CountPlanned:
		if a.statement.Plan == nil {
			return -1 // only what reads will find is planned
		}
		return a.estimate.rows
	case query.CountEstimated:
		// The exact count stops one beyond the maximum; from there on the planner's estimate counts.
		if a.statement.Plan != nil && a.total.rows > a.h.options.MaxRows {
			return max(a.estimate.rows, a.total.rows)
		}
	}
	switch {
	case a.total.rows >= 0:
		return a.total.rows
	case a.statement.Single && a.request.Offset > 0:
		return -1 // what is no set has no window
	}
	return a.rows
}

// shown is how many rows the answer holds, -1 when it has begun to leave and only its end will tell.
func (a *answer) shown() int64 {
	if !a.streamed {
		return a.rows
	}
	total := a.count()
	if total < 0 {
		return -1
	}
	left := max(total-a.request.Offset, 0)
	if a.request.Limit >= 0 {
		return min(left, a.request.Limit)
	}
	return left
}

// status is the answer's status before functions had their say.
func (a *answer) status() int {
	switch a.request.Action {
	case query.Read, query.Call:
		if a.statement.Void {
			return http.StatusNoContent
		}
		total := a.count()
		switch {
		case total < 0:
			return http.StatusOK
		case a.request.Offset > total:
			return http.StatusRequestedRangeNotSatisfiable
		case a.shown() < total && !a.statement.Single:
			return http.StatusPartialContent
		}
		return http.StatusOK
	case query.Insert:
		if a.request.Prefer.Resolution == query.MergeDuplicates && a.insertedNothing() {
			return http.StatusOK
		}
		return http.StatusCreated
	case query.Put:
		switch {
		case a.request.Returning != query.ReturnRows:
			return http.StatusNoContent
		case a.inserted > 0:
			return http.StatusCreated
		}
		return http.StatusOK
	}
	if a.request.Returning == query.ReturnRows {
		return http.StatusOK
	}
	return http.StatusNoContent
}

// insertedNothing says that all rows of an upsert were there before.
func (a *answer) insertedNothing() bool {
	if a.request.Payload.Rows == 0 {
		return true
	}
	return a.inserted == 0 && a.updated > 0
}

// bodyless says that an answer of a status has no body (RFC 9110 §6.4.1).
func bodyless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

// writeBody sends a status and, where there may be one, a body whose end is known.
func writeBody(w http.ResponseWriter, method string, status int, body []byte) error {
	if method == http.MethodHead || bodyless(status) {
		w.WriteHeader(status)
		return nil
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
