package floor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/query/catalog"
	"basalt/store"
)

// Serve answers by hand, on a free port of the loopback whose URL it prints, until ctx ends. Its pool is as large as
// Basalt's. Rows are read with the claims, tokens verified with the secret.
func Serve(ctx context.Context, databaseURL, claims string, secret auth.Secret, out io.Writer) error {
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		return fmt.Errorf("read the database's URL: %w", err)
	}
	config.MaxConns = int32(max(8, 4*runtime.NumCPU()))
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	types, err := loadTypes(ctx, databaseURL)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: (&Server{Pool: pool, Types: types, Claims: claims, Secret: secret}).routes()}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(server.Shutdown(shutdown), server.Close())
	}
}

func loadTypes(ctx context.Context, databaseURL string) (*catalog.Catalog, error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return store.LoadCatalog(ctx, conn.PgConn(), store.CatalogOptions{Schemas: []string{"public"}}, 1)
}

// Paths of the requests that are answered by hand.
const (
	PathConstant  = "/constant"
	PathByKey     = "/pk?id="
	PathList      = "/list1000?after="
	PathListJSON  = "/list1000-json?after="
	PathEmbed     = "/embed100x10?after="
	PathEmbedJSON = "/embed100x10-json?after="
	PathInsert    = "/insert"
	PathUser      = "/user"
)

func (s *Server) routes() *echo.Echo {
	e := echo.New()
	e.GET("/constant", func(c echo.Context) error {
		return c.Blob(http.StatusOK, contentType, []byte(`[]`))
	})
	e.GET("/pk", s.Handler(ReadByKey()))
	e.GET("/list1000", s.Handler(List()))
	e.GET("/list1000-json", s.Handler(ListInDatabase()))
	e.GET("/embed100x10", s.Handler(Embed()))
	e.GET("/embed100x10-json", s.Handler(EmbedInDatabase()))
	e.POST("/insert", s.Handler(Insert()))
	e.GET("/user", Verifying(s.Secret, User(s.Pool)))
	return e
}

var columns = []string{"id", "key", "name", "note", "price", "stock", "active", "extra", "created_at", "owner"}

const columnsSQL = `id, key, name, note, price, stock, active, extra, created_at, owner`

func query(name string) func(*http.Request) [][]byte {
	return func(r *http.Request) [][]byte { return [][]byte{[]byte(r.URL.Query().Get(name))} }
}

// ReadByKey reads one row of bench_item.
func ReadByKey() *Statement {
	return &Statement{
		SQL:     `select ` + columnsSQL + ` from public.bench_item where id = $1`,
		Columns: Columns(columns...), Params: query("id"),
	}
}

// List reads 1,000 rows of bench_item.
func List() *Statement {
	return &Statement{
		SQL:     `select ` + columnsSQL + ` from public.bench_item where id > $1 order by id limit 1000`,
		Columns: Columns(columns...), Params: query("after"),
	}
}

// ListInDatabase is List with its JSON made by PostgreSQL.
func ListInDatabase() *Statement {
	list := List()
	return &Statement{SQL: `select coalesce(json_agg(q), '[]') from (` + list.SQL + `) q`, Params: list.Params}
}

// Embed reads 100 rows of bench_item with their ten parts.
func Embed() *Statement {
	return &Statement{
		SQL: `
select i.id, i.name,
  (select array_agg(row(p.id, p.name, p.weight, p.amount, p.item_id)) from public.bench_part p where p.item_id = i.id)
from public.bench_item i
where i.id > $1
order by i.id
limit 100`,
		Columns: Embedding(Columns("id", "name"), "bench_part", Columns("id", "name", "weight", "amount", "item_id")),
		Params:  query("after"),
	}
}

// EmbedInDatabase is Embed with the JSON of children and parents made by PostgreSQL, as PostgREST has it made.
func EmbedInDatabase() *Statement {
	return &Statement{Params: query("after"), SQL: `
select coalesce(json_agg(q), '[]')
from (
  select i.id, i.name, e.bench_part
  from public.bench_item i
  left join lateral (
    select json_agg(c) as bench_part
    from (select p.id, p.name, p.weight, p.amount, p.item_id from public.bench_part p where p.item_id = i.id) c
  ) e on true
  where i.id > $1
  order by i.id
  limit 100
) q`}
}

// Insert writes one row of bench_entry.
func Insert() *Statement {
	return &Statement{
		SQL:    `insert into public.bench_entry (run, body, amount) values ($1, $2, $3)`,
		Params: func(*http.Request) [][]byte { return InsertParams() },
		Writes: true,
	}
}

// InsertParams are those of Insert's statement.
func InsertParams() [][]byte {
	return [][]byte{[]byte("00000000-0000-4000-8000-000000000000"), []byte("an entry"), []byte("7")}
}
