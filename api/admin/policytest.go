package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/store/console"
)

const (
	// probeTimeout bounds each statement of a test, probeLocks each wait for a lock, probeWhole all of it.
	probeTimeout = 5 * time.Second
	probeLocks   = 2 * time.Second
	probeWhole   = 30 * time.Second
	// mostProbed is how many rows a test looks at, mostShownValue how many characters of a value it shows.
	mostProbed     = 200
	mostShownValue = 200
)

// PolicyTestBody asks what a role would meet that reads or writes rows of a table. All is rolled back.
type PolicyTestBody struct {
	Schema string `json:"schema"`
	Table  string `json:"table"`
	Role   string `json:"role"`
	// Claims are those of the token, an object; the role's alone when there are none.
	Claims json.RawMessage `json:"claims,omitempty" tstype:"{ [claim: string]: unknown }"`
	Verb   string          `json:"verb"` // select, insert, update, delete
	// Filter is a condition in SQL that finds the rows, "" for all. It is not asked for an insert.
	Filter string `json:"filter,omitempty"`
	// Set are the values of an insert or update, in PostgreSQL's text.
	Set map[string]*string `json:"set,omitempty"`
	// ReadBack says that the row is read after it was written, as clients do that return it.
	ReadBack bool `json:"read_back,omitempty"`
}

// PolicyTestedBody is what was met.
type PolicyTestedBody struct {
	// Bypassed says why no policy was asked, "" when they were.
	Bypassed string `json:"bypassed"`
	// Refused is why PostgreSQL refuses the statement before it looks at any row, such as a missing grant.
	Refused *ErrorBody `json:"refused"`
	// Statement is what was run as the role.
	Statement string   `json:"statement"`
	Columns   []string `json:"columns"`
	// Stages are what a row has to pass, in order.
	Stages []PolicyStageBody `json:"stages"`
	Rows   []PolicyRowBody   `json:"rows"`
	// Truncated says that there are more rows than were looked at.
	Truncated bool `json:"truncated"`
	// Limits are what the explanations cannot know.
	Limits     []string `json:"limits"`
	DurationMS float64  `json:"duration_ms"`
}

// PolicyStageBody is one question that is asked about each row: of permissive policies at least one must agree, and all
// restrictive ones.
type PolicyStageBody struct {
	Stage    string            `json:"stage"` // find, read, change, write, read_back
	Policies []PolicyAskedBody `json:"policies"`
}

// PolicyAskedBody is a policy in a stage.
type PolicyAskedBody struct {
	Name       string `json:"name"`
	Permissive bool   `json:"permissive"`
	Clause     string `json:"clause"` // USING or WITH CHECK
	Expression string `json:"expression"`
}

// PolicyRowBody is what became of a row. Old and New are its values as text, shortened; Old is null for an insert, New
// where nothing is written.
type PolicyRowBody struct {
	Old []*string `json:"old"`
	New []*string `json:"new"`
	// Outcome is passed, hidden (as if the row did not exist), refused (an error of a policy) or failed (another error).
	Outcome string     `json:"outcome"`
	Error   *ErrorBody `json:"error"`
	// Stages are the answers of each stage's policies, in order.
	Stages []PolicyVerdictBody `json:"stages"`
}

// PolicyVerdictBody is how a stage went for a row.
type PolicyVerdictBody struct {
	Passed bool `json:"passed"`
	// Asked is false where the row did not come so far or could not be looked at.
	Asked   bool     `json:"asked"`
	Answers []string `json:"answers"` // true, false, null, or what went wrong
}

// testPolicies answers POST /policies/test.
func (d *Data) testPolicies(c echo.Context) error {
	var body PolicyTestBody
	if err := readJSON(c, &body); err != nil {
		return err
	}
	switch body.Verb {
	case "select", "insert", "update", "delete":
	default:
		return refusedf(http.StatusBadRequest, "bad_verb", "The verb is select, insert, update or delete")
	}
	if strings.ContainsRune(body.Filter, 0) {
		return refusedf(http.StatusBadRequest, "22021", "SQL has no NUL character")
	}
	if body.Role == "" {
		return refusedf(http.StatusBadRequest, "bad_role", "A role is wanted")
	}
	if body.Verb == "update" && len(body.Set) == 0 {
		return refusedf(http.StatusBadRequest, "bad_set", "An update sets at least one column")
	}
	as, err := d.view(c, body.Role, "")
	if err != nil {
		return err
	}
	if len(body.Claims) > 0 && string(body.Claims) != "null" {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(body.Claims, &object); err != nil || object == nil {
			return refusedf(http.StatusBadRequest, "bad_claims", "The claims must be an object of JSON")
		}
		as.claims = string(body.Claims)
	}
	ctx, stop := context.WithTimeout(c.Request().Context(), probeWhole)
	defer stop()
	began := time.Now()
	session := console.Session{Claims: as.claims, StatementTimeout: probeTimeout, LockTimeout: probeLocks, Long: true}
	answer := PolicyTestedBody{Columns: []string{}, Stages: []PolicyStageBody{}, Rows: []PolicyRowBody{}, Limits: []string{}}
	err = d.pool.Tx(ctx, session, func(tx pgx.Tx) error {
		p := &probe{ctx: ctx, tx: tx, asked: &body, role: as.role, answer: &answer}
		if err := p.run(); err != nil {
			return err
		}
		return errUndone
	})
	if !errors.Is(err, errUndone) {
		if ctx.Err() != nil && c.Request().Context().Err() == nil {
			return refusedf(http.StatusConflict, "57014", "The test took longer than %v", probeWhole)
		}
		return err
	}
	answer.DurationMS = milliseconds(time.Since(began))
	return c.JSON(http.StatusOK, answer)
}
