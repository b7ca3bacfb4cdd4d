package rest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheTableOfFeaturesNamesTests holds the package's documentation to the tests that there are.
func TestTheTableOfFeaturesNamesTests(t *testing.T) {
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
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = true
			}
		}
	}
	doc, err := parser.ParseFile(set, "doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	rows, inTable := 0, false
	for line := range strings.Lines(doc.Doc.Text()) {
		feature, indented := strings.CutPrefix(line, "\t")
		if !indented || strings.HasPrefix(feature, "feature ") {
			inTable = indented
			continue
		}
		if !inTable {
			continue
		}
		rows++
		named := regexp.MustCompile(`\bTest\w+`).FindAllString(feature, -1)
		if len(named) == 0 {
			t.Errorf("no test proves %q", strings.TrimSpace(feature))
		}
		for _, name := range named {
			if !tests[name] {
				t.Errorf("there is no %s, which is said to prove %q", name, strings.TrimSpace(feature))
			}
		}
	}
	if rows == 0 {
		t.Error("the documentation has no table")
	}
}
