package query_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"basalt/query"
)

func TestParse(t *testing.T) {
	isArgument := func(name, _ string) bool { return slices.Contains([]string{"a", "b", "order", "x y", "id"}, name) }
	tests := []struct {
		name string
		raw  string
		want string // as describe prints it
		call bool
	}{
		// What separates parameters, and how they are encoded.
		{name: "an empty query asks for everything", raw: "", want: ""},
		{name: "a semicolon separates like an ampersand", raw: "a=eq.1;b=eq.2&c=eq.3", want: `"a"=eq.1 & "b"=eq.2 & "c"=eq.3`},
		{name: "an escaped semicolon is the character", raw: "a=eq.1%3Bb", want: `"a"=eq.1;b`},
		{name: "an escaped ampersand and equals sign are the characters", raw: "a=eq.1%26b%3D2=3", want: `"a"=eq.1&b=2=3`},
		{name: "a plus is a blank", raw: "a=eq.x+y%2B", want: `"a"=eq.x y+`},
		{name: "an escaped comma still separates", raw: "select=a%2Cb", want: `select="a","b"`},
		{name: "a percent sign without digits stands for itself", raw: "a=like.10%&b=like.%zz%4", want: `"a"=like.10% & "b"=like.%zz%4`},
		{name: "a key without a value does not count", raw: "select&x&&a=eq.1", want: `"a"=eq.1`},
		{name: "UTF-8 arrives raw and escaped", raw: "größe=eq.ß&%D1%84=eq.%D0%B6", want: `"größe"=eq.ß & "ф"=eq.ж`},

		// select
		{name: "an empty select asks for empty objects", raw: "select=", want: "select="},
		{name: "the first select counts", raw: "select=a&select=b", want: `select="a"`},
		{name: "a star is every column", raw: "select=*", want: "select=*"},
		{name: "columns keep their order and duplicates", raw: "select=b,a,b", want: `select="b","a","b"`},
		{name: "white space around items does not count", raw: "select= a , b:c ,%09* , d ( e , f ) ", want: `select="a","b":"c",*,"d"("e","f")`},
		{name: "blanks within a name belong to it", raw: "select=first name,a: b c ", want: `select="first name","a":"b c"`},
		{name: "a dash belongs to a name", raw: "select=a-b,a-->c", want: `select="a-b","a-"->c`},
		{name: "quotes hold any character", raw: `select="a,b","c.d":"e\"f\\g","x(y)"`, want: `select="a,b","c.d":"e\"f\\g","x(y)"`},
		{name: "quotes keep blanks at the ends", raw: `select=" a "`, want: `select=" a "`},
		{name: "an alias renames", raw: "select=x:a,y:b::text", want: `select="x":"a","y":"b"::text`},
		{name: "a cast names a type of several words", raw: "select=a::double precision", want: `select="a"::double precision`},
		{name: "a JSON path has keys and indexes", raw: "select=d->a->>b,d->0,d->-1->>2", want: `select="d"->a->>b,"d"->0,"d"->-1->>2`},
		{name: "a quoted digit is a key", raw: `select=d->"0",d->>"a.b"`, want: `select="d"->"0","d"->>"a.b"`},
		{name: "a JSON key may hold odd characters", raw: "select=d->!@#$%25^&b=eq.1", want: `select="d"->!@#$%^ & "b"=eq.1`},
		{name: "a JSON key may begin with digits", raw: "select=d->12a", want: `select="d"->12a`},
		{name: "a JSON path goes with alias and cast", raw: "select=x:d->>a::int", want: `select="x":"d"->>a::int`},
		{name: "an index may stand in parentheses", raw: "select=r(d->0)", want: `select="r"("d"->0)`},
		{name: "an aggregate follows its column", raw: "select=a.sum(),n:a.avg(),a.max(),a.min(),a.count()", want: `select="a".sum(),"n":"a".avg(),"a".max(),"a".min(),"a".count()`},
		{name: "an aggregate has casts before and after", raw: "select=a::int.sum()::text,d->x::int.max()", want: `select="a"::int.sum()::text,"d"->x::int.max()`},
		{name: "count() counts rows", raw: "select=count(),n:count()::text", want: `select=count(),"n":count()::text`},
		{name: "count without parentheses is a column", raw: "select=count", want: `select="count"`},
		{name: "a relation named count may be quoted", raw: `select="count"(id)`, want: `select="count"("id")`},

		// Embeds
		{name: "parentheses embed a relation", raw: "select=*,client(id,name)", want: `select=*,"client"("id","name")`},
		{name: "embeds nest", raw: "select=a(b(c(*)))", want: `select="a"("b"("c"(*)))`},
		{name: "empty parentheses embed for filtering only", raw: "select=a()", want: `select="a"()`},
		{name: "an embed has an alias", raw: "select=x:a(id)", want: `select="x":"a"("id")`},
		{name: "an embed has hints", raw: "select=a!fk(id),b!c!d(id)", want: `select="a"!"fk"("id"),"b"!"c"!"d"("id")`},
		{name: "inner and left are joins in any place", raw: "select=a!inner(id),b!left(id),c!inner!fk(*),d!fk!inner(*)", want: `select="a"!inner("id"),"b"("id"),"c"!"fk"!inner(*),"d"!"fk"!inner(*)`},
		{name: "a hint may begin like a join", raw: `select=a!left_fk(id),b!"inner"(id)`, want: `select="a"!"left_fk"("id"),"b"!"inner"("id")`},
		{name: "three dots spread a relation", raw: "select=...a(id),...b!fk!inner(x:y)", want: `select=..."a"("id"),..."b"!"fk"!inner("x":"y")`},
		{name: "spreads nest", raw: "select=...a(...b(*))", want: `select=..."a"(..."b"(*))`},

		// Filters
		{name: "a filter keeps its value raw to its end", raw: "a=eq.x,y.(z)", want: `"a"=eq.x,y.(z)`},
		{name: "a filter may compare with nothing", raw: "a=eq.", want: `"a"=eq.`},
		{name: "a filter on the same column may repeat", raw: "a=gt.1&a=lt.9", want: `"a"=gt.1 & "a"=lt.9`},
		{name: "not precedes the operator", raw: "a=not.eq.1", want: `"a"=not.eq.1`},
		{name: "eq.null compares with a text", raw: "a=eq.null", want: `"a"=eq.null`},
		{name: "is knows its words in any case", raw: "a=is.NULL&b=is.Not_Null&c=is.true&d=is.FALSE&e=not.is.unknown", want: `"a"=is.null & "b"=is.not_null & "c"=is.true & "d"=is.false & "e"=not.is.unknown`},
		{name: "isdistinct takes a value", raw: "a=isdistinct.5", want: `"a"=isdistinct.5`},
		{name: "a pattern keeps its stars", raw: "a=like.*x%25_*", want: `"a"=like.*x%_*`},
		{name: "any and all go behind an operator", raw: "a=like(any).{a*,b*}&b=not.eq(all).{1,2}", want: `"a"=like(any).{a*,b*} & "b"=not.eq(all).{1,2}`},
		{name: "text search has a configuration", raw: "a=fts(english).cat&b=not.wfts.dog&c=plfts(my cfg).x", want: `"a"=fts(english).cat & "b"=not.wfts.dog & "c"=plfts(my cfg).x`},
		{name: "a list keeps its quotes", raw: `a=in.("a,b","c\"d",e)`, want: `"a"=in.("a,b","c\"d",e)`},
		{name: "a blank may stand around a list", raw: "a=in. (1, 2) ", want: `"a"=in.(1, 2)`},
		{name: "a list may be empty", raw: "a=in.()", want: `"a"=in.()`},
		{name: "a filter goes through JSON", raw: "d->a->>b=eq.1", want: `"d"->a->>b=eq.1`},
		{name: "a filter leads into embeds", raw: "a.b.c=eq.1&a.d->>x=eq.2", want: `"a"."b"."c"=eq.1 & "a"."d"->>x=eq.2`},
		{name: "a quoted key keeps its dots", raw: `"a.b"."c.d"=eq.1`, want: `"a.b"."c.d"=eq.1`},
		{name: "columns named like parameters are reachable quoted", raw: `"select"=eq.1&"order"=eq.2&a."limit"=eq.3&"and"=eq.4`, want: `"select"=eq.1 & "order"=eq.2 & "a"."limit"=eq.3 & "and"=eq.4`},

		// and, or
		{name: "or holds conditions", raw: "or=(a.eq.1,b.not.lt.2)", want: `or=("a".eq."1","b".not.lt."2")`},
		{name: "not negates a group", raw: "not.and=(a.eq.1)&not.or=(b.eq.2)", want: `not.and=("a".eq."1") & not.or=("b".eq."2")`},
		{name: "groups nest", raw: "and=(a.eq.1,or(b.eq.2,not.and(c.is.null,d.eq.3)))", want: `and=("a".eq."1",or("b".eq."2",not.and("c".is.null,"d".eq."3")))`},
		{name: "a group belongs to an embed", raw: "a.or=(x.eq.1)&a.b.not.and=(y.eq.2)", want: `"a".or=("x".eq."1") & "a"."b".not.and=("y".eq."2")`},
		{name: "white space around elements does not count", raw: "or= ( a.eq.1 , not.and ( b.eq. 2 ) , c.in.( 1 ,2 ) , d.is.null ) ", want: `or=("a".eq."1",not.and("b".eq."2"),"c".in.( 1 ,2 ),"d".is.null)`},
		{name: "values are quoted for reserved characters", raw: `or=(a.eq."x,(y)",b.eq."c\"d\\e",c.eq." ")`, want: `or=("a".eq."x,(y)","b".eq."c\"d\\e","c".eq." ")`},
		{name: "a quote within a value is the character", raw: `or=(a.eq.5",b.eq."x"y)`, want: `or=("a".eq."5\"","b".eq."\"x\"y")`},
		{name: "braces hold commas", raw: `or=(a.cs.{1,2},b.eq(any).{"x,}",{y,z}},c.eq.{a)`, want: `or=("a".cs."{1,2}","b".eq(any)."{\"x,}\",{y,z}}","c".eq."{a")`},
		{name: "lists stand in groups", raw: `or=(a.in.(1,2),b.not.in.("x)",y))`, want: `or=("a".in.(1,2),"b".not.in.("x)",y))`},
		{name: "groups go through JSON and quoted names", raw: `or=(d->>a.eq.1,"x.y".eq.2,d->"k.l".is.null)`, want: `or=("d"->>a.eq."1","x.y".eq."2","d"->"k.l".is.null)`},
		{name: "columns named like groups need no parenthesis", raw: "or=(and.eq.1,not.eq.2,or.is.null)", want: `or=("and".eq."1","not".eq."2","or".is.null)`},
		{name: "an embed may be tested for null", raw: "or=(a.eq.1,child.not.is.null)", want: `or=("a".eq."1","child".not.is.null)`},
		{name: "text search stands in groups", raw: "or=(a.fts(english).cat,b.phfts.dog)", want: `or=("a".fts(english)."cat","b".phfts."dog")`},

		// order, limit, offset
		{name: "order has directions and nulls", raw: "order=a,b.desc,c.asc.nullsfirst,d.nullslast,e.desc.nullslast", want: `order="a","b".desc,"c".nullsfirst,"d".nullslast,"e".desc.nullslast`},
		{name: "order goes through JSON", raw: "order=d->a->>b.desc,d->0.asc", want: `order="d"->a->>b.desc,"d"->0`},
		{name: "order names a to-one embed", raw: "order=rel(a).desc,rel(d->>x).nullsfirst", want: `order="rel"("a").desc,"rel"("d"->>x).nullsfirst`},
		{name: "order belongs to an embed", raw: "a.b.order=c.desc", want: `"a"."b".order="c".desc`},
		{name: "the first order of a level counts", raw: "order=a&x.order=b&order=c&x.order=d", want: `order="a" & "x".order="b"`},
		{name: "order takes white space and quotes", raw: `order= a , "b.c".desc `, want: `order="a","b.c".desc`},
		{name: "limit and offset of both levels", raw: "limit=5&offset=10&a.limit=2&a.offset=3", want: `limit=5 & offset=10 & "a".limit=2 & "a".offset=3`},
		{name: "a bad number is no limit", raw: "limit=x&offset=1.5", want: "limit="},
		{name: "a limit of zero is one", raw: "limit=0", want: "limit=0"},
		{name: "the last limit counts", raw: "limit=5&limit=7", want: "limit=7"},
		{name: "a negative offset takes its rows off the limit", raw: "offset=-3&limit=5", want: "limit=2 & offset=0"},
		{name: "a number beyond every table is the largest", raw: "limit=99999999999999999999", want: "limit=9223372036854775807"},

		// columns, on_conflict
		{name: "columns and on_conflict name columns once", raw: `columns=a,"b,c", d ,a&on_conflict=x,y`, want: `columns="a","b,c","d" & on_conflict="x","y"`},

		// Calls
		{name: "arguments win over filters", raw: "id=eq.1&c=eq.2&a=5", want: `"id"=eq.1 & "c"=eq.2 & "a"=5`, call: true},
		{name: "repeated arguments give several values", raw: "a=1&b=x&a=2", want: `"a"=1 & "b"=x & "a"=2`, call: true},
		{name: "what is no filter is an unknown argument", raw: "zzz=5", want: `"zzz"=5`, call: true},
		{name: "an argument named like a parameter is reachable quoted", raw: `"order"=1&order=c`, want: `"order"=1 & order="c"`, call: true},
		{name: "a filter into an embed is never an argument", raw: "a.b=eq.1", want: `"a"."b"=eq.1`, call: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			options := query.ParseOptions{Call: test.call}
			if test.call {
				options.IsArgument = isArgument
			}
			var q query.Query
			if err := q.Parse(test.raw, options); err != nil {
				t.Fatal(err)
			}
			if got := describe(&q); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			checkAgain(t, &q, options)
		})
	}
}

