package api

import (
	"slices"
	"strings"
	"testing"
)

func TestEachKeyOfPostgRESTBecomesASettingOrSaysWhyNot(t *testing.T) {
	readElsewhere := []string{"db-config", "db-pre-config", "jwt-secret", "jwt-secret-is-base64", "server-host", "server-port"}
	var settings Settings
	seen := map[string]bool{}
	for _, key := range takenKeys() {
		for _, name := range append([]string{key.name}, key.aliases...) {
			if seen[name] || takenKeyNamed(name).name != key.name {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
		exists := settings.value(key.flag) != nil
		switch {
		case key.flag == "":
			if key.note == "" && key.reason == "" && !slices.Contains(readElsewhere, key.name) {
				t.Errorf("%s says nothing", key.name)
			}
		case key.note != "" || key.reason != "" || key.same != nil:
			t.Errorf("%s is a setting and more", key.name)
		case !exists:
			t.Errorf("%s becomes --%s, which does not exist", key.name, key.flag)
		}
	}
	// Whatever PostgREST documents is there.
	for name := range strings.FieldsSeq(`admin-server-host admin-server-port admin-server-unix-socket admin-server-unix-socket-mode client-error-verbosity
		db-aggregates-enabled db-anon-role db-channel db-channel-enabled db-config db-extra-search-path db-hoisted-tx-settings db-max-rows max-rows
		db-plan-enabled db-pool db-pool-acquisition-timeout db-pool-automatic-recovery db-pool-max-idletime db-pool-timeout db-pool-max-lifetime
		db-pre-config db-pre-request pre-request db-prepared-statements db-root-spec root-spec db-schemas db-schema db-tx-end db-uri jwt-aud
		jwt-cache-max-entries jwt-cache-max-lifetime jwt-role-claim-key role-claim-key jwt-secret jwt-secret-is-base64 secret-is-base64 log-level log-query
		openapi-mode openapi-security-active openapi-server-proxy-uri server-cors-allowed-origins server-host server-port server-reuseport
		server-timing-enabled server-trace-header server-unix-socket server-unix-socket-mode url-use-legacy-target-names`) {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestEverySettingHasHelp(t *testing.T) {
	for _, field := range settingFields() {
		if flag := field.Tag.Get("flag"); flag != "" && field.Tag.Get("help") == "" {
			t.Errorf("--%s has no help", flag)
		}
	}
}
