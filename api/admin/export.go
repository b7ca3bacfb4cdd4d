package admin

import (
	"mime"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"
)

// schemaHeader names the schema of a request to the REST API, percent-encoded: Accept-Profile and Content-Profile cannot
// name every schema from a browser, whose headers are of Latin-1.
const schemaHeader = "X-Schema"

// exportFormats are the media types of downloads.
func exportFormats() map[string]string {
	return map[string]string{"csv": "text/csv", "json": "application/json", "ndjson": "application/x-ndjson"}
}

// exportRows answers GET /export/{schema}/{table}?format=&query=&role=&user= with all rows that a query of the REST API
// gives, as a file. A link that is followed sets no headers: what they would say is in the address.
func (d *Data) exportRows(c echo.Context) error {
	accept, ok := exportFormats()[c.QueryParam("format")]
	if !ok {
		return refusedf(http.StatusBadRequest, "bad_format", "format is csv, json or ndjson, not %q", c.QueryParam("format"))
	}
	schema, table := named(c, "schema"), named(c, "table")
	r := c.Request().Clone(c.Request().Context())
	r.URL = &url.URL{Path: restPrefix + "/" + table, RawPath: restPrefix + "/" + url.PathEscape(table), RawQuery: c.QueryParam("query")}
	if calls(r.URL) {
		return refusedf(http.StatusNotFound, "42P01", "relation %q does not exist", table)
	}
	r.Header.Set("Accept", accept)
	r.Header.Set(schemaHeader, url.PathEscape(schema))
	for _, given := range []struct{ header, parameter string }{{viewAsRoleHeader, "role"}, {viewAsUserHeader, "user"}} {
		if value := c.QueryParam(given.parameter); value != "" {
			r.Header.Set(given.header, value)
		}
	}
	disposition := mime.FormatMediaType("attachment", map[string]string{"filename": table + "." + c.QueryParam("format")})
	c.Response().Before(func() {
		if c.Response().Status == http.StatusOK {
			c.Response().Header().Set("Content-Disposition", disposition)
		}
	})
	c.SetRequest(r)
	return d.serveREST(c)
}
