package store_test

import (
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/store/storetest"
)

// TestFindTypeReadsNamesAsPostgreSQLDoes has PostgreSQL cast to the name as it was given and to what FindType makes
// of it: both must be the same type with the same modifier, or none.
func TestFindTypeReadsNamesAsPostgreSQLDoes(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	db.Exec(t, `create type mood as enum ('a');
		create type "Odd ""type""" as (x int);
		create domain extensions.ext as int;
		create schema second;
		create type second.only_there as enum ('b');
		create type public.text as enum ('shadowed');
		create table rows (id int)`)
	c := load(t, db.URL, richOptions)
	conn := connect(t, db.URL)
	if _, err := conn.Exec(t.Context(), "set search_path = public, extensions").ReadAll(); err != nil {
		t.Fatal(err)
	}
	for _, spelling := range []string{
		"int", "INTEGER", " int ", "smallint", "bigint", "int2", "int4", "int8", "real", "float", "float(1)",
		"float(24)", "float(25)", "float(53)", "float(54)", "float(0)", "float4", "float8", "double precision",
		"double", "Double  Precision", "decimal", "dec(5)", "numeric", "numeric(10,2)", "numeric(10, -2)",
		"numeric ( 10 , 2 ) [ ]", "boolean", "bool", "text", "text[]", "text[][]", "text[3]", "text array",
		"text array[3]", "int[", "int]", "varchar", "varchar(20)", "character varying(20)", "char varying", "char",
		"character", "char(3)", "character(3)[]", `"char"`, "bpchar", "bpchar(2)", "nchar(2)", "national character varying(4)",
		"bit", "bit(3)", "bit varying", "bit varying(4)", "varbit(4)", "time", "time(3)", "time with time zone",
		"time(3) with time zone", "timestamp", "timestamp(3)", "timestamp (3) without time zone",
		"timestamp with time zone", "timestamp(0) with time zone[]", "timestamptz(3)", "date", "interval",
		"interval(3)", "json", "jsonb", "uuid", "bytea", "xml", "inet", "name", "oid", "regclass", "int4range",
		"int4multirange", "mood", "mood[]", "MOOD", `"mood"`, `"MOOD"`, `"Odd ""type"""`, `"Odd ""type"""[]`,
		`public."Odd ""type"""`, "public.mood", "public . mood", "ext", "extensions.ext[]", "only_there",
		"second.only_there", "pg_catalog.int4", "pg_catalog.integer", "pg_catalog.varchar(3)", "public.text", "rows", "rows[]",
		`"int"`, `"int4"`, "", "  ", "nothing", "int int", "int; drop table rows", "int--", "int)", "varchar(", "varchar()",
		"varchar(3", "numeric(1,2,3)", `varchar("x")`, "a.b.c", ".int", "int.", `"unended`, `""`, "int array array", "array",
		"1int", "in$t", "point", "tsvector", "int2vector", "void",
	} {
		t.Run(spelling, func(t *testing.T) {
			found, sql := c.FindType(spelling, []string{"public", "extensions"})
			wantOID, wantMod, err := castType(t, conn, spelling)
			if found == nil {
				if err == nil {
					t.Errorf("not found, though PostgreSQL knows it as %d", wantOID)
				}
				return
			}
			gotOID, gotMod, gotErr := castType(t, conn, sql)
			switch {
			case err != nil && gotErr == nil:
				t.Errorf("found as %s, though PostgreSQL says %v", sql, err)
			case err == nil && gotErr != nil:
				t.Errorf("found as %s, of which PostgreSQL says %v", sql, gotErr)
			case err == nil && (gotOID != wantOID || gotMod != wantMod || found.OID != wantOID):
				t.Errorf("%s is %d(%d), and the type %d; want %d(%d)", sql, gotOID, gotMod, found.OID, wantOID, wantMod)
			}
		})
	}
}

// castType asks for the type and modifier of a cast.
func castType(t *testing.T, conn *pgconn.PgConn, typeName string) (oid uint32, mod int32, err error) {
	t.Helper()
	value := "cast(null as " + typeName + ")"
	result := conn.ExecParams(t.Context(), "select "+value+", pg_typeof("+value+")::oid", nil, nil, nil, nil).Read()
	if result.Err != nil {
		return 0, 0, result.Err
	}
	// The description of a row has a domain's base type in its place.
	number, err := strconv.ParseUint(string(result.Rows[0][1]), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(number), result.FieldDescriptions[0].TypeModifier, nil
}
