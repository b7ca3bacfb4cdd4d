package sql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"basalt/query"
	"basalt/query/sql"
)

func TestValuesAreBoundAsPostgreSQLReadsThem(t *testing.T) {
	value := func(p sql.Param) sql.Param { p.Source = sql.Value; return p }
	for _, test := range []struct {
		name   string
		param  sql.Param
		values []string
		want   string
	}{
		{"a literal as it stands", value(sql.Param{}), []string{`a,b*'"`}, `a,b*'"`},
		{"the literal that is meant", value(sql.Param{Index: 1}), []string{"a", "b"}, "b"},
		{"the empty literal", value(sql.Param{}), []string{""}, ""},
		{"a pattern", value(sql.Param{Like: true}), []string{`*a%b\*_*`}, `%a%b\%_%`},
		{"a list", value(sql.Param{List: true}), []string{`(a,"b,c", null)`}, `{a,"b,c","null"}`},
		{"an empty list", value(sql.Param{List: true}), []string{`()`}, `{}`},
		{"an array of patterns", value(sql.Param{List: true, Like: true}), []string{`{a*,"*b"}`}, `{a%,"%b"}`},
		{"a number below its cap", value(sql.Param{Max: 10}), []string{"9"}, "9"},
		{"a number above its cap", value(sql.Param{Max: 10}), []string{"11"}, "10"},
		{"a number beyond all", value(sql.Param{Max: 10}), []string{"99999999999999999999"}, "10"},
		{"a constant", sql.Param{Source: sql.Constant, Text: "key"}, nil, "key"},
		{"the limit", sql.Param{Source: sql.Limit}, nil, "20"},
		{"the offset", sql.Param{Source: sql.Offset}, nil, "40"},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := &query.Request{Query: &query.Query{Values: test.values}, Limit: 20, Offset: 40}
			statement := &sql.Statement{Params: []sql.Param{test.param}}
			got, err := statement.Bind(nil, request)
			if err != nil || len(got) != 1 || string(got[0]) != test.want || got[0] == nil {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestValuesStayWhatTheyAreWhenTheBufferGrows(t *testing.T) {
	long := "(" + strings.Repeat(`\,`, 1000) + "x)"
	request := &query.Request{Query: &query.Query{Values: []string{"first", long, "last"}}}
	statement := &sql.Statement{Params: []sql.Param{
		{Source: sql.Value}, {Source: sql.Value, Index: 1, List: true}, {Source: sql.Value, Index: 2},
	}}
	got, err := statement.Bind(nil, request)
	if err != nil {
		t.Fatal(err)
	}
	if string(got[0]) != "first" || string(got[2]) != "last" || len(got[1]) <= len(long) {
		t.Errorf("%q … %q", got[0], got[2])
	}
	_ = append(got[0], "overwritten"...)
	if !slices.Equal(got[1][:2], []byte(`{"`)) {
		t.Error("appending to a value overwrites the next one")
	}
}

func TestARequestOfAnotherShapeIsNotBound(t *testing.T) {
	statement := &sql.Statement{Params: []sql.Param{{Source: sql.Value, Index: 3}}}
	if _, err := statement.Bind(nil, &query.Request{Query: &query.Query{Values: []string{"a"}}}); err == nil {
		t.Error("a value that is not there was bound")
	}
}

func TestBindingTakesOneAllocation(t *testing.T) {
	request := &query.Request{Query: &query.Query{Values: []string{"17", "open", "(1,2,3)", "a*"}}, Limit: 20}
	statement := &sql.Statement{Params: []sql.Param{
		{Source: sql.Value}, {Source: sql.Value, Index: 1}, {Source: sql.Value, Index: 2, List: true},
		{Source: sql.Value, Index: 3, Like: true}, {Source: sql.Limit},
	}}
	room := make([][]byte, 0, len(statement.Params))
	allocations := testing.AllocsPerRun(100, func() {
		if _, err := statement.Bind(room, request); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 1 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestBindingARowTakesOneAllocation(t *testing.T) {
	body := `{"id": 7, "name": "caf\u00e9 \"x\"", "tags": ["a", "b"], "data": {"a": [1]}, "paid": null}`
	payload, err := query.ReadJSON([]byte(body), query.JSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	request := &query.Request{Query: &query.Query{}, Payload: payload}
	statement := &sql.Statement{}
	for key, form := range []query.CellForm{query.PlainCell, query.PlainCell, query.ArrayCell, query.JSONCell, query.PlainCell} {
		statement.Params = append(statement.Params, sql.Param{Source: sql.Cell, Index: key, Form: form})
	}
	room := make([][]byte, 0, len(statement.Params))
	var bound [][]byte
	allocations := testing.AllocsPerRun(100, func() {
		if bound, err = statement.Bind(room, request); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 1 {
		t.Errorf("%v allocations", allocations)
	}
	for i, want := range []string{"7", `café "x"`, `{a,b}`, `{"a": [1]}`} {
		if string(bound[i]) != want {
			t.Errorf("%s, want %s", bound[i], want)
		}
	}
	if bound[4] != nil {
		t.Errorf("null became %s", bound[4])
	}
}

// Conditions on an embed are repeated where the embed is mentioned, so that their numbers multiply.
func TestConditionsThatMultiplyBeyondBoundsAreRefused(t *testing.T) {
	s := newSample(t)
	raw := "GET /customers?select=id,orders(id)"
	for i := range 450 {
		raw += fmt.Sprintf("&orders=not.is.null&orders.id=gt.%d", i)
	}
	if _, _, err := s.compile(raw); err == nil || !strings.Contains(err.Error(), "too complex") {
		t.Errorf("conditions that multiply: %v", err)
	}
	raw = "GET /orders?select=id,customers(id)"
	for i := range 450 {
		raw += fmt.Sprintf("&id=neq.%d&customers.id=neq.%d", i, i)
	}
	if _, _, err := s.compile(raw); err != nil {
		t.Errorf("conditions that do not multiply: %v", err)
	}
}
