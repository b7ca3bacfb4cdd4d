package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"basalt/api/apitest"
)

const preferring = `
create table entry (id int primary key, v text default 'd');
insert into entry select g, 'v' || g from generate_series(1, 20) g;
create table bare (v text);
create table moment (id int primary key, t timestamptz);
insert into moment values (1, '2023-10-18 12:37:59.611+00');
create function entries() returns setof entry language sql stable as 'select * from entry order by id';
create function drop_entries(below int) returns setof entry language sql as 'delete from entry where id < below returning *';
` + open

func TestWhichPreferencesAreTold(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, preferring, nil)
	// In the order opposite to that in which they are told.
	all := "Prefer: max-affected=5, timezone=UTC, handling=strict, count=exact, return=representation, missing=default, resolution=merge-duplicates"
	told := func(applied string) []string { return []string{"Preference-Applied: " + applied} }
	run(t, s, []exchange{
		{name: "of a read", path: "entry?id=eq.1", headers: []string{all}, status: 200, want: anything, header: told("count=exact, handling=strict, timezone=UTC")},
		{name: "of a HEAD", method: "HEAD", path: "entry?id=eq.1", headers: []string{all}, status: 200, want: "", header: told("count=exact, handling=strict, timezone=UTC")},
		{name: "of an insert", method: "POST", path: "entry", headers: []string{all}, body: `{"id":100}`, status: 201, want: anything, header: told("resolution=merge-duplicates, missing=default, return=representation, count=exact, handling=strict, timezone=UTC")},
		{name: "of an insert into a table without a key", method: "POST", path: "bare", headers: []string{all}, body: `{"v":"x"}`, status: 201, want: anything, header: told("missing=default, return=representation, count=exact, handling=strict, timezone=UTC")},
		{name: "of an update", method: "PATCH", path: "entry?id=eq.1", headers: []string{all}, body: `{"v":"x"}`, status: 200, want: anything, header: told("missing=default, return=representation, count=exact, handling=strict, timezone=UTC, max-affected=5")},
		{name: "of a put", method: "PUT", path: "entry?id=eq.1", headers: []string{all}, body: `{"id":1}`, status: 200, want: anything, header: told("return=representation, count=exact, handling=strict, timezone=UTC")},
		{name: "of a delete", method: "DELETE", path: "entry?id=eq.1", headers: []string{all}, status: 200, want: anything, header: told("return=representation, count=exact, handling=strict, timezone=UTC, max-affected=5")},
		{name: "of a call", method: "POST", path: "rpc/entries?limit=3", headers: []string{all}, status: 206, want: anything, header: told("count=exact, handling=strict, timezone=UTC, max-affected=5")},
		{name: "of a call by GET", path: "rpc/entries?limit=3", headers: []string{all}, status: 206, want: anything, header: told("count=exact, handling=strict, timezone=UTC, max-affected=5")},
		{name: "in several headers", method: "POST", path: "entry?select=id", headers: []string{"Prefer: count=exact", "Prefer: return=representation", "Prefer: missing=null"}, body: `{"id":101}`, status: 201, want: `[{"id":101}]`,
			header: append(told("missing=null, return=representation, count=exact"), "Content-Range: */1")},
		{name: "the first of several headers", path: "entry?limit=1&select=id&order=id", headers: []string{"Prefer: count=planned", "Prefer: count=exact"}, status: 206, want: anything, header: told("count=planned")},
		{name: "the first that is valid", path: "entry?id=eq.2&select=id", headers: []string{"Prefer: count=many, count=exact"}, status: 200, want: `[{"id":2}]`, header: told("count=exact")},
		{name: "without blanks and with many", path: "entry?id=eq.2", headers: []string{"Prefer: count=exact,    timezone=UTC   ,anything,handling=lenient"}, status: 200, want: anything, header: told("count=exact, handling=lenient, timezone=UTC")},
		{name: "none that is not honoured", path: "entry?id=eq.2", headers: []string{"Prefer: tx=commit, return=minimal, respond-async"}, status: 200, want: anything, header: []string{"Preference-Applied:"}},
		{name: "not of a refusal", path: "entry?id=eq.x", headers: []string{all}, status: 400, has: []string{"22P02"}, header: []string{"Preference-Applied:"}},
	})
}

func TestStrictHandlingRefusesWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, preferring, nil)
	invalid := func(list string) string {
		return refusal("PGRST122", "Invalid preferences given with handling=strict", "Invalid preferences: "+list, "")
	}
	run(t, s, []exchange{
		{name: "in a read", path: "entry", headers: []string{"Prefer: handling=strict, anything"}, status: 400, want: invalid("anything")},
		{name: "in several headers", path: "entry", headers: []string{"Prefer: handling=strict", "Prefer: something, else"}, status: 400, want: invalid("something, else")},
		{name: "in a write", method: "POST", path: "entry", headers: []string{"Prefer: return=representation, handling=strict, anything"}, body: `{"id":50}`, status: 400, want: invalid("anything")},
		{name: "which does nothing", path: "entry?id=eq.50", status: 200, want: `[]`},
		{name: "in a call", method: "POST", path: "rpc/drop_entries", headers: []string{"Prefer: handling=strict, anything"}, body: `{"below":5}`, status: 400, want: invalid("anything")},
		{name: "values that are none", path: "entry", headers: []string{"Prefer: handling=strict, count=none, return=all, Count=exact"}, status: 400, want: invalid("count=none, return=all, Count=exact")},
		{name: "a time zone that is none is PostgreSQL's to refuse", path: "entry", headers: []string{"Prefer: handling=strict, timezone=Invalid/Zone"}, status: 400, want: refusal("22023", `invalid value for parameter "TimeZone": "Invalid/Zone"`, "", "")},
		{name: "also when handling is lenient", path: "entry", headers: []string{"Prefer: handling=lenient, timezone=Invalid/Zone"}, status: 400, want: refusal("22023", `invalid value for parameter "TimeZone": "Invalid/Zone"`, "", "")},
		{name: "lenient handling of a read", path: "entry?limit=0", headers: []string{"Prefer: handling=lenient, anything"}, status: 200, want: `[]`, header: []string{"Preference-Applied: handling=lenient"}},
		{name: "lenient handling in several headers", path: "entry?limit=0", headers: []string{"Prefer: handling=lenient", "Prefer: anything"}, status: 200, want: `[]`},
		{name: "lenient handling of a write", method: "POST", path: "entry?select=id", headers: []string{"Prefer: return=representation, handling=lenient, anything"}, body: `{"id":51}`, status: 201, want: `[{"id":51}]`, header: []string{"Preference-Applied: return=representation, handling=lenient"}},
		{name: "the first handling counts", path: "entry?limit=0", headers: []string{"Prefer: handling=lenient, handling=strict, anything"}, status: 200, want: `[]`, header: []string{"Preference-Applied: handling=lenient"}},
	})
}

func TestNoMoreRowsAreAffectedThanPreferred(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, preferring, nil)
	strict := func(n int) []string { return []string{fmt.Sprintf("Prefer: handling=strict, max-affected=%d", n)} }
	tooMany := func(n string) string {
		return refusal("PGRST124", "Query result exceeds max-affected preference constraint", "The query affects "+n+" rows", "")
	}
	run(t, s, []exchange{
		{name: "a delete of more", method: "DELETE", path: "entry?id=lt.15", headers: strict(10), status: 400, want: tooMany("14")},
		{name: "a delete of more with its representation", method: "DELETE", path: "entry?id=lt.15", headers: append(strict(10), give), status: 400, want: tooMany("14")},
		{name: "an update of more", method: "PATCH", path: "entry?id=lt.15", headers: strict(0), body: `{"v":"x"}`, status: 400, want: tooMany("14")},
		{name: "an update by a list of one row", method: "PATCH", path: "entry?id=eq.1", headers: strict(0), body: `[{"v":"x"}]`, status: 400, want: tooMany("1")},
		{name: "a call that affects more", method: "POST", path: "rpc/drop_entries", headers: strict(10), body: `{"below":15}`, status: 400, want: tooMany("14")},
		{name: "nothing was changed", path: "entry?v=neq.x&select=id", headers: []string{"Prefer: count=exact"}, status: 200, want: anything, header: []string{"Content-Range: 0-19/20"}},
		{name: "an update of fewer", method: "PATCH", path: "entry?id=lt.3", headers: strict(2), body: `{"v":"x"}`, status: 204, want: "", header: []string{"Preference-Applied: handling=strict, max-affected=2"}},
		{name: "a delete of none", method: "DELETE", path: "entry?id=lt.0", headers: strict(0), status: 204, want: ""},
		{name: "a delete of fewer", method: "DELETE", path: "entry?id=lt.3", headers: strict(2), status: 204, want: ""},
		{name: "a call that affects fewer", method: "POST", path: "rpc/drop_entries?select=id", headers: strict(20), body: `{"below":4}`, status: 200, want: `[{"id":3}]`},
		{name: "an insert has no maximum", method: "POST", path: "entry", headers: strict(1), body: `[{"id":60},{"id":61}]`, status: 201, want: "", header: []string{"Preference-Applied: handling=strict"}},
		{name: "lenient handling has none", method: "DELETE", path: "entry?id=lt.6", headers: []string{"Prefer: handling=lenient, max-affected=0"}, status: 204, want: "", header: []string{"Preference-Applied: handling=lenient"}},
		{name: "a number that is none is no maximum", method: "DELETE", path: "entry?id=lt.8", headers: []string{"Prefer: handling=strict, max-affected=few"}, status: 204, want: "", header: []string{"Preference-Applied: handling=strict"}},
	})
}

