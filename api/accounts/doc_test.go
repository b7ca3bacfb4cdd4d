package accounts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheTableOfEndpointsIsWhole holds the package's documentation to the endpoints and the tests that there are.
func TestTheTableOfEndpointsIsWhole(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("test files: %v %v", files, err)
	}
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = true
			}
		}
	}
	served := map[string]bool{}
	for _, table := range (&face{}).tables() {
		for path, methods := range table {
			for method := range methods {
				served[method+" "+path] = true
			}
		}
	}
	doc, err := parser.ParseFile(set, "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\t([A-Z]+) +(/\S+) (.*)`)
	for line := range strings.Lines(doc.Doc.Text()) {
		found := row.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		endpoint := found[1] + " " + found[2]
		if !served[endpoint] {
			t.Errorf("%s is in the table and not served, or twice in the table", endpoint)
		}
		delete(served, endpoint)
		named := regexp.MustCompile(`\bTest\w+`).FindAllString(found[3], -1)
		if len(named) == 0 {
			t.Errorf("no test proves %s", endpoint)
		}
		for _, name := range named {
			if !tests[name] {
				t.Errorf("there is no %s, which is said to prove %s", name, endpoint)
			}
		}
	}
	for endpoint := range served {
		t.Errorf("%s is served and not in the table", endpoint)
	}
}
