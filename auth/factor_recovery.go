package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/factor"
	"basalt/auth/limit"
)

const (
	insertCodeSet = `
insert into auth.mfa_recovery_code_sets (id, user_id, mfa_factor_id, created_at, updated_at)
values ($1, $2, $3, $4, $4)`

	insertCodes = `
insert into auth.mfa_recovery_codes (id, mfa_recovery_code_set_id, code_hash, created_at)
select gen_random_uuid(), $1, hash, $3
from unnest($2::text[]) as hash`

	// clearCodeSet takes all codes of an account's set away; the set stays.
	clearCodeSet = `
with cleared as (
    update auth.mfa_recovery_code_sets
    set failed_verification_count = 0,
        verification_locked_until = null,
        updated_at = $2
    where user_id = $1
    returning id
),
gone as (
    delete from auth.mfa_recovery_codes c
    using cleared
    where c.mfa_recovery_code_set_id = cleared.id
)
select id
from cleared`

	countCodes = `
select t.mfa_factor_id, count(c.id), count(c.id) filter (where c.consumed_at is null)
from auth.mfa_recovery_code_sets t
left join auth.mfa_recovery_codes c on c.mfa_recovery_code_set_id = t.id
where t.user_id = $1
group by t.id`

	unusedCodes = `
select c.id, t.id, c.code_hash
from auth.mfa_recovery_code_sets t
join auth.mfa_recovery_codes c on c.mfa_recovery_code_set_id = t.id
where t.user_id = $1
and c.consumed_at is null
order by c.created_at, c.id
limit 100`

	// acceptRecovery uses a code up.
	acceptRecovery = `
with proved as (
    update auth.mfa_recovery_codes c
    set consumed_at = $3
    from auth.mfa_recovery_code_sets t
    where c.id = $7
    and t.id = c.mfa_recovery_code_set_id
    and t.user_id = $2
    and c.consumed_at is null
    returning t.mfa_factor_id as id
),` + raiseSession
)

// recoveryName is what recovery codes are called when their user gives no name.
const recoveryName = "Recovery codes"

// RecoveryCodes is a set of codes that stand in for another factor, each once.
type RecoveryCodes struct {
	// ID is the factor's.
	ID           uuid.UUID
	FriendlyName string
	// Total is how many there are, Remaining how many were not used yet.
	Total, Remaining int
	// Codes are given when they are made, and never again.
	Codes []Secret
}

// RecoveryCodes tells how many recovery codes an account has.
func (s *Service) RecoveryCodes(ctx context.Context, p *Principal) (*RecoveryCodes, error) {
	if _, err := s.User(ctx, p); err != nil {
		return nil, err
	}
	set := &RecoveryCodes{}
	err := s.pool.QueryRow(ctx, countCodes, p.UserID).Scan(&set.ID, &set.Total, &set.Remaining)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, noRecoveryCodes()
	}
	return set, err
}

// GenerateRecoveryCodes makes an account's recovery codes. It takes a session at aal2 and another proved factor.
func (s *Service) GenerateRecoveryCodes(ctx context.Context, caller Caller, p *Principal, name string) (*RecoveryCodes, error) {
	set, err := s.generateRecoveryCodes(ctx, p, name)
	s.event(caller, "recovery_codes_generate", p.UserID, err)
	return set, err
}

