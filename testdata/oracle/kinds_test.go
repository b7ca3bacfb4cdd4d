package oracle_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kind is a type that columns have, with what can be asked of it.
type kind struct {
	sql     string
	values  []string // as PostgreSQL reads them
	jsons   []string // values as a body may spell them beside strings
	filters []string // operators, with their modifiers
	right   []string // values for filters whose right side is of another type than the left
	bad     string   // what the type refuses
	order   bool     // has an order
	group   bool     // can be grouped by
	sum     bool     // has a sum that does not depend on the order of the rows
	json    string   // "json" or "jsonb" when paths lead into it as it is, "other" when they lead into its JSON
	casts   []string // that never fail
}

// comparisons are the operators of types with an order; the others are those of kinds of types.
func comparisons() []string {
	return []string{"eq", "eq", "neq", "gt", "gte", "lt", "lte", "isdistinct", "in", "in", "is", "eq(any)", "gt(all)", "lte(any)", "gte(all)"}
}

func searches() []string {
	return append(comparisons(), "like", "ilike", "match", "imatch", "like(any)", "ilike(all)", "match(any)", "fts", "plfts", "phfts(simple)", "wfts(english)")
}

func containers() []string {
	return []string{"eq", "neq", "gt", "lte", "isdistinct", "is", "cs", "cs", "cd", "ov", "ov"}
}

func spans() []string { return append(containers(), "sl", "sr", "nxr", "nxl", "adj") }

// texts are awkward in URLs, lists, patterns, JSON, CSV and SQL.
func texts() []string {
	return []string{
		"a", "b,c", `x"y`, "(p)", `back\slash`, "100%", "under_score", "null", "NULL", "", "ünïcödé", "o'brien", " blank ", "a.b", "{brace}",
		"-- comment", "*", "true", "line\nbreak", "tab\there", "\u2028", "💥", "cat dogs", "$1", "a&b=c;d", "+", "%41", "\x01", "\x7f", "</script>",
		strings.Repeat("long", 40),
	}
}

func scalar(sql, bad string, values ...string) *kind {
	return &kind{sql: sql, values: values, filters: comparisons(), bad: bad, order: true, group: true, casts: []string{"text"}}
}

func (k *kind) with(change func(*kind)) *kind {
	change(k)
	return k
}

func numeric(k *kind) { k.jsons, k.sum, k.casts = k.values, true, []string{"text", "numeric"} }

