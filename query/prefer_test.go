package query_test

import (
	"reflect"
	"strings"
	"testing"

	"basalt/query"
)

func TestParsePreferences(t *testing.T) {
	tests := []struct {
		name    string
		headers []string
		want    query.Preferences
	}{
		{"no header asks for nothing", nil, query.Preferences{MaxAffected: -1}},
		{"an empty header asks for nothing", []string{"", " ", ",,"}, query.Preferences{MaxAffected: -1}},
		{
			"one header may hold several preferences",
			[]string{"resolution=ignore-duplicates, count=exact, timezone=America/Los_Angeles, max-affected=100"},
			query.Preferences{Resolution: query.IgnoreDuplicates, Count: query.CountExact, TimeZone: "America/Los_Angeles", MaxAffected: 100},
		},
		{
			"headers may repeat",
			[]string{"resolution=merge-duplicates", "count=planned", "missing=null", "handling=lenient", "invalid", "max-affected=5999"},
			query.Preferences{Resolution: query.MergeDuplicates, Count: query.CountPlanned, Missing: query.MissingNull, Handling: query.HandlingLenient, MaxAffected: 5999, Invalid: []string{"invalid"}},
		},
		{
			"the first of a kind counts",
			[]string{"tx=commit, tx=rollback, timezone=UTC", "timezone=CET,return=minimal,return=representation,max-affected=1,max-affected=2"},
			query.Preferences{Transaction: query.TransactionCommit, TimeZone: "UTC", Return: query.ReturnMinimal, MaxAffected: 1},
		},
		{
			"the first valid one of a kind counts",
			[]string{"return=all, return=headers-only"},
			query.Preferences{Return: query.ReturnHeadersOnly, MaxAffected: -1, Invalid: []string{"return=all"}},
		},
		{
			"blanks and quotes do not count",
			[]string{"  count = exact ,\ttx=\"rollback\",return=\"representation\" , missing=default , handling=strict, anything, timezone=\"05:30\""},
			query.Preferences{Count: query.CountExact, Transaction: query.TransactionRollback, Return: query.ReturnRepresentation, Missing: query.MissingDefault, Handling: query.HandlingStrict, TimeZone: "05:30", MaxAffected: -1, Invalid: []string{"anything"}},
		},
		{
			"a comma in quotes separates nothing",
			[]string{`x="a,b\",c", count=estimated`},
			query.Preferences{Count: query.CountEstimated, MaxAffected: -1, Invalid: []string{`x="a,b\",c"`}},
		},
		{
			"other case, parameters and missing values are unknown",
			[]string{"Return=minimal, return=MINIMAL, return, return=, return=minimal; x=1, count=none"},
			query.Preferences{MaxAffected: -1, Invalid: []string{"Return=minimal", "return=MINIMAL", "return", "return=", "return=minimal; x=1", "count=none"}},
		},
		{
			"a max-affected that is no number counts as none",
			[]string{"max-affected=x, max-affected=3"},
			query.Preferences{MaxAffected: -1},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := query.ParsePreferences(test.headers); !reflect.DeepEqual(got, test.want) {
				t.Errorf("\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestAppendApplied(t *testing.T) {
	all := query.ParsePreferences([]string{"max-affected=3, timezone=UTC, handling=strict, tx=rollback, count=exact, return=representation, missing=default, resolution=merge-duplicates"})
	lenient := all
	lenient.Handling = query.HandlingLenient
	tests := []struct {
		name           string
		preferences    query.Preferences
		action         query.Action
		conflictTarget bool
		want           string
	}{
		{"nothing asked for is nothing applied", query.ParsePreferences(nil), query.Insert, true, ""},
		{"a read", all, query.Read, false, "count=exact, tx=rollback, handling=strict, timezone=UTC"},
		{"an insert", all, query.Insert, true, "resolution=merge-duplicates, missing=default, return=representation, count=exact, tx=rollback, handling=strict, timezone=UTC"},
		{"an insert without a conflict target", all, query.Insert, false, "missing=default, return=representation, count=exact, tx=rollback, handling=strict, timezone=UTC"},
		{"an update", all, query.Update, true, "missing=default, return=representation, count=exact, tx=rollback, handling=strict, timezone=UTC, max-affected=3"},
		{"an upsert of one row", all, query.Put, true, "return=representation, count=exact, tx=rollback, handling=strict, timezone=UTC"},
		{"a delete", all, query.Delete, false, "return=representation, count=exact, tx=rollback, handling=strict, timezone=UTC, max-affected=3"},
		{"a call", all, query.Call, false, "count=exact, tx=rollback, handling=strict, timezone=UTC, max-affected=3"},
		{"max-affected goes with strict handling only", lenient, query.Delete, false, "return=representation, count=exact, tx=rollback, handling=lenient, timezone=UTC"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := string(test.preferences.AppendApplied([]byte("x"), test.action, test.conflictTarget)); got != "x"+test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

// FuzzPreferences: reading never panics, what applies is understood again, and headers may be joined with commas.
func FuzzPreferences(f *testing.F) {
	for _, seed := range []string{"", "return=minimal", `count = "exact" , tx=rollback;x,handling=strict`, `timezone="a\"b,c",max-affected=-1`, `"`, `a="\`} {
		f.Add(seed, "resolution=merge-duplicates, missing=default")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		p := query.ParsePreferences([]string{a, b})
		if strings.Count(a, `"`) == 0 {
			if joined := query.ParsePreferences([]string{a + "," + b}); !reflect.DeepEqual(p, joined) {
				t.Errorf("joined %+v, apart %+v", joined, p)
			}
		}
		if strings.ContainsAny(p.TimeZone, "\",\\ \t\r\n\v\f\u0085\u00a0") || p.TimeZone != strings.TrimSpace(p.TimeZone) {
			return
		}
		applied := p
		if applied.Handling != query.HandlingStrict {
			applied.MaxAffected = -1
		}
		applied.Resolution, applied.Invalid = query.ResolutionNone, nil
		again := query.ParsePreferences([]string{string(p.AppendApplied(nil, query.Update, false))})
		if !reflect.DeepEqual(again, applied) {
			t.Errorf("applied %+v, again %+v", applied, again)
		}
	})
}
