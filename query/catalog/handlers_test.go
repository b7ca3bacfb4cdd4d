package catalog_test

import (
	"testing"

	"basalt/query/catalog"
)

func TestDomainsNamedAsMediaTypes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"text/html": true, "image/svg+xml": true, "application/vnd.twkb": true, "Application/Vnd.X-1.2": true, "x-a.b/c": true, "*/*": true,
		"text/*": false, "*": false, "text": false, "/html": false, "text/": false, "a/b/c": false, "a b/c": false, "text/html;q=1": false,
		"a+b/c": false, "té/x": false, "a@/b": false, "[/{": false, "": false,
		"application/vnd.pgrst.object": false, "application/VND.pgrst.plan+json": false,
	} {
		domain := catalog.Type{Kind: catalog.DomainType, Name: catalog.Name{Schema: "public", Name: name}}
		if got := domain.MediaType(); (got != "") != want || want && got != name {
			t.Errorf("%q: %q", name, got)
		}
		domain.Kind = catalog.BaseType
		if got := domain.MediaType(); got != "" {
			t.Errorf("%q is no domain, but %q", name, got)
		}
	}
}
