package admin

import (
	"net/http"
	"runtime"

	"github.com/labstack/echo/v4"

	"basalt/web"
)

// AboutBody is the answer of GET /about.
type AboutBody struct {
	Version    string        `json:"version"`
	Go         string        `json:"go"`
	PostgreSQL string        `json:"postgresql"`
	Licence    string        `json:"licence"` // of Basalt itself
	Libraries  []LibraryBody `json:"libraries"`
}

// LibraryBody is something that the binary or the dashboard is made with.
type LibraryBody struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Licence string `json:"licence"`
}

// about answers GET /about.
func (o *Options) about(c echo.Context) error {
	body := AboutBody{Version: o.Version, Go: runtime.Version(), Licence: "Apache-2.0"}
	if err := o.DB.QueryRow(c.Request().Context(), `show server_version`).Scan(&body.PostgreSQL); err != nil {
		return err
	}
	for _, library := range web.Libraries() {
		body.Libraries = append(body.Libraries, LibraryBody(library))
	}
	return c.JSON(http.StatusOK, body)
}
