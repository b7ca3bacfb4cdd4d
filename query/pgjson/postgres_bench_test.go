package pgjson

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const benchSchema = `
create table items (
  id bigint generated always as identity primary key,
  owner_id uuid not null default gen_random_uuid(),
  title text not null,
  body text not null,
  amount numeric not null,
  position integer not null,
  active boolean not null,
  attributes jsonb not null,
  created_at timestamptz not null,
  project_id uuid not null default gen_random_uuid()
);
insert into items (title, body, amount, position, active, attributes, created_at)
select 'Title of item ' || n,
       repeat('A somewhat longer text with a "quote" in it. ', 2),
       n * 1.25,
       n,
       n % 2 = 0,
       jsonb_build_object('color', 'blue', 'sizes', jsonb_build_array(1, 2, n)),
       timestamptz '2026-01-01' + n * interval '1 minute 0.123456 seconds'
from generate_series(1, 1000) as n;
create table parts (id bigint primary key, item_id bigint, title text, amount numeric, active boolean, created_at timestamptz);
insert into parts
select n, 1 + n / 10, 'Part ' || n, n * 0.5, true, timestamptz '2026-01-01' + n * interval '1 minute'
from generate_series(0, 999) as n;
create index on parts (item_id);
analyze;`

// BenchmarkFromPostgreSQL compares with the ways to let PostgreSQL write the JSON.
func BenchmarkFromPostgreSQL(b *testing.B) {
	conn := openDatabase(b)
	execute(b, conn, benchSchema)
	items := scalars("id", "owner_id", "title", "body", "amount", "position", "active", "attributes", "created_at", "project_id")
	embed := &Layout{Columns: []Column{NewColumn("id", Scalar), NewColumn("title", Scalar), NewColumn("parts", Records,
		NewColumn("id", Scalar), NewColumn("title", Scalar), NewColumn("amount", Scalar), NewColumn("active", Scalar),
		NewColumn("created_at", Scalar))}}
	for _, c := range []struct {
		name   string
		layout *Layout // nil when PostgreSQL writes the JSON
		sql    string
	}{
		{"list of 1000/json_agg", nil, `select coalesce(json_agg(s), '[]') from (select * from items order by id) s`},
		{"list of 1000/to_json per row", nil, `select to_json(s) from (select * from items order by id) s`},
		{"list of 1000/binary columns", items, `select * from items order by id`},
		{"embed of 100 by 10/json_agg", nil, `
select coalesce(json_agg(s), '[]')
from (select i.id, i.title, coalesce(p.parts, '[]') as parts
      from (select * from items order by id limit 100) i
      left join lateral (
        select json_agg(x) as parts
        from (select id, title, amount, active, created_at from parts where item_id = i.id) x
      ) p on true) s`},
		{"embed of 100 by 10/binary records", embed, `
select i.id, i.title,
       (select array_agg(row(p.id, p.title, p.amount, p.active, p.created_at)) from parts p where p.item_id = i.id)
from (select * from items order by id limit 100) i`},
	} {
		b.Run(c.name, func(b *testing.B) {
			statement, err := conn.Prepare(context.Background(), "", c.sql, nil)
			if err != nil {
				b.Fatal(err)
			}
			var e *Encoder
			if c.layout != nil {
				result := &pgconn.Result{FieldDescriptions: statement.Fields}
				if e, err = NewEncoder(c.layout, columnOIDs(result, len(c.layout.Columns)), typeMap{}, time.UTC, "postgres"); err != nil {
					b.Fatal(err)
				}
			}
			dst := make([]byte, 0, 1<<20)
			b.ReportAllocs()
			for b.Loop() {
				dst = dst[:0]
				rows := conn.ExecStatement(context.Background(), statement, nil, nil, []int16{1})
				for rows.NextRow() {
					if e == nil {
						dst = append(dst, rows.Values()[0]...)
					} else if dst, err = e.AppendRow(dst, rows.Values()); err != nil {
						b.Fatal(err)
					}
					dst = append(dst, ',')
				}
				if _, err := rows.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}
