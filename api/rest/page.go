package rest

import (
	"net/http"
	"strings"

	"basalt/query"
)

// Pages by key are our own addition to the dialect. With Prefer: page=keyset a read answers
//
//	Link: </rest/v1/items?order=at.desc&limit=50&after=AQ…>; rel="next"
//
// when rows follow those that limit, or the server's maximum, lets through. The next request takes that address and the
// same preference. An order that tells no rows apart gets the primary key behind it. Since the last row decides about a
// header, a page is held back until it is complete, within what the server holds at all (--answer-memory).

// cursorParameter holds where a page begins. It means that only together with Prefer: page=keyset; without it, it is a
// filter like any other.
const cursorParameter = "after="

// takeCursor takes the cursor out of a query string, nil when there is none.
func takeCursor(raw string) (rest string, cursor *query.Cursor, err error) {
	if rest = withoutParameter(raw, cursorParameter); len(rest) == len(raw) {
		return raw, nil, nil
	}
	cursor, err = query.ParseCursor(parameterValue(raw, cursorParameter))
	return rest, cursor, err
}

// page is what is known of the page after the one in an answer.
type page struct {
	last []query.CursorValue // of the last row of a full page
	more bool                // another row follows
}

// end takes the row behind a full page. It must not stand where the last row of the page stands: the next page would
// leave it out.
func (p *page) end(values [][]byte) error {
	p.more = true
	for i, value := range p.last {
		if cursorValue(values[i]) != value {
			return nil
		}
	}
	if len(p.last) == 0 {
		return nil // of a page of no rows
	}
	e := failure(http.StatusBadRequest, query.CodeSyntax, "The order does not tell the rows apart, as Prefer: page=keyset needs it")
	e.Hint = text("Add columns to the order until no two rows have the same values in them.")
	return e
}

func cursorValue(value []byte) query.CursorValue {
	return query.CursorValue{Text: string(value), Null: value == nil}
}

// linkNext sets the Link to the next page when there is one (RFC 8288). It is the request's own address with another
// cursor, without the API key.
func (a *answer) linkNext() error {
	if !a.page.more || len(a.page.last) == 0 {
		return nil
	}
	r := a.c.Request()
	cursor := query.Cursor{Order: a.statement.Page.Order, Values: a.page.last}
	link := append(make([]byte, 0, 256), '<')
	link = append(link, r.URL.EscapedPath()...)
	link = append(link, '?')
	if raw := withoutParameter(withoutKey(r.URL.RawQuery), cursorParameter); raw != "" {
		link = append(appendLinkText(link, raw), '&')
	}
	link = append(link, cursorParameter...)
	start := len(link)
	link = cursor.Append(link)
	if len(link)-start > query.MaxCursor {
		e := failure(http.StatusBadRequest, query.CodeSyntax, "The values that the rows are ordered by are too long for a cursor")
		e.Hint = text("Order by shorter columns.")
		return e
	}
	a.c.Response().Header().Set("Link", string(append(link, `>; rel="next"`...)))
	return nil
}

// appendLinkText writes a query string with nothing in it that could end the address in a Link.
func appendLinkText(dst []byte, raw string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`<>"\^{|}`+"`", c) >= 0 {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
