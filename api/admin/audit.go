package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
)

// mostAudits is how many entries of the audit log one page has at most.
const mostAudits = 200

// AuditEntry is a change that an administrator has made.
type AuditEntry struct {
	ID int64     `json:"id"`
	At time.Time `json:"at"`
	// AdministratorID is null for changes by the command line.
	AdministratorID *uuid.UUID `json:"administrator_id"`
	// Email is the address that they had at the time.
	Email     string          `json:"email"`
	Action    string          `json:"action"`
	Target    string          `json:"target"`
	Before    json.RawMessage `json:"before" tstype:"unknown"`
	After     json.RawMessage `json:"after" tstype:"unknown"`
	IP        string          `json:"ip"`
	RequestID string          `json:"request_id"`
}

// AuditPage is the answer of GET /audit.
type AuditPage struct {
	Entries []AuditEntry `json:"entries"`
	// Next is what `before` asks for the next page with; null is the end.
	Next *int64 `json:"next"`
}

// listAudit answers GET /audit?before=&limit=&administrator=&action=&target=, the newest entries first.
func (o *Options) listAudit(c echo.Context) error {
	filter := administrator.AuditFilter{Limit: listedByDefault, Action: c.QueryParam("action"), Target: c.QueryParam("target")}
	var err error
	if text := c.QueryParam("limit"); text != "" {
		if filter.Limit, err = strconv.Atoi(text); err != nil || filter.Limit < 1 || filter.Limit > mostAudits {
			return badParameter("limit", fmt.Sprintf("a number from 1 to %d", mostAudits))
		}
	}
	if text := c.QueryParam("before"); text != "" {
		if filter.BeforeID, err = strconv.ParseInt(text, 10, 64); err != nil || filter.BeforeID < 1 {
			return badParameter("before", "the id of an entry")
		}
	}
	if text := c.QueryParam("administrator"); text != "" {
		if filter.Administrator, err = uuid.Parse(text); err != nil {
			return badParameter("administrator", "a UUID")
		}
	}
	asked := filter.Limit
	filter.Limit++ // one more tells whether there is a next page
	entries, err := o.Administrators.Audit(c.Request().Context(), filter)
	if err != nil {
		return err
	}
	page := AuditPage{Entries: make([]AuditEntry, 0, len(entries))}
	for i := range entries {
		if i == asked {
			page.Next = &entries[i-1].ID
			break
		}
		page.Entries = append(page.Entries, auditEntry(&entries[i]))
	}
	return c.JSON(http.StatusOK, page)
}

func badParameter(name, want string) *refusal {
	return refuse(http.StatusBadRequest, "bad_parameter", "The parameter "+name+" must be "+want)
}

func auditEntry(e *administrator.Entry) AuditEntry {
	entry := AuditEntry{
		ID: e.ID, At: e.At.UTC(), AdministratorID: e.AdministratorID, Email: e.Email, Action: e.Action, Target: e.Target,
		Before: e.Before, After: e.After, RequestID: e.RequestID,
	}
	if e.IP != nil {
		entry.IP = e.IP.String()
	}
	return entry
}
