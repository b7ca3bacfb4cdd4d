package web_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write src/generated/admin.ts anew")

// TestTheBodiesOfTheAPIAreInTypeScript compares what the dashboard knows of the bodies with what api/admin sends.
func TestTheBodiesOfTheAPIAreInTypeScript(t *testing.T) {
	const file = "src/generated/admin.ts"
	generated := typeScript(t, "basalt/api/admin")
	if *update {
		if err := os.WriteFile(file, generated, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(kept, generated) {
		t.Errorf("%s differs from the bodies of api/admin: run make web-types (%v)", file, err)
	}
}

// typeScript gives the structs of a package that have JSON names, and those within them, as interfaces.
func typeScript(t *testing.T, path string) []byte {
	t.Helper()
	w := &writer{written: map[string]*types.Named{}}
	scope := load(t, path).Scope()
	for _, name := range scope.Names() {
		// What the compiler may put into calls brings types with it that are not sent.
		if named, isType := scope.Lookup(name).Type().(*types.Named); isType && token.IsExported(name) && !scope.Lookup(name).(interface{ IsAlias() bool }).IsAlias() && body(named) {
			w.named(named)
		}
	}
	if w.err != nil {
		t.Fatal(w.err)
	}
	slices.Sort(w.declarations)
	return []byte("// The bodies of /admin/api, written from api/admin by `make web-types`.\n\n" + strings.Join(w.declarations, "\n"))
}

// load reads a package's types from what the compiler has exported.
func load(t *testing.T, path string) *types.Package {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", path).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(list)) {
		name, export, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[name] = export
	}
	read := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	loaded, err := importer.ForCompiler(token.NewFileSet(), "gc", read).Import(path)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// body says whether a type is a struct with JSON names.
func body(named *types.Named) bool {
	s, is := named.Underlying().(*types.Struct)
	if !is || named.TypeParams().Len() > 0 {
		return false
	}
	for i := range s.NumFields() {
		if reflect.StructTag(s.Tag(i)).Get("json") != "" || s.Field(i).Embedded() && embeds(s.Field(i)) {
			return true
		}
	}
	return false
}

func embeds(field *types.Var) bool {
	named, is := field.Type().(*types.Named)
	return is && body(named)
}

// writer writes declarations, each once.
type writer struct {
	written      map[string]*types.Named
	declarations []string
	err          error
}

// named gives the name under which a type is declared.
func (w *writer) named(named *types.Named) string {
	name := named.Obj().Name()
	name = strings.ToUpper(name[:1]) + name[1:]
	if before, is := w.written[name]; is {
		if before != named && w.err == nil {
			w.err = fmt.Errorf("%s and %s would have one name", before, named)
		}
		return name
	}
	w.written[name] = named
	var b strings.Builder
	fmt.Fprintf(&b, "export interface %s {\n", name)
	w.fields(&b, named.Underlying().(*types.Struct))
	b.WriteString("}\n")
	w.declarations = append(w.declarations, b.String())
	return name
}

func (w *writer) fields(b *strings.Builder, s *types.Struct) {
	for i := range s.NumFields() {
		field, tag := s.Field(i), reflect.StructTag(s.Tag(i))
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		if field.Embedded() && name == "" {
			embedded := field.Type()
			if pointer, is := embedded.(*types.Pointer); is {
				embedded = pointer.Elem()
			}
			if inner, is := embedded.Underlying().(*types.Struct); is {
				w.fields(b, inner)
				continue
			}
		}
		if name == "" || name == "-" {
			continue
		}
		given, how, _ := strings.Cut(tag.Get("tstype"), ",")
		optional := how == "optional" || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		if given == "" {
			of := field.Type()
			if pointer, is := of.(*types.Pointer); is && optional {
				of = pointer.Elem() // left out where it would be null
			}
			given = w.text(of)
		}
		mark := ""
		if optional {
			mark = "?"
		}
		fmt.Fprintf(b, "  %s%s: %s\n", name, mark, given)
	}
}

// text is a type in TypeScript.
func (w *writer) text(of types.Type) string {
	switch of := of.(type) {
	case *types.Named:
		return w.ofName(of)
	case *types.Alias:
		return w.text(types.Unalias(of))
	case *types.Pointer:
		return w.text(of.Elem()) + " | null"
	case *types.Slice:
		if basic, is := of.Elem().(*types.Basic); is && basic.Kind() == types.Byte {
			return "string" // base64
		}
		return list(w.text(of.Elem()))
	case *types.Array:
		return list(w.text(of.Elem()))
	case *types.Map:
		return "Record<string, " + w.text(of.Elem()) + ">"
	case *types.Struct:
		var b strings.Builder
		w.fields(&b, of)
		return "{ " + strings.Join(strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' }), ";") + " }"
	case *types.Basic:
		switch {
		case of.Info()&types.IsNumeric != 0:
			return "number"
		case of.Info()&types.IsBoolean != 0:
			return "boolean"
		}
		return "string"
	}
	return "unknown"
}

func list(element string) string {
	if strings.Contains(element, " ") {
		return "(" + element + ")[]"
	}
	return element + "[]"
}

func (w *writer) ofName(of *types.Named) string {
	if of.Obj().Name() == "RawMessage" {
		return "unknown"
	}
	for _, method := range []string{"MarshalJSON", "MarshalText"} {
		if found, _, _ := types.LookupFieldOrMethod(of, true, of.Obj().Pkg(), method); found != nil {
			return "string" // what writes itself writes text
		}
	}
	if _, is := of.Underlying().(*types.Struct); is {
		return w.named(of)
	}
	if basic, is := of.Underlying().(*types.Basic); is && basic.Kind() == types.String && of.Obj().Pkg() != nil {
		if values := constants(of); len(values) > 0 {
			return strings.Join(values, " | ")
		}
	}
	return w.text(of.Underlying())
}

// constants are the values that a type of strings has names for.
func constants(of *types.Named) []string {
	var values []string
	scope := of.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if value, is := scope.Lookup(name).(*types.Const); is && types.Identical(value.Type(), of) {
			values = append(values, strconv.Quote(constant.StringVal(value.Val())))
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}
