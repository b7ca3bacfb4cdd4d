package catalog

import (
	"slices"
	"testing"
)

func TestViewColumnsReadsTheOuterTargetList(t *testing.T) {
	const entry = `{TARGETENTRY :expr {VAR :varno 1 :varattno 2} :resno 1 :resname a :ressortgroupref 0 :resorigtbl 16389 :resorigcol 2 :resjunk false}`
	want := RawViewColumn{View: 7, Number: 1, Base: 16389, BaseNumber: 2}
	for _, test := range []struct {
		name, rule string
		want       []RawViewColumn
	}{
		{"one column", `({QUERY :commandType 1 :targetList (` + entry + `) :override 0})`, []RawViewColumn{want}},
		{"lines and tabs between tokens", "({QUERY\n:targetList\t(" + entry + ")})", []RawViewColumn{want}},
		{"no columns", `({QUERY :commandType 1 :targetList <> :override 0})`, nil},
		{"an expression", `({QUERY :targetList ({TARGETENTRY :expr {CONST} :resno 1 :resorigtbl 0 :resorigcol 0 :resjunk false})})`, nil},
		{"a system column", `({QUERY :targetList ({TARGETENTRY :resno 1 :resorigtbl 16389 :resorigcol -6 :resjunk false})})`, nil},
		{"the target list of a subquery before", `({QUERY :rtable ({RTE :subquery {QUERY :targetList (` + entry + `)}}) :targetList <>})`, nil},
		{"the target list of a subquery within", `({QUERY :targetList ({TARGETENTRY :expr {SUBLINK :subselect {QUERY :targetList (` +
			entry + `)}} :resno 1 :resorigtbl 0 :resorigcol 0})})`, nil},
		{"names that look like structure", `({QUERY :targetList ({TARGETENTRY :expr {VAR} :resno 1 :resname \:targetList\ \(\{\}\)\\ :resorigtbl 16389 :resorigcol 2})})`,
			[]RawViewColumn{want}},
		{"nothing", ``, nil},
		{"cut off", `({QUERY :targetList ({TARGETENTRY :resno 1 :resorigtbl 16389 :resorigcol 2`, nil},
		{"closed too often", `)))}}`, nil},
		{"numbers too large", `({QUERY :targetList ({TARGETENTRY :resno 70000 :resorigtbl 99999999999 :resorigcol 2})})`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []RawViewColumn
			ViewColumns(7, test.rule, func(c RawViewColumn) { got = append(got, c) })
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// FuzzViewColumns: no text makes the reader panic or give a column that cannot be.
func FuzzViewColumns(f *testing.F) {
	f.Add(`({QUERY :commandType 1 :targetList ({TARGETENTRY :expr {VAR :varno 1} :resno 1 :resname \ a :resorigtbl 16389 :resorigcol 2 :resjunk false}) :override 0})`)
	f.Add(`({QUERY :targetList <>})\`)
	f.Add(`)}({:targetList ((({`)
	f.Fuzz(func(t *testing.T, rule string) {
		ViewColumns(1, rule, func(c RawViewColumn) {
			if c.View != 1 || c.Number <= 0 || c.Base == 0 || c.BaseNumber <= 0 {
				t.Errorf("%+v", c)
			}
		})
	})
}
