package administrator

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth"
	"basalt/auth/limit"
)

// SetupLife is how long a set-up link is good.
const SetupLife = time.Hour

const (
	anyAdministrator = `
select exists (
    select
    from basalt.administrators
)`

	insertSetupLink = `
insert into basalt.administrator_links (token_hash, purpose, expires_at)
select $1, 'setup', now() + $2
where not exists (
    select
    from basalt.administrators
)`

	sweepLinks = `
delete from basalt.administrator_links
where expires_at <= now()`

	goodSetupLink = `
select exists (
    select
    from basalt.administrator_links
    where token_hash = $1
    and purpose = 'setup'
    and expires_at > now()
)`

	// spendSetupLink uses a link up: of many callers with the same one, one gets it.
	spendSetupLink = `
delete from basalt.administrator_links
where token_hash = $1
and purpose = 'setup'
and expires_at > now()`

	// forgetSetupLinks ends the links that other processes over the same database have made.
	forgetSetupLinks = `
delete from basalt.administrator_links
where purpose = 'setup'`

	// lockAdministrators makes those wait for each other who count administrators and then change how many there are.
	// Who reads does not wait.
	lockAdministrators = `
lock table basalt.administrators in share row exclusive mode`

	insertAdministrator = `
insert into basalt.administrators (id, email, role, password_hash)
values ($1, $2, $3, $4)`
)

// SetupNeeded tells whether there is no administrator yet.
func (s *Service) SetupNeeded(ctx context.Context) (bool, error) {
	var any bool
	err := s.db.QueryRow(ctx, anyAdministrator).Scan(&any)
	return !any, err
}

// NewSetupLink makes the token of a link by which the first administrator is made, once, within SetupLife. It is empty
// where there is an administrator. Links that other processes have made stay good until one of them is used.
func (s *Service) NewSetupLink(ctx context.Context) (auth.Secret, error) {
	token := auth.DrawSecret(tokenBytes)
	made := false
	batch := &pgx.Batch{}
	batch.Queue(sweepLinks)
	batch.Queue(insertSetupLink, hashOf(token), SetupLife).Exec(func(tag pgconn.CommandTag) error {
		made = tag.RowsAffected() == 1
		return nil
	})
	if err := s.db.SendBatch(ctx, batch).Close(); err != nil || !made {
		return "", err
	}
	return token, nil
}

// SetUp makes the first administrator, an owner, and signs them in. Before is the token that the browser had, if any.
func (s *Service) SetUp(ctx context.Context, caller auth.Caller, link auth.Secret, email string, password, before auth.Secret) (*Opened, error) {
	opened, id, err := s.setUp(ctx, caller, link, email, password, before)
	s.event(caller, "setup", id, err)
	return opened, err
}

func (s *Service) setUp(ctx context.Context, caller auth.Caller, link auth.Secret, email string, password, before auth.Secret) (*Opened, uuid.UUID, error) {
	if err := s.admit(ctx, limit.Hit{Rule: linkRule(), Of: caller.Network()}); err != nil {
		return nil, uuid.Nil, err
	}
	// A hash is only made for who has a good link.
	var good bool
	if err := s.db.QueryRow(ctx, goodSetupLink, hashOf(link)).Scan(&good); err != nil {
		return nil, uuid.Nil, err
	}
	if !good {
		return nil, uuid.Nil, s.noSetup(ctx)
	}
	address, err := normalize(email)
	if err != nil {
		return nil, uuid.Nil, err
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return nil, uuid.Nil, err
	}
	id := uuid.New()
	var token auth.Secret
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		var any bool
		if _, err := tx.Exec(ctx, lockAdministrators); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, anyAdministrator).Scan(&any); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, spendSetupLink, hashOf(link))
		switch {
		case err != nil:
			return err
		case any:
			return alreadySetUp()
		case tag.RowsAffected() == 0:
			return linkInvalid()
		}
		if err := insert(ctx, tx, id, address, Owner, &hash); err != nil {
			return err
		}
		if token, err = open(ctx, tx, caller, id, before); err != nil {
			return err
		}
		return Record(ctx, tx, actor(caller, id, address), Change{
			Action: "administrator.setup", Target: id.String(), After: state{Email: address, Role: Owner},
		})
	})
	if err != nil {
		return nil, uuid.Nil, err
	}
	opened, err := s.opened(ctx, token)
	return opened, id, err
}

// noSetup is why a link does not set up.
func (s *Service) noSetup(ctx context.Context) error {
	needed, err := s.SetupNeeded(ctx)
	switch {
	case err != nil:
		return err
	case needed:
		return linkInvalid()
	}
	return alreadySetUp()
}

func alreadySetUp() *Error {
	return &Error{Code: CodeSetUp, Message: "There is an administrator already", Hint: "Sign in, or let an owner invite you."}
}

func linkInvalid() *Error {
	return &Error{
		Code: CodeLinkInvalid, Message: "The link was used already, or has expired",
		Hint: "A start of the server prints a new set-up link; an owner makes new invitations and reset links.",
	}
}

// insert adds an administrator. With the first one the set-up links end.
func insert(ctx context.Context, tx pgx.Tx, id uuid.UUID, email string, role Role, hash *string) error {
	_, err := tx.Exec(ctx, insertAdministrator, id, email, role, hash)
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && refusal.ConstraintName == "administrators_email_key" {
		return refuse(CodeEmailTaken, "There is an administrator with this e-mail address already")
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, forgetSetupLinks)
	return err
}

// state is an administrator as the audit log keeps it.
type state struct {
	Email string `json:"email"`
	Role  Role   `json:"role"`
}

func normalize(email string) (string, error) {
	address, err := auth.NormalizeEmail(email)
	if err != nil {
		return "", refuse(CodeEmailInvalid, "This is no e-mail address")
	}
	return address, nil
}
