package admin

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"basalt/api/rest"
)

// RESTRequestBody is a request of the REST API that is not sent.
type RESTRequestBody struct {
	Method string `json:"method"`
	// Path is relative to the API, with its query: /todos?select=id.
	Path string `json:"path"`
	// Headers are those that decide about the statement: Accept, Prefer, Range, Content-Type and the profiles.
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// RESTStatementBody is the SQL of a request of the REST API.
type RESTStatementBody struct {
	// SQL is "" when the request changes nothing, so that PostgreSQL is not asked.
	SQL string `json:"sql"`
	// Parameters are the values of $1 and so on, as PostgreSQL's text.
	Parameters []*string `json:"parameters"`
	// Count is the SQL that counts all rows first, "" when none are counted.
	Count string `json:"count"`
}

// compileREST answers POST /rest-sql: what a request of the REST API becomes. It is not run.
func (d *Data) compileREST(c echo.Context) error {
	var body RESTRequestBody
	if err := decode(c, &body); err != nil {
		return err
	}
	if _, is := restMethods()[body.Method]; !is || body.Method == http.MethodOptions {
		return refusedf(http.StatusBadRequest, "bad_method", "method must be GET, HEAD, POST, PUT, PATCH or DELETE")
	}
	address, err := url.Parse(restPrefix + "/" + strings.TrimPrefix(body.Path, "/"))
	if err != nil {
		return refusedf(http.StatusBadRequest, "bad_path", "path cannot be read as the path of a URL")
	}
	r, err := http.NewRequestWithContext(c.Request().Context(), body.Method, address.String(), strings.NewReader(body.Body))
	if err != nil {
		return refusedf(http.StatusBadRequest, "bad_path", "path cannot be read as the path of a URL")
	}
	for name, value := range body.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "Accept", "Prefer", "Range", "Range-Unit", "Content-Type", "Accept-Profile", "Content-Profile":
			r.Header.Set(name, value)
		default:
			return refusedf(http.StatusBadRequest, "bad_header", "the header %q decides nothing about the statement", name)
		}
	}
	m, err := d.mount(c.Request().Context())
	if err != nil {
		return err
	}
	defer m.users.Done()
	compiled, err := m.handler.Compile(r)
	if err != nil {
		return restRefusal(err)
	}
	return c.JSON(http.StatusOK, RESTStatementBody{SQL: compiled.SQL, Parameters: append([]*string{}, compiled.Values...), Count: compiled.Count})
}

// restRefusal is the answer to what the REST API has refused.
func restRefusal(err error) error {
	refused, is := errors.AsType[*rest.Error](err)
	if !is || refused.Status >= 500 {
		return err
	}
	r := refuse(refused.Status, refused.Code, refused.Message)
	switch {
	case refused.Details != nil:
		r.Details = *refused.Details
	case refused.Candidates != nil:
		r.Details = string(refused.Candidates)
	}
	if refused.Hint != nil {
		r.Hint = *refused.Hint
	}
	return r
}
