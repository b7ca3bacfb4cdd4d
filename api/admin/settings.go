package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/seal"
)

// serverSettings puts the routes of the server's settings on the group.
func (o *Options) serverSettings(g *echo.Group) {
	o.brief(g, "GET", "/settings", owner, o.listSettings)
	o.brief(g, "PATCH", "/settings", owner, elevated(o.changeSettings))
	o.brief(g, "POST", "/settings/mail-test", owner, elevated(o.testMailServer))
}

// SettingBody is one setting of the server.
type SettingBody struct {
	// Name is of its flag; Variable of its environment variable. Title is what people call it.
	Name     string `json:"name"`
	Title    string `json:"title"`
	Variable string `json:"variable"`
	Section  string `json:"section"`
	// Kind is string, bool, int, int64, duration, size, list or secret.
	Kind    string `json:"kind"`
	Help    string `json:"help"`
	Default string `json:"default"`
	// Value is what counts now, and Source where that comes from. Of a secret it is `set` or nothing.
	Value  string `json:"value"`
	Source string `json:"source" tstype:"'flag' | 'environment' | 'postgrest-config' | 'stored' | 'default'"`
	// Stored is what was set here, of a secret `set`, or `lost` when no key opens it; null is nothing. Next is what counts
	// from the next start on.
	Stored *string `json:"stored"`
	Next   string  `json:"next"`
	// Waiting tells that the next start changes it.
	Waiting bool `json:"waiting"`
	// Storable tells whether it can be set here: it is not needed before the database is there, decides not whom to
	// believe or where secrets are sent, and is not given otherwise.
	Storable bool `json:"storable"`
	// AtOnce tells that it counts as soon as it is stored, in other processes a few seconds later.
	AtOnce bool `json:"at_once"`
}

// SettingsBody is the answer of GET and PATCH /settings.
type SettingsBody struct {
	// PID is the process that ends at SIGTERM, to be started again.
	PID int `json:"pid"`
	// Command is how that was started, without its arguments.
	Command string `json:"command"`

	Settings []SettingBody `json:"settings"`
	// MailServer is the stored mail server that counts; null when there is none, it is given otherwise or a hook sends mails.
	MailServer *MailServerBody `json:"mail_server"`
	// Refused is why none of the stored settings counts, null when they do.
	Refused *SettingRefusal `json:"refused"`
}

// MailServerBody is a mail server without its password.
type MailServerBody struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	Security string `json:"security" tstype:"'starttls' | 'tls' | 'none'"`
	// User is empty, too, where it is the password: some services have one token for both.
	User string `json:"user"`
	// Password tells that there is one.
	Password bool `json:"password"`
}

// SettingRefusal is why a setting cannot have its value.
type SettingRefusal struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
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
  value,
  secret
from basalt.settings
order by name`

	storeSetting = `
insert into basalt.settings (name, value, secret)
values ($1, $2, $3)
on conflict (name) do update
set
  value = excluded.value,
  secret = excluded.secret,
  changed_at = now()`

	forgetSetting = `