// checkAgain parses the printed query and wants the same shape and values.
func checkAgain(t *testing.T, q *query.Query, options query.ParseOptions) {
	t.Helper()
	printed := printQuery(q)
	var again query.Query
	if err := again.Parse(printed, options); err != nil {
		t.Fatalf("%s: %v", printed, err)
	}
	if !bytes.Equal(q.Shape, again.Shape) {
		t.Errorf("%s: another shape\n%q\n%q", printed, q.Shape, again.Shape)
	}
	if !slices.Equal(q.Values, again.Values) {
		t.Errorf("%s: other values\n%q\n%q", printed, q.Values, again.Values)
	}
}

func TestParseGivesEveryPartItsPlace(t *testing.T) {
	var q query.Query
	raw := "select=x:a->b::int,c!fk!inner(*)&c.d->>-1=not.like(any).{y*}&or=(e.is.true,f.fts(english).z)&c.order=g.desc.nullslast&c.limit=3"
	if err := q.Parse(raw, query.ParseOptions{}); err != nil {
		t.Fatal(err)
	}
	want := query.Query{
		HasSelect: true,
		Select: []query.Item{
			{Kind: query.ColumnItem, Alias: "x", Field: query.Field{Name: "a", Path: []query.Step{{Key: "b"}}}, Cast: "int"},
			{Kind: query.EmbedItem, Relation: "c", Hints: []string{"fk"}, Join: query.InnerJoin, Items: []query.Item{{Kind: query.StarItem}}},
		},
		Where: []query.Condition{
			{
				Path: []string{"c"}, Negated: true, Operator: query.FindOperator("like"), Quantifier: query.Any, Value: 0,
				Field: query.Field{Name: "d", Path: []query.Step{{Key: "-1", Index: true, AsText: true}}},
			},
			{Logic: query.Or, Value: query.None, Children: []query.Condition{
				{Field: query.Field{Name: "e"}, Operator: query.FindOperator("is"), Is: query.IsTrue, Value: query.None},
				{Field: query.Field{Name: "f"}, Operator: query.FindOperator("fts"), Config: "english", Value: 1},
			}},
		},
		Order: []query.Order{{Path: []string{"c"}, Terms: []query.OrderTerm{
			{Field: query.Field{Name: "g"}, Descending: true, Nulls: query.NullsLast},
		}}},
		Ranges: []query.Range{{Path: []string{"c"}, Limit: 3, Offset: -1, LimitRef: 2, OffsetRef: query.None}},
		Values: []string{"{y*}", "z", "3"},
		Shape:  q.Shape,
	}
	if !reflect.DeepEqual(q, want) {
		t.Errorf("\n got %+v\nwant %+v", q, want)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, raw        string
		message, details string
	}{
		{"an unknown operator", "a=noop.0",
			`"failed to parse filter (noop.0)" (line 1, column 1)`, `unexpected "n" expecting "not" or operator (eq, gt, ...)`},
		{"an unknown operator behind not", "a=not.noop.0",
			`"failed to parse filter (not.noop.0)" (line 1, column 5)`, `unexpected "n" expecting operator (eq, gt, ...)`},
		{"a filter without an operator", "a=5",
			`"failed to parse filter (5)" (line 1, column 1)`, `unexpected "5" expecting "not" or operator (eq, gt, ...)`},
		{"an empty filter", "a=",
			`"failed to parse filter ()" (line 1, column 1)`, `unexpected end of input expecting "not" or operator (eq, gt, ...)`},
		{"an operator without a value", "a=eq",
			`"failed to parse filter (eq)" (line 1, column 3)`, `unexpected end of input expecting delimiter (.)`},
		{"any behind an operator that knows none", "a=cs(any).{1}",
			`"failed to parse filter (cs(any).{1})" (line 1, column 3)`, `unexpected "(" expecting delimiter (.)`},
		{"another word than any or all", "a=eq(some).{1}",
			`"failed to parse filter (eq(some).{1})" (line 1, column 3)`, `unexpected "(" expecting "(any)", "(all)" or delimiter (.)`},
		{"an empty configuration", "a=fts().x",
			`"failed to parse filter (fts().x)" (line 1, column 5)`, `unexpected ")" expecting letter or digit`},
		{"an unknown word behind is", "a=is.nil",
			`"failed to parse filter (is.nil)" (line 1, column 4)`, `unexpected "n" expecting isVal: (null, not_null, true, false, unknown)`},
		{"more behind a word of is", "a=is.nullx",
			`"failed to parse filter (is.nullx)" (line 1, column 4)`, `unexpected "n" expecting isVal: (null, not_null, true, false, unknown)`},
		{"a list without parentheses", "a=in.1,2",
			`"failed to parse filter (in.1,2)" (line 1, column 4)`, `unexpected "1" expecting "("`},
		{"a list that does not end", "a=in.(1,2",
			`"failed to parse filter (in.(1,2)" (line 1, column 8)`, `unexpected end of input expecting "," or ")"`},
		{"more behind a list", "a=in.(1)x",
			`"failed to parse filter (in.(1)x)" (line 1, column 7)`, `unexpected "x" expecting end of input`},
		{"a key that is no column", "a!b=eq.1",
			`"failed to parse tree path (a!b)" (line 1, column 2)`, `unexpected "!" expecting letter, digit, "-", "->>", "->", delimiter (.) or end of input`},
		{"an empty key", "=eq.1",
			`"failed to parse tree path ()" (line 1, column 1)`, `unexpected end of input expecting field name (* or [a..z0..9_$])`},
		{"an embed without a name", "a..b=eq.1",
			`"failed to parse tree path (a..b)" (line 1, column 3)`, `unexpected "." expecting field name (* or [a..z0..9_$])`},
		{"a quote that does not end", `"a=eq.1`,
			`"failed to parse tree path ("a)" (line 1, column 3)`, `unexpected end of input expecting "\"" (closing quote)`},
		{"an empty quoted name", `""=eq.1`,
			`"failed to parse tree path ("")" (line 1, column 2)`, `unexpected """ expecting field name (* or [a..z0..9_$])`},

		{"a select that begins with a comma", "select=,a",
			`"failed to parse select parameter (,a)" (line 1, column 1)`, `unexpected "," expecting field name (* or [a..z0..9_$])`},
		{"a select that ends with a comma", "select=a,",
			`"failed to parse select parameter (a,)" (line 1, column 3)`, `unexpected end of input expecting field name (* or [a..z0..9_$])`},
		{"a column with square brackets", "select=id,clients(name[])",
			`"failed to parse select parameter (id,clients(name[]))" (line 1, column 16)`, `unexpected "[" expecting letter, digit, "-", "->>", "->", "::", ".", ")", "," or end of input`},
		{"an embed that does not end", "select=a(b",
			`"failed to parse select parameter (a(b)" (line 1, column 4)`, `unexpected end of input expecting "," or ")"`},
		{"a parenthesis too many", "select=a)",
			`"failed to parse select parameter (a))" (line 1, column 2)`, `unexpected ")" expecting "," or end of input`},
		{"a hint without an embed", "select=a!b",
			`"failed to parse select parameter (a!b)" (line 1, column 4)`, `unexpected end of input expecting "!" or "("`},
		{"an alias before a spread", "select=x:...a(b)",
			`"failed to parse select parameter (x:...a(b))" (line 1, column 3)`, `unexpected "." expecting field name (* or [a..z0..9_$])`},
		{"a spread without parentheses", "select=...a",
			`"failed to parse select parameter (...a)" (line 1, column 5)`, `unexpected end of input expecting "!" or "("`},
		{"something behind a star", "select=*x",
			`"failed to parse select parameter (*x)" (line 1, column 2)`, `unexpected "x" expecting ")", "," or end of input`},
		{"a cast without a type", "select=a::",
			`"failed to parse select parameter (a::)" (line 1, column 4)`, `unexpected end of input expecting letter or digit`},
		{"an unknown aggregate", "select=a.median()",
			`"failed to parse select parameter (a.median())" (line 1, column 3)`, `unexpected "m" expecting "sum()", "avg()", "count()", "max()" or "min()"`},
		{"letters in a negative index", "select=data->>-78xy",
			`"failed to parse select parameter (data->>-78xy)" (line 1, column 11)`, `unexpected "x" expecting digit`},
		{"an arrow without a key", "select=data->",
			`"failed to parse select parameter (data->)" (line 1, column 7)`, `unexpected end of input expecting any non reserved character different from: .,>()`},

		{"an empty order", "order=",
			`"failed to parse order ()" (line 1, column 1)`, `unexpected end of input expecting field name (* or [a..z0..9_$])`},
		{"an unknown direction", "order=id.ac",
			`"failed to parse order (id.ac)" (line 1, column 4)`, `unexpected "a" expecting "asc", "desc", "nullsfirst" or "nullslast"`},
		{"an unknown order of nulls", "order=id.asc.nlsfst",
			`"failed to parse order (id.asc.nlsfst)" (line 1, column 8)`, `unexpected "n" expecting "nullsfirst" or "nullslast"`},
		{"more behind the order of nulls", "order=id.nullslast.desc",
			`"failed to parse order (id.nullslast.desc)" (line 1, column 13)`, `unexpected "." expecting "," or end of input`},
		{"two columns of a related order", "order=clients(name,id)",
			`"failed to parse order (clients(name,id))" (line 1, column 13)`, `unexpected "," expecting ")"`},

		{"an empty group", "or=()",
			`"failed to parse logic tree (())" (line 1, column 4)`, `unexpected ")" expecting field name (* or [a..z0..9_$]), negation operator (not) or logic operator (and, or)`},
		{"a group that does not end", "not.or=(a.eq.1",
			`"failed to parse logic tree ((a.eq.1)" (line 1, column 14)`, `unexpected end of input expecting "," or ")"`},
		{"a group without parentheses", "and=a.eq.1",
			`"failed to parse logic tree (a.eq.1)" (line 1, column 4)`, `unexpected "a" expecting "("`},
		{"more behind a group", "and=(a.eq.1)x",
			`"failed to parse logic tree ((a.eq.1)x)" (line 1, column 12)`, `unexpected "x" expecting end of input`},
		{"an unknown operator in a group", "or=(id.eq.1,id.xx.2)",
			`"failed to parse logic tree ((id.eq.1,id.xx.2))" (line 1, column 15)`, `unexpected "x" expecting "not" or operator (eq, gt, ...)`},
		{"an unknown group", "and=(xor(a.eq.1))",
			`"failed to parse logic tree ((xor(a.eq.1)))" (line 1, column 8)`, `unexpected "(" expecting delimiter (.)`},

		{"empty columns", "columns=",
			`"failed to parse columns parameter ()" (line 1, column 1)`, `unexpected end of input expecting field name (* or [a..z0..9_$])`},
		{"a conflict target that is no name", "on_conflict=a.b",
			`"failed to parse on_conflict parameter (a.b)" (line 1, column 2)`, `unexpected "." expecting "," or end of input`},

		{"a column counted in characters on its line", "a=in.(%C3%A4%0A,%C3%B6)%E2%82%AC",
			"\"failed to parse filter (in.(ä\n,ö)€)\" (line 2, column 4)", `unexpected "€" expecting end of input`},
		{"invalid UTF-8", "a=eq.%ff", "Parameters must be valid UTF-8", ""},
		{"invalid UTF-8 over two parameters", "a=eq.%C3&%A4=eq.1", "Parameters must be valid UTF-8", ""},
		{"a NUL character", "a=eq.%00", "Parameters must not hold NUL characters", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var q query.Query
			err := q.Parse(test.raw, query.ParseOptions{})
			var syntax *query.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v", err)
			}
			if syntax.Code != "PGRST100" || syntax.Message != test.message || syntax.Details != test.details {
				t.Errorf("\n got %s %s\n     %s\nwant PGRST100 %s\n     %s", syntax.Code, syntax.Message, syntax.Details, test.message, test.details)
			}
		})
	}
}

