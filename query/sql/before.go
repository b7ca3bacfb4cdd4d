package sql

import "basalt/query/catalog"

// CompileBefore writes the call of a function without arguments whose result nobody wants. A name without a schema is
// found by the search path.
func CompileBefore(function catalog.Name) *Statement {
	b := newBuilder()
	b.write("select ")
	if function.Schema == "" {
		b.text = appendIdentifier(b.text, function.Name)
	} else {
		b.name(function)
	}
	b.write("()")
	return b.statement()
}
