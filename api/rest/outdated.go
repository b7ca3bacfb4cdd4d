package rest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query"
	"basalt/store"
)

// mostPlans is how often a request is planned while definitions go on changing, as they do under a migration of many
// steps.
const mostPlans = 5

// replanner gives the planner of the newest catalog for requests that have failed so many times, nil when the failure
// stands. That may be the planner that they have failed with, when definitions were changed and changed back before
// anybody looked: then they are run again, but once.
func (h *Handler) replanner(ctx context.Context, failed *Planner, failures int, err error, requests ...*query.Request) *Planner {
	if !outdated(err, requests...) || h.catalogs.Reload(ctx) != nil {
		return nil
	}
	next, _ := h.current()
	if next == failed && failures > 1 {
		return nil
	}
	return next
}

// outdated says that requests may have failed because a statement of theirs was written for definitions that have
// changed since: then they are planned again from a new catalog. A failure has undone what they did. Clients cannot
// bring these errors about, or each of them would make the server load its catalog: names are looked up in the catalog before
// they reach SQL, and errors within functions say where they come from.
func outdated(err error, requests ...*query.Request) bool {
	var stale *store.StaleError
	if errors.As(err, &stale) {
		return true
	}
	var database *pgconn.PgError
	if !errors.As(err, &database) || database.Where != "" || database.Position == 0 {
		return false
	}
	switch database.Code {
	case "42703", "42P01": // undefined column, table
		return true
	case "42804": // a column got another type than the expression that is assigned
		return slices.ContainsFunc(requests, func(r *query.Request) bool { return r.Action != query.Call })
	case "42883": // undefined function of the request's schema; those of PostgreSQL's own depend on what they are given
		return slices.ContainsFunc(requests, func(r *query.Request) bool {
			return strings.HasPrefix(database.Message, "function "+r.Schema+".")
		})
	}
	return false
}
