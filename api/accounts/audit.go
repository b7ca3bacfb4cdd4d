package accounts

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

func (f *face) auditRoutes() routes {
	return routes{"/admin/audit": {http.MethodGet: f.admin(f.listAudit)}}
}

type auditBody struct {
	ID        uuid.UUID       `json:"id"`
	Payload   json.RawMessage `json:"payload"`
	CreatedAt *string         `json:"created_at"`
	IPAddress string          `json:"ip_address"`
}

// listAudit answers GET /admin/audit?query=&page=&per_page=.
func (f *face) listAudit(c echo.Context) error {
	p, err := pageOf(c)
	if err != nil {
		return err
	}
	found, err := f.service.AdminAudit(c.Request().Context(), c.QueryParam("query"), p.number, p.size)
	if err != nil {
		return err
	}
	p.describe(c, found.Total)
	body := make([]auditBody, len(found.Entries))
	for i, e := range found.Entries {
		body[i] = auditBody{ID: e.ID, Payload: e.Payload, IPAddress: e.IPAddress}
		if e.CreatedAt != nil {
			at := e.CreatedAt.UTC().Format("2006-01-02T15:04:05.000000Z")
			body[i].CreatedAt = &at
		}
	}
	return c.JSON(http.StatusOK, body)
}
