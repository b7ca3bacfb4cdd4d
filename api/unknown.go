package api

import (
	"maps"
	"slices"
	"strings"

	"basalt/query/catalog"
)

// variablePrefix begins the environment variables of settings.
const variablePrefix = "BASALT_"

// UnknownVariables says of each variable of an environment (NAME=value) that looks like a setting and is none what it
// may have meant. A misspelled one would else be passed over without a word.
func UnknownVariables(environment []string) []string {
	known := map[string]bool{}
	for _, field := range settingFields() {
		if flag := field.Tag.Get("flag"); flag != "" {
			known[strings.TrimPrefix(EnvName(flag), variablePrefix)] = true
		}
	}
	var notes []string
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		rest, ours := strings.CutPrefix(name, variablePrefix)
		if !ours || value == "" || known[rest] || isOAuthVariable(name) {
			continue
		}
		note := name + " is no setting"
		if similar, ok := catalog.MostLike(rest, slices.Values(slices.Sorted(maps.Keys(known)))); ok {
			note += ": did you mean " + variablePrefix + similar + "?"
		}
		notes = append(notes, note)
	}
	return notes
}
