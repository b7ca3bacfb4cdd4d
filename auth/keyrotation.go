package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/limit"
	"basalt/auth/seal"
	"basalt/auth/token"
)

// Refusals of changes of the signing keys.
var (
	ErrStandbyThere = errors.New("there is a standby key already: promote or revoke it first")
	ErrStandbyYoung = errors.New("the standby key has not been published for ten minutes: others may keep copies of the keys without it; wait, or say --now")
	ErrNoStandby    = errors.New("there is no standby key to promote: add one first")
	ErrKeyInUse     = errors.New("the key is current: promote another first")
	ErrNoSuchKey    = errors.New("there is no such key")
)

const (
	addSigningKey = `
insert into basalt.signing_keys (id, algorithm, state, public_key, private_key)
values ($1, $2, 'standby', $3, $4)`

	// Of those who change the keys one goes after the other: two who promote at once would wait for each other at the
	// rows and at their unique index.
	lockSigningKeys = `
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('basalt.signing_keys'))`

	retireCurrent = `
update basalt.signing_keys
set state = 'previous',
    changed_at = now()
where state = 'current'
and exists (
    select
    from basalt.signing_keys
    where state = 'standby'
    and created_at <= clock_timestamp() - $1::interval
)`

	promoteStandby = `
update basalt.signing_keys
set state = 'current',
    changed_at = now()
where state = 'standby'
and created_at <= clock_timestamp() - $1::interval
returning id`

	revokeSigningKey = `
delete from basalt.signing_keys
where id = $1
and state <> 'current'`

	listSigningKeys = `
select id, algorithm, state, created_at, changed_at
from basalt.signing_keys
order by array_position(array['current', 'standby', 'previous'], state), changed_at desc`
)

// KeyInfo is what an operator may know of a signing key.
type KeyInfo struct {
	ID        string
	Algorithm string
	State     token.State
	CreatedAt time.Time
	ChangedAt time.Time
}

// ListSigningKeys gives the keys that the database keeps, the current one first.
func ListSigningKeys(ctx context.Context, db limit.Sender) ([]KeyInfo, error) {
	var found []KeyInfo
	batch := &pgx.Batch{}
	batch.Queue(listSigningKeys).Query(func(rows pgx.Rows) error {
		var err error
		found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[KeyInfo])
		return err
	})
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read the signing keys: %w", err)
	}
	return found, nil
}

// AddSigningKey makes a key that is published and does not sign yet. It gives the key's id, or ErrStandbyThere.
func AddSigningKey(ctx context.Context, db limit.Sender, vault *seal.Vault, algorithm string) (string, error) {
	p, err := token.NewPair(algorithm)
	if err != nil {
		return "", err
	}
	private, err := p.PrivateJWK()
	if err != nil {
		return "", fmt.Errorf("write the signing key: %w", err)
	}
	sealed, err := vault.Seal(ctx, string(private), signingCell(p.ID))
	if err != nil {
		return "", fmt.Errorf("seal the signing key: %w", err)
	}
	batch := &pgx.Batch{}
	batch.Queue(lockSigningKeys)
	batch.Queue(addSigningKey, p.ID, algorithm, p.JWK(), sealed)
	err = db.SendBatch(ctx, batch).Close()
	switch {
	case isUniqueViolation(err, "signing_keys_one_standby_idx"):
		return "", ErrStandbyThere
	case err != nil:
		return "", fmt.Errorf("keep the signing key: %w", err)
	}
	return p.ID, nil
}

// JWKSLife is how long others may keep a copy of the published keys. A standby key should have been published as long
// before it signs.
const JWKSLife = 10 * time.Minute

// PromoteSigningKey lets the standby key sign from now on; the one that did goes on to verify. It gives the new current
// key's id, or ErrNoStandby, or ErrStandbyYoung when the key has not been published for the given time.
func PromoteSigningKey(ctx context.Context, db limit.Sender, published time.Duration) (string, error) {
	var id string
	batch := &pgx.Batch{}
	batch.Queue(lockSigningKeys)
	batch.Queue(retireCurrent, published)
	batch.Queue(promoteStandby, published).QueryRow(func(found pgx.Row) error { return found.Scan(&id) })
	err := db.SendBatch(ctx, batch).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", notPromoted(ctx, db, published)
	case err != nil:
		return "", fmt.Errorf("promote the signing key: %w", err)
	}
	return id, nil
}

// notPromoted is why there was no key to promote.
func notPromoted(ctx context.Context, db limit.Sender, published time.Duration) error {
	known, err := ListSigningKeys(ctx, db)
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(known, func(key KeyInfo) bool {
		return key.State == token.StateStandby && time.Since(key.CreatedAt) < published
	}):
		return ErrStandbyYoung
	}
	return ErrNoStandby
}

// RevokeSigningKey forgets a key that does not sign: what it has signed is refused from now on, by all processes within
// seconds. The refusals are ErrKeyInUse and ErrNoSuchKey.
func RevokeSigningKey(ctx context.Context, db limit.Sender, id string) error {
	revoked := false
	batch := &pgx.Batch{}
	batch.Queue(lockSigningKeys)
	batch.Queue(revokeSigningKey, id).Exec(func(tag pgconn.CommandTag) error {
		revoked = tag.RowsAffected() == 1
		return nil
	})
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("revoke the signing key: %w", err)
	}
	if revoked {
		return nil
	}
	known, err := ListSigningKeys(ctx, db)
	if err != nil {
		return err
	}
	for _, key := range known {
		if key.ID == id {
			return ErrKeyInUse
		}
	}
	return ErrNoSuchKey
}
