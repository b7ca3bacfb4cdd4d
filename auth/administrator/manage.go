package administrator

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth"
)

const (
	// mostAdministrators is how many there may be: all are listed at once.
	mostAdministrators = 500

	allAdministrators = `
select` + administratorColumns + `
from basalt.administrators a
order by a.email`

	administratorByID = `
select` + administratorColumns + `
from basalt.administrators a
where a.id = $1`

	administratorByEmail = `
select` + administratorColumns + `
from basalt.administrators a
where a.email = $1`

	countAdministrators = `
select count(*)
from basalt.administrators`

	// otherOwner tells whether somebody else could do what an owner can. Who was invited and has never come does not count.
	otherOwner = `
select exists (
    select
    from basalt.administrators
    where role = 'owner'
    and password_hash is not null
    and id <> $1
)`

	setRole = `
update basalt.administrators
set role = $2,
    updated_at = now()
where id = $1`

	deleteAdministrator = `
delete from basalt.administrators
where id = $1`

	setPassword = `
update basalt.administrators
set password_hash = $2,
    updated_at = now()
where id = $1
returning email, totp_verified_at is not null`

	dropTOTP = `
update basalt.administrators
set totp_secret = null,
    totp_verified_at = null,
    updated_at = now()
where id = $1`

	dropPasskeys = `
delete from basalt.administrator_passkeys
where administrator_id = $1`
)

// List gives all administrators, by their addresses.
func (s *Service) List(ctx context.Context) ([]Administrator, error) {
	rows, err := s.db.Query(ctx, allAdministrators)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Administrator, error) {
		var a Administrator
		err := row.Scan(a.fields()...)
		return a, err
	})
}

// ByEmail finds an administrator by the address.
func (s *Service) ByEmail(ctx context.Context, email string) (*Administrator, error) {
	address, err := normalize(email)
	if err != nil {
		return nil, err
	}
	return read(ctx, s.db, administratorByEmail, address)
}

// querier is a connection, a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

func read(ctx context.Context, db querier, statement string, key any) (*Administrator, error) {
	a := &Administrator{}
	err := db.QueryRow(ctx, statement, key).Scan(a.fields()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, notFound("administrator")
	}
	return a, err
}

// Create makes an administrator with a password.
func (s *Service) Create(ctx context.Context, by Actor, email string, role Role, password auth.Secret) (*Administrator, error) {
	address, err := checked(email, role)
	if err != nil {
		return nil, err
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return nil, err
	}
	return s.add(ctx, by, "administrator.create", address, role, &hash, nil)
}

// Invite makes an administrator who sets their own password by a link, whose token it gives.
func (s *Service) Invite(ctx context.Context, by Actor, email string, role Role) (*Administrator, auth.Secret, error) {
	address, err := checked(email, role)
	if err != nil {
		return nil, "", err
	}
	var token auth.Secret
	a, err := s.add(ctx, by, "administrator.invite", address, role, nil, func(tx pgx.Tx, id uuid.UUID) error {
		token, err = link(ctx, tx, "invite", id, InviteLife)
		return err
	})
	return a, token, err
}

func checked(email string, role Role) (string, error) {
	if role.rank() == 0 {
		return "", roleInvalid(role)
	}
	return normalize(email)
}

func roleInvalid(role Role) *Error {
	return &Error{Code: CodeRoleInvalid, Message: fmt.Sprintf("%q is no role", plain(string(role), 64)), Hint: "The roles are owner, editor and viewer."}
}

func (s *Service) add(ctx context.Context, by Actor, action, email string, role Role, hash *string, more func(pgx.Tx, uuid.UUID) error) (*Administrator, error) {
	id := uuid.New()
	var a *Administrator
	err := s.alone(ctx, func(tx pgx.Tx) error {
		var there int
		if err := tx.QueryRow(ctx, countAdministrators).Scan(&there); err != nil {
			return err
		}
		if there >= mostAdministrators {
			return refuse(CodeEmailTaken, fmt.Sprintf("There are %d administrators already", mostAdministrators))
		}
		if err := insert(ctx, tx, id, email, role, hash); err != nil {
			return err
		}
		if more != nil {
			if err := more(tx, id); err != nil {
				return err
			}
		}
		var err error
		if a, err = read(ctx, tx, administratorByID, id); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: action, Target: id.String(), After: state{email, role}})
	})
	return a, err
}

// alone runs a transaction while nobody else changes how many administrators there are, or what they may do.
func (s *Service) alone(ctx context.Context, work func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockAdministrators); err != nil {
			return err
		}
		return work(tx)
	})
}

