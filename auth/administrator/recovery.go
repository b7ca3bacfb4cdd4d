package administrator

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth"
	"basalt/auth/factor"
)

const (
	// lockTOTP holds an administrator's row while codes are replaced, if an app is set up.
	lockTOTP = `
select
from basalt.administrators
where id = $1
and totp_verified_at is not null
for update`

	dropRecovery = `
delete from basalt.administrator_recovery_codes
where administrator_id = $1`

	insertRecovery = `
insert into basalt.administrator_recovery_codes (administrator_id, code_hash)
select $1, hash
from unnest($2::text[]) as hash`

	// useRecovery uses a code up and tells how many are left: of many callers with the same one, one gets a row.
	useRecovery = `
with used as (
    update basalt.administrator_recovery_codes
    set used_at = now()
    where administrator_id = $1
    and code_hash = $2
    and used_at is null
    returning code_hash
)
select (
    select count(*)
    from basalt.administrator_recovery_codes c
    where c.administrator_id = $1
    and c.code_hash <> used.code_hash
    and c.used_at is null
)
from used`
)

// RenewRecoveryCodes draws an administrator's own recovery codes anew; those from before are void. They stand in for the
// authenticator app, so there must be one.
func (s *Service) RenewRecoveryCodes(ctx context.Context, by Actor, id uuid.UUID) ([]auth.Secret, error) {
	var codes []auth.Secret
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, lockTOTP, id)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return &Error{Code: CodeTOTPMissing, Message: "No authenticator app is set up", Hint: "Recovery codes stand in for one: set it up first."}
		}
		if codes, err = drawRecovery(ctx, tx, id); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "recovery_codes.renew", Target: id.String()})
	})
	return codes, err
}

// drawRecovery puts new codes in the place of those there are.
func drawRecovery(ctx context.Context, tx pgx.Tx, id uuid.UUID) ([]auth.Secret, error) {
	codes, hashes := make([]auth.Secret, factor.RecoveryCodes), make([]string, factor.RecoveryCodes)
	for i, code := range factor.NewRecoveryCodes() {
		codes[i], hashes[i] = auth.Secret(code), factor.RecoveryHash(id.String(), code)
	}
	if _, err := tx.Exec(ctx, dropRecovery, id); err != nil {
		return nil, err
	}
	_, err := tx.Exec(ctx, insertRecovery, id, hashes)
	return codes, err
}

// accepted is what a right code is noted as, so that it is good once: the time-step of an app's, or the hash of a recovery
// code, of which it is known only when it is used whether there is such. The zero value is no code.
type accepted struct {
	step     int64
	recovery string
}

// recoveryOf tells a recovery code by its length from the codes of apps, and gives its hash.
func recoveryOf(id uuid.UUID, code auth.Secret) (hash string, is bool) {
	text := factor.NormalizeRecoveryCode(code.Reveal())
	if len(text) != factor.RecoveryLength {
		return "", false
	}
	return factor.RecoveryHash(id.String(), text), true
}

// use notes in a transaction that a code was used.
func (a accepted) use(ctx context.Context, tx pgx.Tx, by Actor) error {
	if a.step > 0 {
		tag, err := tx.Exec(ctx, useStep, by.ID, a.step)
		if err == nil && tag.RowsAffected() == 0 {
			return codeInvalid()
		}
		return err
	}
	if a.recovery == "" {
		return nil
	}
	var left int
	err := tx.QueryRow(ctx, useRecovery, by.ID, a.recovery).Scan(&left)
	if errors.Is(err, pgx.ErrNoRows) {
		return &Error{Code: CodeCodeInvalid, Message: "The recovery code is wrong, or was used already", Hint: "Each of them is good once: take another."}
	}
	if err != nil {
		return err
	}
	return Record(ctx, tx, by, Change{Action: "recovery_codes.use", Target: by.ID.String(), After: map[string]int{"left": left}})
}
