package accounts

import (
	"regexp"
	"strings"
	"testing"

	"basalt/api/doctest"
)

// TestTheTableOfEndpointsIsWhole holds the package's documentation to the endpoints and the tests that there are.
func TestTheTableOfEndpointsIsWhole(t *testing.T) {
	t.Parallel()
	served := map[string]bool{}
	for _, table := range (&face{}).tables() {
		for path, methods := range table {
			for method := range methods {
				served[method+" "+path] = true
			}
		}
	}
	p := doctest.Read(t)
	row := regexp.MustCompile(`^\t([A-Z]+) +(/\S+) (.*)`)
	for line := range strings.Lines(p.Documentation) {
		found := row.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		endpoint := found[1] + " " + found[2]
		if !served[endpoint] {
			t.Errorf("%s is in the table and not served, or twice in the table", endpoint)
		}
		delete(served, endpoint)
		p.Proves(t, endpoint, found[3])
	}
	for endpoint := range served {
		t.Errorf("%s is served and not in the table", endpoint)
	}
}