func TestParseBoundsWhatAShortTextMayAskFor(t *testing.T) {
	repeat := func(prefix, part, suffix string, n int) string { return prefix + strings.Repeat(part, n) + suffix }
	tests := []struct {
		name, most, over string
		message          string
	}{
		{"levels of embedding", "select=" + strings.Repeat("a(", 64) + strings.Repeat(")", 64),
			"select=" + strings.Repeat("a(", 65) + strings.Repeat(")", 65), "Too many levels of embedding"},
		{"levels of and and or", "or=(" + strings.Repeat("and(", 63) + "a.eq.1" + strings.Repeat(")", 64),
			"or=(" + strings.Repeat("and(", 64) + "a.eq.1" + strings.Repeat(")", 65), "Too many levels of and/or"},
		{"filters", repeat("", "a=eq.1&", "", 1000), repeat("", "a=eq.1&", "", 1001), "Too many filters"},
		{"filters in a group", repeat("or=(b.eq.1", ",a.eq.1", ")", 998), repeat("or=(b.eq.1", ",a.eq.1", ")", 999), "Too many filters"},
		{"items", repeat("select=a", ",a", "", 999), repeat("select=a", ",a", "", 1000), "Too many select items"},
		{"embeds", repeat("select=a", ",a()", "", 100), repeat("select=a", ",a()", "", 101), "Too many embedded relations"},
		{"elements of a list", repeat("a=in.(1", ",1", ")", 49_999), repeat("a=in.(1", ",1", ")", 50_000), "Too many list elements"},
		{"elements of an array", repeat("a=eq(any).{1", ",1", "}", 49_999), repeat("a=eq(any).{1", ",1", "}", 50_000), "Too many list elements"},
		{"terms", repeat("order=a", ",a", "", 199), repeat("order=a", ",a", "", 200), "Too many order terms"},
		{"JSON steps", "select=" + strings.Repeat("a"+strings.Repeat("->b", 100)+",", 100) + "c", "select=" + strings.Repeat("a"+strings.Repeat("->b", 100)+",", 100) + "c->d", "Too many JSON path steps"},
		{"steps of a JSON path", repeat("select=a", "->b", "", 200), repeat("select=a", "->b", "", 201), "Too many steps of a JSON path"},
		{"levels of a filter", repeat("", "a.", "b=eq.1", 64), repeat("", "a.", "b=eq.1", 65), "Too many levels of embedding"},
		{"levels of an order", repeat("", "a.", "order=b", 64), repeat("", "a.", "order=b", 65), "Too many levels of embedding"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var q query.Query
			if err := q.Parse(test.most, query.ParseOptions{}); err != nil {
				t.Errorf("at the bound: %v", err)
			}
			err := q.Parse(test.over, query.ParseOptions{})
			var syntax *query.SyntaxError
			if !errors.As(err, &syntax) || syntax.Message != test.message || syntax.Code != query.CodeSyntax {
				t.Errorf("over the bound: got %v, want %s", err, test.message)
			}
		})
	}
	t.Run("limits of embeds", func(t *testing.T) {
		var b strings.Builder
		for i := range 102 {
			fmt.Fprintf(&b, "e%d.limit=1&", i)
		}
		var q query.Query
		if err := q.Parse(b.String(), query.ParseOptions{}); err == nil {
			t.Error("not refused")
		}
	})
}

