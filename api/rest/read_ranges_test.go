package rest_test

import (
	"strings"
	"testing"

	"basalt/api"
	"basalt/api/apitest"
)

const granary = `
create table sack (id int primary key, size int);
insert into sack select g, g % 3 from generate_series(1, 15) g;
create table mouse (id int primary key, sack int references sack);
insert into mouse select g, (g - 1) / 4 + 1 from generate_series(1, 12) g;
create table void (id int primary key);
analyze;
` + open

const exact = "Prefer: count=exact"

func TestRangesOfRowsAndTotals(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, granary, nil)
	run(t, s, []exchange{
		{name: "Vary tells what an answer depends on", path: "sack?limit=1", status: 200, want: anything, header: []string{"Vary: Accept, Prefer, Range, Accept-Encoding"}},
		{name: "an offset of 0 is none", path: "sack?select=id&order=id&offset=0&limit=1", status: 200, want: `[{"id":1}]`, header: []string{"Content-Range: 0-0/*"}},
		{name: "a negative offset is none", path: "sack?select=id&order=id&offset=-4", status: 200, want: anything, header: []string{"Content-Range: 0-14/*"}},
		{name: "an offset that is no number is none", path: "sack?select=id&order=id&offset=x&limit=1", status: 200, want: `[{"id":1}]`},
		{name: "a limit beyond the end", path: "sack?select=id&order=id&offset=13&limit=100", status: 200, want: `[{"id":14},{"id":15}]`, header: []string{"Content-Range: 13-14/*"}},
		{name: "a range beyond the end is cut", path: "sack?select=id&order=id", headers: []string{"Range: 13-100"}, status: 200, want: `[{"id":14},{"id":15}]`, header: []string{"Content-Range: 13-14/*"}},
		{name: "an unknown total is no partial answer", path: "sack?select=id&order=id", headers: []string{"Range-Unit: items", "Range: 0-1"}, status: 200, want: `[{"id":1},{"id":2}]`, header: []string{"Content-Range: 0-1/*"}},
		{name: "a known total is", path: "sack?select=id&order=id", headers: []string{"Range: 0-1", exact}, status: 206, want: `[{"id":1},{"id":2}]`, header: []string{"Content-Range: 0-1/15"}},
		{name: "the whole of a known total is not", path: "sack?select=id&order=id", headers: []string{"Range: 0-14", exact}, status: 200, want: anything, header: []string{"Content-Range: 0-14/15"}},
		{name: "an empty relation with its total", path: "void", headers: []string{exact}, status: 200, want: `[]`, header: []string{"Content-Range: */0"}},
		{name: "an offset into nothing", path: "void?offset=1", headers: []string{exact}, status: 416, header: []string{"Content-Range: */0"},
			want: refusal("PGRST103", "Requested range not satisfiable", "An offset of 1 was requested, but there are only 0 rows.", "")},
		{name: "a range into nothing", path: "void", headers: []string{exact, "Range: 1-2"}, status: 416, has: []string{"An offset of 1 was requested, but there are only 0 rows."}},
		{name: "a range into nothing of no known total", path: "void", headers: []string{"Range: 1-2"}, status: 200, want: `[]`, header: []string{"Content-Range: */*"}},
		{name: "a range that ends before it begins", path: "void", headers: []string{"Range: 1-0"}, status: 416,
			want: refusal("PGRST103", "Requested range not satisfiable", "The lower boundary must be lower than or equal to the upper boundary in the Range header.", "")},
		{name: "a negative limit", path: "sack?limit=-1", status: 416, want: refusal("PGRST103", "Requested range not satisfiable", "Limit should be greater than or equal to zero.", "")},
		{name: "no count is a preference too", path: "sack?limit=1", headers: []string{"Prefer: count=none"}, status: 200, want: anything, header: []string{"Content-Range: 0-0/*"}},
		{name: "Range does not matter to HEAD", method: "HEAD", path: "sack?limit=3&offset=2", headers: []string{"Range: 0-0"}, status: 200, header: []string{"Content-Range: 2-4/*", "Content-Length:"}},
		{name: "Range does not matter to writes", method: "PATCH", path: "sack?id=lte.3&select=id", headers: []string{"Range: 0-0", give}, body: `{"size":1}`, status: 200, want: anything, header: []string{"Content-Range: 0-2/*"}},
		{name: "limits on every level", path: "sack?select=id,mouse(id)&order=id&limit=2&mouse.order=id.desc&mouse.limit=2", status: 200,
			want: `[{"id":1,"mouse":[{"id":4},{"id":3}]},{"id":2,"mouse":[{"id":8},{"id":7}]}]`},
		{name: "an offset of an embed", path: "sack?select=id,mouse(id)&id=eq.1&mouse.order=id&mouse.offset=3", status: 200, want: `[{"id":1,"mouse":[{"id":4}]}]`},
		{name: "a limit of 0 of an embed", path: "sack?select=id,mouse(id)&id=eq.1&mouse.limit=0", status: 200, want: `[{"id":1,"mouse":[]}]`},
		{name: "a negative limit of an embed", path: "sack?select=id,mouse(id)&mouse.limit=-1", status: 416, has: []string{"PGRST103"}},
		{name: "the total does not know of limits of embeds", path: "sack?select=id,mouse(id)&mouse.limit=1&limit=1&order=id", headers: []string{exact}, status: 206,
			want: `[{"id":1,"mouse":[{"id":1}]}]`, header: []string{"Content-Range: 0-0/15"}},
		{name: "the canonical address", path: "sack?select=id&limit=1&id=lt.9&id=gt.1&order=id", status: 200, want: `[{"id":2}]`,
			header: []string{"Content-Location: /sack?id=lt.9&id=gt.1&limit=1&order=id&select=id"}},
		{name: "a schema that was asked for is told", path: "sack?limit=0", headers: []string{"Accept-Profile: public"}, status: 200, want: `[]`, header: []string{"Content-Profile: public"}},
		{name: "an address that is as long as a header may be", path: "sack?select=id&id=in.(2" + strings.Repeat(",2", 1000) + ")", status: 200, want: `[{"id":2}]`,
			header: []string{"Content-Location: any"}},
		{name: "an address that is longer than clients take", path: "sack?select=id&id=in.(2" + strings.Repeat(",2", 1100) + ")", status: 200, want: `[{"id":2}]`,
			header: []string{"Content-Location:", "Content-Range: 0-0/*"}},
		{name: "no question mark without parameters", method: "HEAD", path: "sack", status: 200, header: []string{"Content-Location: /sack"}},
	})
}

