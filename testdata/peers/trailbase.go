package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"basalt/api/bench/peers"
)

// trailBase is SQLite in Rust, behind rules of its own.
type trailBase struct{ server }

const trailBaseVersion = "0.2.0"

//go:embed trailbase
var trailBaseSource embed.FS

func newTrailBase() *trailBase {
	return &trailBase{server{
		Peer: peers.Peer{
			Name: "trailbase", Title: "TrailBase", Version: trailBaseVersion,
			Built:    "The crate trailbase, the newest in the registry though not the newest release, without its JavaScript engine, behind a main of a few lines",
			Identity: `A signed-in user's token; the read rule "_ROW_.owner = _USER_.id" becomes a condition of the statement. A read by key is its record endpoint`,
			Durable:  "SQLite in WAL mode with synchronous=NORMAL: the last commits before a power failure may be lost, no commit waits for the disk",
		},
		missing: map[string]string{
			long:   "a list of its has at most 256 rows",
			nested: "it expands a key to the row that it names, not a row to those that name it",
		},
	}}
}

const trailBaseTables = `
create table bench_item (
  id integer primary key not null,
  key text not null,
  name text not null,
  note text,
  price real not null,
  stock integer not null,
  active integer not null,
  extra text not null,
  created_at text not null,
  owner blob not null references _user (id)
) strict;
create index bench_item_stock on bench_item (stock, price);

create table bench_entry (
  id integer primary key not null,
  run text not null,
  body text not null,
  amount integer not null
) strict;
`

const trailBaseConfig = `
email {}
server { application_name: "bench" }
auth {}
jobs {}
record_apis: [
  { name: "bench_item" table_name: "bench_item" acl_authenticated: [READ] read_access_rule: "_ROW_.owner = _USER_.id" },
  { name: "bench_entry" table_name: "bench_entry" acl_authenticated: [CREATE] }
]
`

func (t *trailBase) start(ctx context.Context, w *workshop) error {
	binary, err := t.build(ctx, w)
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	folder := filepath.Join(w.scratch, t.Name)
	depot := filepath.Join(folder, "traildepot")
	files := map[string]string{
		filepath.Join("migrations", "U1000000000__bench.sql"): trailBaseTables,
		"config.textproto": trailBaseConfig,
	}
	for name, text := range files {
		path := filepath.Join(depot, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	email, password := "owner@example.com", rand.Text()
	if t.process, err = run(folder, nil, binary, address, depot, email, password); err != nil {
		return err
	}
	t.url = "http://" + address
	if err := t.process.ready(ctx, t.url+"/api/healthcheck"); err != nil {
		return err
	}
	text, err := ask(ctx, http.MethodPost, t.url+"/api/auth/v1/login", "", fmt.Appendf(nil, `{"email": %q, "password": %q}`, email, password))
	if err != nil {
		return err
	}
	var session struct {
		Token string `json:"auth_token"`
	}
	if err := json.Unmarshal(text, &session); err != nil {
		return err
	}
	if err := fillTrailBase(ctx, filepath.Join(depot, "data", "main.db"), email); err != nil {
		return err
	}
	t.ask(bearer(session.Token))
	return nil
}

func (t *trailBase) build(ctx context.Context, w *workshop) (string, error) {
	target := filepath.Join(w.cache, t.Name+"-"+trailBaseVersion)
	binary := filepath.Join(target, "release", "trail")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	source := filepath.Join(target, "source")
	// What an earlier version has left there is not built again.
	if err := errors.Join(os.RemoveAll(source), os.CopyFS(source, trailBaseSource)); err != nil {
		return "", err
	}
	source = filepath.Join(source, "trailbase")
	if err := os.Chmod(filepath.Join(source, "pnpm"), 0o755); err != nil {
		return "", err
	}
	env := []string{"CARGO_TARGET_DIR=" + target, "PATH=" + source + string(os.PathListSeparator) + os.Getenv("PATH")}
	return binary, w.build(ctx, t.Name, source, env, "cargo", "build", "--release", "--locked")
}

// fillTrailBase writes the rows into its database beside it, which SQLite permits.
func fillTrailBase(ctx context.Context, path, email string) (err error) {
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var owner []byte
	if err := db.QueryRowContext(ctx, `select id from _user where email = ?`, email).Scan(&owner); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fillItems(ctx, tx, func(id int) any { return id }, "2006-01-02 15:04:05Z", owner); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `analyze`)
	return err
}

func (t *trailBase) ask(header string) {
	const records = "/api/records/v1/bench_item"
	one := func(body []byte) ([]row, error) {
		var r struct{ ID int }
		err := json.Unmarshal(body, &r)
		return []row{{id: r.ID}}, err
	}
	many := func(body []byte) ([]row, error) {
		var answer struct{ Records json.RawMessage }
		if err := json.Unmarshal(body, &answer); err != nil {
			return nil, err
		}
		return rowsOf(answer.Records)
	}
	t.requests = map[string]request{
		byKey: get(header, func(turn int) string { return records + "/" + strconv.Itoa(keyOf(turn)) }, one),
		list: get(header, func(turn int) string {
			return fmt.Sprintf("%s?filter[stock]=%d&order=%%2Bprice&limit=20", records, stockOf(turn))
		}, many),
		insert: post(header, "/api/records/v1/bench_entry", http.StatusOK),
	}
}
