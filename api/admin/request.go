package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// maxBody is the most bytes of a JSON body where a route does not say otherwise.
const maxBody = 1 << 20

// readJSON fills a value from the body, which must be one JSON object with no fields but the value's.
func readJSON(c echo.Context, into any) error { return readLargeJSON(c, into, maxBody) }

// readLargeJSON is readJSON for a body of at most so many bytes.
func readLargeJSON(c echo.Context, into any, most int64) error {
	text, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, most))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return refusedf(http.StatusRequestEntityTooLarge, "body_too_large", "The body is larger than %d MiB", most>>20)
	case err != nil:
		p := refuse(http.StatusBadRequest, "bad_json", "The body could not be read to its end")
		p.cause = err
		return p
	case !utf8.Valid(text): // the reader would put one and the same character in the place of all that is none
		return badJSON("it is not UTF-8")
	case !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")):
		return badJSON("it must be an object")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return badJSON(err.Error())
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return badJSON("there is more behind the object")
	}
	return nil
}

func badJSON(why string) *refusal {
	p := refuse(http.StatusBadRequest, "bad_json", "The body is not the JSON that is read here")
	p.Details = why
	return p
}

// idOf reads the id in the path.
func idOf(c echo.Context, what string) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		return uuid.Nil, refuse(http.StatusBadRequest, "bad_id", "The id of "+what+" is a UUID")
	}
	return id, nil
}

// named gives a parameter of the path that is a name in the database. The router leaves parameters as they were sent
// when the path holds an encoded slash or anything else that reads differently decoded.
func named(c echo.Context, parameter string) string {
	value := c.Param(parameter)
	if c.Request().URL.RawPath == "" {
		return value
	}
	if name, err := url.PathUnescape(value); err == nil {
		return name
	}
	return value
}

// mostBody bounds the bodies that hold rows or SQL.
const mostBody = 32 << 20

// decode reads a JSON body that may hold rows or SQL.
func decode(c echo.Context, into any) error { return readLargeJSON(c, into, mostBody) }
