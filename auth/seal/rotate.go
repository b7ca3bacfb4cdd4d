package seal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

const (
	// batchSize bounds the rows that a rotation holds at a time.
	batchSize = 100
	// mostPasses bounds how often a rotation goes over a column because others have moved its rows.
	mostPasses = 10
	// mostNamed bounds the broken secrets that an error names.
	mostNamed = 5

	// rotationName is where a rotation that is under way notes its new key.
	rotationName = "encryption_rotation"

	lockRotation = `
select pg_catalog.pg_try_advisory_lock(hashtextextended('basalt.encryption_rotation', 0)), clock_timestamp()`

	unlockRotation = `
select pg_catalog.pg_advisory_unlock(hashtextextended('basalt.encryption_rotation', 0))`

	rotationUnderWay = `
select exists (
    select
    from basalt.secrets s
    join basalt.encryption_keys k on k.id = s.value
    where s.name = $1
    and k.retired_at is null
)`

	replaceKey = `
with noted as (
    insert into basalt.secrets (name, value)
    values ($3, $1)
    on conflict (name) do update
    set value = excluded.value
),
retired as (
    update basalt.encryption_keys
    set retired_at = now()
    where retired_at is null
)
insert into basalt.encryption_keys (id, sealed)
values ($1, $2)`

	rewrapKey = `
update basalt.encryption_keys
set sealed = $2
where id = $1`

	// forgetKeys takes keys away under which no process sealed any more when the rotation began: each reads its ring
	// anew within ringAge.
	forgetKeys = `
delete from basalt.encryption_keys
where retired_at < $1::timestamptz - interval '1 hour'`

	endRotation = `
delete from basalt.secrets
where name = $1`
)

// Column is where sealed texts stand. Its parts are SQL of ours.
type Column struct {
	// Table and Column are as in the cells.
	Table, Column string
	// Row is an expression that gives a row's part of the cell.
	Row string
}

// Rotation replaces the key that secrets at rest are sealed under.
type Rotation struct {
	// DB reads while Writer writes; each is for the rotation alone.
	DB, Writer *pgx.Conn
	Masters    Masters
	Columns    []Column
	// Begin, when set, runs before a new key is made: the time to put a new master key first.
	Begin func() error
	// End, when set, runs when nothing is sealed under older master keys any more.
	End func() error
	// Progress, when set, hears how many secrets there are to be sealed anew, and how many are.
	Progress func(done, total int64)
}

// ErrRotating is the refusal of a second rotation at a time.
var ErrRotating = errors.New("another process is replacing the encryption key: wait for its end")

// BrokenError names secrets that no key opens. All others are sealed under the new key; the old ones are kept.
type BrokenError struct {
	Count int
	Cells []Cell
}

func (e *BrokenError) Error() string {
	var places []string
	for _, c := range e.Cells {
		places = append(places, fmt.Sprintf("%s.%s of row %s", c.Table, c.Column, c.Row))
	}
	if len(places) > mostNamed {
		places = places[:mostNamed]
	}
	if e.Count > len(places) {
		places = append(places, "…")
	}
	return fmt.Sprintf("%d secrets cannot be opened with any key that is given (%s): all others are sealed under the new key; give the missing key behind the current one and run this again", e.Count, strings.Join(places, ", "))
}

// Run makes a new key, seals every secret under it, and tells how many. A run that was cut off is gone on with, under
// the same new key. Processes that run beside it need no restart: they read the keys again when they meet one that they do
// not know. The replaced key is kept until the next rotation, for what they seal in the moment of the change.
func (r *Rotation) Run(ctx context.Context) (int64, error) {
	var locked bool
	var began time.Time
	if err := r.Writer.QueryRow(ctx, lockRotation).Scan(&locked, &began); err != nil {
		return 0, err
	}
	if !locked {
		return 0, ErrRotating
	}
	defer func() { _, _ = r.Writer.Exec(context.WithoutCancel(ctx), unlockRotation) }()
	ring, masters, err := r.prepare(ctx)
	if err != nil {
		return 0, err
	}
	work := &resealing{Rotation: r, ring: ring, masters: masters}
	if err := work.count(ctx); err != nil {
		return 0, err
	}
	for _, column := range r.Columns {
		if err := work.column(ctx, column); err != nil {
			return work.done, fmt.Errorf("seal %s.%s anew: %w", column.Table, column.Column, err)
		}
	}
	if work.broken.Count > 0 {
		return work.done, &work.broken
	}
	if _, err := r.Writer.Exec(ctx, forgetKeys, began); err != nil {
		return work.done, err
	}
	if r.End != nil {
		if err := r.End(); err != nil {
			return work.done, err
		}
	}
	_, err = r.Writer.Exec(ctx, endRotation, rotationName)
	return work.done, err
}

