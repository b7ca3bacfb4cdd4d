package accounts

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

const (
	defaultPerPage = 50
	maxPerPage     = 1000
)

// page is the part of a list that an administrator asks for.
type page struct{ number, size int }

// pageOf reads ?page=&per_page=. Larger pages than there are become the largest.
func pageOf(c echo.Context) (page, error) {
	number, err := count(c, "page", 1)
	if err != nil {
		return page{}, err
	}
	size, err := count(c, "per_page", defaultPerPage)
	return page{number: number, size: min(size, maxPerPage)}, err
}

// describe tells in headers how much there is in all, and where the other pages are.
func (p page) describe(c echo.Context, total int) {
	header := c.Response().Header()
	header.Set("X-Total-Count", strconv.Itoa(total))
	header.Set("Link", links(c.Request().URL, p.number, p.size, total))
}

// count reads a query parameter that counts from 1.
func count(c echo.Context, name string, otherwise int) (int, error) {
	text := c.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: fmt.Sprintf("Bad Pagination Parameters: %s must be a number from 1 on", name)}
	}
	return int(n), nil
}

// links are the pages around this one (RFC 8288): next only when there is one, last always. A key among the
// parameters is not repeated.
func links(u *url.URL, page, perPage, total int) string {
	last := max(1, (total+perPage-1)/perPage)
	link := func(to int, relation string) string {
		query := u.Query()
		query.Del("apikey")
		query.Set("page", strconv.Itoa(to))
		return fmt.Sprintf(`<%s?%s>; rel="%s"`, u.EscapedPath(), query.Encode(), relation)
	}
	var all []string
	if page < last {
		all = append(all, link(page+1, "next"))
	}
	return strings.Join(append(all, link(last, "last")), ", ")
}
