package administrator

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth"
	"basalt/auth/factor"
	"basalt/auth/limit"
	"basalt/auth/seal"
)

// Credentials are what somebody signs in with.
type Credentials struct {
	Email    string
	Password auth.Secret
	// Code is of the time, or a recovery code; it is asked for where the administrator has set that up.
	Code auth.Secret
}

const (
	// toSignIn finds an administrator by the address, and whether there is a session in the caller's place.
	toSignIn = `
select
    a.id,
    coalesce(a.password_hash, ''),
    case when a.totp_verified_at is not null then coalesce(a.totp_secret, '') else '' end,
    exists (
        select
        from basalt.administrator_sessions s
        where s.administrator_id = a.id
        and s.ip = $2
        and ` + alive + `
    )
from basalt.administrators a
where a.email = $1`

	// admitSignIn checks once more what may have changed while the password was being hashed. No code of an accepted
	// time-step, nor of one before it, passes again (RFC 6238 §5.2); without one the step is 0, and $5 tells whether a
	// recovery code stands in for it.
	admitSignIn = `
update basalt.administrators
set password_hash = coalesce($3, password_hash),
    totp_last_step = greatest(totp_last_step, $4)
where id = $1
and password_hash = $2
and (totp_verified_at is null) = ($4 = 0 and not $5)
and (totp_verified_at is null or $5 or totp_last_step < $4)`

	// useStep accepts a code of a time-step.
	useStep = `
update basalt.administrators
set totp_last_step = $2
where id = $1
and totp_verified_at is not null
and totp_last_step < $2`
)

// known is who somebody claims to be.
type known struct {
	id         uuid.UUID
	email      string
	hash       string
	sealedTOTP string
	// here tells whether the administrator has a session where the caller is.
	here bool
}

// SignIn opens a session. Before is the token that the browser had, if any; its session ends. Unknown addresses and wrong
// passwords cannot be told apart.
func (s *Service) SignIn(ctx context.Context, caller auth.Caller, in Credentials, before auth.Secret) (*Opened, error) {
	opened, id, err := s.signIn(ctx, caller, in, before)
	s.event(caller, "signin", id, err)
	return opened, err
}

func (s *Service) signIn(ctx context.Context, caller auth.Caller, in Credentials, before auth.Secret) (*Opened, uuid.UUID, error) {
	email, err := auth.NormalizeEmail(in.Email)
	if err != nil {
		email = "" // nobody's
	}
	who, err := s.lookUp(ctx, caller, email)
	if err != nil {
		return nil, uuid.Nil, err
	}
	ok, err := s.matches(ctx, who.hash, in.Password)
	switch {
	case err != nil:
		return nil, who.id, err
	case !ok || who.id == uuid.Nil || who.hash == "":
		return nil, who.id, invalidCredentials()
	}
	second, err := s.secondFactor(ctx, caller, who, in.Code)
	if err != nil {
		return nil, who.id, err
	}
	var renewed *string
	if s.options.Passwords.Outdated(who.hash) {
		hash, err := s.hashed(ctx, in.Password)
		if err != nil {
			return nil, who.id, err
		}
		renewed = &hash
	}
	var token auth.Secret
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		by := actor(caller, who.id, email)
		tag, err := tx.Exec(ctx, admitSignIn, who.id, who.hash, renewed, second.step, second.recovery != "")
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			if second != (accepted{}) {
				return codeInvalid()
			}
			return invalidCredentials()
		}
		if err := (accepted{recovery: second.recovery}).use(ctx, tx, by); err != nil {
			return err
		}
		if token, err = open(ctx, tx, caller, who.id, before); err != nil {
			return err
		}
		forget := &pgx.Batch{}
		s.limits.Forget(forget, append(guessHits(caller, email), codeHits(caller, who.id)...)...)
		if err := tx.SendBatch(ctx, forget).Close(); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "session.create", Target: who.id.String()})
	})
	if err != nil {
		return nil, who.id, err
	}
	opened, err := s.opened(ctx, token)
	return opened, who.id, err
}

// lookUp counts the attempt and finds the administrator in one flight; the zero value is nobody. The counts are the same
// for addresses that nobody has, and are made before the password is looked at: attempts at the same moment cannot slip
// through together.
func (s *Service) lookUp(ctx context.Context, caller auth.Caller, email string) (*known, error) {
	who := &known{email: email}
	batch := &pgx.Batch{}
	verdict := s.limits.Queue(batch, append(guessHits(caller, email),
		limit.Hit{Rule: signInRule(), Of: caller.Network()}, limit.Hit{Rule: siegeRule(), Of: email})...)
	batch.Queue(toSignIn, email, caller.Addr()).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&who.id, &who.hash, &who.sealedTOTP, &who.here)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err := s.db.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	if refusal := verdict.Refused(signInRule(), guessRule(), guessHourRule(), guessDayRule()); refusal != nil {
		return nil, tooOften(refusal)
	}
	if refusal := verdict.Refused(siegeRule()); refusal != nil && !who.here {
		return nil, tooOften(refusal)
	}
	return who, nil
}

