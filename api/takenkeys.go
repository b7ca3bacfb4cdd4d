package api

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// takenKey says what becomes of one key of PostgREST's configuration.
type takenKey struct {
	name    string
	aliases []string // older names
	// flag is the setting of ours that the key's value becomes, "" for none.
	flag string
	// convert gives the flag's value; nil takes it as it is. Its errors do not repeat the value.
	convert func(value string) (string, error)
	// absent is what PostgREST takes for a missing key where we would take something else for the missing flag.
	absent func() string
	// Of a key without a flag: same are the values that ask for what we do anyway; note says why others mean nothing here;
	// reason, why others are refused.
	same   []string
	note   string
	reason string
	// inDatabase says that pgrst.<name> may be set in the database too.
	inDatabase bool
}

// takenKeys is PostgREST's whole configuration. The keys that go together are read by their readers below:
// app.settings.*, jwt-secret with jwt-secret-is-base64, server-host with server-port, db-config with db-pre-config.
func takenKeys() []takenKey {
	const admin = "health and metrics are served beside the API, under /health and /metrics"
	const lifetime = "connections are replaced after an hour, or when they were idle for five minutes"
	const cache = "verified tokens are always remembered, in bounded memory"
	always := func(value string) func() string { return func() string { return value } }
	return []takenKey{
		{name: "admin-server-host", note: admin},
		{name: "admin-server-port", note: admin},
		{name: "admin-server-unix-socket", note: admin},
		{name: "admin-server-unix-socket-mode", note: admin},
		{name: "client-error-verbosity", same: []string{"verbose"}, reason: "errors always have their details and hint", inDatabase: true},
		{name: "db-aggregates-enabled", flag: "rest-aggregates", convert: boolean, inDatabase: true},
		{name: "db-anon-role", flag: "rest-anon-role", absent: always(""), inDatabase: true},
		{name: "db-channel", same: []string{"pgrst"}, reason: "the channel of reloads is always pgrst"},
		{name: "db-channel-enabled", convert: boolean, same: []string{"true"}, note: "the channel pgrst is always listened on"},
		{name: "db-config", convert: boolean},
		{name: "db-extra-search-path", flag: "extra-search-path", absent: always("public"), inDatabase: true},
		{name: "db-hoisted-tx-settings", flag: "rest-hoisted-settings", inDatabase: true},
		{name: "db-max-rows", aliases: []string{"max-rows"}, flag: "max-rows", convert: whole, absent: always("0"), inDatabase: true},
		{name: "db-plan-enabled", flag: "rest-plan", convert: boolean, inDatabase: true},
		{name: "db-pool", flag: "pool-size", convert: whole},
		{name: "db-pool-acquisition-timeout", flag: "pool-timeout", convert: seconds},
		{name: "db-pool-automatic-recovery", convert: boolean, same: []string{"true"}, reason: "lost connections are always made again; let a supervisor watch /health/ready"},
		{name: "db-pool-max-idletime", aliases: []string{"db-pool-timeout"}, note: lifetime},
		{name: "db-pool-max-lifetime", note: lifetime},
		{name: "db-pre-config", inDatabase: true},
		{name: "db-pre-request", aliases: []string{"pre-request"}, flag: "rest-pre-request", inDatabase: true},
		{name: "db-prepared-statements", convert: boolean, same: []string{"true"}, reason: "statements are always prepared: connect to PostgreSQL itself, or to a pooler in session mode", inDatabase: true},
		{name: "db-root-spec", aliases: []string{"root-spec"}, flag: "rest-root-function", inDatabase: true},
		{name: "db-schemas", aliases: []string{"db-schema"}, flag: "schemas", inDatabase: true},
		{name: "db-tx-end", flag: "rest-tx-end", inDatabase: true},
		{name: "db-uri", flag: "database-url", convert: fileOrText},
		{name: "internal-schema-cache-query-sleep", reason: "it is for PostgREST's own tests"},
		{name: "internal-schema-cache-query-sleep-before-queries", reason: "it is for PostgREST's own tests"},
		{name: "jwt-aud", flag: "jwt-audience", inDatabase: true},
		{name: "jwt-cache-max-entries", note: cache, inDatabase: true},
		{name: "jwt-cache-max-lifetime", note: cache, inDatabase: true},
		{name: "jwt-role-claim-key", aliases: []string{"role-claim-key"}, flag: "jwt-role-claim", inDatabase: true},
		{name: "jwt-secret", inDatabase: true},
		{name: "jwt-secret-is-base64", aliases: []string{"secret-is-base64"}, convert: boolean, inDatabase: true},
		{name: "log-level", flag: "log-level", convert: level},
		{name: "log-query", convert: boolean, same: []string{"false"}, note: "statements are not logged: PostgreSQL's log_statement does that"},
		{name: "openapi-mode", flag: "openapi-mode", inDatabase: true},
		{name: "openapi-security-active", flag: "openapi-security-active", convert: boolean, inDatabase: true},
		{name: "openapi-server-proxy-uri", flag: "openapi-server-proxy-uri", inDatabase: true},
		{name: "server-cors-allowed-origins", flag: "cors-origins", inDatabase: true},
		{name: "server-host"},
		{name: "server-port", convert: whole},
		{name: "server-reuseport", convert: boolean, same: []string{"false"}, reason: "two servers cannot listen on the same port"},
		{name: "server-timing-enabled", flag: "server-timing", convert: boolean, inDatabase: true},
		{name: "server-trace-header", flag: "trace-header", inDatabase: true},
		{name: "server-unix-socket", reason: "there is no listener but the TCP one"},
		{name: "server-unix-socket-mode", note: "there is no socket file"},
		{name: "url-use-legacy-target-names", flag: "rest-legacy-target-names", convert: boolean, inDatabase: true},
	}
}

