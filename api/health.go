package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// live says that the process runs.
func (s *Server) live(c echo.Context) error {
	return c.JSON(http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

// part is the state of one part of the server.
type part struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

// ready says whether requests can be served, part by part. It answers from what the parts last saw, without asking
// the database, so that it stays cheap and quick in any storm.
func (s *Server) ready(c echo.Context) error {
	answer := struct {
		Ready bool            `json:"ready"`
		Parts map[string]part `json:"parts"`
	}{Parts: map[string]part{"database": {OK: true}, "catalog": {OK: true}}}
	if s.project.DB.Healthy() != nil {
		answer.Parts["database"] = part{Reason: "PostgreSQL does not answer"}
	}
	if s.project.Catalogs.Current() == nil {
		answer.Parts["catalog"] = part{Reason: "the schema could not be read yet"}
	}
	status := http.StatusOK
	answer.Ready = answer.Parts["database"].OK && answer.Parts["catalog"].OK
	if !answer.Ready {
		status = http.StatusServiceUnavailable
		c.Response().Header().Set("Retry-After", "1")
	}
	return c.JSON(status, answer)
}
