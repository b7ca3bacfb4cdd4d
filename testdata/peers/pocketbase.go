package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite"

	"basalt/api/bench/peers"
)

// pocketBaseVersions are tried in turn: the newest needs a newer Go than Basalt does.
var pocketBaseVersions = []string{"v0.40.4", "v0.39.0"}

// pocketBase is SQLite behind rules of its own.
type pocketBase struct{ server }

func newPocketBase() *pocketBase {
	return &pocketBase{server{Peer: peers.Peer{
		Name: "pocketbase", Title: "PocketBase",
		Built: "Its own main program (examples/base), pure-Go SQLite, as its releases are built",
		Identity: `A signed-in user's token; list and view rules "owner = @request.auth.id" become conditions of the statement. ` +
			"A read by key is its record endpoint; lists leave out the total (skipTotal)",
		Durable: "SQLite in WAL mode with synchronous=NORMAL: the last commits before a power failure may be lost, no commit waits for the disk",
	}}}
}

func (p *pocketBase) start(ctx context.Context, w *workshop) error {
	binary, err := p.build(ctx, w)
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	folder := filepath.Join(w.scratch, p.Name)
	data := filepath.Join(folder, "pb_data")
	email, password := "admin@example.com", rand.Text()
	if out, err := exec.CommandContext(ctx, binary, "superuser", "upsert", email, password, "--dir", data).CombinedOutput(); err != nil {
		return fmt.Errorf("make a superuser: %w: %s", err, out)
	}
	if p.process, err = run(folder, nil, binary, "serve", "--http", address, "--dir", data); err != nil {
		return err
	}
	p.url = "http://" + address
	if err := p.process.ready(ctx, p.url+"/api/health"); err != nil {
		return err
	}
	admin, _, err := p.signIn(ctx, "_superusers", email, password)
	if err != nil {
		return err
	}
	if err := p.makeCollections(ctx, admin); err != nil {
		return err
	}
	email = "owner@example.com"
	_, err = ask(ctx, http.MethodPost, p.url+"/api/collections/users/records", admin,
		fmt.Appendf(nil, `{"email": %q, "password": %q, "passwordConfirm": %q, "verified": true}`, email, password, password))
	if err != nil {
		return err
	}
	token, owner, err := p.signIn(ctx, "users", email, password)
	if err != nil {
		return err
	}
	if err := fillPocketBase(ctx, filepath.Join(data, "data.db"), owner); err != nil {
		return err
	}
	p.ask(bearer(token))
	return nil
}

// build tries the versions from the newest.
func (p *pocketBase) build(ctx context.Context, w *workshop) (string, error) {
	var problems []error
	for _, version := range pocketBaseVersions {
		binary, err := w.goInstall(ctx, p.Name, "github.com/pocketbase/pocketbase/examples/base", version)
		if err == nil {
			p.Version = version
			return binary, nil
		}
		problems = append(problems, err)
	}
	return "", errors.Join(problems...)
}

func (p *pocketBase) signIn(ctx context.Context, collection, email, password string) (token, id string, err error) {
	text, err := ask(ctx, http.MethodPost, p.url+"/api/collections/"+collection+"/auth-with-password", "",
		fmt.Appendf(nil, `{"identity": %q, "password": %q}`, email, password))
	if err != nil {
		return "", "", err
	}
	var answer struct {
		Token  string
		Record struct{ ID string }
	}
	err = json.Unmarshal(text, &answer)
	return answer.Token, answer.Record.ID, err
}

