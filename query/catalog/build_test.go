package catalog

import (
	"strings"
	"testing"
)

func TestBuildRefusesRowsThatContradictEachOther(t *testing.T) {
	number := RawType{OID: 23, Name: Name{"pg_catalog", "int4"}, Kind: BaseType, SQL: "integer"}
	for _, test := range []struct {
		name string
		raw  Raw
		want string
	}{
		{"a column of an unknown type",
			Raw{Columns: []RawColumn{{Relation: 1, Number: 1, Name: "c", Type: 99}}}, "unknown type 99"},
		{"an array of an unknown type",
			Raw{Types: []RawType{{OID: 1, Kind: BaseType, Elem: 99}}}, "unknown element type 99"},
		{"a domain over an unknown type",
			Raw{Types: []RawType{{OID: 1, Kind: DomainType, Base: 99}}}, "unknown base type 99"},
		{"a function of an unknown type",
			Raw{Types: []RawType{number}, Routines: []RawRoutine{{Returns: 23, InTypes: []OID{99}}}}, "unknown type 99"},
		{"a function that returns an unknown type",
			Raw{Routines: []RawRoutine{{Returns: 99}}}, "unknown result type 99"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := Build(test.raw, 1); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestBuildIgnoresKeysOfRelationsThatAreNotThere(t *testing.T) {
	raw := viewRows()
	raw.Keys = append(raw.Keys, RawKey{Relation: 99, Primary: true, Columns: []int16{1}}, RawKey{Relation: 1, Columns: []int16{9}})
	raw.ForeignKeys = append(raw.ForeignKeys,
		RawForeignKey{Name: "a", From: 1, To: 99, FromColumns: []int16{1}, ToColumns: []int16{1}},
		RawForeignKey{Name: "b", From: 1, To: 1, FromColumns: []int16{9}, ToColumns: []int16{1}})
	raw.ViewColumns = append(raw.ViewColumns, RawViewColumn{View: 99, Number: 1, Base: 1, BaseNumber: 1},
		RawViewColumn{View: 3, Number: 9, Base: 1, BaseNumber: 1})
	if _, err := Build(raw, 1); err != nil {
		t.Error(err)
	}
}

// viewRows are a table 1 with a key (1, 2), a table 2 that refers to it, and a view 3 that shows both columns of
// the key ten times each.
func viewRows() Raw {
	raw := Raw{
		Options: Options{Schemas: []string{"public"}},
		Types:   []RawType{{OID: 23, Name: Name{"pg_catalog", "int4"}, Kind: BaseType, SQL: "integer"}},
		Relations: []RawRelation{
			{OID: 1, Name: Name{"public", "parent"}, Kind: Table},
			{OID: 2, Name: Name{"public", "child"}, Kind: Table},
			{OID: 3, Name: Name{"public", "view"}, Kind: View},
		},
		Columns: []RawColumn{
			{Relation: 1, Number: 1, Name: "a", Type: 23}, {Relation: 1, Number: 2, Name: "b", Type: 23},
			{Relation: 2, Number: 1, Name: "a", Type: 23}, {Relation: 2, Number: 2, Name: "b", Type: 23},
		},
		Keys: []RawKey{{Relation: 1, Primary: true, Columns: []int16{1, 2}}},
		ForeignKeys: []RawForeignKey{
			{Name: "key", From: 2, To: 1, FromColumns: []int16{1, 2}, ToColumns: []int16{1, 2}},
		},
	}
	for i := range int16(20) {
		raw.Columns = append(raw.Columns, RawColumn{Relation: 3, Number: i + 1, Name: "shown", Type: 23})
		raw.ViewColumns = append(raw.ViewColumns, RawViewColumn{View: 3, Number: i + 1, Base: 1, BaseNumber: i%2 + 1})
	}
	return raw
}

func TestAViewThatShowsAKeyManyTimesHasBoundedRelationships(t *testing.T) {
	c, err := Build(viewRows(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(c.Relationships(Name{"public", "view"})); got != maxVariants {
		t.Errorf("%d relationships, want %d of the 100 possible", got, maxVariants)
	}
	if key := c.Relation(Name{"public", "view"}).PrimaryKey; len(key) != 2 || key[0].Number != 1 || key[1].Number != 2 {
		t.Errorf("the key of the view is %v", key)
	}
}

func TestViewsThatShowEachOtherEnd(t *testing.T) {
	raw := viewRows()
	raw.Relations = append(raw.Relations, RawRelation{OID: 4, Name: Name{"public", "other"}, Kind: View})
	raw.Columns = append(raw.Columns, RawColumn{Relation: 4, Number: 1, Name: "a", Type: 23})
	raw.ViewColumns = []RawViewColumn{
		{View: 3, Number: 1, Base: 4, BaseNumber: 1}, {View: 4, Number: 1, Base: 3, BaseNumber: 1},
	}
	if _, err := Build(raw, 1); err != nil {
		t.Error(err)
	}
}