func TestParseRefusesWindowsWithoutRows(t *testing.T) {
	for _, raw := range []string{"limit=-1", "a.limit=-5", "limit=3&offset=-4", "limit=-9223372036854775808", "limit=-99999999999999999999"} {
		var q query.Query
		var window *query.RangeError
		if err := q.Parse(raw, query.ParseOptions{}); !errors.As(err, &window) || window.Code != "PGRST103" ||
			window.Message != "Requested range not satisfiable" || window.Details != "Limit should be greater than or equal to zero." {
			t.Errorf("%s: got %v", raw, err)
		}
	}
}

func TestShapeTellsQueriesApartByAllButTheirValues(t *testing.T) {
	shape := func(raw string) string {
		t.Helper()
		var q query.Query
		if err := q.Parse(raw, query.ParseOptions{Call: true, IsArgument: func(name, _ string) bool { return name == "arg" }}); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		return string(q.Shape)
	}
	t.Run("queries that differ in structure have different shapes", func(t *testing.T) {
		seen := map[string]string{}
		for _, raw := range []string{
			"", "select=", "select=*", "select=a", "select=a,b", "select=b,a", "select=ab", "select=a:b", "select=a::b", "select=x:a::b",
			"select=a.sum()", "select=a::b.sum()", "select=a.sum()::b", "select=a.avg()", "select=count()", "select=count", "select=count()::int",
			"select=a()", "select=a(b)", "select=a(),b", "select=...a(b)", "select=a!b()", "select=a!b!c()", "select=a!inner()", "select=x:a(b)",
			"select=a->b", "select=a->>b", "select=a->0", `select=a->"0"`, "select=a->b->c", "select=a->-1",
			"a=eq.1", "b=eq.1", "a=neq.1", "a=not.eq.1", "a=eq(any).1", "a=eq(all).1", "a=is.null", "a=is.true", "a=not.is.null", "a=is.not_null",
			"a=fts.1", "a=fts(english).1", "a=fts(german).1", "a=in.(1)", "x.a=eq.1", "x.y.a=eq.1", "a->b=eq.1", "a->>b=eq.1",
			"a=eq.1&b=eq.1", "and=(a.eq.1,b.eq.1)", "or=(a.eq.1,b.eq.1)", "not.or=(a.eq.1,b.eq.1)", "or=(and(a.eq.1),b.eq.1)", "or=(and(a.eq.1,b.eq.1))",
			"x.or=(a.eq.1,b.eq.1)", "or=(a.not.eq.1,b.eq.1)",
			"order=a", "order=a.desc", "order=a.nullsfirst", "order=a.nullslast", "order=r(a)", "x.order=a", "order=a,b", "order=a->b",
			"limit=1", "offset=1", "limit=1&offset=1", "x.limit=1", "x.offset=1", "x.limit=1&x.offset=1", "x.limit=1&y.offset=1",
			"columns=a", "columns=a,b", "on_conflict=a", "on_conflict=a,b", "columns=a&on_conflict=a",
			"arg=1", "arg=1&arg=2", "other=1", "arg=1&b=eq.2", "b=eq.2&arg=1",
		} {
			s := shape(raw)
			if other, ok := seen[s]; ok {
				t.Errorf("%q and %q have one shape", raw, other)
			}
			seen[s] = raw
		}
	})
	t.Run("queries that differ in values have one shape", func(t *testing.T) {
		for _, pair := range [][2]string{
			{"a=eq.1", "a=eq.other"},
			{"a=in.(1)", "a=in.(1,2,3)"},
			{"a=eq(any).{1}", "a=eq(any).{1,2}"},
			{"or=(a.eq.1,b.in.(1))", `or=(a.eq."x,y",b.in.())`},
			{"x.limit=1", "x.limit=100"},
			{"limit=1", "limit=100"},
			{"arg=1", "arg=eq.2"},
			{"a=is.null", "a=is.NULL"},
			{"select=a,b", "select= a , %22b%22"},
		} {
			if shape(pair[0]) != shape(pair[1]) {
				t.Errorf("%q and %q have different shapes", pair[0], pair[1])
			}
		}
	})
	t.Run("no value is in the shape", func(t *testing.T) {
		const canary = "c4n4ry"
		s := shape("select=a,b(c)&a=eq.c4n4ry&b.c=like.*c4n4ry*&or=(a.eq.c4n4ry,b.in.(c4n4ry),c.cs.{c4n4ry})&d=fts(english).c4n4ry&arg=c4n4ry")
		if strings.Contains(s, canary) {
			t.Errorf("%q", s)
		}
	})
}

