package administrator

import (
	"context"
	"errors"
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
)

// link makes a link for an administrator; those made before are good no more.
func link(ctx context.Context, tx pgx.Tx, purpose string, id uuid.UUID, life time.Duration) (auth.Secret, error) {
	token := auth.DrawSecret(tokenBytes)
	if _, err := tx.Exec(ctx, forgetLinks, id); err != nil {
		return "", err
	}
	_, err := tx.Exec(ctx, insertLink, hashOf(token), purpose, id, life)
	return token, err
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
