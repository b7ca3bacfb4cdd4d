package admin

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"basalt/api/rest/openapi"
)

// openAPI answers GET /openapi.json?schema=: the OpenAPI 3.1 description of all that an exposed schema holds, whatever
// a role may do with it.
func (o *Options) openAPI(c echo.Context) error {
	current := o.Catalog()
	if current == nil {
		return refuse(http.StatusServiceUnavailable, "catalog_missing", "The database's schema has not been read yet")
	}
	schema := cmp.Or(c.QueryParam("schema"), current.Schemas()[0])
	if !slices.Contains(current.Schemas(), schema) {
		return refuse(http.StatusNotFound, "no_schema", "There is no such schema in the API")
	}
	document := openapi.Document(current, schema, nil, openapi.OpenAPI31, openapi.Options{
		Server: o.URL.JoinPath("rest", "v1"), Release: o.Version, Security: true,
	})
	return c.Blob(http.StatusOK, "application/openapi+json; version=3.1; charset=utf-8", document)
}
