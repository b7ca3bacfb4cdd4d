package pgjson

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/catalog"
	"basalt/store/storetest"
)

// openDatabase makes a database that lives as long as the test, and connects to it.
func openDatabase(t testing.TB) *pgconn.PgConn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, storetest.NewEmpty(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func execute(t testing.TB, conn *pgconn.PgConn, sql string) {
	t.Helper()
	if _, err := conn.Exec(context.Background(), sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// text gives the one value of a query.
func text(t testing.TB, conn *pgconn.PgConn, sql string) string {
	t.Helper()
	results, err := conn.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return string(results[len(results)-1].Rows[0][0])
}

// major is the server's version.
func major(t testing.TB, conn *pgconn.PgConn) int {
	t.Helper()
	number, _, _ := strings.Cut(conn.ParameterStatus("server_version"), ".")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// binaryRows runs a statement with binary parameters and results.
func binaryRows(t testing.TB, conn *pgconn.PgConn, sql string, params ...[]byte) *pgconn.Result {
	t.Helper()
	formats := make([]int16, len(params))
	for i := range formats {
		formats[i] = 1
	}
	result := conn.ExecParams(context.Background(), sql, params, nil, formats, []int16{1}).Read()
	if result.Err != nil {
		t.Fatalf("%.500s: %v", sql, result.Err)
	}
	return result
}

// columnOIDs gives the types of the first count columns.
func columnOIDs(result *pgconn.Result, count int) []uint32 {
	oids := make([]uint32, count)
	for i := range oids {
		oids[i] = result.FieldDescriptions[i].DataTypeOID
	}
	return oids
}

// scalars makes a layout of plain columns.
func scalars(names ...string) *Layout {
	layout := &Layout{}
	for _, name := range names {
		layout.Columns = append(layout.Columns, NewColumn(name, Scalar))
	}
	return layout
}

// typeMap is a catalog of types only.
type typeMap map[uint32]*catalog.Type

func (m typeMap) Type(oid uint32) *catalog.Type { return m[oid] }

// named finds a type by its name without schema.
func (m typeMap) named(t testing.TB, name string) *catalog.Type {
	t.Helper()
	for _, found := range m {
		if found.Name.Name == name {
			return found
		}
	}
	t.Fatalf("no type %s", name)
	return nil
}

func loadTypes(t testing.TB, conn *pgconn.PgConn) typeMap {
	t.Helper()
	query := func(sql string) [][][]byte {
		results, err := conn.Exec(context.Background(), sql).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return results[0].Rows
	}
	oid := func(text []byte) uint32 {
		n, err := strconv.ParseUint(string(text), 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(n)
	}
	types := typeMap{}
	const all = `
select t.oid, n.nspname, t.typname, t.typtype, t.typcategory, t.typarray,
       case when t.typsubscript = 'array_subscript_handler'::regproc then t.typelem else 0 end, t.typbasetype
from pg_type t
join pg_namespace n on n.oid = t.typnamespace`
	rows := query(all)
	for _, row := range rows {
		types[oid(row[0])] = &catalog.Type{
			OID:      oid(row[0]),
			Name:     catalog.Name{Schema: string(row[1]), Name: string(row[2])},
			Kind:     catalog.TypeKind(row[3][0]),
			Category: row[4][0],
			Array:    oid(row[5]),
		}
	}
	for _, row := range rows {
		types[oid(row[0])].Elem = types[oid(row[6])]
		types[oid(row[0])].Base = types[oid(row[7])]
	}
	const attributes = `
select c.reltype, a.attname, a.atttypid
from pg_class c
join pg_attribute a on a.attrelid = c.oid
where c.reltype <> 0
  and a.attnum > 0
  and not a.attisdropped
order by c.oid, a.attnum`
	for _, row := range query(attributes) {
		owner := types[oid(row[0])]
		owner.Fields = append(owner.Fields, catalog.Field{Name: string(row[1]), Type: types[oid(row[2])]})
	}
	return types
}