// secondFactor gives what a right code is noted as, the zero value for who needs none.
func (s *Service) secondFactor(ctx context.Context, caller auth.Caller, who *known, code auth.Secret) (accepted, error) {
	switch {
	case who.sealedTOTP == "":
		return accepted{}, nil
	case code == "":
		return accepted{}, refuse(CodeSecondFactorNeeded, "The code that your authenticator app shows is needed")
	}
	if err := s.admit(ctx, codeHits(caller, who.id)...); err != nil {
		return accepted{}, err
	}
	return s.matchSecond(ctx, who.id, who.sealedTOTP, code)
}

// matchSecond gives what the code of an app or a recovery code is noted as.
func (s *Service) matchSecond(ctx context.Context, id uuid.UUID, sealed string, code auth.Secret) (accepted, error) {
	if hash, is := recoveryOf(id, code); is {
		return accepted{recovery: hash}, nil
	}
	step, err := s.matchCode(ctx, id, sealed, code)
	return accepted{step: step}, err
}

// matchCode gives the time-step that a code belongs to.
func (s *Service) matchCode(ctx context.Context, id uuid.UUID, sealed string, code auth.Secret) (int64, error) {
	secret, _, err := s.options.Vault.Open(ctx, sealed, totpCell(id))
	if err != nil {
		return 0, err
	}
	step, ok, err := factor.MatchTOTP(secret, code.Reveal(), time.Now())
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, codeInvalid()
	}
	return step, nil
}

func codeInvalid() *Error {
	return &Error{Code: CodeCodeInvalid, Message: "The code is wrong, or was used already", Hint: "Wait for the next code that the app shows."}
}

func totpCell(id uuid.UUID) seal.Cell {
	return seal.Cell{Table: "basalt.administrators", Row: id.String(), Column: "totp_secret"}
}

// Proof is what somebody who is signed in proves once more who they are with: one of both.
type Proof struct {
	Password, Code auth.Secret
}

const toProve = `
select
    coalesce(password_hash, ''),
    case when totp_verified_at is not null then coalesce(totp_secret, '') else '' end
from basalt.administrators
where id = $1`

// Elevate lets a session see secrets and change factors for a while, and gives it another token.
func (s *Service) Elevate(ctx context.Context, caller auth.Caller, session *Session, token auth.Secret, proof Proof) (*Opened, error) {
	opened, err := s.elevate(ctx, caller, session, token, proof)
	s.event(caller, "elevate", session.Administrator.ID, err)
	return opened, err
}

func (s *Service) elevate(ctx context.Context, caller auth.Caller, session *Session, token auth.Secret, proof Proof) (*Opened, error) {
	id := session.Administrator.ID
	if err := s.admit(ctx, proofHits(session.ID)...); err != nil {
		return nil, err
	}
	proved, err := s.prove(ctx, id, proof)
	if err != nil {
		return nil, err
	}
	next := auth.DrawSecret(tokenBytes)
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		by := actor(caller, id, session.Administrator.Email)
		if err := proved.use(ctx, tx, by); err != nil {
			return err
		}
		if err := rotate(ctx, tx, session.ID, token, next, Elevation); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "session.elevate", Target: session.ID.String()})
	})
	if err != nil {
		return nil, err
	}
	return s.opened(ctx, next)
}

// prove checks a password, or a code and gives then what it is noted as.
func (s *Service) prove(ctx context.Context, id uuid.UUID, proof Proof) (accepted, error) {
	var hash, sealed string
	err := s.db.QueryRow(ctx, toProve, id).Scan(&hash, &sealed)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return accepted{}, signedOut()
	case err != nil:
		return accepted{}, err
	case proof.Password != "":
		if ok, err := s.matches(ctx, hash, proof.Password); err != nil {
			return accepted{}, err
		} else if !ok || hash == "" {
			return accepted{}, refuse(CodeInvalidCredentials, "The password is wrong")
		}
		return accepted{}, nil
	case sealed == "":
		return accepted{}, refuse(CodeInvalidCredentials, "Your password is needed")
	}
	return s.matchSecond(ctx, id, sealed, proof.Code)
}

// rotate gives a session another token.
func rotate(ctx context.Context, tx pgx.Tx, session uuid.UUID, token, next auth.Secret, elevation time.Duration) error {
	tag, err := tx.Exec(ctx, rotateSession, session, hashOf(token), hashOf(next), elevation)
	if err == nil && tag.RowsAffected() == 0 {
		return signedOut()
	}
	return err
}

// event writes one line for what happened to an administrator.
func (s *Service) event(caller auth.Caller, what string, id uuid.UUID, err error) {
	result := "ok"
	var refusal *Error
	switch {
	case errors.As(err, &refusal):
		result = string(refusal.Code)
	case err != nil:
		result = "failed"
	}
	line := s.options.Log.Info()
	if id != uuid.Nil {
		line = line.Stringer("administrator_id", id)
	}
	if caller.IP.IsValid() {
		line = line.Stringer("ip", caller.IP)
	}
	line.Str("request_id", caller.RequestID).Str("event", what).Str("result", result).Msg("administrator")
}