delete from basalt.settings
where name = $1`

	// secretKind is the kind of settings whose values are not shown.
	secretKind = "secret"
	// SecretSet stands for the value of a secret, secretLost for that of one that no key opens.
	SecretSet  = "set"
	secretLost = "lost"

	// mostOfASetting bounds a stored value, in bytes.
	mostOfASetting = 16 << 10
)

// Stored are the settings that owners have stored, by name. Secrets are sealed in the database.
type Stored struct {
	Texts   map[string]string
	Secrets map[string]auth.Secret
	// Lost are the names of secrets that no key opens.
	Lost []string
}

// set puts a setting in, or takes it away by nil.
func (s *Stored) set(name string, value *string, secret bool) {
	delete(s.Texts, name)
	delete(s.Secrets, name)
	s.Lost = slices.DeleteFunc(s.Lost, func(lost string) bool { return lost == name })
	switch {
	case value == nil:
	case secret:
		s.Secrets[name] = auth.Secret(*value)
	default:
		s.Texts[name] = *value
	}
}

// Shown is what people are told of a stored setting.
func (s *Stored) Shown(name string) (string, bool) {
	if _, ok := s.Secrets[name]; ok {
		return SecretSet, true
	}
	if slices.Contains(s.Lost, name) {
		return secretLost, true
	}
	text, ok := s.Texts[name]
	return text, ok
}

// listSettings answers GET /settings.
func (o *Options) listSettings(c echo.Context) error {
	stored, err := StoredSettings(c.Request().Context(), o.DB, o.Vault)
	if err != nil {
		return err
	}
	return o.answerSettings(c, stored)
}

// answerSettings tells of the settings with these stored.
func (o *Options) answerSettings(c echo.Context, stored Stored) error {
	body := SettingsBody{PID: os.Getpid(), Command: os.Args[0], MailServer: o.MailServer()}
	var err error
	body.Settings, err = o.Settings(stored)
	if refused, ok := errors.AsType[*SettingError](err); ok {
		body.Refused = &SettingRefusal{refused.Name, refused.Reason}
	} else if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// changeSettings answers PATCH /settings. All of the changes are stored or none.
func (o *Options) changeSettings(c echo.Context) error {
	var in SettingChanges
	if err := readJSON(c, &in); err != nil {
		return err
	}
	secrets, err := o.secretsAmong(in.Changes)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	sealed := map[string]string{}
	for name, text := range secrets {
		// Before the transaction: the vault reads its keys over a connection of its own.
		if sealed[name], err = o.Vault.Seal(ctx, text.Reveal(), auth.SettingCell(name)); err != nil {
			return err
		}
	}
	var after Stored
	err = pgx.BeginFunc(ctx, o.DB, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `lock table basalt.settings in share row exclusive mode`); err != nil { // changes together must go together
			return err
		}
		before, err := StoredSettings(ctx, tx, o.Vault.Over(tx))
		if err != nil {
			return err
		}
		after = Stored{maps.Clone(before.Texts), maps.Clone(before.Secrets), slices.Clone(before.Lost)}
		for name, value := range in.Changes {
			text, secret := sealed[name]
			after.set(name, value, secret)
			switch {
			case value == nil:
				_, err = tx.Exec(ctx, forgetSetting, name)
			case secret:
				_, err = tx.Exec(ctx, storeSetting, name, "", text)
			default:
				_, err = tx.Exec(ctx, storeSetting, name, *value, nil)
			}
			if err != nil {
				return err
			}
		}
		if _, err := o.Settings(after); err != nil {
			return ofSettings(err)
		}
		return o.audit(c, tx, administrator.Change{Action: "settings.change", Before: changed(before, in.Changes), After: changed(after, in.Changes)})
	})
	if err != nil {
		return err
	}
	if err := o.TakeMailServer(ctx); err != nil {
		o.Log.Warn().Err(err).Msg("a stored mail server does not count yet; it is tried again within seconds")
	}
	return o.answerSettings(c, after)
}

// secretsAmong refuses changes of what cannot be set here, and picks the secrets that are to be set.
func (o *Options) secretsAmong(changes map[string]*string) (map[string]auth.Secret, error) {
	known, err := o.Settings(Stored{})
	if err != nil {
		return nil, err
	}
	settings := map[string]*SettingBody{}
	for i := range known {
		settings[known[i].Name] = &known[i]
	}
	secrets := map[string]auth.Secret{}
	for name, value := range changes {
		switch setting := settings[name]; {
		case setting == nil:
			return nil, refusedf(http.StatusUnprocessableEntity, "setting_unknown", "There is no setting %.100q", name)
		case value != nil && !setting.Storable:
			return nil, refuse(http.StatusUnprocessableEntity, "setting_fixed", name+" is not set here: it is needed at the very start, decides whom the server believes or where secrets are sent, or was given by a flag or a variable")
		case value != nil && len(*value) > mostOfASetting:
			return nil, refusedf(http.StatusRequestEntityTooLarge, "too_large", "A setting has at most %d bytes", mostOfASetting)
		case value != nil && setting.Kind == secretKind:
			if strings.HasPrefix(*value, "@") { // it would show by its effects what is in a file of the server
				return nil, settingRefused(name, "a secret that is set here is not read from a file: give its text")
			}
			secrets[name] = auth.Secret(*value)
		}
	}
	return secrets, nil
}

// ofSettings answers an error of Options.Settings or Options.Mailer.
func ofSettings(err error) error {
	if refused, ok := errors.AsType[*SettingError](err); ok {
		return settingRefused(refused.Name, refused.Reason)
	}
	return err
}

// settingRefused says why a setting cannot have a value.
func settingRefused(name, reason string) error {
	p := refuse(http.StatusUnprocessableEntity, "setting_refused", name+": "+reason)
	p.Details = name
	return p
}

// changed picks what a change is about, for the audit log: of secrets it tells that there is one.
func changed(settings Stored, changes map[string]*string) map[string]string {
	picked := map[string]string{}
	for name := range changes {
		if value, ok := settings.Shown(name); ok {
			picked[name] = value
		}
	}
	return picked
}

// StoredSettings reads the settings that owners have stored. Secrets that no key opens are not among them: their values
// are lost, and a server has to be able to start so that they can be set anew.
func StoredSettings(ctx context.Context, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, vault *seal.Vault) (Stored, error) {
	stored := Stored{Texts: map[string]string{}, Secrets: map[string]auth.Secret{}}
	rows, err := db.Query(ctx, storedSettings)
	if err != nil {
		return stored, err
	}
	sealed := map[string]string{}
	var name, value string
	var secret *string
	if _, err := pgx.ForEachRow(rows, []any{&name, &value, &secret}, func() error {
		if secret != nil {
			sealed[name] = *secret
		} else {
			stored.Texts[name] = value
		}
		return nil
	}); err != nil {
		return stored, err
	}
	for name, text := range sealed {
		opened, _, err := vault.Open(ctx, text, auth.SettingCell(name))
		if _, unknown := errors.AsType[*seal.UnknownKeyError](err); unknown || errors.Is(err, seal.ErrBroken) {
			stored.Lost = append(stored.Lost, name)
			continue
		}
		if err != nil {
			return stored, err
		}
		stored.Secrets[name] = auth.Secret(opened)
	}
	slices.Sort(stored.Lost)
	return stored, nil
}
