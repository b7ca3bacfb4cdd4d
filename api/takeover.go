package api

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"basalt/api/postgrest"
	"basalt/auth"
)

// TakenOver is what a configuration of PostgREST has brought beside the settings.
type TakenOver struct {
	// Notes are what is said about keys that have no meaning here.
	Notes []string

	inDatabase bool // pgrst.* settings of the database count
	preConfig  string
	origins    map[string]string // where the value of a flag comes from
}

// taking puts the values of one source, a file or the database, in place of settings that the operator did not give.
type taking struct {
	settings *Settings
	taken    *TakenOver
	values   map[string]string // by their names in the table, converted
	places   map[string]string
	app      AppSettings
}

// TakeOver reads --postgrest-config, when it is given, into the settings whose flags and variables are not. Flags are
// those that Bind has declared, parsed.
func (s *Settings) TakeOver(flags *pflag.FlagSet) error {
	s.given = given(flags)
	if s.PostgrestConfig == "" {
		return nil
	}
	text, err := readSettingFile(s.PostgrestConfig)
	if err != nil {
		return &SettingError{"postgrest-config", err.Error()}
	}
	list, err := postgrest.Parse(text, os.LookupEnv)
	if err != nil {
		return s.refuseFile(err.Error())
	}
	t := taking{settings: s, values: map[string]string{}, places: map[string]string{}}
	t.taken = &TakenOver{inDatabase: true, origins: map[string]string{}}
	for _, a := range list {
		place := fmt.Sprintf("line %d: %s", a.Line, a.Key)
		if err := t.read(a.Key, a.Value, place); err != nil {
			return s.refuseFile(place + ": " + err.Error())
		}
	}
	if err := t.apply(true); err != nil {
		return s.refuseFile(err.Error())
	}
	s.Taken = t.taken
	return s.checkTaken()
}

func (s *Settings) refuseFile(reason string) error {
	return &SettingError{"postgrest-config", s.PostgrestConfig + ": " + reason}
}

// checkTaken checks all settings, and names the place in the file that a refused one comes from.
func (s *Settings) checkTaken() error {
	err := s.Check()
	refused, ok := errors.AsType[*SettingError](err)
	if !ok {
		return err
	}
	if place, ok := s.Taken.origins[refused.Flag]; ok {
		return s.refuseFile(fmt.Sprintf("%s: --%s: %s", place, refused.Flag, refused.Reason))
	}
	return err
}

// read takes one key with its value.
func (t *taking) read(name, value, place string) error {
	if app, ok := strings.CutPrefix(name, appSettingPrefix); ok {
		t.app = slices.DeleteFunc(t.app, func(s AppSetting) bool { return s.Name == app })
		t.app = append(t.app, AppSetting{app, auth.Secret(value)})
		t.places["app-settings"] = place
		return nil
	}
	key := takenKeyNamed(name)
	if key == nil {
		return errors.New("PostgREST has no such setting")
	}
	if strings.IndexByte(value, 0) >= 0 { // a file alone can hold one: PostgreSQL would refuse it again and again
		return errors.New("the value has a zero byte, which PostgreSQL cannot hold")
	}
	if value == "" && key.name != "db-extra-search-path" { // as if it were not there
		delete(t.values, key.name)
		return nil
	}
	if key.name != name {
		if _, given := t.values[key.name]; given { // the newer name wins wherever it stands
			return nil
		}
	}
	if key.convert != nil {
		var err error
		if value, err = key.convert(value); err != nil {
			return err
		}
	}
	switch {
	case key.flag != "" && t.settings.value(key.flag) == nil:
		return errors.New("it is not supported")
	case key.flag == "":
		note, err := key.check(value)
		if err != nil {
			return err
		}
		if note != "" {
			t.taken.Notes = append(t.taken.Notes, name+" has no effect: "+note)
		}
	}
	t.values[key.name], t.places[key.name] = value, place
	return nil
}

// apply sets what was read. With defaults, keys that are missing get PostgREST's where ours are others: a file means the
// same here and there.
func (t *taking) apply(defaults bool) error {
	for _, key := range takenKeys() {
		value, found := t.values[key.name]
		if !found && defaults && key.absent != nil {
			value, found = key.absent(), true
		}
		if key.flag == "" || !found {
			continue
		}
		if err := t.set(key.flag, value, t.places[key.name]); err != nil {
			return err
		}
	}
	if defaults {
		for flag, value := range map[string]string{"require-filters": "false", "statement-timeout": "0s"} {
			if err := t.set(flag, value, ""); err != nil {
				return err
			}
		}
		if err := t.set("listen", listenAddress(t.values["server-host"], t.values["server-port"]), t.places["server-port"]); err != nil {
			return err
		}
	}
	if t.values["db-config"] == "false" {
		t.taken.inDatabase = false
	}
	if name := t.values["db-pre-config"]; name != "" {
		t.taken.preConfig = name
	}
	if _, given := t.settings.given["app-settings"]; t.app != nil && !given {
		t.settings.AppSettings = t.app.secret()
		t.taken.origins["app-settings"] = t.places["app-settings"]
	}
	if err := t.rootFunction(); err != nil {
		return err
	}
	return t.secret()
}

// rootFunction takes the schema off db-root-spec: ours is looked up in the exposed schema that a request asks for.
func (t *taking) rootFunction() error {
	schema, name, qualified := strings.Cut(t.values["db-root-spec"], ".")
	place := t.places["db-root-spec"]
	switch {
	case !qualified:
		return nil
	case !slices.Contains(t.settings.Schemas, schema):
		return fmt.Errorf("%s: it is not supported: the function must be in an exposed schema", place)
	}
	return t.set("rest-root-function", name, place)
}

// set gives a flag its value unless the operator did.
func (t *taking) set(flag, value, place string) error {
	if _, given := t.settings.given[flag]; given {
		return nil
	}
	if place != "" {
		t.taken.origins[flag] = place
	}
	if err := t.settings.value(flag).Set(value); err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return nil
}

// secret reads jwt-secret: text, which is the secret that we sign with too, or keys of another issuer.
func (t *taking) secret() error {
	value, place := t.values["jwt-secret"], t.places["jwt-secret"]
	if value == "" {
		return nil
	}
	if path, ok := strings.CutPrefix(value, "@"); ok {
		text, err := readSettingFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		value = strings.TrimSuffix(text, "\n")
	}
	if t.values["jwt-secret-is-base64"] == "true" {
		decoded, err := decodeSecret(value)
		if err != nil {
			return fmt.Errorf("%s: it is not base64", place)
		}
		value = decoded
	}
	if strings.HasPrefix(strings.TrimSpace(value), "{") {
		return t.set("jwt-keys", value, place)
	}
	return t.set("jwt-secret", value, place)
}

// decodeSecret reads base64 of either alphabet; dots may stand for the padding.
func decodeSecret(text string) (string, error) {
	text = strings.NewReplacer("_", "/", "-", "+", ".", "=").Replace(strings.TrimSpace(text))
	decoded, err := base64.StdEncoding.DecodeString(text)
	return string(decoded), err
}
