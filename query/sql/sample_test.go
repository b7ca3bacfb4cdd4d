package sql_test

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"math/big"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

var (
	//go:embed testdata/schema.sql
	sampleSchema string
	//go:embed testdata/writes.sql
	writesSchema string
	//go:embed testdata/routines.sql
	routinesSchema string
)

// sample is a database with the sample schema, and its catalog.
type sample struct {
	*storetest.Database
	catalog *catalog.Catalog
}

func newSample(t testing.TB) *sample {
	t.Helper()
	database := storetest.NewEmpty(t)
	database.Exec(t, sampleSchema+writesSchema+routinesSchema)
	s := &sample{Database: database}
	s.load(t)
	return s
}

// load reads the catalog as it is now.
func (s *sample) load(t testing.TB) {
	t.Helper()
	s.with(t, func(conn *pgconn.PgConn) {
		var err error
		options := store.CatalogOptions{Schemas: []string{"public"}}
		if s.catalog, err = store.LoadCatalog(t.Context(), conn, options, 1); err != nil {
			t.Fatalf("load the catalog: %v", err)
		}
	})
}

// with lends a connection.
func (s *sample) with(t testing.TB, use func(*pgconn.PgConn)) {
	t.Helper()
	conn, err := s.Pool.Acquire(t.Context())
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Release()
	use(conn.Conn().PgConn())
}

// prepare has PostgreSQL check a statement.
func prepare(t testing.TB, conn *pgconn.PgConn, s *sql.Statement) (*pgconn.StatementDescription, error) {
	t.Helper()
	description, err := conn.Prepare(t.Context(), "", s.SQL, nil)
	if err == nil && len(description.ParamOIDs) != len(s.Params) {
		err = fmt.Errorf("%d parameters are used, %d are bound", len(description.ParamOIDs), len(s.Params))
	}
	return description, err
}

// run runs a statement for a request and gives its rows as one JSON array.
func (s *sample) run(t testing.TB, conn *pgconn.PgConn, statement *sql.Statement, r *query.Request) ([]byte, error) {
	t.Helper()
	a, err := s.answer(t, conn, statement, r)
	return a.rows, err
}

// answer is what a statement gives.
type answer struct {
	rows     []byte // a JSON array of what is shown
	hidden   []string
	affected int64
}

// answer runs a statement for a request.
func (s *sample) answer(t testing.TB, conn *pgconn.PgConn, statement *sql.Statement, r *query.Request) (answer, error) {
	t.Helper()
	a := answer{rows: []byte("[]")}
	if statement.Nothing {
		return a, nil
	}
	params, err := statement.Bind(nil, r)
	if err != nil {
		return a, err
	}
	description, err := prepare(t, conn, statement)
	if err != nil {
		return a, err
	}
	encoder, err := s.encoder(statement, description)
	if err != nil {
		return a, err
	}
	var out bytes.Buffer
	out.WriteByte('[')
	result := conn.ExecPrepared(t.Context(), "", params, statement.Formats, []int16{1})
	for result.NextRow() {
		values := result.Values()
		for i, hidden := range statement.Hidden {
			text := string(values[i])
			if hidden.Kind != sql.KeyColumn {
				text = new(big.Int).SetBytes(values[i]).String()
			}
			a.hidden = append(a.hidden, text)
		}
		if r.Returning != query.ReturnRows {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		row, err := appendShown(nil, encoder, statement, values[len(statement.Hidden):])
		if err != nil {
			return a, err
		}
		out.Write(row)
	}
	out.WriteByte(']')
	tag, err := result.Close()
	a.rows, a.affected = out.Bytes(), tag.RowsAffected()
	return a, err
}

// encoder makes the encoder of a statement's columns.
func (s *sample) encoder(statement *sql.Statement, description *pgconn.StatementDescription) (*pgjson.Encoder, error) {
	oids := make([]uint32, len(description.Fields))
	for i := range description.Fields {
		oids[i] = description.Fields[i].DataTypeOID
	}
	zone, err := pgjson.LoadZone("UTC")
	if err != nil {
		return nil, err
	}
	return pgjson.NewEncoder(statement.Layout, oids[len(statement.Hidden):], s.catalog, zone, "postgres")
}

func appendShown(dst []byte, encoder *pgjson.Encoder, statement *sql.Statement, values [][]byte) ([]byte, error) {
	if statement.Scalar {
		return encoder.AppendValue(dst, 0, values[0])
	}
	return encoder.AppendRow(dst, values)
}
