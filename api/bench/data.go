package bench

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Schema makes the tables that are measured. It is one transaction's: where a name is taken, nothing is made.
//
//go:embed schema.sql
var Schema string

// DropSchema takes away what Schema made.
//
//go:embed dropschema.sql
var DropSchema string

// Numbers of rows, as in schema.sql.
const (
	items         = 20_000
	richItems     = 10_000 // have ten parts each, the others five
	partsOfRich   = 10
	partsOfOthers = 5
	stocks        = 100 // different values of bench_item.stock
)

// chunk is how many rows are sent in one request.
const chunk = 5000

type item struct {
	ID        int             `json:"id"`
	Key       uuid.UUID       `json:"key"`
	Name      string          `json:"name"`
	Note      string          `json:"note"`
	Price     json.Number     `json:"price"`
	Stock     int             `json:"stock"`
	Active    bool            `json:"active"`
	Extra     json.RawMessage `json:"extra"`
	CreatedAt time.Time       `json:"created_at"`
	Owner     string          `json:"owner"`
}

type part struct {
	ID     int         `json:"id"`
	ItemID int         `json:"item_id"`
	Name   string      `json:"name"`
	Weight json.Number `json:"weight"`
	Amount int         `json:"amount"`
}

// tables are those of schema.sql, those that point to others first.
var tables = []string{"bench_entry", "bench_part", "bench_item"}

// checkTables refuses tables that are not the benchmark's: their rows would be lost.
func (t *Target) checkTables(ctx context.Context) error {
	var ours []string
	if err := t.service(ctx, http.MethodGet, "/rest/v1/rpc/bench_tables", nil, &ours); err != nil {
		return missing(err)
	}
	for _, table := range tables {
		if !slices.Contains(ours, table) {
			return fmt.Errorf("public.%s was not made by the benchmark, which would empty it: rename it, or measure a server that has no table of this name", table)
		}
	}
	return nil
}

// fill replaces the rows of the tables. All rows are the owner's, who is the user that reads them.
func (t *Target) fill(ctx context.Context, progress Progress) error {
	for _, table := range tables {
		if err := t.service(ctx, http.MethodDelete, "/rest/v1/"+table+"?id=gte.0", nil, nil); err != nil {
			return err
		}
	}
	owned := make([]item, items)
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i := range owned {
		id := i + 1
		owned[i] = item{
			ID: id, Key: uuid.New(), Name: fmt.Sprint("item ", id), Note: fmt.Sprint("a note about item ", id),
			Price: json.Number(fmt.Sprintf("%d.%02d", id*5/4, id*25%100)), Stock: id % stocks, Active: id%2 == 0,
			Extra:     json.RawMessage(fmt.Sprintf(`{"k": %d, "tags": ["a", "b"]}`, id)),
			CreatedAt: now.Add(-time.Duration(id) * time.Minute), Owner: t.OwnerID,
		}
	}
	if err := insert(ctx, t, "bench_item", owned, progress); err != nil {
		return err
	}
	var parts []part
	for id := 1; id <= items; id++ {
		n := partsOfOthers
		if id <= richItems {
			n = partsOfRich
		}
		for range n {
			p := len(parts) + 1
			parts = append(parts, part{ID: p, ItemID: id, Name: fmt.Sprint("part ", p), Weight: json.Number(fmt.Sprintf("%d.5", p%50)), Amount: p % 7})
		}
	}
	return insert(ctx, t, "bench_part", parts, progress)
}

// errNoTables tells of a server whose database has not the tables.
var errNoTables = errors.New("the tables of the benchmark are not there: give --database-url, by which they are made and taken away again, or make them by `basalt bench schema | psql DATABASE_URL`")

// missing tells of a function that a server does not know.
func missing(err error) error {
	if strings.Contains(err.Error(), "PGRST202") {
		return errNoTables
	}
	return err
}

func insert[T any](ctx context.Context, t *Target, table string, rows []T, progress Progress) error {
	for at := 0; at < len(rows); at += chunk {
		progress.Step(fmt.Sprintf("fill %s: %d of %d rows", table, at, len(rows)))
		body, err := json.Marshal(rows[at:min(at+chunk, len(rows))])
		if err != nil {
			return err
		}
		if err := t.service(ctx, http.MethodPost, "/rest/v1/"+table, body, nil); err != nil {
			return err
		}
	}
	return nil
}