func TestPlannedAndEstimatedTotals(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, granary, func(s *api.Settings) { s.MaxRows = 10 })
	run(t, s, []exchange{
		{name: "the planner's total", path: "sack?select=id&limit=2&offset=3&order=id", headers: []string{"Prefer: count=planned"}, status: 206, want: `[{"id":4},{"id":5}]`,
			header: []string{"Content-Range: 3-4/15", "Preference-Applied: count=planned"}},
		{name: "the planner's total under a filter", method: "HEAD", path: "sack?id=eq.3", headers: []string{"Prefer: count=planned"}, status: 200, header: []string{"Content-Range: 0-0/1"}},
		{name: "the planner's total with an embed", method: "HEAD", path: "mouse?select=id,sack(id)&limit=3", headers: []string{"Prefer: count=planned"}, status: 206, header: []string{"Content-Range: 0-2/12"}},
		{name: "the planner's total with a condition on an embed", method: "HEAD", path: "sack?select=id,mouse()&mouse=not.is.null&limit=1", headers: []string{"Prefer: count=planned"}, status: 206, header: []string{"Content-Range: any"}},
		{name: "an estimate below the maximum is exact", path: "sack?select=id&id=lte.3&order=id&limit=1", headers: []string{"Prefer: count=estimated"}, status: 206, want: `[{"id":1}]`,
			header: []string{"Content-Range: 0-0/3", "Preference-Applied: count=estimated"}},
		{name: "beyond it the planner's counts", path: "sack?select=id&order=id&limit=1", headers: []string{"Prefer: count=estimated"}, status: 206, want: `[{"id":1}]`, header: []string{"Content-Range: 0-0/15"}},
		{name: "the maximum cuts embeds too", path: "sack?select=id,mouse(id)&id=eq.1&mouse.limit=100&mouse.order=id", status: 200, want: `[{"id":1,"mouse":[{"id":1},{"id":2},{"id":3},{"id":4}]}]`},
		{name: "the maximum does not hide parents", path: "mouse?select=id,sack(id)&order=id&offset=9", status: 200, want: `[{"id":10,"sack":{"id":3}},{"id":11,"sack":{"id":3}},{"id":12,"sack":{"id":3}}]`},
		{name: "an offset within the maximum", path: "sack?select=id&order=id&offset=12", status: 200, want: `[{"id":13},{"id":14},{"id":15}]`, header: []string{"Content-Range: 12-14/*"}},
		{name: "a range beyond the maximum is cut", method: "GET", path: "sack?select=id&order=id", headers: []string{"Range: 2-40", exact}, status: 206, want: anything, header: []string{"Content-Range: 2-11/15"}},
		{name: "the maximum with an exact total", method: "HEAD", path: "sack", headers: []string{exact}, status: 206, header: []string{"Content-Range: 0-9/15"}},
	})
}
