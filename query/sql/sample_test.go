package sql_test

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/query/plan"
	"basalt/query/sql"
	"basalt/store"
	"basalt/store/storetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

//go:embed testdata/schema.sql
var sampleSchema string

// sample is a database with the sample schema, and its catalog.
type sample struct {
	*storetest.Database
	catalog *catalog.Catalog
}

func newSample(t testing.TB) *sample {
	t.Helper()
	database := storetest.NewEmpty(t)
	database.Exec(t, sampleSchema)
	s := &sample{Database: database}
	s.with(t, func(conn *pgconn.PgConn) {
		var err error
		options := store.CatalogOptions{Schemas: []string{"public"}}
		if s.catalog, err = store.LoadCatalog(t.Context(), conn, options, 1); err != nil {
			t.Fatalf("load the catalog: %v", err)
		}
	})
	return s
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

// compile parses, plans and compiles the request that a line such as
//
//	GET /orders?select=id # count=exact max-rows=10
//
// stands for.
func (s *sample) compile(line string) (*query.Request, *sql.Statement, error) {
	line, options, _ := strings.Cut(strings.TrimPrefix(line, "GET /"), " # ")
	target, raw, _ := strings.Cut(line, "?")
	r := &query.Request{
		Action: query.Read, Schema: "public", Target: target, Query: &query.Query{},
		Limit: -1, Aggregates: true, LegacyTargetNames: true,
	}
	for _, option := range strings.Fields(options) {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "count":
			r.Prefer.Count = map[string]query.CountPreference{
				"exact": query.CountExact, "planned": query.CountPlanned, "estimated": query.CountEstimated,
			}[value]
		case "max-rows":
			r.MaxRows, _ = strconv.ParseInt(value, 10, 64)
		case "no-aggregates":
			r.Aggregates = false
		case "no-legacy":
			r.LegacyTargetNames = false
		default:
			return nil, nil, fmt.Errorf("unknown option %q", option)
		}
	}
	if err := r.Query.Parse(raw, query.ParseOptions{}); err != nil {
		return nil, nil, err
	}
	var err error
	if r.Limit, r.Offset, err = query.Window(r.Query.TopRange(), "", r.MaxRows); err != nil {
		return nil, nil, err
	}
	planned, err := plan.NewRead(s.catalog, r)
	if err != nil {
		return nil, nil, err
	}
	return r, sql.CompileRead(planned), nil
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
	params, err := statement.Bind(nil, r)
	if err != nil {
		return nil, err
	}
	description, err := prepare(t, conn, statement)
	if err != nil {
		return nil, err
	}
	oids := make([]uint32, len(description.Fields))
	for i := range description.Fields {
		oids[i] = description.Fields[i].DataTypeOID
	}
	zone, err := pgjson.LoadZone("UTC")
	if err != nil {
		return nil, err
	}
	encoder, err := pgjson.NewEncoder(statement.Layout, oids, s.catalog, zone, "postgres")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteByte('[')
	result := conn.ExecPrepared(t.Context(), "", params, nil, []int16{1})
	for result.NextRow() {
		row, err := encoder.AppendRow(nil, result.Values())
		if err != nil {
			return nil, err
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(row)
	}
	out.WriteByte(']')
	_, err = result.Close()
	return out.Bytes(), err
}
