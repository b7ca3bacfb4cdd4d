package auth

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	renameFactor = `
update auth.mfa_factors
set friendly_name = coalesce($3, friendly_name),
    phone = case when factor_type = 'phone' then coalesce($4, phone) else phone end,
    updated_at = $5
where id = $1
and user_id = $2`

	// deleteOrphanCodes removes recovery codes that would be the only factor left.
	deleteOrphanCodes = `
delete from auth.mfa_factors f
where f.user_id = $1
and f.factor_type::text = 'recovery_code'
and not exists (
    select
    from auth.mfa_factors o
    where o.user_id = $1
    and o.status = 'verified'
    and o.factor_type::text <> 'recovery_code'
)`
)

// FactorChange is what an administrator changes about a factor. Empty fields change nothing.
type FactorChange struct {
	FriendlyName string
	// Phone is for factors of type phone.
	Phone string
}

// AdminFactors gives the factors of an account.
func (s *Service) AdminFactors(ctx context.Context, user uuid.UUID) ([]Factor, error) {
	u, err := s.AdminUser(ctx, user)
	if err != nil {
		return nil, err
	}
	return u.Factors, nil
}

// AdminUpdateFactor changes how a factor is called, or the number of a telephone.
func (s *Service) AdminUpdateFactor(ctx context.Context, caller Caller, user, id uuid.UUID, in FactorChange) (*Factor, error) {
	f, err := s.adminUpdateFactor(ctx, user, id, in)
	s.event(caller, "admin_factor_update", user, err)
	return f, err
}

func (s *Service) adminUpdateFactor(ctx context.Context, user, id uuid.UUID, in FactorChange) (*Factor, error) {
	if refusal := checkLabels(NewFactor{FriendlyName: in.FriendlyName}); refusal != nil {
		return nil, refusal
	}
	var name, phone *string
	if in.FriendlyName != "" {
		name = &in.FriendlyName
	}
	if in.Phone != "" {
		number, refusal := normalizePhone(in.Phone)
		if refusal != nil {
			return nil, refusal
		}
		phone = &number
	}
	batch := &pgx.Batch{}
	batch.Queue(renameFactor, id, user, name, phone, now())
	batch.Queue(userByID, user)
	var u *User
	results := s.pool.SendBatch(ctx, batch)
	_, err := results.Exec()
	if err == nil {
		u, err = scanUser(results.QueryRow())
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, userNotFound()
	case isUniqueViolation(err, "mfa_factors_user_friendly_name_unique"):
		return nil, unprocessable(CodeFactorNameConflict, fmt.Sprintf("A factor with the friendly name %q for this user already exists", in.FriendlyName))
	case isUniqueViolation(err, "unique_phone_factor_per_user"):
		return nil, unprocessable(CodeFactorExists, "A phone factor with this number already exists")
	case err != nil:
		return nil, saveFailed("Database error updating factor", err)
	}
	f, refusal := u.factor(id)
	if refusal != nil {
		return nil, refusal
	}
	return &f, nil
}

// AdminDeleteFactor removes a factor and gives what it was. Sessions that it had raised fall back to aal1. Recovery codes go
// with the last factor that they could stand in for: alone they would be a way around it.
func (s *Service) AdminDeleteFactor(ctx context.Context, caller Caller, user, id uuid.UUID, record Record[*Factor]) (*Factor, error) {
	f, err := s.adminDeleteFactor(ctx, user, id, record)
	s.event(caller, "admin_factor_delete", user, err)
	return f, err
}

func (s *Service) adminDeleteFactor(ctx context.Context, user, id uuid.UUID, record Record[*Factor]) (*Factor, error) {
	var f Factor
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(lockUser, user)
		u, err := writeAndRead(ctx, tx, batch, user, userNotFound())
		if err != nil {
			return err
		}
		found, refusal := u.factor(id)
		if refusal != nil {
			return refusal
		}
		f = found
		batch = &pgx.Batch{}
		batch.Queue(removeFactor, id, user, factorMethod(f.Type), now())
		batch.Queue(deleteOrphanCodes, user)
		if f.Status == statusVerified {
			if err := s.notifyOfFactor(batch, MailFactorUnenrolled, u, f.Type); err != nil {
				return err
			}
		}
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		return record.write(tx, &f)
	})
	if err != nil {
		return nil, saveFailed("Database error deleting factor", err)
	}
	return &f, nil
}
