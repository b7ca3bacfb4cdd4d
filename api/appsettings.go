package api

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"basalt/auth"
	"basalt/store"
)

// AppSetting is a setting that the operator gives to SQL. Its value may be a secret.
type AppSetting struct {
	Name  string
	Value auth.Secret
}

// AppSettings are written name=value, comma-separated. A value that holds a comma or begins with a quote stands in
// double quotes, inside of which a backslash takes what follows as it is.
type AppSettings []AppSetting

// appSettingPrefix is what the names have in front for SQL.
const appSettingPrefix = "app.settings."

// ParseAppSettings reads them. Its errors show no value.
func ParseAppSettings(given auth.Secret) (AppSettings, error) {
	var list AppSettings
	text := strings.TrimLeft(given.Reveal(), ", ")
	for ; text != ""; text = strings.TrimLeft(text, ", ") {
		name, rest, found := strings.Cut(text, "=")
		if !found {
			return nil, errors.New("write them as name=value,name=value")
		}
		value, after, err := cutSettingValue(rest)
		if err != nil {
			return nil, err
		}
		list = append(list, AppSetting{strings.TrimSpace(name), auth.Secret(value)})
		text = after
	}
	return list, list.check()
}

// secret writes them as ParseAppSettings reads them.
func (l AppSettings) secret() auth.Secret {
	var b strings.Builder
	for _, setting := range l {
		b.WriteString(setting.Name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(setting.Value.Reveal()) + `",`)
	}
	return auth.Secret(b.String())
}

// cutSettingValue takes a value, with or without quotes, and the comma behind it off the front.
func cutSettingValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, ",")
		return value, rest, nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) {
				b.WriteByte(text[i])
			}
		case '"':
			rest = strings.TrimLeft(text[i+1:], " ")
			if rest != "" && rest[0] != ',' {
				return "", "", errors.New("a comma is missing behind a quoted value")
			}
			return b.String(), rest, nil
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", errors.New("the closing quote of a value is missing")
}

// check refuses names that PostgreSQL takes for no setting.
func (l AppSettings) check() error {
	valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)*$`)
	seen := map[string]bool{}
	for i, setting := range l {
		switch {
		case !valid.MatchString(setting.Name) || len(setting.Name) > 40:
			return fmt.Errorf("the name of setting %d is none: letters, digits and underscores make one", i+1)
		case seen[strings.ToLower(setting.Name)]:
			return fmt.Errorf("%s stands twice", setting.Name)
		case strings.IndexByte(setting.Value.Reveal(), 0) >= 0:
			return fmt.Errorf("the value of %s has a zero byte, which PostgreSQL cannot hold", setting.Name)
		case !utf8.ValidString(setting.Value.Reveal()):
			return fmt.Errorf("the value of %s is not valid UTF-8, which PostgreSQL cannot hold", setting.Name)
		}
		seen[strings.ToLower(setting.Name)] = true // as PostgreSQL compares them
	}
	return nil
}

// settings are they as SQL sees them.
func (l AppSettings) settings() []store.Setting {
	list := make([]store.Setting, len(l))
	for i, setting := range l {
		list[i] = store.Setting{Name: appSettingPrefix + setting.Name, Value: setting.Value.Reveal()}
	}
	return list
}
