package rest_test

import (
	"strings"
	"testing"

	"basalt/api/doctest"
)

// TestTheTableOfFeaturesNamesTests holds the package's documentation to the tests that there are.
func TestTheTableOfFeaturesNamesTests(t *testing.T) {
	t.Parallel()
	p := doctest.Read(t)
	rows, inTable := 0, false
	for line := range strings.Lines(p.Documentation) {
		feature, indented := strings.CutPrefix(line, "\t")
		if !indented || strings.HasPrefix(feature, "feature ") {
			inTable = indented
			continue
		}
		if !inTable {
			continue
		}
		rows++
		p.Proves(t, strings.TrimSpace(feature), feature)
	}
	if rows == 0 {
		t.Error("the documentation has no table")
	}
}