// kinds gives the types of a world, whose schema is quoted.
func kinds(schema string) []*kind {
	textual := func(k *kind) { k.filters = searches() }
	unlike := func(k *kind) { k.filters, k.order, k.group = []string{"is"}, false, false }
	list := func(k *kind) { k.filters, k.json, k.bad = containers(), "other", "x" }
	span := func(k *kind) { k.filters = spans() }
	document := []string{
		`{"a":1,"b c":[true,null,"x"],"n":null}`, `{"a":"text","deep":{"er":[1,[2]]}}`, `[]`, `{}`, `[1,2,{"a":null}]`, `"text"`, `12345678901234567890`,
		`null`, `1e400`, `{"a":"\u00e9\\\"","a\"b":0.10}`, `-0`, `"\ud83d\ude00"`,
	}
	return []*kind{
		scalar("int2", "x", "-32768", "0", "7", "32767").with(numeric),
		scalar("int4", "99999999999", "-2147483648", "-1", "0", "1", "2", "7", "2147483647").with(numeric),
		scalar("int8", "9223372036854775808", "-9223372036854775808", "0", "3", "9007199254740993", "9223372036854775807").with(numeric),
		scalar("float4", "x", "0", "-0", "1.5", "3.4028235e38", "1e-45", "NaN", "-Infinity", "0.1"),
		scalar("float8", "1e400", "0", "-0", "0.1", "1e21", "1e20", "1e-7", "1.7976931348623157e308", "5e-324", "NaN", "Infinity", "123456789.123456789"),
		scalar("numeric", "x", "0", "-0.00", "0.1", "1e400", "12345678901234567890.0987654321", "1.10", "-1e-20").with(func(k *kind) { k.jsons, k.sum = k.values, true }),
		scalar("numeric(8,2)", "1e9", "0", "1.25", "-999999.99", "10.00").with(numeric),
		scalar("bool", "x", "true", "false").with(func(k *kind) { k.filters, k.jsons = append(comparisons(), "is", "is"), k.values }),
		scalar("text", "", texts()...).with(textual),
		scalar("varchar(12)", "", "a", "b,c", "", "ünï", `x"y`, "null", " ").with(textual),
		scalar("char(5)", "", "a", "ab c", "", "ünï"),
		scalar(`"char"`, "", "a", "", `\`, `"`, `\351`).with(func(k *kind) { k.filters = []string{"eq", "neq", "is"} }),
		scalar("name", "", "a", "Some Name", "ü").with(textual),
		scalar("uuid", "x", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
		scalar("date", "2024-02-30", "2024-02-29", "1970-01-01", "4714-11-24 BC", "5874897-12-31", "infinity", "-infinity", "0001-01-01", "0044-03-15 BC"),
		scalar("time", "25:00", "00:00", "24:00:00", "12:34:56.789", "23:59:59.999999"),
		scalar("timetz", "x", "00:00+00", "24:00:00-15:59", "12:34:56.7+05:30", "01:02:03+01:02:03"),
		scalar("timestamp", "x", "2024-02-29 12:34:56.789", "4714-11-24 00:00:00 BC", "294276-12-31 23:59:59.999999", "infinity", "-infinity", "1970-01-01"),
		scalar("timestamptz", "x", "2024-02-29 12:34:56.789+00", "4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00", "infinity", "1970-01-01 00:00+14", "0001-12-31 23:59:59+00 BC").with(func(k *kind) { k.casts = []string{"text", "date"} }),
		scalar("timestamp(3)", "x", "2024-02-29 12:34:56.7891", "2000-01-01"),
		scalar("interval", "x", "0", "1 day", "-1 mon 2 days", "1 year 2 mons -3 days 04:05:06.789", "-00:00:00.000001", "178000000 years", "36:00"),
		scalar("bytea", `\xg`, `\x`, `\x00ff`, `\x68692c22`, "plain"),
		scalar("oid", "x", "0", "1259", "4294967295"),
		{sql: "json", values: append(document, `{"a" : 1,  "a":2}`), jsons: []string{`{"a":[1,2]}`, `"s"`, "7"}, filters: []string{"is", "fts"}, bad: "{", json: "json", casts: []string{"text", "jsonb"}},
		{sql: "jsonb", values: document, jsons: []string{`{"a":[1,2]}`, `"s"`, "7", `{"z":1,"a":2}`}, filters: []string{"eq", "neq", "isdistinct", "is", "cs", "cd", "fts", "gt"}, bad: "{", json: "jsonb", order: true, group: true, casts: []string{"text", "json"}},
		scalar("int4[]", "{x}", "{}", "{1,2}", "{NULL,-1}", "[2:3]={5,6}", "{{1,2},{3,4}}").with(list).with(func(k *kind) { k.bad, k.jsons = "{x}", []string{"[1,2]", "[]", "[null,3]", "[[1],[2]]"} }),
		scalar("text[]", "x", "{}", `{a,"b,c"}`, `{NULL,"null",""}`, `{"x\"y","back\\slash","{}"}`).with(list).with(func(k *kind) { k.jsons = []string{`["a","b,c"]`, `["",null,"nul\\l"]`} }),
		scalar("numeric[]", "x", "{1.10,NaN}", "{}").with(list),
		scalar("timestamptz[]", "x", `{"2024-02-29 12:34:56+00",infinity}`, "{}").with(list),
		scalar("bool[]", "x", "{t,f,NULL}", "{}").with(list),
		scalar("uuid[]", "x", "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}", "{}").with(list),
		scalar("jsonb[]", "x", `{"{\"a\": 1}","[]",null}`, "{}").with(list),
		scalar("inet", "x", "127.0.0.1", "10.0.0.0/8", "::1/128", "192.168.1.5/24"),
		scalar("cidr", "10.0.0.1/8", "10.0.0.0/8", "::/0"),
		scalar("macaddr", "x", "08:00:2b:01:02:03"),
		scalar("money", "x", "0", "-12.34").with(func(k *kind) { k.sum = true }),
		scalar("bit(4)", "2", "0000", "1010"),
		scalar("varbit", "2", "", "101"),
		scalar("point", "x", "(1,2)", "(-0.5,1e10)").with(unlike),
		scalar("box", "x", "((0,0),(1,1))").with(unlike),
		scalar("box[]", "x", "{(1,1),(0,0);(2,2),(1,1)}", "{}").with(unlike),
		scalar("xml", "<", "<a>1</a>", "text").with(unlike),
		scalar("tsvector", "", "'a':1 'cat':2", "").with(func(k *kind) { k.filters = []string{"eq", "is", "fts", "plfts", "wfts(simple)"} }),
		scalar("tsquery", "& &", "'a' & 'b'", ""),
		scalar("pg_lsn", "x", "0/0", "16/B374D848"),
		scalar("int4range", "[2,1]", "[1,5)", "empty", "(,)", "[3,)").with(span).with(func(k *kind) { k.right = []string{"[1,5)", "[2,3)", "empty", "(,4)"} }),
		scalar("numrange", "[2,1]", "[1.5,2]", "(,0]").with(span),
		scalar("daterange", "x", "[2024-01-01,2024-02-01)", "empty").with(span),
		scalar("tstzrange", "x", `["2024-01-01 00:00:00+00",)`, "empty").with(span),
		scalar("int4multirange", "x", "{[1,2),[5,7)}", "{}").with(span),
		scalar(schema+".mood", "glum", "happy", "so so", `quo"te`, "ünï").with(func(k *kind) { k.casts = []string{"text"} }),
		scalar(schema+".mood[]", "{glum}", `{happy,"so so"}`, "{}").with(list).with(func(k *kind) { k.bad = "{glum}" }),
		scalar(schema+".positive", "0", "1", "7", "2147483647").with(func(k *kind) { k.jsons = k.values }),
		scalar(schema+".short", "much too long", "", "abc", `"`).with(textual),
		scalar(schema+".ints", "{x}", "{1,2}", "{}").with(list).with(func(k *kind) { k.bad, k.jsons = "{x}", []string{"[1,2]"} }),
		scalar(schema+".pair", "(x)", `(1,a)`, `(,)`, `(-5,"b,c""d")`).with(func(k *kind) {
			k.filters, k.json, k.jsons = []string{"is"}, "other", []string{`{"x":1,"Y y":"a"}`, `{"x":null}`}
		}),
		scalar(schema+".pair[]", "x", `{"(1,a)","(,)"}`, "{}").with(list).with(func(k *kind) { k.jsons = []string{`[{"x":1,"Y y":"a"}]`, "[]"} }),
		scalar(schema+".nest", "x", `("(1,a)","{1,2}",happy)`, `(,,)`).with(func(k *kind) {
			k.filters, k.json, k.jsons = []string{"is"}, "other", []string{`{"p":{"x":2},"l":[3],"m":"happy"}`}
		}),
		scalar(schema+".spell", "x", `["a","b")`, "empty").with(func(k *kind) { k.filters = []string{"eq", "is", "ov", "cs"} }),
	}
}

// typesSQL makes the types that a world has of its own.
func typesSQL(schema string) string {
	return strings.ReplaceAll(`
create type SCHEMA.mood as enum ('happy', 'so so', 'quo"te', 'ünï');
create domain SCHEMA.positive as int check (value > 0);
create domain SCHEMA.short as varchar(6) check (value <> 'no');
create domain SCHEMA.ints as int[];
create type SCHEMA.pair as (x int, "Y y" text);
create type SCHEMA.nest as (p SCHEMA.pair, l int[], m SCHEMA.mood);
create type SCHEMA.spell as range (subtype = text);
`, "SCHEMA", schema)
}

// keyKinds are the types that keys are made of, by their names.
func keyKinds(all []*kind) []*kind {
	var keys []*kind
	for _, k := range all {
		if slices.Contains([]string{"int4", "int8", "uuid", "text", "date"}, k.sql) {
			keys = append(keys, k)
		}
	}
	return keys
}

// keyValue is the n-th value that a key may have.
func keyValue(k *kind, n int) string {
	switch k.sql {
	case "uuid":
		return fmt.Sprintf("00000000-0000-4000-8000-0000000000%02d", n)
	case "text":
		return texts()[n%len(texts())]
	case "date":
		return fmt.Sprintf("2024-01-%02d", n%31+1)
	}
	return strconv.Itoa(n)
}
