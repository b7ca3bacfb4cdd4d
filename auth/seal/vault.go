package seal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	readKeys = `
select id, sealed
from basalt.encryption_keys
order by retired_at is null desc, number desc`

	firstKey = `
insert into basalt.encryption_keys (id, sealed)
select $1, $2
where not exists (
    select
    from basalt.encryption_keys
    where retired_at is null
)`
)

// ringAge is how old a ring may be that seals. A key that was replaced stays longer than that.
const ringAge = time.Minute

// Sender is a connection to the database or a pool of them.
type Sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// Masters gives the keys that the database's own are sealed under: the current one first. They are kept outside of
// the database. It is asked again when a key is met that is not known, as a rotation may have changed them.
type Masters func() (Ring, error)

// Vault seals under keys that the database keeps, themselves sealed under master keys that it does not. So all
// processes over one database agree, and a key is replaced in one place. The keys are read when they are needed first.
type Vault struct {
	db      Sender
	masters Masters

	mu   sync.Mutex
	ring Ring
	read time.Time
}

// NewVault makes a vault. Nothing is read or written before it is used.
func NewVault(db Sender, masters Masters) *Vault {
	return &Vault{db: db, masters: masters}
}

// Seal encrypts a secret for a cell.
func (v *Vault) Seal(ctx context.Context, plain string, at Cell) (string, error) {
	ring, err := v.keys(ctx, func(_ Ring, age time.Duration) bool { return age < ringAge })
	if err != nil {
		return "", err
	}
	return ring.Seal(plain, at), nil
}

// Open decrypts a text for its cell; a text that was never sealed is given as it is. Stale tells that the text should
// be sealed anew and written back: it is clear, or sealed under a key that was replaced.
func (v *Vault) Open(ctx context.Context, text string, at Cell) (plain string, stale bool, err error) {
	if IsClear(text) {
		return text, true, nil
	}
	ring, err := v.keys(ctx, func(ring Ring, _ time.Duration) bool { return len(ring) > 0 })
	if err != nil {
		return "", false, err
	}
	plain, err = ring.Open(text, at)
	var unknown *UnknownKeyError
	if errors.As(err, &unknown) {
		// Another process has replaced the key since the ring was read.
		if ring, err = v.keys(ctx, func(Ring, time.Duration) bool { return false }); err != nil {
			return "", false, err
		}
		plain, err = ring.Open(text, at)
	}
	if err != nil {
		return "", false, err
	}
	return plain, !ring.Current(text), nil
}

// keys gives the ring, which is read anew unless the one that is there will do.
func (v *Vault) keys(ctx context.Context, do func(ring Ring, age time.Duration) bool) (Ring, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.ring) > 0 && do(v.ring, time.Since(v.read)) {
		return v.ring, nil
	}
	at := time.Now()
	ring, err := v.load(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the encryption keys: %w", err)
	}
	v.ring, v.read = ring, at
	return ring, nil
}

// load reads the ring from the database; the first who looks makes a key. Two who are first at once make two, which
// both open.
func (v *Vault) load(ctx context.Context) (Ring, error) {
	masters, err := v.masters()
	if err != nil {
		return nil, err
	}
	ring, err := v.open(ctx, &pgx.Batch{}, masters)
	if err != nil || len(ring) > 0 {
		return ring, err
	}
	batch := &pgx.Batch{}
	made, secret := random()
	batch.Queue(firstKey, made.id, masters.Seal(secret, keyCell(made.id)))
	return v.open(ctx, batch, masters)
}

// open sends a batch and reads the ring behind it.
func (v *Vault) open(ctx context.Context, batch *pgx.Batch, masters Ring) (Ring, error) {
	var ring Ring
	batch.Queue(readKeys).Query(func(rows pgx.Rows) error {
		var id, sealed string
		_, err := pgx.ForEachRow(rows, []any{&id, &sealed}, func() error {
			secret, err := masters.Open(sealed, keyCell(id))
			if err == nil && len(secret) != keyLength {
				err = ErrBroken
			}
			if err != nil {
				return fmt.Errorf("key %s: %w", id, err)
			}
			ring = append(ring, NewKey([keyLength]byte([]byte(secret))))
			return nil
		})
		return err
	})
	if err := v.db.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	return ring, nil
}

func keyCell(id string) Cell {
	return Cell{Table: "basalt.encryption_keys", Row: id, Column: "sealed"}
}
