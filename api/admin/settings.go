package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth/administrator"
)

// serverSettings puts the routes of the server's settings on the group.
func (o *Options) serverSettings(g *echo.Group) {
	o.brief(g, "GET", "/settings", owner, o.listSettings)
	o.brief(g, "PATCH", "/settings", owner, elevated(o.changeSettings))
}

// SettingBody is one setting of the server.
type SettingBody struct {
	// Name is of its flag; Variable of its environment variable.
	Name     string `json:"name"`
	Variable string `json:"variable"`
	Section  string `json:"section"`
	// Kind is string, bool, int, int64, duration, size, list or secret.
	Kind    string `json:"kind"`
	Help    string `json:"help"`
	Default string `json:"default"`
	// Value is what counts now, and Source where that comes from. Of a secret it is `set` or nothing.
	Value  string `json:"value"`
	Source string `json:"source" tstype:"'flag' | 'environment' | 'postgrest-config' | 'stored' | 'default'"`
	// Stored is what was set here, null for nothing. Next is what counts from the next start on.
	Stored *string `json:"stored"`
	Next   string  `json:"next"`
	// Storable tells whether it can be set here: it is no secret, not needed before the database is there, and not given
	// otherwise.
	Storable bool `json:"storable"`
}

// SettingsBody is the answer of GET and PATCH /settings.
type SettingsBody struct {
	// PID is the process that ends at SIGTERM, to be started again.
	PID int `json:"pid"`

	Settings []SettingBody `json:"settings"`
}

// SettingChanges is the body of PATCH /settings: values by name, null to forget one.
type SettingChanges struct {
	Changes map[string]*string `json:"changes"`
}

// A SettingError names the setting that cannot be used as it was stored.
type SettingError struct{ Name, Reason string }

func (e *SettingError) Error() string { return fmt.Sprintf("setting %s: %s", e.Name, e.Reason) }

const (
	storedSettings = `
select
  name,
  value
from basalt.settings
order by name`

	storeSetting = `
insert into basalt.settings (name, value)
values ($1, $2)
on conflict (name) do update
set
  value = excluded.value,
  changed_at = now()`

	forgetSetting = `
delete from basalt.settings
where name = $1`

	// mostOfASetting bounds a stored value, in bytes.
	mostOfASetting = 16 << 10
)

// listSettings answers GET /settings.
func (o *Options) listSettings(c echo.Context) error {
	stored, err := StoredSettings(c.Request().Context(), o.DB)
	if err != nil {
		return err
	}
	list, err := o.Settings(stored)
	if _, ok := errors.AsType[*SettingError](err); ok {
		list, err = o.Settings(nil) // nothing of it counts: the server has said so at its start
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, SettingsBody{PID: os.Getpid(), Settings: list})
}

// changeSettings answers PATCH /settings. All of the changes are stored or none.
func (o *Options) changeSettings(c echo.Context) error {
	var in SettingChanges
	if err := readJSON(c, &in); err != nil {
		return err
	}
	known, err := o.Settings(nil)
	if err != nil {
		return err
	}
	storable := map[string]bool{}
	for i := range known {
		storable[known[i].Name] = known[i].Storable
	}
	for name, value := range in.Changes {
		switch may, there := storable[name]; {
		case !there:
			return refusedf(http.StatusUnprocessableEntity, "setting_unknown", "There is no setting %.100q", name)
		case value != nil && !may:
			return refuse(http.StatusUnprocessableEntity, "setting_fixed", name+" is not set here: it is a secret, is needed at the very start, or was given by a flag or a variable")
		case value != nil && len(*value) > mostOfASetting:
			return refusedf(http.StatusRequestEntityTooLarge, "too_large", "A setting has at most %d bytes", mostOfASetting)
		}
	}
	ctx := c.Request().Context()
	var list []SettingBody
	err = pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `lock table basalt.settings in share row exclusive mode`); err != nil { // changes together must go together
			return err
		}
		before, err := StoredSettings(ctx, tx)
		if err != nil {
			return err
		}
		after := maps.Clone(before)
		for name, value := range in.Changes {
			if value == nil {
				delete(after, name)
				_, err = tx.Exec(ctx, forgetSetting, name)
			} else {
				after[name] = *value
				_, err = tx.Exec(ctx, storeSetting, name, *value)
			}
			if err != nil {
				return err
			}
		}
		list, err = o.Settings(after)
		if refused, ok := errors.AsType[*SettingError](err); ok {
			p := refuse(http.StatusUnprocessableEntity, "setting_refused", refused.Name+": "+refused.Reason)
			p.Details = refused.Name
			return p
		}
		if err != nil {
			return err
		}
		return o.audit(c, tx, administrator.Change{Action: "settings.change", Before: changed(before, in.Changes), After: changed(after, in.Changes)})
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, SettingsBody{PID: os.Getpid(), Settings: list})
}

// changed picks what a change is about.
func changed(settings map[string]string, changes map[string]*string) map[string]string {
	picked := map[string]string{}
	for name := range changes {
		if value, ok := settings[name]; ok {
			picked[name] = value
		}
	}
	return picked
}

// StoredSettings reads the settings that owners have stored, by name.
func StoredSettings(ctx context.Context, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}) (map[string]string, error) {
	rows, err := db.Query(ctx, storedSettings)
	if err != nil {
		return nil, err
	}
	stored := map[string]string{}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		stored[name] = value
		return nil
	})
	return stored, err
}
