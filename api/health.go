package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"basalt/api/rest"
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

// measure registers what the parts count.
func (s *Server) measure(restHandler *rest.Handler) {
	db, catalogs := s.project.DB, s.project.Catalogs
	s.metrics.counter("basalt_plan_cache_hits_total", "REST requests whose statement was compiled before.",
		func() float64 { return float64(restHandler.PlanHits.Load()) })
	s.metrics.counter("basalt_plan_cache_misses_total", "REST requests whose statement had to be compiled.",
		func() float64 { return float64(restHandler.PlanMisses.Load()) })
	s.metrics.gauge("basalt_pool_connections", "Connections to PostgreSQL that are open.",
		func() float64 { return float64(db.Stats().Open) })
	s.metrics.gauge("basalt_pool_connections_in_use", "Connections to PostgreSQL that serve a request.",
		func() float64 { return float64(db.Stats().InUse) })
	s.metrics.gauge("basalt_pool_waiting", "Requests that wait for a connection.",
		func() float64 { return float64(db.Stats().Waiting) })
	s.metrics.counter("basalt_flights_total", "Requests that were given a place in the pool.",
		func() float64 { return float64(db.Stats().Flights) })
	s.metrics.counter("basalt_pool_refused_total", "Requests that got no connection in time.",
		func() float64 { return float64(db.Stats().Refused) })
	s.metrics.gauge("basalt_catalog_version", "Version of the schema cache, growing with each load.",
		func() float64 { return float64(catalogs.Stats().Version) })
	s.metrics.gauge("basalt_catalog_load_seconds", "How long the last load of the schema cache took.",
		func() float64 { return catalogs.Stats().Duration.Seconds() })
	gate := s.project.Auth.Gate()
	s.metrics.gauge("basalt_argon2_running", "Passwords being hashed.",
		func() float64 { return float64(gate.Stats().Running) })
	s.metrics.gauge("basalt_argon2_waiting", "Requests that wait to hash a password.",
		func() float64 { return float64(gate.Stats().Queued) })
	s.metrics.counter("basalt_argon2_refused_total", "Requests that were refused because too many waited.",
		func() float64 { return float64(gate.Stats().Refused) })
}
