package rest

import (
	"strings"
	"testing"
)

func TestAcceptHeadersAreReadInTheOrderOfWhatIsWanted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		header []string
		want   string // media ranges; "" for what is taken without a look
	}{
		{"none", nil, ""},
		{"anything", []string{"*/*"}, ""},
		{"JSON", []string{"application/json"}, ""},
		{"equals stay in their order", []string{"text/csv, application/json"}, "text/csv application/json"},
		{"quality orders", []string{"text/csv;q=0.5, application/json;q=0.6, image/png"}, "image/png application/json text/csv"},
		{"several lines are one", []string{"text/csv", "image/png"}, "text/csv image/png"},
		{"anything in a first line does not hide the second", []string{"*/*", "image/png"}, "image/png */*"},
		{"stars come last", []string{"*/*, image/*, image/png"}, "image/png image/* */*"},
		{"parameters come first", []string{"text/html, application/vnd.pgrst.object+json;nulls=stripped"}, "application/vnd.pgrst.object+json;nulls=stripped text/html"},
		{"what is rated 0 is refused", []string{"text/csv;q=0, text/html;q=0.0, image/png;q=-1, a/b;q=NaN, c/d"}, "c/d"},
		{"a rating that is none counts as 1", []string{"a/b;q=0.9, text/csv;q=high"}, "text/csv a/b"},
		{"blanks and empty elements", []string{" , text/csv ; q = 0.5 ,, image/png ,"}, "image/png text/csv"},
		{"capital letters", []string{"APPLICATION/VND.PGRST.OBJECT; NULLS=stripped"}, "application/vnd.pgrst.object+json;nulls=stripped"},
		{"parameters that nobody knows", []string{"application/vnd.pgrst.array+json; $$ what=ever $$; charset=utf-8"}, "application/json"},
		{"an array without nulls", []string{"application/vnd.pgrst.array;nulls=stripped"}, "application/vnd.pgrst.array+json;nulls=stripped"},
		{"nulls of another kind", []string{"application/vnd.pgrst.array+json;nulls=kept, a/b"}, "application/json a/b"},
		{"a plan", []string{"application/vnd.pgrst.plan"}, `application/vnd.pgrst.plan+text; for="application/json"`},
		{"a plan that ends in a semicolon", []string{"application/vnd.pgrst.plan;"}, `application/vnd.pgrst.plan+text; for="application/json"`},
		{"commas and semicolons in quotes", []string{`application/vnd.pgrst.plan+json; for="application/vnd.pgrst.object;nulls=stripped"; options=wal|analyze, a/b`},
			`application/vnd.pgrst.plan+json; for="application/vnd.pgrst.object+json;nulls=stripped"; options=analyze|wal a/b`},
		{"a plan as supabase-js asks for it", []string{`application/vnd.pgrst.plan+text; for="application/json"; options=;`}, `application/vnd.pgrst.plan+text; for="application/json"`},
		{"no type at all", []string{"undefined"}, "undefined"},
		{"quotes that do not end", []string{`text/csv; x="a, image/png`}, "text/csv"},
	} {
		list, err := accepts(test.header)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := strings.Join(ranges(list), " "); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
	}
	for _, header := range []string{"application/json;q=0", ",", " ", "", `";`} {
		list, err := accepts([]string{header})
		if header == `";` {
			if err != nil || len(list) != 1 {
				t.Errorf("%q: %v, %v", header, list, err)
			}
		} else if err == nil {
			t.Errorf("%q leaves nothing to accept, but is taken: %v", header, ranges(list))
		}
	}
}

func ranges(list []accepted) (names []string) {
	for i := range list {
		names = append(names, list[i].mediaType())
	}
	return names
}

// FuzzAccepts holds the reader of Accept headers to its promises: it takes anything, gives what is wanted most first,
// nothing that is refused, and what it names reads as the same again.
func FuzzAccepts(f *testing.F) {
	f.Add(`text/csv;q=0.5, */*`)
	f.Add(`application/vnd.pgrst.plan+json; for="application/vnd.pgrst.array;nulls=stripped"; options=analyze|wal;q=1`)
	f.Add(`";,;"=`)
	f.Fuzz(func(t *testing.T, header string) {
		list, err := accepts([]string{header})
		if err != nil {
			return
		}
		for i := range list {
			if !(list[i].quality > 0) {
				t.Errorf("%q: %s is refused, but taken", header, list[i].name)
			}
			if i > 0 && list[i].quality > list[i-1].quality {
				t.Errorf("%q: %s comes too late", header, list[i].name)
			}
			if list[i].plan == nil || strings.ContainsAny(list[i].plan.of.text, `",;`) || list[i].plan.of.plan != nil {
				continue
			}
			named := list[i].mediaType()
			if again := parseRange(named); again.mediaType() != named {
				t.Errorf("%q: %q reads again as %q", header, named, again.mediaType())
			}
		}
	})
}
