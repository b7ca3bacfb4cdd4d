package administrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth"
	"basalt/auth/limit"
)

const (
	// InviteLife is how long an invitation is good.
	InviteLife = 72 * time.Hour
	// ResetLife is how long a link is good by which a new password is set.
	ResetLife = 24 * time.Hour

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

	forgetLinks = `
delete from basalt.administrator_links
where administrator_id = $1`

	insertLink = `
insert into basalt.administrator_links (token_hash, purpose, administrator_id, expires_at)
values ($1, $2, $3, now() + $4)`

	linkFor = `
select administrator_id
from basalt.administrator_links
where token_hash = $1
and purpose in ('invite', 'reset')
and expires_at > now()`

	// linkSeen tells whom a link is for. Who invited is in the audit log until that is pruned.
	linkSeen = `
select
    l.purpose,
    a.email,
    a.role,
    coalesce((
        select t.email
        from basalt.administrator_audit t
        where t.target = a.id::text
        and t.action = 'administrator.invite'
        and t.administrator_id is not null
        order by t.id desc
        limit 1
    ), '')
from basalt.administrator_links l
join basalt.administrators a on a.id = l.administrator_id
where l.token_hash = $1
and l.purpose in ('invite', 'reset')
and l.expires_at > now()`

	// spendLink uses a link up: of many callers with the same one, one gets it.
	spendLink = `
delete from basalt.administrator_links
where token_hash = $1
and purpose in ('invite', 'reset')
and expires_at > now()
returning administrator_id, purpose`

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

// link makes a link for an administrator; those made before are good no more.
func link(ctx context.Context, tx pgx.Tx, purpose string, id uuid.UUID, life time.Duration) (auth.Secret, error) {
	token := auth.DrawSecret(tokenBytes)
	if _, err := tx.Exec(ctx, forgetLinks, id); err != nil {
		return "", err
	}
	_, err := tx.Exec(ctx, insertLink, hashOf(token), purpose, id, life)
	return token, err
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

// ResetLink makes a link by which an administrator sets a new password, or accepts an invitation, and gives its token
// with the time when it ends.
func (s *Service) ResetLink(ctx context.Context, by Actor, id uuid.UUID) (token auth.Secret, life time.Duration, err error) {
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		a, err := read(ctx, tx, administratorByID, id)
		if err != nil {
			return err
		}
		purpose := "reset"
		life = ResetLife
		if !a.Joined {
			purpose, life = "invite", InviteLife
		}
		if token, err = link(ctx, tx, purpose, id, life); err != nil {
			return err
		}
		return Record(ctx, tx, by, Change{Action: "administrator.reset_link", Target: id.String()})
	})
	return token, life, err
}

// Link is a link by which an administrator chooses a password.
type Link struct {
	// Purpose is invite or reset.
	Purpose string
	Email   string
	Role    Role
	// InvitedBy is the address of who invited them, empty when that is not known.
	InvitedBy string
}

// SeeLink tells who holds a link whom it is for. It stays good.
func (s *Service) SeeLink(ctx context.Context, caller auth.Caller, token auth.Secret) (*Link, error) {
	if err := s.admit(ctx, limit.Hit{Rule: linkRule(), Of: caller.Network()}); err != nil {
		return nil, err
	}
	l := &Link{}
	err := s.db.QueryRow(ctx, linkSeen, hashOf(token)).Scan(&l.Purpose, &l.Email, &l.Role, &l.InvitedBy)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, linkInvalid()
	}
	return l, err
}

// Join sets the password of whom a link was made for, ends their sessions, and opens one. Who has a second factor signs in
// with it: the link alone does not stand for that. Before is the token that the browser had, if any.
func (s *Service) Join(ctx context.Context, caller auth.Caller, token, password, before auth.Secret) (*Opened, error) {
	opened, id, err := s.join(ctx, caller, token, password, before)
	s.event(caller, "join", id, err)
	return opened, err
}

func (s *Service) join(ctx context.Context, caller auth.Caller, token, password, before auth.Secret) (*Opened, uuid.UUID, error) {
	if err := s.admit(ctx, limit.Hit{Rule: linkRule(), Of: caller.Network()}); err != nil {
		return nil, uuid.Nil, err
	}
	var id uuid.UUID
	err := s.db.QueryRow(ctx, linkFor, hashOf(token)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, uuid.Nil, linkInvalid()
	}
	if err != nil {
		return nil, uuid.Nil, err
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return nil, id, err
	}
	var session auth.Secret
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var purpose string
		err := tx.QueryRow(ctx, spendLink, hashOf(token)).Scan(&id, &purpose)
		if errors.Is(err, pgx.ErrNoRows) {
			return linkInvalid()
		}
		if err != nil {
			return err
		}
		email, guarded, err := s.setPassword(ctx, tx, id, hash, uuid.Nil)
		if err != nil {
			return err
		}
		if !guarded {
			if session, err = open(ctx, tx, caller, id, before); err != nil {
				return err
			}
		}
		action := "administrator.join"
		if purpose == "reset" {
			action = "administrator.reset_password"
		}
		return Record(ctx, tx, actor(caller, id, email), Change{Action: action, Target: id.String()})
	})
	if err != nil {
		return nil, id, err
	}
	if session == "" {
		return nil, id, refuse(CodeSecondFactorNeeded, "Your password is set: sign in with it, and with the code that your authenticator app shows")
	}
	opened, err := s.opened(ctx, session)
	return opened, id, err
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
