package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"basalt/api/apitest"
	"basalt/query/catalog"
	"basalt/query/pgjson"
	"basalt/store"
)

// The sample that all speed comparisons read: ten columns of the usual types behind row-level security.
const speedSchema = `
create table item (
  id bigint primary key,
  key uuid not null default gen_random_uuid(),
  name text not null,
  note text,
  price numeric not null,
  stock int not null,
  active boolean not null,
  extra jsonb not null,
  created_at timestamptz not null default now(),
  owner uuid not null
);
insert into item (id, name, note, price, stock, active, extra, owner)
select g, 'item ' || g, 'a note about item ' || g, g * 1.25, g % 100, g % 2 = 0, jsonb_build_object('k', g, 'tags', array['a', 'b']),
  '00000000-0000-4000-8000-00000000000a'
from generate_series(1, 20000) g;
alter table item enable row level security;
create policy own on item using (owner = (select auth.uid()));
grant all on item to authenticated;
create table part (
  id bigint primary key,
  item_id bigint not null references item,
  name text not null,
  weight numeric,
  amount int
);
insert into part select g, (g - 1) / 10 + 1, 'part ' || g, g * 0.5, g % 7 from generate_series(1, 200000) g;
create index on part (item_id);
grant all on part to authenticated;
create table entry (id bigint generated always as identity primary key, body text, amount int);
grant all on entry to authenticated;
analyze;
`

const speedOwner = "00000000-0000-4000-8000-00000000000a"

// floor is what a person would write by hand for one request: echo, one flight with the same settings and statement,
// binary columns, the same JSON writer. It knows its statement, so it neither parses nor plans.
type floor struct {
	pool    *pgxpool.Pool
	sql     string
	layout  *pgjson.Layout
	types   *catalog.Catalog
	claims  string
	params  func(*http.Request) [][]byte
	raw     bool // the one column is the answer
	encoder *pgjson.Encoder
}

const floorSettings = `select num_nulls(set_config('transaction_read_only', 'on', true),
  set_config('search_path', $1, true), set_config('request.jwt.claims', $2, true),
  set_config('request.method', $3, true), set_config('request.path', $4, true),
  set_config('request.headers', $5, true), set_config('request.cookies', $6, true), set_config('role', $7, true))`

func (f *floor) serve(c echo.Context) error {
	conn, err := f.pool.Acquire(c.Request().Context())
	if err != nil {
		return err
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	settings, statement, err := f.prepared(pg)
	if err != nil {
		return err
	}
	pipeline := pg.StartPipeline(c.Request().Context())
	pipeline.SendQueryStatement(settings, [][]byte{
		[]byte(`"public", "extensions"`), []byte(f.claims), []byte("GET"), []byte("/item"),
		[]byte(`{"host":"127.0.0.1","user-agent":"Go-http-client/1.1","accept-encoding":"gzip"}`), []byte(""), []byte("authenticated"),
	}, nil, []int16{0})
	pipeline.SendQueryStatement(statement, f.params(c.Request()), nil, []int16{1})
	if err := pipeline.Sync(); err != nil {
		return err
	}
	body := make([]byte, 0, 512)
	for step := range 2 {
		results, err := pipeline.GetResults()
		if err != nil {
			return err
		}
		reader := results.(*pgconn.ResultReader)
		if step == 0 {
			if _, err := reader.Close(); err != nil {
				return err
			}
			continue
		}
		if !f.raw {
			body = append(body, '[')
		}
		for n := 0; reader.NextRow(); n++ {
			if f.raw {
				body = append(body, reader.Values()[0]...)
				continue
			}
			if n > 0 {
				body = append(body, ',')
			}
			if body, err = f.encoder.AppendRow(body, reader.Values()); err != nil {
				return err
			}
		}
		if _, err := reader.Close(); err != nil {
			return err
		}
		if !f.raw {
			body = append(body, ']')
		}
	}
	if err := pipeline.Close(); err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "application/json; charset=utf-8", body)
}