func (s *Service) generateRecoveryCodes(ctx context.Context, p *Principal, name string) (*RecoveryCodes, error) {
	if refusal := s.factorAllowed(FactorRecoveryCode, "enroll"); refusal != nil {
		return nil, refusal
	}
	if strings.TrimSpace(name) == "" {
		name = recoveryName
	}
	if refusal := checkLabels(NewFactor{FriendlyName: name}); refusal != nil {
		return nil, refusal
	}
	e := &Enrollment{ID: uuid.New(), Type: FactorRecoveryCode, FriendlyName: name}
	set := &RecoveryCodes{ID: e.ID, FriendlyName: name}
	err := s.locked(ctx, p, func(tx pgx.Tx, l *lookup) error {
		switch {
		case l.level == lowestLevel:
			return deny(CodeInsufficientAAL, "AAL2 required to generate recovery codes")
		case l.user.hasRecoveryCodes():
			return unprocessable(CodeFactorExists, "Recovery codes are already enrolled for this user, use regenerate to rotate them")
		case !l.user.hasOtherFactor(uuid.Nil):
			return unprocessable(CodeRecoveryCodesSoleFactor, "At least one other verified factor is required to generate recovery codes")
		}
		replaced, refusal := l.replaced(e)
		if refusal != nil {
			return refusal
		}
		at, id := now(), uuid.New()
		batch := &pgx.Batch{}
		batch.Queue(deleteFactors, p.UserID, replaced)
		batch.Queue(insertFactor, e.ID, p.UserID, name, e.Type, statusVerified, at, nil, nil)
		batch.Queue(insertCodeSet, id, p.UserID, e.ID, at)
		set.queue(batch, id, at)
		if err := s.notifyOfFactor(batch, MailFactorEnrolled, l.user, e.Type); err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, saveFailed("Database error creating recovery codes", err)
	}
	return set, nil
}

// queue draws new codes and adds their hashes to a batch.
func (set *RecoveryCodes) queue(batch *pgx.Batch, id uuid.UUID, at time.Time) {
	hashes := make([]string, 0, factor.RecoveryCodes)
	for _, code := range factor.NewRecoveryCodes() {
		set.Codes = append(set.Codes, Secret(code))
		hashes = append(hashes, factor.RecoveryHash(id.String(), code))
	}
	set.Total, set.Remaining = len(hashes), len(hashes)
	batch.Queue(insertCodes, id, hashes, at)
}

// RegenerateRecoveryCodes makes new codes; those from before are void.
func (s *Service) RegenerateRecoveryCodes(ctx context.Context, caller Caller, p *Principal) (*RecoveryCodes, error) {
	set, err := s.regenerateRecoveryCodes(ctx, p)
	s.event(caller, "recovery_codes_regenerate", p.UserID, err)
	return set, err
}

func (s *Service) regenerateRecoveryCodes(ctx context.Context, p *Principal) (*RecoveryCodes, error) {
	if refusal := s.factorAllowed(FactorRecoveryCode, "enroll"); refusal != nil {
		return nil, refusal
	}
	set := &RecoveryCodes{}
	err := s.locked(ctx, p, func(tx pgx.Tx, l *lookup) error {
		f, found := l.user.recoveryFactor()
		switch {
		case l.level == lowestLevel:
			return deny(CodeInsufficientAAL, "AAL2 required to regenerate recovery codes")
		case !found:
			return noRecoveryCodes()
		}
		at := now()
		var id uuid.UUID
		if err := tx.QueryRow(ctx, clearCodeSet, p.UserID, at).Scan(&id); err != nil {
			return err
		}
		set.ID, set.FriendlyName = f.ID, f.FriendlyName
		batch := &pgx.Batch{}
		set.queue(batch, id, at)
		return tx.SendBatch(ctx, batch).Close()
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, noRecoveryCodes()
	case err != nil:
		return nil, saveFailed("Database error replacing recovery codes", err)
	}
	return set, nil
}

// DeleteRecoveryCodes removes an account's recovery codes and gives the id that their factor had.
func (s *Service) DeleteRecoveryCodes(ctx context.Context, caller Caller, p *Principal) (uuid.UUID, error) {
	id, err := s.deleteRecoveryCodes(ctx, p)
	s.event(caller, "recovery_codes_delete", p.UserID, err)
	return id, err
}

func (s *Service) deleteRecoveryCodes(ctx context.Context, p *Principal) (id uuid.UUID, err error) {
	err = s.locked(ctx, p, func(tx pgx.Tx, l *lookup) error {
		f, found := l.user.recoveryFactor()
		switch {
		case l.level == lowestLevel:
			return deny(CodeInsufficientAAL, "AAL2 required to delete recovery codes")
		case !found:
			return noRecoveryCodes()
		}
		id = f.ID
		batch := &pgx.Batch{}
		batch.Queue(removeFactor, f.ID, p.UserID, MethodRecoveryCode, now())
		if err := s.notifyOfFactor(batch, MailFactorUnenrolled, l.user, f.Type); err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return uuid.Nil, saveFailed("Database error deleting recovery codes", err)
	}
	return id, nil
}

// VerifyRecoveryCode uses a code up and raises the session to aal2.
func (s *Service) VerifyRecoveryCode(ctx context.Context, caller Caller, p *Principal, typed Secret) (*Session, error) {
	session, err := s.verifyRecoveryCode(ctx, caller, p, typed)
	s.event(caller, "recovery_codes_verify", p.UserID, err)
	return session, err
}

func (s *Service) verifyRecoveryCode(ctx context.Context, caller Caller, p *Principal, typed Secret) (*Session, error) {
	if refusal := s.factorAllowed(FactorRecoveryCode, "verify"); refusal != nil {
		return nil, refusal
	}
	if refusal := namesSession(p); refusal != nil {
		return nil, refusal
	}
	code := factor.NormalizeRecoveryCode(typed.Reveal())
	if code == "" {
		return nil, refuse(CodeValidationFailed, "Code needs to be non-empty")
	}
	u, kept, err := s.readCodes(ctx, caller, p)
	if err != nil {
		return nil, err
	}
	wrong := unprocessable(CodeFactorVerificationFailed, "Invalid recovery code entered")
	f, found := u.recoveryFactor()
	if !found {
		return nil, wrong
	}
	id, err := s.matchCode(ctx, kept, code)
	if err != nil {
		return nil, err
	}
	if err := s.factorAttempted(ctx, caller, p.UserID, f, id != uuid.Nil); err != nil {
		return nil, err
	}
	if id == uuid.Nil {
		return nil, wrong
	}
	return s.raise(ctx, caller, p, f, &acceptance{
		statement: acceptRecovery, parameters: []any{id}, refusal: wrong, forget: factorHits(caller, p.UserID, uuid.Nil),
	})
}

// keptCode is a recovery code as the database knows it.
type keptCode struct {
	id, set uuid.UUID
	hash    string
}

// readCodes counts a try and reads the codes that were not used yet.
func (s *Service) readCodes(ctx context.Context, caller Caller, p *Principal) (*User, []keptCode, error) {
	l := &lookup{principal: p}
	var kept []keptCode
	batch := &pgx.Batch{}
	hits := append(factorHits(caller, p.UserID, uuid.Nil), limit.Hit{Rule: factorRule(), Of: caller.Network()})
	verdict := s.count(batch, caller, hits...)
	s.lookups.ask(batch, p).QueryRow(l.scan)
	batch.Queue(unusedCodes, p.UserID).Query(func(rows pgx.Rows) error {
		var code keptCode
		_, err := pgx.ForEachRow(rows, []any{&code.id, &code.set, &code.hash}, func() error {
			kept = append(kept, code)
			return nil
		})
		return err
	})
	if err := l.refusal(s.send(ctx, batch)); err != nil {
		return nil, nil, err
	}
	if refusal := verdict.Refused(); refusal != nil {
		return nil, nil, &Error{
			Code: CodeRecoveryCodesLocked, Message: "Too many failed verification attempts, try again later", RetryAfter: refusal.RetryAfter,
		}
	}
	return l.user, kept, nil
}

// matchCode finds the code that was typed among those that are kept. All are looked at. Those of a dump have the hash of a
// password, which takes its turn.
func (s *Service) matchCode(ctx context.Context, kept []keptCode, code string) (uuid.UUID, error) {
	var id uuid.UUID
	for _, k := range kept {
		expected := factor.RecoveryHash(k.set.String(), code)
		same := subtle.ConstantTimeCompare([]byte(k.hash), []byte(expected)) == 1
		if strings.HasPrefix(k.hash, "$argon2") {
			var err error
			if same, err = s.matches(ctx, k.hash, Secret(code)); err != nil {
				return uuid.Nil, err
			}
		}
		if same {
			id = k.id
		}
	}
	return id, nil
}

func noRecoveryCodes() *Error {
	return refuse(CodeFactorNotFound, "The user has not enrolled recovery codes")
}

func (u *User) recoveryFactor() (Factor, bool) {
	for _, f := range u.Factors {
		if f.Type == FactorRecoveryCode {
			return f, true
		}
	}
	return Factor{}, false
}
