package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"basalt/query"
)

// FuzzReadOperations: whatever comes as a batch is taken or refused with a 4xx; the bodies of what is taken are JSON when
// values are put into them, those values stand where they belong, and what a path refers to changes nothing but values.
func FuzzReadOperations(f *testing.F) {
	for _, seed := range []string{
		`[]`, `[{"method":"GET","path":"/a?id=eq.1"}]`,
		`[{"method":"POST","path":"/a","body":{"b":[1,{"c":2}]}},{"method":"POST","path":"/a","body":[{"x":1},{}],"refs":{"/0/x":"$/0/body","/1/y":"$/0/body/0/b~1c"}}]`,
		`[{"method":"GET","path":"/"},{"method":"GET","path":"/a?x=in.(1,{$/0/body/0},\"{$/0/body/1}\")&or=(a.eq.{$/0/body/%7E1},b.not.like.{$/0/body})"}]`,
		`[{"method":"PUT","path":"/a%20b","headers":{"content-type":"text/csv"},"body":"x,y\n"}]`,
	} {
		f.Add(seed)
	}
	e := echo.New()
	f.Fuzz(func(t *testing.T, body string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/rest/v1/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		together := &together{context: e.NewContext(request, nil), batch: true}
		if err := together.readOperations([]byte(body)); err != nil {
			var own *Error
			if !errors.As(err, &own) || own.Status < 400 || own.Status > 499 {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, o := range together.operations {
			values := map[string]json.RawMessage{}
			note := func(text string) { values[text] = json.RawMessage(`"),(\\\"&x=eq.1"`) }
			for _, m := range o.marks {
				note(m.reference.text)
			}
			o.places.eachLeaf(note)
			if o.places != nil {
				if filled, err := o.places.put(nil, o.body, func(leaf string) json.RawMessage { return values[leaf] }); err == nil && !json.Valid(filled) {
					t.Fatalf("%s became %s", o.body, filled)
				}
			}
			var before, after query.Query
			if before.Parse(o.raw, query.ParseOptions{}) != nil || after.Parse(o.raw, query.ParseOptions{}) != nil {
				continue
			}
			if setMarks(&after, o.marks, values) != nil {
				continue
			}
			if string(before.Shape) != string(after.Shape) || len(before.Values) != len(after.Values) {
				t.Fatalf("values have changed the shape of %s", o.raw)
			}
			for i, value := range after.Values {
				for _, m := range o.marks {
					if strings.Contains(value, m.text) {
						t.Fatalf("value %d of %s is still a mark", i, o.raw)
					}
				}
			}
			eachCondition(after.Where, func(c *query.Condition) {
				if c.Operator == nil || c.Operator.Kind != query.InList {
					return
				}
				if a, b := elements(before.Values[c.Value]), elements(after.Values[c.Value]); a != b {
					t.Fatalf("a list of %d elements has %d now: %s", a, b, after.Values[c.Value])
				}
			})
		}
	})
}

// eachCondition visits conditions and those within them.
func eachCondition(conditions []query.Condition, visit func(*query.Condition)) {
	for i := range conditions {
		eachCondition(conditions[i].Children, visit)
		if conditions[i].Logic == query.Compare {
			visit(&conditions[i])
		}
	}
}

// elements counts those of a list, by what PostgreSQL is given.
func elements(list string) (n int) {
	literal, quoted := query.AppendArrayLiteral(nil, list), false
	for i := 0; i < len(literal); i++ {
		switch literal[i] {
		case '\\':
			i++
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				n++
			}
		}
	}
	return n + 1
}

func TestPointersLeadThroughJSON(t *testing.T) {
	const text = `{"a/b":[{"m~n":1},{"":[true]}],"a":"x","a":{"b":null}}`
	tests := []struct{ name, pointer, want string }{
		{"a slash in a name", "/a~1b/0", `{"m~n":1}`},
		{"a tilde in a name", "/a~1b/0/m~0n", `1`},
		{"an empty name", "/a~1b/1//0", `true`},
		{"the last of two members of one name", "/a/b", `null`},
		{"an index beyond the end", "/a~1b/2", ``},
		{"an index with a zero before it", "/a~1b/00", ``},
		{"into a text", "/a/b/c", ``},
	}
	var all place
	for _, test := range tests {
		steps, err := parsePointer(test.pointer)
		if err != nil {
			t.Fatal(err)
		}
		all.at(steps).leaf = test.pointer
	}
	found := map[string]string{}
	all.find(json.RawMessage(text), func(leaf string, value json.RawMessage) { found[leaf] = string(value) })
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if found[test.pointer] != test.want {
				t.Errorf("found %s, want %s", found[test.pointer], test.want)
			}
		})
	}
	for _, bad := range []string{"a", "~", "/~2", "/a~", strings.Repeat("/a", 33)} {
		if _, err := parsePointer(bad); err == nil {
			t.Errorf("%q is taken for a pointer", bad)
		}
	}
}
