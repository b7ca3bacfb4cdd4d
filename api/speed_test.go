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
	"basalt/api/bench"
	"basalt/api/bench/floor"
	"basalt/query/catalog"
	"basalt/store"
)

const speedOwner = "00000000-0000-4000-8000-00000000000a"

// speedRows fill the tables of the benchmark.
const speedRows = `
insert into bench_item (id, key, name, note, price, stock, active, extra, created_at, owner)
select g, gen_random_uuid(), 'item ' || g, 'a note about item ' || g, g * 1.25, g % 100, g % 2 = 0,
  jsonb_build_object('k', g, 'tags', array['a', 'b']), now(), '` + speedOwner + `'
from generate_series(1, 20000) g;
insert into bench_part select g, (g - 1) / 10 + 1, 'part ' || g, g * 0.5, g % 7 from generate_series(1, 100000) g;
analyze;
`

// speed is a Basalt and the means to set floors beside it.
type speed struct {
	*apitest.Server
	types  *catalog.Catalog
	header string
	claims string
}

func newSpeed(b *testing.B) *speed {
	server := apitest.Start(b, bench.Schema+speedRows, nil)
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

// byHand answers GET /item by hand and gives its URL.
func (s *speed) byHand(b *testing.B, statement *floor.Statement) string {
	pool, err := pgxpool.New(b.Context(), s.Database.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	e := echo.New()
	e.GET("/item", (&floor.Server{Pool: pool, Types: s.types, Claims: s.claims}).Handler(statement))
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

// BenchmarkReadByKey compares a read by primary key under row-level security with the same by hand.
func BenchmarkReadByKey(b *testing.B) {
	s := newSpeed(b)
	byHand := s.byHand(b, floor.ReadByKey())
	s.compare(b, []string{"hand", "basalt"}, []func(int){
		func(i int) { s.get(b, fmt.Sprintf("%s/item?id=%d", byHand, i%20000+1)) },
		func(i int) { s.get(b, fmt.Sprintf("%s/rest/v1/bench_item?id=eq.%d", s.URL, i%20000+1)) },
	})
}

// BenchmarkList1000 compares a list of 1,000 rows with the same by hand and with JSON made by PostgreSQL.
func BenchmarkList1000(b *testing.B) {
	s := newSpeed(b)
	byHand, inDatabase := s.byHand(b, floor.List()), s.byHand(b, floor.ListInDatabase())
	s.compare(b, []string{"hand", "basalt", "json_agg"}, []func(int){
		func(int) { s.get(b, byHand+"/item?after=0") },
		func(int) { s.get(b, s.URL+"/rest/v1/bench_item?order=id&id=gt.0&limit=1000") },
		func(int) { s.get(b, inDatabase+"/item?after=0") },
	})
}

// BenchmarkEmbed compares 100 parents with ten children each with the same by hand and with JSON made by PostgreSQL.
func BenchmarkEmbed(b *testing.B) {
	s := newSpeed(b)
	byHand, inDatabase := s.byHand(b, floor.Embed()), s.byHand(b, floor.EmbedInDatabase())
	s.compare(b, []string{"hand", "basalt", "json_agg"}, []func(int){
		func(int) { s.get(b, byHand+"/item?after=0") },
		func(int) {
			s.get(b, s.URL+"/rest/v1/bench_item?select=id,name,bench_part(id,name,weight,amount,item_id)&order=id&id=gt.0&limit=100")
		},
		func(int) { s.get(b, inDatabase+"/item?after=0") },
	})
}

// BenchmarkInsertOne compares an insert with the same by bare pgx: identity and insert in one flight, without HTTP.
func BenchmarkInsertOne(b *testing.B) {
	s := newSpeed(b)
	pg, err := pgconn.Connect(b.Context(), s.Database.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer pg.Close(context.WithoutCancel(b.Context()))
	bare := func(int) {
		_, err := floor.Fly(b.Context(), pg, floor.Insert().SQL, floor.Settings(s.claims, "POST", true), floor.InsertParams(), nil, nil)
		if err != nil {
			b.Fatal(err)
		}
	}
	s.compare(b, []string{"bare", "basalt"}, []func(int){
		bare,
		func(i int) {
			request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.URL+"/rest/v1/bench_entry",
				strings.NewReader(fmt.Sprintf(`{"run":"%s","body":"entry","amount":%d}`, speedOwner, i)))
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
