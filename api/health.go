package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/api/admin"
)

// live says that the process runs.
func (s *Server) live(c echo.Context) error {
	return c.JSON(http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

// parts tells of each part that requests need whether it is there. It says what the parts last saw, without asking the
// database, so that it stays cheap and quick in any storm.
func (s *Server) parts() []admin.Part {
	parts := []admin.Part{{Name: "database", OK: true}, {Name: "catalog", OK: true}}
	if s.project.DB.Healthy() != nil {
		parts[0].OK, parts[0].Reason = false, "PostgreSQL does not answer"
	}
	if s.project.Catalogs.Current() == nil {
		parts[1].OK, parts[1].Reason = false, "the schema could not be read yet"
	}
	return parts
}

// ready says whether requests can be served, part by part.
func (s *Server) ready(c echo.Context) error {
	type part struct {
		OK     bool   `json:"ok"`
		Reason string `json:"reason,omitempty"`
	}
	answer := struct {
		Ready bool            `json:"ready"`
		Parts map[string]part `json:"parts"`
	}{true, map[string]part{}}
	for _, p := range s.parts() {
		answer.Parts[p.Name] = part{p.OK, p.Reason}
		answer.Ready = answer.Ready && p.OK
	}
	status := http.StatusOK
	if !answer.Ready {
		status = http.StatusServiceUnavailable
		c.Response().Header().Set("Retry-After", "1")
	}
	return c.JSON(status, answer)
}