// SetRole gives an administrator another role. It counts from their next request on.
func (s *Service) SetRole(ctx context.Context, by Actor, id uuid.UUID, role Role) (*Administrator, error) {
	if role.rank() == 0 {
		return nil, roleInvalid(role)
	}
	var a *Administrator
	err := s.alone(ctx, func(tx pgx.Tx) error {
		var err error
		if a, err = read(ctx, tx, administratorByID, id); err != nil {
			return err
		}
		if role != Owner {
			if err := keepOwner(ctx, tx, a); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, setRole, id, role); err != nil {
			return err
		}
		before := state{a.Email, a.Role}
		a.Role = role
		return Record(ctx, tx, by, Change{Action: "administrator.update", Target: id.String(), Before: before, After: state{a.Email, role}})
	})
	return a, err
}

// Delete takes an administrator away, with all their sessions.
func (s *Service) Delete(ctx context.Context, by Actor, id uuid.UUID) error {
	return s.alone(ctx, func(tx pgx.Tx) error {
		a, err := read(ctx, tx, administratorByID, id)
		if err != nil {
			return err
		}
		if err := keepOwner(ctx, tx, a); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, deleteAdministrator, id); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "administrator.delete", Target: id.String(), Before: state{a.Email, a.Role}})
	})
}

// keepOwner refuses to take the last owner away.
func keepOwner(ctx context.Context, tx pgx.Tx, a *Administrator) error {
	if a.Role != Owner || !a.Joined {
		return nil
	}
	var other bool
	if err := tx.QueryRow(ctx, otherOwner, a.ID).Scan(&other); err != nil {
		return err
	}
	if !other {
		return &Error{Code: CodeLastOwner, Message: "This is the last owner", Hint: "Make somebody else an owner first."}
	}
	return nil
}

// setPassword writes a password and ends all sessions but one, and all links: who knew the old one is to be out. Guarded
// tells whether a second factor is asked for.
func (s *Service) setPassword(ctx context.Context, tx pgx.Tx, id uuid.UUID, hash string, keep uuid.UUID) (email string, guarded bool, err error) {
	err = tx.QueryRow(ctx, setPassword, id, hash).Scan(&email, &guarded)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", false, notFound("administrator")
	}
	if err != nil {
		return "", false, err
	}
	if _, err := tx.Exec(ctx, endSessions, id, keep); err != nil {
		return "", false, err
	}
	_, err = tx.Exec(ctx, forgetLinks, id)
	return email, guarded, err
}

// ResetPassword sets the password of an administrator and ends their sessions.
func (s *Service) ResetPassword(ctx context.Context, by Actor, id uuid.UUID, password auth.Secret) error {
	hash, err := s.hash(ctx, password)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if _, _, err := s.setPassword(ctx, tx, id, hash, uuid.Nil); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "administrator.reset_password", Target: id.String()})
	})
}

// RemoveFactors takes away the second factor and the passkeys of an administrator who has lost them. Their sessions end, but
// for one that is kept: who has found what was lost may have opened others.
func (s *Service) RemoveFactors(ctx context.Context, by Actor, id, keep uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, dropTOTP, id)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return notFound("administrator")
		}
		if _, err := tx.Exec(ctx, dropRecovery, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, dropPasskeys, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, endSessions, id, keep); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "administrator.remove_factors", Target: id.String()})
	})
}

// ChangePassword sets the password of who is signed in and knows the old one. Their other sessions end; this one gets
// another token.
func (s *Service) ChangePassword(ctx context.Context, caller auth.Caller, session *Session, token, current, password auth.Secret) (*Opened, error) {
	opened, err := s.changePassword(ctx, caller, session, token, current, password)
	s.event(caller, "password", session.Administrator.ID, err)
	return opened, err
}

func (s *Service) changePassword(ctx context.Context, caller auth.Caller, session *Session, token, current, password auth.Secret) (*Opened, error) {
	id := session.Administrator.ID
	if err := s.admit(ctx, proofHits(session.ID)...); err != nil {
		return nil, err
	}
	if current == "" {
		return nil, refuse(CodeInvalidCredentials, "The current password is needed")
	}
	if _, err := s.prove(ctx, id, Proof{Password: current}); err != nil {
		return nil, err
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return nil, err
	}
	next := auth.DrawSecret(tokenBytes)
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		if _, _, err := s.setPassword(ctx, tx, id, hash, session.ID); err != nil {
			return err
		}
		if err := rotate(ctx, tx, session.ID, token, next, Elevation); err != nil {
			return err
		}
		return Record(ctx, tx, actor(caller, id, session.Administrator.Email), Change{Action: "administrator.password", Target: id.String()})
	})
	if err != nil {
		return nil, err
	}
	return s.opened(ctx, next)
}
