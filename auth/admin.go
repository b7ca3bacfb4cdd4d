package auth

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/limit"
)

// AdminUser is what an administrator says about an account. Nil fields change nothing.
type AdminUser struct {
	ID           *uuid.UUID
	Email        *string
	Phone        *string
	Password     *Secret
	PasswordHash *Secret
	EmailConfirm *bool
	PhoneConfirm *bool
	UserMetadata json.RawMessage
	AppMetadata  json.RawMessage
	Role         *string
	Audience     *string
	// BanDuration is a Go duration from now on, or "none".
	BanDuration *string
}

// UserPage is a page of all accounts.
type UserPage struct {
	Users []*User
	Total int
}

const (
	adminDelete = `
delete from auth.users
where id = $1`

	// A softly deleted account keeps its row, for what refers to it, and nothing that tells who it was.
	adminSoftDelete = `
with gone as (
    update auth.users
    set email = encode(sha256(convert_to(coalesce(email, '') || id::text, 'utf8')), 'hex'),
        phone = null,
        encrypted_password = '',
        raw_user_meta_data = '{}',
        raw_app_meta_data = '{}',
        email_change = '',
        phone_change = '',
        confirmation_token = '',
        recovery_token = '',
        email_change_token_new = '',
        email_change_token_current = '',
        reauthentication_token = '',
        phone_change_token = '',
        deleted_at = $2,
        updated_at = $2
    where id = $1
    and deleted_at is null
    returning id
),
identities as (
    delete from auth.identities
    where user_id in (select id from gone)
),
sessions as (
    delete from auth.sessions
    where user_id in (select id from gone)
),
factors as (
    delete from auth.mfa_factors
    where user_id in (select id from gone)
),
passkeys as (
    delete from auth.webauthn_credentials
    where user_id in (select id from gone)
),
links as (
    delete from auth.one_time_tokens
    where user_id in (select id from gone)
)
select id
from gone`

	countUsers = `
select count(*)
from auth.users`

	pageOfUsers = `
select` + userColumns + `
from auth.users u
order by u.created_at desc, u.id
limit $1
offset $2`
)

// AdminListUsers gives a page of accounts, newest first. Pages begin at 1.
func (s *Service) AdminListUsers(ctx context.Context, page, perPage int) (*UserPage, error) {
	out := &UserPage{Users: []*User{}}
	batch := &pgx.Batch{}
	batch.Queue(countUsers).QueryRow(func(row pgx.Row) error { return row.Scan(&out.Total) })
	batch.Queue(pageOfUsers, perPage, int64(page-1)*int64(perPage)).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			u, err := scanUser(rows)
			if err != nil {
				return err
			}
			out.Users = append(out.Users, u)
		}
		return rows.Err()
	})
	return out, s.send(ctx, batch)
}

// AdminUser gives one account.
func (s *Service) AdminUser(ctx context.Context, id uuid.UUID) (*User, error) {
	u, err := scanUser(s.pool.QueryRow(ctx, userByID, id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, userNotFound()
	}
	return u, err
}

func userNotFound() *Error { return refuse(CodeUserNotFound, "User not found") }

// AdminDeleteUser deletes an account with all that hangs on it, or leaves its bare row.
func (s *Service) AdminDeleteUser(ctx context.Context, caller Caller, id uuid.UUID, soft bool, record Record[*User]) error {
	err := s.adminDelete(ctx, caller, id, soft, record)
	s.event(caller, "admin_user_delete", id, err)
	return err
}

func (s *Service) adminDelete(ctx context.Context, caller Caller, id uuid.UUID, soft bool, record Record[*User]) error {
	batch := &pgx.Batch{}
	var before *User
	found := func(ended pgconn.CommandTag) error {
		if ended.RowsAffected() == 0 {
			return userNotFound()
		}
		return nil
	}
	// A session that is being opened is seen by what follows the lock, and not by what began before it.
	batch.Queue(lockUser, id)
	batch.Queue(userByID, id).QueryRow(func(row pgx.Row) error {
		var err error
		if before, err = scanUser(row); errors.Is(err, pgx.ErrNoRows) {
			return userNotFound()
		}
		return err
	})
	s.audit(batch, auditEntry{action: actionDeleted, user: id, admin: true, deleted: !soft, caller: caller})
	if soft {
		batch.Queue(adminSoftDelete, id, now()).Exec(found)
	} else {
		batch.Queue(adminDelete, id).Exec(found)
	}
	_, err := recorded(ctx, s, record, func(db limit.Sender) (*User, error) {
		err := db.SendBatch(ctx, batch).Close()
		return before, err
	})
	return saveFailed("Database error deleting user", err)
}
