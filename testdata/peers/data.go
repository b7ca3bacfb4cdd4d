package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"basalt/api/bench"
)

// Numbers of rows, as in the schema of Basalt's own benchmark.
const (
	items         = 20_000
	richItems     = 10_000 // have ten parts each, the others five
	partsOfRich   = 10
	partsOfOthers = 5
	stocks        = 100 // different values of an item's stock
)

// The rows that every peer is given are computed from their numbers; only the owner differs, whose identifiers each
// system makes itself.
type item struct {
	id                int
	key               uuid.UUID
	name, note, price string
	stock             int
	active            bool
	extra             json.RawMessage
	createdAt         time.Time
}

func itemOf(id int) item {
	return item{
		id: id, key: uuid.NewSHA1(uuid.NameSpaceOID, fmt.Append(nil, id)), name: fmt.Sprint("item ", id),
		note: fmt.Sprint("a note about item ", id), price: fmt.Sprintf("%d.%02d", id*5/4, id*25%100), stock: id % stocks,
		active: id%2 == 0, extra: json.RawMessage(fmt.Sprintf(`{"k": %d, "tags": ["a", "b"]}`, id)),
		createdAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(id) * time.Minute),
	}
}

type part struct {
	id, item int
	name     string
	weight   string
	amount   int
}

// parts calls each for the parts of all items, in the order of their ids.
func parts(each func(part) error) error {
	id := 0
	for owner := 1; owner <= items; owner++ {
		n := partsOfOthers
		if owner <= richItems {
			n = partsOfRich
		}
		for range n {
			id++
			p := part{id: id, item: owner, name: fmt.Sprint("part ", id), weight: fmt.Sprintf("%d.5", id%50), amount: id % 7}
			if err := each(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// The entry that is inserted.
const (
	entryRun    = "00000000-0000-4000-8000-000000000000"
	entryBody   = "an entry"
	entryAmount = 7
)

var entryJSON = fmt.Appendf(nil, `{"run":%q,"body":%q,"amount":%d}`, entryRun, entryBody, entryAmount)

// fillPostgres makes the tables of the benchmark and their rows. The schema auth, whose uid() the policy asks, is there.
func fillPostgres(ctx context.Context, url, owner string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, bench.Schema); err != nil {
		return fmt.Errorf("make the tables: %w", err)
	}
	id := 0
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"public", "bench_item"},
		[]string{"id", "key", "name", "note", "price", "stock", "active", "extra", "created_at", "owner"},
		pgx.CopyFromFunc(func() ([]any, error) {
			if id++; id > items {
				return nil, nil
			}
			i := itemOf(id)
			price, err := numeric(i.price)
			return []any{int64(i.id), i.key, i.name, i.note, price, int32(i.stock), i.active, i.extra, i.createdAt, owner}, err
		}))
	if err != nil {
		return fmt.Errorf("fill bench_item: %w", err)
	}
	var rows [][]any
	err = parts(func(p part) error {
		weight, err := numeric(p.weight)
		rows = append(rows, []any{int64(p.id), int64(p.item), p.name, weight, int32(p.amount)})
		return err
	})
	if err != nil {
		return err
	}
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"public", "bench_part"}, []string{"id", "item_id", "name", "weight", "amount"}, pgx.CopyFromRows(rows))
	if err != nil {
		return fmt.Errorf("fill bench_part: %w", err)
	}
	_, err = conn.Exec(ctx, `vacuum analyze public.bench_item, public.bench_part, public.bench_entry`)
	return err
}

func numeric(text string) (n pgtype.Numeric, err error) {
	err = n.Scan(text)
	return n, err
}