func TestTimeZonesByTheirOffset(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, preferring, nil)
	for zone, want := range map[string]string{
		"America/Los_Angeles": "2023-10-18T05:37:59.611-07:00",
		"+05:30":              "2023-10-18T07:07:59.611-05:30", // PostgreSQL counts offsets west of Greenwich
		"-4":                  "2023-10-18T08:37:59.611-04:00",
		"05:30":               "2023-10-18T07:07:59.611-05:30",
		"gmt":                 "2023-10-18T12:37:59.611+00:00",
	} {
		run(t, s, []exchange{{name: zone, path: "moment?select=t", headers: []string{"Prefer: timezone=" + zone}, status: 200, want: `[{"t":"` + want + `"}]`, header: []string{"Preference-Applied: timezone=" + zone}}})
	}
	run(t, s, []exchange{
		{name: "seconds in an offset", path: "moment", headers: []string{"Prefer: timezone=05:30:15"}, status: 400, has: []string{`"22023"`, "leap seconds"}},
		{name: "the first of two", path: "moment?select=t", headers: []string{"Prefer: timezone=UTC, timezone=Asia/Tokyo"}, status: 200, want: `[{"t":"2023-10-18T12:37:59.611+00:00"}]`, header: []string{"Preference-Applied: timezone=UTC"}},
		{name: "in what is read from a body", method: "POST", path: "moment?select=t", headers: []string{"Prefer: return=representation, timezone=Asia/Tokyo"}, body: `{"id":2,"t":"2024-01-01 00:00"}`, status: 201, want: `[{"t":"2024-01-01T00:00:00+09:00"}]`},
		{name: "in CSV", path: "moment?id=eq.2&select=t", headers: []string{"Prefer: timezone=UTC", "Accept: text/csv"}, status: 200, want: "t\n\"2023-12-31 15:00:00+00\""},
	})
}

func TestManyRowsOfManyKeys(t *testing.T) {
	t.Parallel()
	var columns, names []string
	for i := range 40 {
		columns = append(columns, fmt.Sprintf("c%d int default %d", i, i))
		names = append(names, fmt.Sprintf("c%d", i))
	}
	s := apitest.Start(t, "create table wide (id int primary key, "+strings.Join(columns, ", ")+");"+open, nil)
	var ragged, whole strings.Builder
	for row := range 500 {
		if row > 0 {
			ragged.WriteByte(',')
			whole.WriteByte(',')
		}
		at := row % 40
		fmt.Fprintf(&ragged, `{"c%d":-1,"id":%d}`, at, row)
		fmt.Fprintf(&whole, `{"id":%d,"c0":%d}`, 1000+row, row)
	}
	path := "wide?columns=id," + strings.Join(names, ",") + "&select=id"
	answer := s.Do(t, "POST", "/rest/v1/"+path, "["+ragged.String()+"]", "Prefer: missing=default, return=minimal, count=exact")
	if answer.Status != 201 || answer.Header.Get("Content-Range") != "*/500" {
		t.Fatalf("%d %s %s", answer.Status, answer.Header.Get("Content-Range"), answer.Body)
	}
	run(t, s, []exchange{
		{name: "each row has its own keys and the other defaults", path: "wide?id=in.(7,41)&select=id,c0,c1,c7,c39&order=id", status: 200, want: `[{"id":7,"c0":0,"c1":1,"c7":-1,"c39":39},{"id":41,"c0":0,"c1":-1,"c7":7,"c39":39}]`},
		{name: "many rows of the same keys", method: "POST", path: "wide", headers: []string{"Prefer: count=exact"}, body: "[" + whole.String() + "]", status: 201, header: []string{"Content-Range: */500"}},
		{name: "which are merged", method: "POST", path: "wide", headers: []string{"Prefer: count=exact, resolution=merge-duplicates"}, body: "[" + whole.String() + `,{"id":5000,"c0":1}]`, status: 201, header: []string{"Content-Range: */501"}},
		{name: "or ignored", method: "POST", path: "wide", headers: []string{"Prefer: count=exact, resolution=ignore-duplicates"}, body: "[" + whole.String() + `,{"id":5001,"c0":1}]`, status: 201, header: []string{"Content-Range: */1"}},
		{name: "one of another key undoes all", method: "POST", path: "wide", body: `[{"id":6000},{"id":6001},{"id":6000}]`, status: 409, has: []string{"23505"}},
		{name: "indeed", path: "wide?id=gte.6000", status: 200, want: `[]`},
		{name: "all at once are changed", method: "PATCH", path: "wide?id=lt.500", headers: []string{"Prefer: count=exact"}, body: `{"c3":9}`, status: 204, header: []string{"Content-Range: 0-499/500"}},
		{name: "all at once are deleted", method: "DELETE", path: "wide?id=lt.500", headers: []string{"Prefer: count=exact"}, status: 204, header: []string{"Content-Range: */500"}},
	})
}
