package api

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"basalt/api/admin"
	"basalt/auth"
	"basalt/auth/mail"
)

// source is where a setting comes from.
type source string

const (
	fromFlag        source = "flag"
	fromEnvironment source = "environment"
	fromFile        source = "postgrest-config"
	fromStore       source = "stored"
	fromDefault     source = "default"
)

// given tells of the settings that an operator has given how.
func given(flags *pflag.FlagSet) map[string]source {
	how := map[string]source{}
	for _, field := range settingFields() {
		name := field.Tag.Get("flag") // commands other than serve declare a few of them
		variable, _ := variableOf(field.Tag)
		switch flag := flags.Lookup(name); {
		case flag != nil && flag.Changed:
			how[name] = fromFlag
		case variable != "":
			how[name] = fromEnvironment
		}
	}
	return how
}

// sourceOf tells where a setting came from.
func (s *Settings) sourceOf(name string) source {
	if how, ok := s.given[name]; ok {
		return how
	}
	if s.Taken != nil {
		if _, ok := s.Taken.origins[name]; ok {
			return fromFile
		}
	}
	if slices.Contains(s.stored, name) {
		return fromStore
	}
	return fromDefault
}

// takeStored puts what owners have stored in the dashboard in place of defaults. Stored settings that do not go with
// those that are given must not keep a server from starting: then none of them counts, and the log says so.
func (s *Settings) takeStored(ctx context.Context, url string, log zerolog.Logger) error {
	conn, err := connect(ctx, url, log)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	keys, err := auth.LoadKeys(ctx, conn, s.JWTSecret)
	if err != nil {
		return err
	}
	found, err := admin.StoredSettings(ctx, conn, s.Vault(conn, keys.Secret))
	if err != nil {
		return fmt.Errorf("read the stored settings: %w", err)
	}
	if len(found.Lost) > 0 {
		log.Error().Strs("settings", found.Lost).Msg("secrets stored in the dashboard do not open with the encryption keys that are given: they do not count until their key is given or they are set there again")
	}
	with, err := s.withStored(found)
	if err != nil {
		log.Error().Err(err).Msg("the settings stored in the dashboard do not go with those given: none of them counts until they are changed there")
		return nil
	}
	*s = with
	return nil
}

// withStored gives the settings with stored ones in place of defaults, checked.
func (s *Settings) withStored(stored admin.Stored) (Settings, error) {
	with := *s
	with.stored = nil
	values := map[string]string{}
	maps.Copy(values, stored.Texts)
	for name, secret := range stored.Secrets {
		values[name] = secret.Reveal()
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !storable(name) || with.sourceOf(name) != fromDefault { // of another version, or given meanwhile
			continue
		}
		if err := with.value(name).Set(values[name]); err != nil {
			return *s, &SettingError{name, err.Error()}
		}
		with.stored = append(with.stored, name)
	}
	return with, with.Check()
}

// storable tells whether a setting may be stored: not what is needed before the database is there, decides whom to
// believe, or says who is sent the secrets that an operator has given.
func storable(name string) bool {
	field, ok := settingField(name)
	return ok && field.Tag.Get("start") == ""
}

// describe tells of each setting what it is, what counts now, and what would at the next start with these stored. When
// they do not go with those that are given, none of them would, and the error beside is an *admin.SettingError.
func (s *Server) describe(stored admin.Stored) ([]admin.SettingBody, error) {
	next, err := s.given.withStored(stored)
	err = forDashboard(err)
	if _, refused := errors.AsType[*admin.SettingError](err); refused {
		next = s.given
	} else if err != nil {
		return nil, err
	}
	var list []admin.SettingBody
	for _, field := range settingFields() {
		name := field.Tag.Get("flag")
		counts := s.counting(name)
		now, then := counts.value(name), next.value(name)
		body := admin.SettingBody{
			Name: name, Title: field.Tag.Get("title"), Section: section(field), Kind: now.Type(), Help: field.Tag.Get("help"), Default: field.Tag.Get("default"),
			Value: now.show(), Source: string(counts.sourceOf(name)), Next: then.show(), Variable: EnvName(name),
			Waiting:  !reflect.DeepEqual(now.field.Interface(), then.field.Interface()),
			Storable: storable(name) && (next.sourceOf(name) == fromDefault || next.sourceOf(name) == fromStore),
		}
		body.AtOnce = body.Storable && s.atOnce(name)
		if text, ok := stored.Shown(name); ok {
			body.Stored = &text
		}
		list = append(list, body)
	}
	return list, err
}

// mailer makes what would send mails with these stored; nil is nothing. The error is an
// *admin.SettingError when they do not go with those that are given.
func (s *Server) mailer(stored admin.Stored) (*mail.Mailer, error) {
	next, err := s.given.withStored(stored)
	if err != nil {
		return nil, forDashboard(err)
	}
	mailer, err := next.mailer(s.project.Templates)
	return mailer, forDashboard(err)
}

// forDashboard makes a refused setting one that the dashboard tells of, and leaves other errors as they are.
func forDashboard(err error) error {
	if refused, ok := errors.AsType[*SettingError](err); ok {
		return &admin.SettingError{Name: refused.Flag, Reason: refused.Reason}
	}
	return err
}

// section names the group that a setting is shown in: the struct that it stands in, or else what its name begins with.
func section(field reflect.StructField) string {
	within := reflect.TypeFor[Settings]()
	name := ""
	for _, i := range field.Index[:len(field.Index)-1] {
		name = strings.TrimSuffix(within.Field(i).Name, "Settings")
		within = within.Field(i).Type
	}
	switch flag := field.Tag.Get("flag"); {
	case name == "Account":
		return "Accounts and sessions"
	case name != "":
		return map[string]string{
			"Message": "Mail and text messages", "Password": "Passwords", "Hook": "Hooks", "Captcha": "Captcha", "Audit": "Audit log",
			"OAuthServer": "Sign in with this server", "WebAuthn": "Passkeys", "SAML": "Single sign-on", "Link": "Links and codes", "OAuth": "Providers",
		}[name]
	case slices.Contains([]string{"data", "database-url", "postgres-port", "pool-size", "pool-wait", "pool-timeout", "statement-timeout"}, flag):
		return "Database"
	case strings.HasPrefix(flag, "jwt-") || flag == "public-url":
		return "Tokens"
	case strings.HasPrefix(flag, "rest-") || strings.HasPrefix(flag, "openapi-") ||
		slices.Contains([]string{"schemas", "extra-search-path", "max-rows", "require-filters", "app-settings", "postgrest-config"}, flag):
		return "REST API"
	}
	return "Server"
}

// show writes a setting as Set takes it; of secrets it tells only that there is one.
func (v *settingValue) show() string {
	switch value := v.field.Interface().(type) {
	case auth.Secret:
		if value == "" {
			return ""
		}
		return admin.SecretSet
	case []string:
		return strings.Join(value, ",")
	}
	return fmt.Sprint(v.field.Interface())
}
