package admin

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/store/console"
)

// The headers that say as whom the database is to be seen. Without them it is as its owner.
const (
	viewAsRoleHeader = "X-View-As-Role"
	viewAsUserHeader = "X-View-As-User"
)

// view is as whom a request sees the database.
type view struct {
	role   string // "" for the owner
	claims string // the JSON text, "" for none
}

// session begins a use of a connection with this view.
func (v view) session() console.Session {
	return console.Session{Role: v.role, Claims: v.claims, StatementTimeout: writeTimeout, LockTimeout: lockPatience}
}

// viewOf reads the headers of a request.
func (d *Data) viewOf(c echo.Context) (view, error) {
	header := c.Request().Header
	return d.view(c, header.Get(viewAsRoleHeader), header.Get(viewAsUserHeader))
}

// view gives what a user and a role see. The claims are those of a token of the user's own; a role that is named beside
// a user stands in place of the user's.
func (d *Data) view(c echo.Context, role, user string) (view, error) {
	if strings.ContainsRune(role, 0) || strings.EqualFold(role, "none") || strings.EqualFold(role, "default") {
		return view{}, refusedf(http.StatusBadRequest, "22023", "role %q does not exist", role)
	}
	if user == "" {
		if role == "" {
			return view{}, nil
		}
		return view{role, auth.Nobody(role).Claims}, nil
	}
	id, err := uuid.Parse(user)
	if err != nil {
		return view{}, refusedf(http.StatusBadRequest, "bad_user", "%s must be the id of a user", viewAsUserHeader)
	}
	claims, own, err := d.options.Claims(c.Request().Context(), id)
	if err != nil {
		return view{}, err
	}
	if role == "" || role == own {
		return view{own, string(claims)}, nil
	}
	changed := map[string]json.RawMessage{}
	if err := json.Unmarshal(claims, &changed); err != nil {
		return view{}, err
	}
	if changed["role"], err = json.Marshal(role); err != nil {
		return view{}, err
	}
	text, err := json.Marshal(changed)
	return view{role, string(text)}, err
}
