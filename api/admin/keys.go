package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
)

// KeysBody is what an app needs to reach the server; all of it is public.
type KeysBody struct {
	APIURL  string `json:"api_url"`
	AnonKey string `json:"anon_key"`
}

// ServiceKeyBody is the key that passes all policies.
type ServiceKeyBody struct {
	ServiceKey string `json:"service_key"`
}

// keys answers GET /keys.
func (o *Options) keys(c echo.Context) error {
	return c.JSON(http.StatusOK, KeysBody{APIURL: o.URL.String(), AnonKey: o.Running.Keys.AnonKey})
}

// serviceKey answers POST /keys/service. That it was looked at is in the audit log.
func (o *Options) serviceKey(c echo.Context) error {
	if err := o.audit(c, o.DB, administrator.Change{Action: "key.reveal", Target: "service_role"}); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, ServiceKeyBody{o.Running.Keys.ServiceKey.Reveal()})
}
