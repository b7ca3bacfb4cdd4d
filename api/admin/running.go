package admin

import (
	"time"

	"basalt/api/requests"
	"basalt/auth"
	"basalt/store"
)

// Running is the server that runs, as far as the dashboard shows it.
type Running struct {
	// Requests are those of late.
	Requests *requests.Log
	// KeepRequests is how long requests are kept in basalt.requests, 0 when none are.
	KeepRequests time.Duration
	// Parts tells of each part that requests need whether it is there.
	Parts func() []Part
	// Pool takes a picture of the connections for requests.
	Pool func() store.Stats
	Keys *auth.Keys
	// MailHook tells that a hook sends them.
	MailHook bool
	// Schemas are exposed.
	Schemas []string
}

// Part is the state of one part of the server.
type Part struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason"` // "" when it is well
}