func TestParseUsesMemoryAgainWithoutMixingQueries(t *testing.T) {
	var q query.Query
	raws := []string{
		"select=a,b(c)&a=eq.1&order=a.desc,b&or=(a.eq.1,b.eq.2)&x.limit=4&arg=1&arg=2",
		"order=c&arg=3",
		"",
		"select=&columns=a&on_conflict=b",
		"a=eq(any).{1}&b=fts(english).x&c=is.null",
		"d=eq.1&e=eq.2&f=eq.3",
	}
	options := query.ParseOptions{Call: true, IsArgument: func(name, _ string) bool { return name == "arg" }}
	for range 2 {
		for _, raw := range raws {
			var fresh query.Query
			if err := fresh.Parse(raw, options); err != nil {
				t.Fatal(err)
			}
			if err := q.Parse(raw, options); err != nil {
				t.Fatal(err)
			}
			if describe(&q) != describe(&fresh) || !bytes.Equal(q.Shape, fresh.Shape) || !slices.Equal(q.Values, fresh.Values) {
				t.Errorf("%s: a used query reads %s", raw, describe(&q))
			}
		}
	}
}

func TestAddArgumentsReadsAForm(t *testing.T) {
	var q query.Query
	if err := q.Parse("select=a&x.limit=2", query.ParseOptions{Call: true}); err != nil {
		t.Fatal(err)
	}
	before := string(q.Shape)
	if err := q.AddArguments("v=1&name=J%C3%B6rg+K&v=2&limit=5&empty"); err != nil {
		t.Fatal(err)
	}
	want := []query.Argument{
		{Name: "v", Values: []query.Ref{1, 3}}, {Name: "name", Values: []query.Ref{2}},
		{Name: "limit", Values: []query.Ref{4}}, {Name: "empty", Values: []query.Ref{5}},
	}
	if !reflect.DeepEqual(q.Arguments, want) || !slices.Equal(q.Values, []string{"2", "1", "Jörg K", "2", "5", ""}) {
		t.Errorf("got %+v %q", q.Arguments, q.Values)
	}
	if string(q.Shape) == before {
		t.Error("the shape does not know the arguments")
	}
}

