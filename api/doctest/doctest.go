// Package doctest holds the tables of package documentation to the tests that they name.
package doctest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Package is what a package under test has to show: its documentation, and the names of its tests.
type Package struct {
	Documentation string
	tests         map[string]bool
}

// Read reads the package in the current folder, whose documentation stands in doc.go.
func Read(t *testing.T) *Package {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("test files: %v %v", files, err)
	}
	p := &Package{tests: map[string]bool{}}
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				p.tests[f.Name.Name] = true
			}
		}
	}
	doc, err := parser.ParseFile(set, "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	p.Documentation = doc.Doc.Text()
	return p
}

// Proves checks that a row of a table names tests, and that these are there.
func (p *Package) Proves(t *testing.T, what, row string) {
	t.Helper()
	named := regexp.MustCompile(`\bTest\w+`).FindAllString(row, -1)
	if len(named) == 0 {
		t.Errorf("no test proves %q", what)
	}
	for _, name := range named {
		if !p.tests[name] {
			t.Errorf("there is no %s, which is said to prove %q", name, what)
		}
	}
}
