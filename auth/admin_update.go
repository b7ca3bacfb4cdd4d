package auth

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	adminUpdate = `
update auth.users
set aud = coalesce($2, aud),
    role = coalesce($3, role),
    encrypted_password = coalesce($4, encrypted_password),
    email_confirmed_at = case when $5 then coalesce(email_confirmed_at, $6) else email_confirmed_at end,
    raw_app_meta_data = (coalesce(raw_app_meta_data, '{}') || $7::jsonb) - $8::text[],
    raw_user_meta_data = (coalesce(raw_user_meta_data, '{}') || $9::jsonb) - $10::text[],
    banned_until = case when $11 then $12 else banned_until end,
    updated_at = $6
where id = $1
and deleted_at is null`

	adminChangeEmail = `
update auth.users
set email = $2,
    email_confirmed_at = case when $4 then $3::timestamptz end,
    email_change = '',
    is_anonymous = false,
    raw_user_meta_data = coalesce(raw_user_meta_data, '{}') || $5::jsonb,
    updated_at = $3
where id = $1
and deleted_at is null`

	endAllSessions = `
delete from auth.sessions
where user_id = $1`
)

// AdminUpdateUser changes an account. A new password ends all of its sessions.
func (s *Service) AdminUpdateUser(ctx context.Context, caller Caller, id uuid.UUID, in AdminUser) (*User, error) {
	u, err := s.adminUpdate(ctx, id, in)
	s.event(caller, "admin_user_update", id, err)
	return u, err
}

func (s *Service) adminUpdate(ctx context.Context, id uuid.UUID, in AdminUser) (*User, error) {
	current, err := s.AdminUser(ctx, id)
	if err != nil {
		return nil, err
	}
	if current.DeletedAt != nil {
		return nil, userNotFound()
	}
	if in.Phone != nil && *in.Phone != "" && *in.Phone != current.Phone {
		return nil, refuse(CodePhoneProviderDisabled, "Phone numbers are not available on this server")
	}
	data, refusal := userData(in.UserMetadata)
	if refusal != nil {
		return nil, refusal
	}
	app, refusal := adminMetadata(in.AppMetadata)
	if refusal != nil {
		return nil, refusal
	}
	at := now()
	banChanged, bannedUntil, refusal := ban(in.BanDuration, at)
	if refusal != nil {
		return nil, refusal
	}
	email := ""
	if in.Email != nil && *in.Email != "" {
		if email, refusal = normalizeEmail(*in.Email); refusal != nil {
			return nil, refusal
		}
	}
	hash, err := s.adminHash(ctx, in)
	if err != nil {
		return nil, err
	}
	set, drop, err := change(data)
	if err != nil {
		return nil, unexpected("The metadata could not be written", err)
	}
	appSet, appDrop, err := change(app)
	if err != nil {
		return nil, unexpected("The metadata could not be written", err)
	}
	confirm := in.EmailConfirm != nil && *in.EmailConfirm
	batch := &pgx.Batch{}
	batch.Queue(adminUpdate, id, in.Audience, in.Role, hash, confirm, at, appSet, appDrop, set, drop, banChanged, bannedUntil)
	if email != "" && email != current.Email {
		confirm = confirm || in.EmailConfirm == nil
		known, err := emailMetadata(map[string]json.RawMessage{}, id, email, confirm)
		if err != nil {
			return nil, err
		}
		batch.Queue(adminChangeEmail, id, email, at, confirm, known)
		batch.Queue(changeEmailIdentity, id, known, at)
		batch.Queue(voidLinks, id)
	}
	if hash != nil {
		batch.Queue(endAllSessions, id)
		batch.Queue(voidLinks, id)
	}
	return s.writeAndRead(ctx, batch, id, userNotFound())
}
