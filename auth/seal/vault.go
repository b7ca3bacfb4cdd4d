package seal

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	readKeys = `
select id, sealed, retired_at is not null
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
// processes over one database agree, and a key is replaced in one place. The keys are read when they are needed first,
// over a connection of the pool: whoever holds one of its connections must not wait for the vault.
type Vault struct {
	db      Sender
	masters Masters

	// turn is held by who reads the keys.
	turn  chan struct{}
	known atomic.Pointer[knownRing]
}

// knownRing is a ring with the time when it was read.
type knownRing struct {
	ring Ring
	at   time.Time
}

// NewVault makes a vault. Nothing is read or written before it is used.
func NewVault(db Sender, masters Masters) *Vault {
	return &Vault{db: db, masters: masters, turn: make(chan struct{}, 1)}
}

// Over gives a vault under the same master keys that reads the database's own over a connection: for whoever holds one.
func (v *Vault) Over(db Sender) *Vault { return NewVault(db, v.masters) }

// Seal encrypts a secret for a cell.
func (v *Vault) Seal(ctx context.Context, plain string, at Cell) (string, error) {
	known := v.known.Load()
	if known == nil || time.Since(known.at) > ringAge {
		var err error
		if known, err = v.renew(ctx, known); err != nil {
			return "", err
		}
	}
	return known.ring.Seal(plain, at), nil
}

// Open decrypts a text for its cell; a text that was never sealed is given as it is. Stale tells that the text should
// be sealed anew and written back: it is clear, or sealed under a key that was replaced.
func (v *Vault) Open(ctx context.Context, text string, at Cell) (plain string, stale bool, err error) {
	if IsClear(text) {
		return text, true, nil
	}
	known := v.known.Load()
	if known == nil {
		if known, err = v.renew(ctx, nil); err != nil {
			return "", false, err
		}
	}
	plain, err = known.ring.Open(text, at)
	var unknown *UnknownKeyError
	if errors.As(err, &unknown) {
		// Another process has replaced the key since the ring was read.
		if known, err = v.renew(ctx, known); err != nil {
			return "", false, err
		}
		plain, err = known.ring.Open(text, at)
	}
	if err != nil {
		return "", false, err
	}
	return plain, !known.ring.Current(text), nil
}

// Check tells whether the database's keys open with the master keys that are given; a database that has none yet is fine.
func (v *Vault) Check(ctx context.Context) error {
	masters, err := v.masters()
	if err != nil {
		return err
	}
	_, err = v.open(ctx, &pgx.Batch{}, masters)
	return err
}

// renew reads the ring in the place of one that will not do. Of many who ask at once one reads.
func (v *Vault) renew(ctx context.Context, old *knownRing) (*knownRing, error) {
	select {
	case v.turn <- struct{}{}:
		defer func() { <-v.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if known := v.known.Load(); known != old {
		return known, nil
	}
	known := &knownRing{at: time.Now()}
	var err error
	if known.ring, err = v.load(ctx); err != nil {
		return nil, fmt.Errorf("read the encryption keys: %w", err)
	}
	v.known.Store(known)
	return known, nil
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
		var retired bool
		_, err := pgx.ForEachRow(rows, []any{&id, &sealed, &retired}, func() error {
			secret, err := masters.Open(sealed, keyCell(id))
			if err == nil && len(secret) != keyLength {
				err = ErrBroken
			}
			switch {
			case err == nil:
				ring = append(ring, NewKey([keyLength]byte([]byte(secret))))
			case !retired: // what one that was replaced has sealed may be lost, the rest is not
				return fmt.Errorf("the encryption key %s does not open with the master keys that are given: %w", id, err)
			}
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