// prepare makes the new key, unless a run before this one has, and puts all keys under the current master.
func (r *Rotation) prepare(ctx context.Context) (ring, masters Ring, err error) {
	var underWay bool
	if err := r.Writer.QueryRow(ctx, rotationUnderWay, rotationName).Scan(&underWay); err != nil {
		return nil, nil, err
	}
	if !underWay && r.Begin != nil {
		if err := r.Begin(); err != nil {
			return nil, nil, err
		}
	}
	if masters, err = r.Masters(); err != nil {
		return nil, nil, err
	}
	kept := NewVault(r.Writer, func() (Ring, error) { return masters, nil })
	if _, err := kept.load(ctx); err != nil { // no key is replaced whose texts could not be opened
		return nil, nil, err
	}
	if !underWay {
		made, secret := random()
		if _, err := r.Writer.Exec(ctx, replaceKey, made.id, masters.Seal(secret, keyCell(made.id)), rotationName); err != nil {
			return nil, nil, err
		}
	}
	if err := r.rewrap(ctx, masters); err != nil {
		return nil, nil, err
	}
	ring, err = kept.load(ctx)
	return ring, masters, err
}

// rewrap puts the keys that stand under an older master under the current one.
func (r *Rotation) rewrap(ctx context.Context, masters Ring) error {
	rows, err := r.Writer.Query(ctx, readKeys)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	var id, sealed string
	var retired bool
	_, err = pgx.ForEachRow(rows, []any{&id, &sealed, &retired}, func() error {
		if masters.Current(sealed) {
			return nil
		}
		if secret, err := masters.Open(sealed, keyCell(id)); err == nil { // load has refused a current one that does not
			batch.Queue(rewrapKey, id, masters.Seal(secret, keyCell(id)))
		}
		return nil
	})
	if err != nil || batch.Len() == 0 {
		return err
	}
	return r.Writer.SendBatch(ctx, batch).Close()
}

// resealing is a rotation on its way through the columns.
type resealing struct {
	*Rotation
	ring, masters Ring
	done, total   int64
	broken        BrokenError
}

// stale is what of a column is not sealed under the new key. Texts under a master key are not under $1 either.
func (c Column) stale() string {
	return `
from ` + c.Table + `
where ` + c.Column + ` <> ''
and ` + c.Column + ` not like $1
and ` + c.Column + ` not like $2`
}

// current are the patterns of texts that need nothing.
func (w *resealing) current() []any {
	return []any{prefix + w.ring[0].id + ":%", prefix + w.masters[0].id + ":%"}
}

func (w *resealing) count(ctx context.Context) error {
	for _, column := range w.Columns {
		var n int64
		if err := w.DB.QueryRow(ctx, `select count(*)`+column.stale(), w.current()...).Scan(&n); err != nil {
			return fmt.Errorf("count %s.%s: %w", column.Table, column.Column, err)
		}
		w.total += n
	}
	return nil
}

// item is a text with where it stands.
type item struct {
	place     pgtype.TID
	row, text string
}

// column seals a column's texts anew. A row that somebody else writes meanwhile is met again by the next pass.
func (w *resealing) column(ctx context.Context, c Column) error {
	for range mostPasses {
		p, err := w.pass(ctx, c)
		if err != nil {
			return err
		}
		if p.found == p.written+p.broken.Count {
			w.broken.Count += p.broken.Count
			w.broken.Cells = append(w.broken.Cells, p.broken.Cells...)
			return nil
		}
	}
	return errors.New("its rows are changed all the time: try again when there is less to do")
}

// pass is what going over a column once has met and done.
type pass struct {
	found, written int
	broken         BrokenError
}

func (w *resealing) pass(ctx context.Context, c Column) (*pass, error) {
	rows, err := w.DB.Query(ctx, `
select ctid, `+c.Row+`, `+c.Column+c.stale(), w.current()...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	p := &pass{}
	items := make([]item, 0, batchSize)
	for rows.Next() {
		var next item
		if err := rows.Scan(&next.place, &next.row, &next.text); err != nil {
			return nil, err
		}
		p.found++
		if items = append(items, next); len(items) == batchSize {
			if err := w.write(ctx, c, p, items); err != nil {
				return nil, err
			}
			items = items[:0]
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return p, w.write(ctx, c, p, items)
}

// write seals some texts anew where they still stand.
func (w *resealing) write(ctx context.Context, c Column, p *pass, items []item) error {
	statement := `
update ` + c.Table + `
set ` + c.Column + ` = $3
where ctid = $1
and ` + c.Column + ` = $2`
	batch := &pgx.Batch{}
	written := 0
	for _, i := range items {
		at := Cell{Table: c.Table, Row: i.row, Column: c.Column}
		text, ok := w.reseal(i.text, at)
		if !ok {
			p.broken.Count++
			if len(p.broken.Cells) < mostNamed {
				p.broken.Cells = append(p.broken.Cells, at)
			}
			continue
		}
		batch.Queue(statement, i.place, i.text, text).Exec(func(tag pgconn.CommandTag) error {
			written += int(tag.RowsAffected())
			return nil
		})
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := w.Writer.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	p.written += written
	w.done += int64(written)
	if w.Progress != nil {
		w.Progress(w.done, w.total)
	}
	return nil
}

// reseal seals a text under the current key of the ring that it belongs to: what lives shortly may stand under the master.
func (w *resealing) reseal(text string, at Cell) (string, bool) {
	if IsClear(text) {
		return w.ring.Seal(text, at), true
	}
	for _, ring := range []Ring{w.ring, w.masters} {
		if plain, err := ring.Open(text, at); err == nil {
			return ring.Seal(plain, at), true
		}
	}
	return "", false
}