func (f *floor) prepared(pg *pgconn.PgConn) (settings, statement *pgconn.StatementDescription, err error) {
	data := pg.CustomData()
	if settings, ok := data["settings"].(*pgconn.StatementDescription); ok {
		return settings, data["statement"].(*pgconn.StatementDescription), nil
	}
	ctx := context.Background()
	if settings, err = pg.Prepare(ctx, "settings", floorSettings, nil); err != nil {
		return nil, nil, err
	}
	if statement, err = pg.Prepare(ctx, "statement", f.sql, nil); err != nil {
		return nil, nil, err
	}
	if f.encoder == nil && !f.raw {
		oids := make([]uint32, len(statement.Fields))
		for i, field := range statement.Fields {
			oids[i] = field.DataTypeOID
		}
		if f.encoder, err = pgjson.NewEncoder(f.layout, oids, f.types, time.UTC, "postgres"); err != nil {
			return nil, nil, err
		}
	}
	data["settings"], data["statement"] = settings, statement
	return settings, statement, nil
}

// speed is a Basalt and the means to set floors beside it.
type speed struct {
	*apitest.Server
	types  *catalog.Catalog
	header string
	claims string
}

func newSpeed(b *testing.B) *speed {
	server := apitest.Start(b, speedSchema, nil)
	conn, err := pgconn.Connect(b.Context(), server.Database.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(b.Context()))
	types, err := store.LoadCatalog(b.Context(), conn, store.CatalogOptions{Schemas: []string{"public"}}, 1)
	if err != nil {
		b.Fatal(err)
	}
	claims := `{"sub":"` + speedOwner + `","role":"authenticated","aud":"authenticated","exp":` +
		fmt.Sprint(time.Now().Add(time.Hour).Unix()) + `}`
	return &speed{Server: server, types: types, header: "Bearer " + server.Sign(b, claims), claims: claims}
}

// floor starts a hand-written server and gives its URL.
func (s *speed) floor(b *testing.B, f *floor) string {
	pool, err := pgxpool.New(b.Context(), s.Database.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	f.pool, f.types, f.claims = pool, s.types, s.claims
	e := echo.New()
	e.GET("/item", f.serve)
	server := httptest.NewServer(e)
	b.Cleanup(server.Close)
	return server.URL
}

func (s *speed) get(b *testing.B, url string) []byte {
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	request.Header.Set("Apikey", s.Keys.AnonKey)
	request.Header.Set("Authorization", s.header)
	request.Header.Set("Accept-Encoding", "identity")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("%s: %d %v %.200s", url, response.StatusCode, err, body)
	}
	return body
}

// compare measures ways to do the same turn by turn, so that the machine's moods hit all alike, and reports the median
// of each and its ratio to the first.
func (s *speed) compare(b *testing.B, names []string, run []func(i int)) {
	for range 20 {
		for _, once := range run {
			once(1)
		}
	}
	took := make([][]time.Duration, len(run))
	b.ResetTimer()
	for i := range b.N {
		for j := range run {
			at := (i + j) % len(run)
			start := time.Now()
			run[at](i)
			took[at] = append(took[at], time.Since(start))
		}
	}
	b.StopTimer()
	var first float64
	for j, name := range names {
		slices.Sort(took[j])
		median := float64(took[j][len(took[j])/2].Nanoseconds()) / 1000
		if j == 0 {
			first = median
		}
		b.ReportMetric(median, name+"-p50-µs")
		if j > 0 {
			b.ReportMetric(median/first, name+"/"+names[0])
		}
	}
}

func columnsOf(names ...string) *pgjson.Layout {
	layout := &pgjson.Layout{}
	for _, name := range names {
		layout.Columns = append(layout.Columns, pgjson.NewColumn(name, pgjson.Scalar))
	}
	return layout
}

var itemColumns = []string{"id", "key", "name", "note", "price", "stock", "active", "extra", "created_at", "owner"}

// BenchmarkReadByKey compares a read by primary key under row-level security with the same by hand.
func BenchmarkReadByKey(b *testing.B) {
	s := newSpeed(b)
	byHand := s.floor(b, &floor{
		sql:    `select ` + strings.Join(itemColumns, ", ") + ` from public.item where id = $1 limit $2`,
		layout: columnsOf(itemColumns...),
		params: func(r *http.Request) [][]byte { return [][]byte{[]byte(r.URL.Query().Get("id")), []byte("1000")} },
	})
	s.compare(b, []string{"hand", "basalt"}, []func(int){
		func(i int) { s.get(b, fmt.Sprintf("%s/item?id=%d", byHand, i%20000+1)) },
		func(i int) { s.get(b, fmt.Sprintf("%s/rest/v1/item?id=eq.%d", s.URL, i%20000+1)) },
	})
}

