package main

import (
	"context"
	"database/sql"
	"strconv"
)

// fillItems writes the rows of bench_item into a SQLite database, with keys and times as its server has them.
func fillItems(ctx context.Context, tx *sql.Tx, key func(id int) any, timeLayout string, owner any) error {
	add, err := tx.PrepareContext(ctx, `
insert into bench_item (id, key, name, note, price, stock, active, extra, created_at, owner)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	for id := 1; id <= items; id++ {
		i := itemOf(id)
		price, err := strconv.ParseFloat(i.price, 64)
		if err != nil {
			return err
		}
		_, err = add.ExecContext(ctx, key(id), i.key.String(), i.name, i.note, price, i.stock, i.active, string(i.extra),
			i.createdAt.Format(timeLayout), owner)
		if err != nil {
			return err
		}
	}
	return nil
}
