package sql_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query"
)

const bulkRows = 10_000

const bulkSchema = `
create table public.bulk (
  id bigint primary key,
  name text not null,
  amount numeric(12, 2),
  paid boolean,
  placed timestamptz,
  owner uuid,
  score double precision,
  data jsonb
);
create table public.copied (like public.bulk including all)`

// bulkBodies are the same rows as JSON and as PostgreSQL's COPY takes them.
func bulkBodies() (json, copied []byte) {
	var a, b bytes.Buffer
	for i := range bulkRows {
		separator := ","
		if i == 0 {
			separator = "["
		}
		name := fmt.Sprintf("Customer number %d, \u00e9t\u00e9", i)
		placed := time.Unix(1_700_000_000+int64(i)*61, 0).UTC().Format(time.RFC3339)
		owner := fmt.Sprintf("00000000-0000-4000-8000-%012x", i)
		data := fmt.Sprintf(`{"tags": ["a", "b"], "n": %d}`, i)
		fmt.Fprintf(&a, `%s{"id":%d,"name":"%s","amount":%d.25,"paid":%t,"placed":"%s","owner":"%s","score":%g,"data":%s}`,
			separator, i, name, i%1000, i%3 == 0, placed, owner, float64(i)/7, data)
		fmt.Fprintf(&b, "%d\t%s\t%d.25\t%t\t%s\t%s\t%g\t%s\n", i, name, i%1000, i%3 == 0, placed, owner, float64(i)/7, data)
	}
	a.WriteString("]")
	return a.Bytes(), b.Bytes()
}

// BenchmarkBulkInsert inserts rows that came as JSON and copies the same rows into a table of the same kind, one after
// the other. It reports how many times longer the insert takes.
func BenchmarkBulkInsert(b *testing.B) {
	s := newSample(b)
	s.Exec(b, bulkSchema)
	s.load(b)
	body, copied := bulkBodies()
	var inserting, copying time.Duration
	s.with(b, func(conn *pgconn.PgConn) {
		for b.Loop() {
			if err := conn.Exec(b.Context(), "truncate public.bulk, public.copied").Close(); err != nil {
				b.Fatal(err)
			}
			start := time.Now()
			s.bulkInsert(b, conn, body)
			inserting += time.Since(start)
			start = time.Now()
			if _, err := conn.CopyFrom(b.Context(), bytes.NewReader(copied), "copy public.copied from stdin"); err != nil {
				b.Fatal(err)
			}
			copying += time.Since(start)
		}
	})
	b.ReportMetric(float64(inserting)/float64(copying), "copies")
	b.ReportMetric(float64(inserting.Milliseconds())/float64(b.N), "ms/insert")
	b.ReportMetric(float64(copying.Milliseconds())/float64(b.N), "ms/copy")
}

func (s *sample) bulkInsert(b *testing.B, conn *pgconn.PgConn, body []byte) {
	r := &query.Request{Action: query.Insert, Schema: "public", Target: "bulk", Query: &query.Query{}, Limit: -1}
	var err error
	if r.Payload, err = query.ReadJSON(body, query.JSONOptions{}); err != nil {
		b.Fatal(err)
	}
	statement, err := s.statement(r)
	if err != nil {
		b.Fatal(err)
	}
	params, err := statement.Bind(nil, r)
	if err != nil {
		b.Fatal(err)
	}
	if result := conn.ExecParams(b.Context(), statement.SQL, params, nil, statement.Formats, nil).Read(); result.Err != nil {
		b.Fatal(result.Err)
	}
}

// BenchmarkBindRows binds the same rows.
func BenchmarkBindRows(b *testing.B) {
	s := newSample(b)
	s.Exec(b, bulkSchema)
	s.load(b)
	body, _ := bulkBodies()
	r := &query.Request{Action: query.Insert, Schema: "public", Target: "bulk", Query: &query.Query{}, Limit: -1}
	var err error
	if r.Payload, err = query.ReadJSON(body, query.JSONOptions{}); err != nil {
		b.Fatal(err)
	}
	statement, err := s.statement(r)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := statement.Bind(nil, r); err != nil {
			b.Fatal(err)
		}
	}
}
