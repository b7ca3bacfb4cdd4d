package api

import (
	"fmt"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"basalt/auth"
)

// settingFields gives the fields that are settings, those of embedded structs too.
func settingFields() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Settings]()), func(field reflect.StructField) bool {
		return field.Tag.Get("flag") == ""
	})
}

// A SettingError names the setting that cannot be used, why, and what would be right.
type SettingError struct {
	Flag   string
	Reason string
}

func (e *SettingError) Error() string {
	names := EnvName(e.Flag)
	for _, field := range settingFields() {
		if second := field.Tag.Get("env"); second != "" && field.Tag.Get("flag") == e.Flag {
			names += " or " + second
		}
	}
	return fmt.Sprintf("setting --%s (%s): %s", e.Flag, names, e.Reason)
}

// EnvName gives the environment variable of a flag.
func EnvName(flag string) string {
	return "BASALT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// settingValue lets one field of Settings be set from text, as pflag.Value.
type settingValue struct {
	field reflect.Value
	text  string
}

func (v *settingValue) String() string {
	if v == nil || !v.field.IsValid() {
		return ""
	}
	if s, ok := v.field.Interface().(auth.Secret); ok && s != "" {
		return s.String()
	}
	return v.text
}

func (v *settingValue) Type() string {
	switch v.field.Interface().(type) {
	case time.Duration:
		return "duration"
	case Bytes:
		return "size"
	case []string:
		return "list"
	case auth.Secret:
		return "secret"
	}
	return v.field.Kind().String()
}

// IsBoolFlag lets a boolean flag stand without a value.
func (v *settingValue) IsBoolFlag() bool { return v.field.Kind() == reflect.Bool }

func (v *settingValue) Set(text string) error {
	v.text = text
	switch v.field.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is not a duration such as 500ms, 30s or 2m", text)
		}
		v.field.SetInt(int64(d))
		return nil
	case Bytes:
		b, err := parseBytes(text)
		v.field.SetInt(int64(b))
		return err
	case []string:
		var list []string
		for _, element := range strings.Split(text, ",") {
			if element = strings.TrimSpace(element); element != "" {
				list = append(list, element)
			}
		}
		v.field.Set(reflect.ValueOf(list))
		return nil
	}
	switch v.field.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.field.SetBool(b)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a whole number of 0 or more", text)
		}
		v.field.SetInt(n)
	default:
		v.field.SetString(text)
	}
	return nil
}

// Bind declares the settings as flags, filled from their defaults and the environment. With names only those are
// declared (commands other than serve need a few). The error names a malformed variable.
func (s *Settings) Bind(flags *pflag.FlagSet, names ...string) error {
	for _, declared := range settingFields() {
		tag := declared.Tag
		name := tag.Get("flag")
		value := &settingValue{field: reflect.ValueOf(s).Elem().FieldByIndex(declared.Index)}
		source, text := variableOf(tag)
		if source == "" {
			text = tag.Get("default")
		}
		if text != "" {
			if err := value.Set(text); err != nil {
				if source == tag.Get("env") {
					err = fmt.Errorf("%w from %s", err, source)
				}
				return &SettingError{name, err.Error()}
			}
		}
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		flag := flags.VarPF(value, name, "", tag.Get("help"))
		flag.DefValue = tag.Get("default")
		if value.IsBoolFlag() {
			flag.NoOptDefVal = "true"
		}
	}
	return nil
}

// variableOf gives the environment variable that a setting is given by, with its value, "" when it is given by none. An
// empty variable is none: deployments hand on what they do not have as empty.
func variableOf(tag reflect.StructTag) (name, value string) {
	for _, variable := range []string{EnvName(tag.Get("flag")), tag.Get("env")} {
		if value := os.Getenv(variable); variable != "" && value != "" {
			return variable, value
		}
	}
	return "", ""
}

// settingField finds the field of a flag.
func settingField(flag string) (reflect.StructField, bool) {
	for _, declared := range settingFields() {
		if declared.Tag.Get("flag") == flag {
			return declared, true
		}
	}
	return reflect.StructField{}, false
}

// value finds the setting of a flag, nil when there is none.
func (s *Settings) value(flag string) *settingValue {
	declared, ok := settingField(flag)
	if !ok {
		return nil
	}
	return &settingValue{field: reflect.ValueOf(s).Elem().FieldByIndex(declared.Index)}
}

// Defaults gives the settings that apply when nothing is said.
func Defaults() Settings {
	var s Settings
	for _, declared := range settingFields() {
		if text := declared.Tag.Get("default"); text != "" {
			if err := (&settingValue{field: reflect.ValueOf(&s).Elem().FieldByIndex(declared.Index)}).Set(text); err != nil {
				panic(err) // a default in the struct above is wrong
			}
		}
	}
	return s
}

// checkWebURL refuses what is neither empty nor an address of the web.
func checkWebURL(flag, address string) error {
	if u, err := url.Parse(address); address != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
		return &SettingError{flag, fmt.Sprintf("%q is not an http or https URL", address)}
	}
	return nil
}

// choice is a setting that is one of a few words.
type choice struct {
	flag, value string
	allowed     []string
}

func (c choice) check() error {
	if !slices.Contains(c.allowed, c.value) {
		return &SettingError{c.flag, fmt.Sprintf("%q is none of %s", c.value, strings.Join(c.allowed, ", "))}
	}
	return nil
}
