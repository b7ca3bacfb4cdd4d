package query_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"basalt/query"
)

// FuzzParse: parsing never panics and fails with typed errors only; what was understood, printed and parsed again, is
// the same; the canonical form is understood as well and is its own canonical form; no value gets into the shape.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"",
		"select=*,a:b->c->>0::int.sum()::text,count(),...r!fk!inner(x,y(z))",
		"a.b.c->>d=not.like(any).{x*,y}&or=(a.eq.1,not.and(b.in.(1,\"2,3\"),c.is.null),d.fts(english).\"x y\")",
		"order=a.desc.nullslast,r(b->c)&a.order=x&limit=5&offset=-2&a.limit=3&a.offset=4",
		"columns=a,\"b\"&on_conflict=c;p_x=1&p_x=2&p_y",
		"%22sel%5C%22ect%22=eq.%C3%A4+%2B&x.not.or=(a.eq.{1,2})&b=in.()",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, raw string, call bool) {
		options := query.ParseOptions{Call: call}
		if call {
			options.IsArgument = func(name, _ string) bool { return strings.HasPrefix(name, "p_") }
		}
		var q query.Query
		if err := q.Parse(raw, options); err != nil {
			var syntax *query.SyntaxError
			var window *query.RangeError
			if !errors.As(err, &syntax) && !errors.As(err, &window) {
				t.Fatalf("an untyped error: %v", err)
			}
			return
		}
		checkAgain(t, &q, options)

		canonical := query.Canonical(raw)
		var again query.Query
		if strings.Contains(canonical, "=") && canonical != query.Canonical(canonical) {
			t.Errorf("%q has the canonical form %q", canonical, query.Canonical(canonical))
		}
		if err := again.Parse(canonical, options); err == nil {
			sorted := slices.Sorted(slices.Values(q.Values))
			if len(q.Arguments) == 0 && len(q.Values) == len(again.Values) && !slices.Equal(sorted, slices.Sorted(slices.Values(again.Values))) {
				t.Errorf("canonical %q: values %q, were %q", canonical, again.Values, q.Values)
			}
		}

		const canary = "c4n4ry"
		if strings.Contains(raw, canary) || len(q.Ranges) > 0 {
			return
		}
		shape := bytes.Clone(q.Shape)
		for i := range q.Values {
			switch {
			case strings.HasPrefix(q.Values[i], "("):
				q.Values[i] = "(" + canary + ")"
			default:
				q.Values[i] = canary
			}
		}
		if err := again.Parse(printQuery(&q), options); err != nil {
			return // a list or argument that only looked like one
		}
		if bytes.Contains(again.Shape, []byte(canary)) {
			t.Errorf("%s: a value in the shape %q", printQuery(&q), again.Shape)
		}
		if len(q.Arguments) == 0 && !bytes.Equal(again.Shape, shape) {
			t.Errorf("%s: the shape depends on values", raw)
		}
	})
}

// FuzzAppendArrayLiteral: every list that Parse takes becomes one well-formed array literal with the same number of
// elements, none of them null.
func FuzzAppendArrayLiteral(f *testing.F) {
	for _, seed := range []string{"()", "(1,2)", `("a,b", c d ,null,"")`, `("a"b,{x},\)`, "( )"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		var q query.Query
		if err := q.Parse("a="+escape("in."+list), query.ParseOptions{}); err != nil {
			return
		}
		literal := string(query.AppendArrayLiteral(nil, q.Values[0]))
		elements, ok := readArrayLiteral(literal)
		if !ok {
			t.Fatalf("%s became %s", q.Values[0], literal)
		}
		for _, element := range elements {
			if element == nil {
				t.Fatalf("%s became %s with a null", q.Values[0], literal)
			}
		}
	})
}

func escape(text string) string {
	canonical := query.Canonical("a=" + strings.NewReplacer("%", "%25", "&", "%26", ";", "%3B", "+", "%2B").Replace(text))
	return strings.TrimPrefix(canonical, "a=")
}

// readArrayLiteral reads a one-dimensional array literal the way PostgreSQL does; a nil element is NULL.
func readArrayLiteral(literal string) (elements []*string, ok bool) {
	inside, found := strings.CutPrefix(literal, "{")
	if !found || !strings.HasSuffix(inside, "}") {
		return nil, false
	}
	inside = strings.TrimSuffix(inside, "}")
	if inside == "" {
		return nil, true
	}
	for {
		var b strings.Builder
		quoted := strings.HasPrefix(inside, `"`)
		i := 0
		if quoted {
			for i = 1; i < len(inside) && inside[i] != '"'; i++ {
				if inside[i] == '\\' {
					i++
				}
				if i == len(inside) {
					return nil, false
				}
				b.WriteByte(inside[i])
			}
			if i == len(inside) {
				return nil, false
			}
			i++
		} else {
			for i < len(inside) && inside[i] != ',' {
				if strings.IndexByte("{}\"\\ \t\n\r\v\f", inside[i]) >= 0 {
					return nil, false
				}
				b.WriteByte(inside[i])
				i++
			}
			if i == 0 {
				return nil, false
			}
		}
		element := b.String()
		if !quoted && strings.EqualFold(element, "null") {
			elements = append(elements, nil)
		} else {
			elements = append(elements, &element)
		}
		if i == len(inside) {
			return elements, true
		}
		if inside[i] != ',' {
			return nil, false
		}
		inside = inside[i+1:]
	}
}
