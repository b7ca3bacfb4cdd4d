package api

import (
	"regexp"
	"strings"
	"testing"
)

// capitalized is a word with one capital, at its beginning: names such as PostgreSQL and SAML have more of them.
var capitalized = regexp.MustCompile(`^\p{Lu}\P{Lu}*$`)

func TestEverySettingHasATitleInSentenceCase(t *testing.T) {
	seen := map[string]string{}
	for _, field := range settingFields() {
		flag, title := field.Tag.Get("flag"), field.Tag.Get("title")
		first, rest, _ := strings.Cut(title, " ")
		if !regexp.MustCompile(`^\p{Lu}`).MatchString(first) || strings.TrimSpace(title) != title || strings.HasSuffix(title, ".") {
			t.Errorf("the title of --%s is %q, which is not in sentence case", flag, title)
		}
		for word := range strings.FieldsSeq(rest) {
			if capitalized.MatchString(word) {
				t.Errorf("the title of --%s is %q: %s is no name, and begins with a capital", flag, title, word)
			}
		}
		key := section(field) + ": " + strings.ToLower(title)
		if other, ok := seen[key]; ok {
			t.Errorf("--%s and --%s are both called %q in one section", flag, other, title)
		}
		seen[key] = flag
	}
	if len(seen) == 0 {
		t.Error("no setting was looked at")
	}
}