// takenKeyNamed gives what becomes of a key, nil when nobody knows it.
func takenKeyNamed(name string) *takenKey {
	keys := takenKeys()
	for i := range keys {
		if keys[i].name == name || slices.Contains(keys[i].aliases, name) {
			return &keys[i]
		}
	}
	return nil
}

// boolean reads true and false in any case, and numbers, of which those above zero are true.
func boolean(value string) (string, error) {
	switch strings.ToLower(strings.Trim(value, `"' `)) {
	case "true", "on":
		return "true", nil
	case "false", "off":
		return "false", nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return "", errors.New("the value must be true or false")
	}
	return strconv.FormatBool(n > 0), nil
}

func whole(value string) (string, error) {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || n < 0 || n != float64(int64(n)) {
		return "", errors.New("the value must be a whole number of 0 or more")
	}
	return strconv.FormatInt(int64(n), 10), nil
}

func seconds(value string) (string, error) {
	n, err := whole(value)
	return n + "s", err
}

// level reads a log level; ours has nothing above errors.
func level(value string) (string, error) {
	if value == "crit" {
		return "error", nil
	}
	return value, nil
}

// fileOrText reads the file of a value @FILE.
func fileOrText(value string) (string, error) {
	path, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	text, err := readSettingFile(path)
	return strings.TrimSpace(text), err
}

// listenAddress makes one address of a host and a port. Hosts like !4 stand for all addresses of a kind.
func listenAddress(host, port string) string {
	switch host {
	case "", "!4":
		host = "0.0.0.0"
	case "*", "*4", "*6", "!6":
		host = "::"
	}
	if port == "" {
		port = "3000"
	}
	return net.JoinHostPort(strings.Trim(host, "[]"), port)
}

// check says what becomes of a value that is no setting of ours: a note for the log, an error, or nothing.
func (k *takenKey) check(value string) (note string, err error) {
	switch {
	case slices.Contains(k.same, value):
		return "", nil
	case k.reason != "":
		return "", fmt.Errorf("it is not supported: %s", k.reason)
	}
	return k.note, nil
}
