package micro

import (
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"basalt/query/catalog"
	"basalt/query/pgjson"
)

// The OIDs that PostgreSQL gives the row types and tables are any that its own types do not have.
const (
	itemTable catalog.OID = 20000 + iota
	itemRow
	partTable
	partRow
)

// columns of the tables that all scenarios read, as schema.sql makes them.
var (
	itemColumns = []column{
		{"id", pgtype.Int8OID, true}, {"key", pgtype.UUIDOID, true}, {"name", pgtype.TextOID, true}, {"note", pgtype.TextOID, false},
		{"price", pgtype.NumericOID, true}, {"stock", pgtype.Int4OID, true}, {"active", pgtype.BoolOID, true},
		{"extra", pgtype.JSONBOID, true}, {"created_at", pgtype.TimestamptzOID, true}, {"owner", pgtype.UUIDOID, true},
	}
	partColumns = []column{
		{"id", pgtype.Int8OID, true}, {"item_id", pgtype.Int8OID, true}, {"name", pgtype.TextOID, true},
		{"weight", pgtype.NumericOID, false}, {"amount", pgtype.Int4OID, false},
	}
)

type column struct {
	name     string
	oid      catalog.OID
	required bool
}

// newCatalog makes the catalog that a server would read from a database with the tables.
func newCatalog() (*catalog.Catalog, error) {
	raw := catalog.Raw{
		Options:       catalog.Options{Schemas: []string{"public"}},
		ServerVersion: 170000,
		Schemas:       []catalog.RawSchema{{Name: "public"}},
		Relations: []catalog.RawRelation{
			{OID: itemTable, Name: catalog.Name{Schema: "public", Name: "bench_item"}, Kind: catalog.Table, RowType: itemRow, Events: 4 | 8 | 16},
			{OID: partTable, Name: catalog.Name{Schema: "public", Name: "bench_part"}, Kind: catalog.Table, RowType: partRow, Events: 4 | 8 | 16},
		},
		Keys: []catalog.RawKey{
			{Relation: itemTable, Primary: true, Columns: []int16{1}},
			{Relation: partTable, Primary: true, Columns: []int16{1}},
		},
		ForeignKeys: []catalog.RawForeignKey{
			{Name: "bench_part_item_id_fkey", From: partTable, To: itemTable, FromColumns: []int16{2}, ToColumns: []int16{1}},
		},
	}
	for _, t := range []struct {
		oid, array catalog.OID
		name, sql  string
		category   byte
	}{
		{pgtype.BoolOID, pgtype.BoolArrayOID, "bool", "boolean", 'B'},
		{pgtype.Int8OID, pgtype.Int8ArrayOID, "int8", "bigint", 'N'},
		{pgtype.Int4OID, pgtype.Int4ArrayOID, "int4", "integer", 'N'},
		{pgtype.TextOID, pgtype.TextArrayOID, "text", "text", 'S'},
		{pgtype.TimestamptzOID, pgtype.TimestamptzArrayOID, "timestamptz", "timestamp with time zone", 'D'},
		{pgtype.NumericOID, pgtype.NumericArrayOID, "numeric", "numeric", 'N'},
		{pgtype.UUIDOID, pgtype.UUIDArrayOID, "uuid", "uuid", 'U'},
		{pgtype.JSONBOID, pgtype.JSONBArrayOID, "jsonb", "jsonb", 'U'},
	} {
		raw.Types = append(raw.Types,
			catalog.RawType{OID: t.oid, Name: catalog.Name{Schema: "pg_catalog", Name: t.name}, Kind: catalog.BaseType, Category: t.category, SQL: t.sql, Array: t.array},
			catalog.RawType{OID: t.array, Name: catalog.Name{Schema: "pg_catalog", Name: "_" + t.name}, Kind: catalog.BaseType, Category: 'A', SQL: t.sql + "[]", Elem: t.oid})
	}
	for _, table := range []struct {
		oid, row catalog.OID
		name     string
		columns  []column
	}{{itemTable, itemRow, "bench_item", itemColumns}, {partTable, partRow, "bench_part", partColumns}} {
		raw.Types = append(raw.Types, catalog.RawType{OID: table.row, Name: catalog.Name{Schema: "public", Name: table.name},
			Kind: catalog.CompositeType, Category: 'C', SQL: table.name, Relation: table.oid})
		for i, c := range table.columns {
			raw.Columns = append(raw.Columns, catalog.RawColumn{Relation: table.oid, Number: int16(i + 1), Name: c.name, Type: c.oid,
				TypeMod: -1, NotNull: c.required, Writable: true})
		}
	}
	return catalog.Build(raw, 1)
}

func rows() []Benchmark {
	return []Benchmark{
		{Key: "json.1", Name: "One", New: writing(1)},
		{Key: "json.1000", Name: "1,000", New: writing(1000)},
	}
}

// writing writes so many rows into a buffer that is there, as an answer is written.
func writing(n int) func() (func() error, error) {
	return func() (func() error, error) {
		values, err := itemRows(n)
		if err != nil {
			return nil, err
		}
		encoder, err := itemEncoder()
		if err != nil {
			return nil, err
		}
		var text []byte
		return func() (err error) {
			text = text[:0]
			for _, row := range values {
				if text, err = encoder.AppendRow(text, row); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
}

func itemEncoder() (*pgjson.Encoder, error) {
	types, err := newCatalog()
	if err != nil {
		return nil, err
	}
	layout, oids := &pgjson.Layout{}, make([]catalog.OID, 0, len(itemColumns))
	for _, c := range itemColumns {
		layout.Columns, oids = append(layout.Columns, pgjson.NewColumn(c.name, pgjson.Scalar)), append(oids, c.oid)
	}
	return pgjson.NewEncoder(layout, oids, types, time.UTC, "postgres")
}

// itemRows are rows as PostgreSQL sends them in binary.
func itemRows(n int) ([][][]byte, error) {
	encodings := pgtype.NewMap()
	made := time.Date(2026, 1, 1, 0, 0, 0, 123456000, time.UTC)
	rows := make([][][]byte, n)
	for i := range rows {
		id := int64(i + 1)
		for j, value := range []any{
			id, uuid.New(), fmt.Sprint("item ", id), fmt.Sprint("a note about item ", id), pgtype.Numeric{Int: big.NewInt(id * 125), Exp: -2, Valid: true},
			int32(id % 100), id%2 == 0, json.RawMessage(fmt.Sprintf(`{"k": %d, "tags": ["a", "b"]}`, id)), made.Add(time.Duration(id) * time.Minute), uuid.New(),
		} {
			encoded, err := encodings.Encode(itemColumns[j].oid, pgtype.BinaryFormatCode, value, nil)
			if err != nil {
				return nil, fmt.Errorf("encode %s: %w", itemColumns[j].name, err)
			}
			rows[i] = append(rows[i], encoded)
		}
	}
	return rows, nil
}