// BenchmarkList1000 compares a list of 1,000 rows with the same by hand and with JSON made by PostgreSQL.
func BenchmarkList1000(b *testing.B) {
	s := newSpeed(b)
	list := `select ` + strings.Join(itemColumns, ", ") + ` from public.item order by id limit $1`
	limit := func(*http.Request) [][]byte { return [][]byte{[]byte("1000")} }
	byHand := s.floor(b, &floor{sql: list, layout: columnsOf(itemColumns...), params: limit})
	inDatabase := s.floor(b, &floor{sql: `select coalesce(json_agg(q), '[]') from (` + list + `) q`, raw: true, params: limit})
	s.compare(b, []string{"hand", "basalt", "json_agg"}, []func(int){
		func(int) { s.get(b, byHand+"/item") },
		func(int) { s.get(b, s.URL+"/rest/v1/item?order=id") },
		func(int) { s.get(b, inDatabase+"/item") },
	})
}

// BenchmarkEmbed compares 100 parents with ten children each with the same by hand and with JSON made by PostgreSQL.
func BenchmarkEmbed(b *testing.B) {
	s := newSpeed(b)
	none := func(*http.Request) [][]byte { return nil }
	members := columnsOf("id", "name", "weight", "amount", "item_id").Columns
	layout := columnsOf("id", "name")
	layout.Columns = append(layout.Columns, pgjson.NewColumn("part", pgjson.Records, members...))
	byHand := s.floor(b, &floor{layout: layout, params: none, sql: `select id, name, (select array_agg(row(p.id, p.name, p.weight, p.amount, p.item_id))
		from part p where p.item_id = i.id) from item i order by id limit 100`})
	inDatabase := s.floor(b, &floor{raw: true, params: none, sql: `select json_agg(q) from (select i.id, i.name, e.part
		from item i left join lateral (select json_agg(c) as part from (select p.id, p.name, p.weight, p.amount, p.item_id
		from part p where p.item_id = i.id) c) e on true order by i.id limit 100) q`})
	s.compare(b, []string{"hand", "basalt", "json_agg"}, []func(int){
		func(int) { s.get(b, byHand+"/item") },
		func(int) {
			s.get(b, s.URL+"/rest/v1/item?select=id,name,part(id,name,weight,amount,item_id)&order=id&limit=100")
		},
		func(int) { s.get(b, inDatabase+"/item") },
	})
}

// BenchmarkInsertOne compares an insert with the same by bare pgx: identity and insert in one flight, without HTTP.
func BenchmarkInsertOne(b *testing.B) {
	s := newSpeed(b)
	config, err := pgconn.ParseConfig(s.Database.URL)
	if err != nil {
		b.Fatal(err)
	}
	pg, err := pgconn.ConnectConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	defer pg.Close(context.WithoutCancel(b.Context()))
	settings, err := pg.Prepare(b.Context(), "settings", `select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`, nil)
	if err != nil {
		b.Fatal(err)
	}
	insert, err := pg.Prepare(b.Context(), "insert", `insert into public.entry (body, amount) values ($1, $2)`, nil)
	if err != nil {
		b.Fatal(err)
	}
	bare := func(i int) {
		pipeline := pg.StartPipeline(b.Context())
		pipeline.SendQueryStatement(settings, [][]byte{[]byte(s.claims), []byte("authenticated")}, nil, nil)
		pipeline.SendQueryStatement(insert, [][]byte{[]byte("entry"), []byte(fmt.Sprint(i))}, nil, nil)
		if err := pipeline.Sync(); err != nil {
			b.Fatal(err)
		}
		for range 2 {
			results, err := pipeline.GetResults()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := results.(*pgconn.ResultReader).Close(); err != nil {
				b.Fatal(err)
			}
		}
		if err := pipeline.Close(); err != nil {
			b.Fatal(err)
		}
	}
	s.compare(b, []string{"bare", "basalt"}, []func(int){
		bare,
		func(i int) {
			request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.URL+"/rest/v1/entry",
				strings.NewReader(fmt.Sprintf(`{"body":"entry","amount":%d}`, i)))
			if err != nil {
				b.Fatal(err)
			}
			request.Header.Set("Apikey", s.Keys.AnonKey)
			request.Header.Set("Authorization", s.header)
			request.Header.Set("Content-Type", "application/json")
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusCreated {
				b.Fatalf("insert: %d", response.StatusCode)
			}
		},
	})
}
