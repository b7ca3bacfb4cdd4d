package api_test

import (
	"slices"
	"testing"

	"basalt/api"
)

func TestVariablesThatAreNoSettingsAreNamed(t *testing.T) {
	got := api.UnknownVariables([]string{
		"BASALT_MAX_ROWS=5", "BASALT_MAXROWS=secret", "BASALT_REST_AGGREGATE=true", "BASALT_WHATEVER=x", "BASALT_EMPTY=", "PATH=/bin", "DATABASE_URL=x",
	})
	want := []string{
		"BASALT_MAXROWS is no setting: did you mean BASALT_MAX_ROWS?",
		"BASALT_REST_AGGREGATE is no setting: did you mean BASALT_REST_AGGREGATES?",
		"BASALT_WHATEVER is no setting",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
