package catalog

import "testing"

// typesOnly is a catalog of a few types.
func typesOnly(t testing.TB) *Catalog {
	t.Helper()
	var raw Raw
	for i, row := range []struct{ schema, name, sql string }{
		{"pg_catalog", "int4", "integer"}, {"pg_catalog", "numeric", "numeric"}, {"pg_catalog", "bpchar", "bpchar"},
		{"pg_catalog", "varchar", "character varying"}, {"pg_catalog", "bit", `"bit"`}, {"pg_catalog", "interval", "interval"},
		{"pg_catalog", "timestamptz", "timestamp with time zone"}, {"pg_catalog", "float4", "real"},
		{"pg_catalog", "float8", "double precision"}, {"public", "mood", "public.mood"},
		{"public", `Odd "type"`, `public."Odd ""type"""`},
	} {
		oid := OID(100 + 2*i)
		raw.Types = append(raw.Types,
			RawType{OID: oid, Name: Name{row.schema, row.name}, Kind: BaseType, SQL: row.sql, Array: oid + 1},
			RawType{OID: oid + 1, Name: Name{row.schema, "_" + row.name}, Kind: BaseType, SQL: row.sql + "[]", Elem: oid})
	}
	c, err := Build(raw, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFindTypeSpellsTypesSafely(t *testing.T) {
	c := typesOnly(t)
	for _, test := range []struct{ spelling, want string }{
		{"INT", "integer"},
		{"int[3][]", "integer[]"},
		{"numeric(10, 2)", `"pg_catalog"."numeric"(10,2)`},
		{"numeric(10,-2)[]", `"pg_catalog"."numeric"(10,-2)[]`},
		{"char", `"pg_catalog"."bpchar"(1)`},
		{"bit", `"pg_catalog"."bit"(1)`},
		{`"bit"`, `"bit"`},
		{"timestamp(3) with time zone array", `"pg_catalog"."timestamptz"(3)[]`},
		{"interval(3)", "interval(3)"},
		{"float(24)", "real"},
		{"float(25)[]", "double precision[]"},
		{"mood", "public.mood"},
		{`"Odd ""type"""[]`, `public."Odd ""type"""[]`},
		{`mood(Point, 4326)`, `"public"."mood"("point",4326)`},
		{"mood); drop table t; --", ""},
		{"other.mood", ""},
		{"'int'", ""},
	} {
		t.Run(test.spelling, func(t *testing.T) {
			found, sql := c.FindType(test.spelling, []string{"public"})
			if sql != test.want || (found == nil) != (test.want == "") {
				t.Errorf("%q, want %q", sql, test.want)
			}
		})
	}
}

// FuzzFindType: no text makes the reader panic, and what it spells it reads back as the same type spelled the same.
func FuzzFindType(f *testing.F) {
	for _, seed := range []string{
		"int", "numeric(10,2)[]", "timestamp(3) with time zone", `public."Odd ""type"""`, "float(24)", "interval(1)", "mood(a,-1)",
		"bit varying(3) array[2]", `"`, "((", "int'; --",
	} {
		f.Add(seed)
	}
	c := typesOnly(f)
	f.Fuzz(func(t *testing.T, spelling string) {
		found, sql := c.FindType(spelling, []string{"public"})
		if found == nil {
			return
		}
		again, sqlAgain := c.FindType(sql, []string{"public"})
		if again != found || sqlAgain != sql {
			t.Errorf("%q is %q, read back as %q", spelling, sql, sqlAgain)
		}
	})
}