// The collections have the columns, indexes and rights of the tables in PostgreSQL.
func (p *pocketBase) makeCollections(ctx context.Context, admin string) error {
	text, err := ask(ctx, http.MethodGet, p.url+"/api/collections/users", admin, nil)
	if err != nil {
		return err
	}
	var users struct{ ID string }
	if err := json.Unmarshal(text, &users); err != nil {
		return err
	}
	itemID, err := p.makeCollection(ctx, admin, fmt.Sprintf(`{"name": "bench_item", "type": "base",
		"listRule": "owner = @request.auth.id", "viewRule": "owner = @request.auth.id",
		"fields": [
			{"name": "key", "type": "text"}, {"name": "name", "type": "text"}, {"name": "note", "type": "text"},
			{"name": "price", "type": "number"}, {"name": "stock", "type": "number"}, {"name": "active", "type": "bool"},
			{"name": "extra", "type": "json"}, {"name": "created_at", "type": "date"},
			{"name": "owner", "type": "relation", "collectionId": %q, "maxSelect": 1}
		],
		"indexes": ["create index bench_item_stock on bench_item (stock, price)"]}`, users.ID))
	if err != nil {
		return err
	}
	_, err = p.makeCollection(ctx, admin, fmt.Sprintf(`{"name": "bench_part", "type": "base",
		"listRule": "@request.auth.id != ''", "viewRule": "@request.auth.id != ''",
		"fields": [
			{"name": "item_id", "type": "relation", "collectionId": %q, "maxSelect": 1},
			{"name": "name", "type": "text"}, {"name": "weight", "type": "number"}, {"name": "amount", "type": "number"}
		],
		"indexes": ["create index bench_part_item on bench_part (item_id)"]}`, itemID))
	if err != nil {
		return err
	}
	_, err = p.makeCollection(ctx, admin, `{"name": "bench_entry", "type": "base",
		"createRule": "@request.auth.id != ''", "viewRule": "@request.auth.id != ''",
		"fields": [{"name": "run", "type": "text"}, {"name": "body", "type": "text"}, {"name": "amount", "type": "number"}]}`)
	return err
}

func (p *pocketBase) makeCollection(ctx context.Context, admin, definition string) (string, error) {
	text, err := ask(ctx, http.MethodPost, p.url+"/api/collections", admin, []byte(definition))
	if err != nil {
		return "", err
	}
	var made struct{ ID string }
	err = json.Unmarshal(text, &made)
	return made.ID, err
}

// pocketBaseID is a key of the form that its records have.
func pocketBaseID(id int) string { return fmt.Sprintf("%015d", id) }

// fillPocketBase writes the rows into its database beside it, which SQLite permits; 170,000 requests would take minutes.
func fillPocketBase(ctx context.Context, path, owner string) (err error) {
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fillItems(ctx, tx, func(id int) any { return pocketBaseID(id) }, "2006-01-02 15:04:05.000Z", owner); err != nil {
		return err
	}
	add, err := tx.PrepareContext(ctx, `insert into bench_part (id, item_id, name, weight, amount) values (?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	err = parts(func(p part) error {
		weight, err := strconv.ParseFloat(p.weight, 64)
		if err != nil {
			return err
		}
		_, err = add.ExecContext(ctx, pocketBaseID(p.id), pocketBaseID(p.item), p.name, weight, p.amount)
		return err
	})
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `analyze`)
	return err
}

func (p *pocketBase) ask(header string) {
	const records = "/api/collections/bench_item/records"
	one := func(body []byte) ([]row, error) {
		r, err := pocketBaseRow(body)
		return []row{r}, err
	}
	p.requests = map[string]request{
		byKey: get(header, func(turn int) string { return records + "/" + pocketBaseID(keyOf(turn)) }, one),
		list: get(header, func(turn int) string {
			return fmt.Sprintf("%s?filter=stock%%3D%d&sort=price&perPage=20&skipTotal=1", records, stockOf(turn))
		}, pocketBaseRows),
		long: get(header, func(turn int) string {
			return records + "?filter=id%3E'" + pocketBaseID(afterOf(turn)) + "'&sort=id&perPage=1000&skipTotal=1"
		}, pocketBaseRows),
		nested: get(header, func(turn int) string {
			return records + "?filter=id%3E'" + pocketBaseID(parentOf(turn)) + "'&sort=id&perPage=20&skipTotal=1&expand=bench_part_via_item_id"
		}, pocketBaseRows),
		insert: post(header, "/api/collections/bench_entry/records", http.StatusOK),
	}
}

func pocketBaseRows(body []byte) ([]row, error) {
	var answer struct{ Items []json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	rows := make([]row, len(answer.Items))
	for i, text := range answer.Items {
		var err error
		if rows[i], err = pocketBaseRow(text); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func pocketBaseRow(text []byte) (row, error) {
	var answered struct {
		ID     string
		Expand struct {
			Parts []json.RawMessage `json:"bench_part_via_item_id"`
		}
	}
	if err := json.Unmarshal(text, &answered); err != nil {
		return row{}, err
	}
	id, err := strconv.Atoi(answered.ID)
	return row{id, len(answered.Expand.Parts)}, err
}
