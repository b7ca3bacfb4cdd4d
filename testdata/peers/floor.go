package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"basalt/api/bench/floor"
	"basalt/api/bench/peers"
	"basalt/store"
)

// bare is what a person would write by hand: this program, started anew as a server.
type bare struct{ server }

func newBare() *bare {
	return &bare{server{Peer: peers.Peer{
		Name: "floor", Title: "handler by hand",
		Built:    "An echo handler for each request: nothing is parsed, planned or checked, one flight with settings and statement, JSON from binary columns",
		Identity: "No token is looked at; the settings and policies are those of Basalt's requests",
		Durable:  "As Basalt: the same PostgreSQL",
	}}}
}

// Variables that tell the program to be the server by hand.
const (
	floorAddress  = "PEERS_FLOOR_ADDRESS"
	floorDatabase = "PEERS_FLOOR_DATABASE"
	floorClaims   = "PEERS_FLOOR_CLAIMS"
)

func (b *bare) start(ctx context.Context, w *workshop) error {
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	claims, err := claimsOf(w.token)
	if err != nil {
		return err
	}
	env := []string{floorAddress + "=" + address, floorDatabase + "=" + w.postgres.url, floorClaims + "=" + claims}
	if b.process, err = run(filepath.Join(w.scratch, b.Name), env, binary); err != nil {
		return err
	}
	b.url = "http://" + address
	path := func(format string, of func(int) int) func(int) string {
		return func(turn int) string { return fmt.Sprintf(format, of(turn)) }
	}
	b.requests = map[string]request{
		byKey:  get("", path("/pk?id=%d", keyOf), rowsOf),
		list:   get("", path("/list20?stock=%d", stockOf), rowsOf),
		long:   get("", path("/list1000?after=%d", afterOf), rowsOf),
		nested: get("", path("/embed20x5?after=%d", parentOf), rowsOf),
		insert: post("", "/insert", http.StatusCreated),
	}
	return b.process.ready(ctx, b.url+"/pk?id=1")
}

// claimsOf reads the claims of a token as they stand.
func claimsOf(token string) (string, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("the token is not a JSON Web Token")
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	return string(claims), err
}

// connections is the size of Basalt's pool as it is shipped; PostgreSQL's other peers get the same where they ask for one.
func connections() string { return strconv.Itoa(max(8, 4*runtime.NumCPU())) }

func openPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(max(8, 4*runtime.NumCPU()))
	return pgxpool.NewWithConfig(ctx, config)
}

const listSQL = `
select id, key, name, note, price, stock, active, extra, created_at, owner
from public.bench_item
where stock = $1
order by price
limit 20`

const embedSQL = `
select i.id, i.name,
  (select array_agg(row(p.id, p.name, p.weight, p.amount, p.item_id)) from public.bench_part p where p.item_id = i.id)
from public.bench_item i
where i.id > $1
order by i.id
limit 20`

func listStatement() *floor.Statement {
	return &floor.Statement{SQL: listSQL, Columns: floor.ReadByKey().Columns, Params: param("stock")}
}

func embedStatement() *floor.Statement {
	return &floor.Statement{SQL: embedSQL, Params: param("after"), Columns: floor.Embed().Columns}
}

func param(name string) func(*http.Request) [][]byte {
	return func(r *http.Request) [][]byte { return [][]byte{[]byte(r.URL.Query().Get(name))} }
}

// serveFloor is the server by hand.
func serveFloor(ctx context.Context, address, database, claims string) error {
	pool, err := openPool(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	types, err := store.LoadCatalog(ctx, conn.PgConn(), store.CatalogOptions{Schemas: []string{"public"}}, 1)
	conn.Close(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	by := &floor.Server{Pool: pool, Types: types, Claims: claims}
	e := echo.New()
	e.GET("/pk", by.Handler(floor.ReadByKey()))
	e.GET("/list20", by.Handler(listStatement()))
	e.GET("/list1000", by.Handler(floor.List()))
	e.GET("/embed20x5", by.Handler(embedStatement()))
	e.POST("/insert", by.Handler(floor.Insert()))
	server := &http.Server{Addr: address, Handler: e}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(server.Shutdown(shutdown), server.Close())
	}
}