func TestCanonicalSortsKeysAndEscapes(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{"a=1&c=3&b=2&d", "a=1&b=2&c=3&d="},
		{"select=id,name&id=eq.1", "id=eq.1&select=id%2Cname"},
		{"b=2;a=x+y&b=1", "a=x%20y&b=2&b=1"},
		{"%C3%A4=~-_.", "%C3%A4=~-_."},
		{"a=%2f", "a=%2F"},
		{"", ""},
	} {
		if got := query.Canonical(test.raw); got != test.want {
			t.Errorf("%s: got %s, want %s", test.raw, got, test.want)
		}
	}
}

func TestAppendArrayLiteral(t *testing.T) {
	for _, test := range []struct{ name, list, want string }{
		{"an empty list is an empty array", "()", "{}"},
		{"a blank list is an empty array", "( \t)", "{}"},
		{"an empty quoted element is one", `("")`, `{""}`},
		{"an empty element among others is the empty text", "( ,3,)", `{"",3,""}`},
		{"plain elements stay as they are", "(1,-2.5,a_b)", "{1,-2.5,a_b}"},
		{"white space around elements does not count", "( 1 , 2 )", "{1,2}"},
		{"null is a text in any case", `(null,NULL,nUll,"null",nulls)`, `{"null","NULL","nUll","null",nulls}`},
		{"quoted elements keep commas and escapes", `("a,b","c\"d","e\\f","(")`, `{"a,b","c\"d","e\\f","("}`},
		{"reserved characters of arrays are quoted", `({a},b c,d\e,f"g,2020-01-01T00:00:00+00)`, `{"{a}","b c","d\\e","f\"g",2020-01-01T00:00:00+00}`},
		{"a quote that does not enclose is the character", `("a"b,"c)`, `{"\"a\"b","\"c"}`},
		{"an array in PostgreSQL's spelling stays", `{a,"b,c",NULL}`, `{a,"b,c",NULL}`},
		{"what is neither stays for PostgreSQL to refuse", "5", "5"},
		{"a parenthesis alone is a list of the empty text", "(", `{""}`},
		{"a list without an end has its elements", "(a", `{a}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(query.AppendArrayLiteral(nil, test.list)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestWindow(t *testing.T) {
	const offside = "The lower boundary must be lower than or equal to the upper boundary in the Range header."
	const negative = "Limit should be greater than or equal to zero."
	tests := []struct {
		name, raw, header string
		maxRows           int64
		limit, offset     int64
		details           string
	}{
		{name: "nothing asked for is everything", limit: -1},
		{name: "limit and offset", raw: "limit=5&offset=10", limit: 5, offset: 10},
		{name: "an offset alone is open", raw: "offset=10", limit: -1, offset: 10},
		{name: "a range includes both ends", header: "0-0", limit: 1},
		{name: "a range may be open", header: "10-", limit: -1, offset: 10},
		{name: "white space around a range does not count", header: " 2-3 ", limit: 2, offset: 2},
		{name: "both are intersected", raw: "limit=10&offset=5", header: "8-30", limit: 7, offset: 8},
		{name: "a range within the limit", raw: "limit=10", header: "2-3", limit: 2, offset: 2},
		{name: "a limit of zero is allowed", raw: "limit=0", limit: 0},
		{name: "a limit of zero wins over a range", raw: "limit=0&offset=3", header: "5-6", limit: 0, offset: 3},
		{name: "a range that ends before it begins", header: "1-0", details: offside},
		{name: "a range that ends before all rows", header: "0--1", details: offside},
		{name: "a range and an offset without a row in common", raw: "offset=5", header: "0-1", details: negative},
		{name: "what is no range of items is ignored", header: "bytes=0-5", limit: -1},
		{name: "a list of ranges is ignored", header: "0-1,4-5", limit: -1},
		{name: "a suffix range is ignored", header: "-5", limit: -1},
		{name: "the server's maximum caps", raw: "limit=500", maxRows: 100, limit: 100},
		{name: "the server's maximum stands where no limit does", raw: "offset=7", maxRows: 100, limit: 100, offset: 7},
		{name: "the server's maximum leaves smaller limits", raw: "limit=5", maxRows: 100, limit: 5},
		{name: "a negative offset is none", raw: "offset=-4", limit: -1},
		{name: "numbers beyond 64 bits do not overflow", raw: "limit=99999999999999999999&offset=99999999999999999999", limit: -1, offset: 9223372036854775807},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var q query.Query
			if err := q.Parse(test.raw, query.ParseOptions{}); err != nil {
				t.Fatal(err)
			}
			limit, offset, err := query.Window(q.TopRange(), test.header, test.maxRows)
			if test.details != "" {
				var window *query.RangeError
				if !errors.As(err, &window) || window.Details != test.details || window.Code != query.CodeRange {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || limit != test.limit || offset != test.offset {
				t.Errorf("got %d, %d, %v", limit, offset, err)
			}
		})
	}
}

func TestParseOfPlainFiltersAllocatesNothingButTheDecodedText(t *testing.T) {
	for _, test := range []struct {
		name, raw string
		most      float64
	}{
		{"four filters", "id=gt.5&status=eq.open&name=like.*smith*&deleted_at=is.null", 0},
		{"four filters with escapes", "select=id%2Ctotal&status=eq.open&a=gt.5&b=like.%2Ax&c=is.null", 1},
		{"a plain list", "select=id,total,name&status=eq.open&order=id.desc&limit=20", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var q query.Query
			allocs := testing.AllocsPerRun(100, func() {
				if err := q.Parse(test.raw, query.ParseOptions{}); err != nil {
					t.Fatal(err)
				}
			})
			if allocs > test.most {
				t.Errorf("%v allocations", allocs)
			}
		})
	}
}
