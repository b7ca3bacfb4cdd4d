package auth

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// Record writes down what an administrator changes, in the transaction that changes it: neither is kept without the other.
// It is given what the change is about, as it is by then; of what is deleted, as it was. Nil records nothing.
type Record[T any] func(tx pgx.Tx, changed T) error

func (r Record[T]) write(tx pgx.Tx, changed T) error {
	if r == nil {
		return nil
	}
	return r(tx, changed)
}

// recorded runs work that is one flight: as it is without a record, else in a transaction with it.
func recorded[T any](ctx context.Context, s *Service, record Record[T], work func(db limit.Sender) (T, error)) (T, error) {
	if record == nil {
		return work(s.pool)
	}
	var changed T
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var err error
		if changed, err = work(tx); err != nil {
			return err
		}
		return record(tx, changed)
	})
	return changed, err
}

// sendAbout is send for what is done to an account that nobody but a record has to be told of.
func (s *Service) sendAbout(ctx context.Context, batch *pgx.Batch, id uuid.UUID, record Record[*User]) error {
	if record == nil {
		return s.send(ctx, batch)
	}
	_, err := recorded(ctx, s, record, func(db limit.Sender) (*User, error) { return writeAndRead(ctx, db, batch, id, userNotFound()) })
	return err
}
