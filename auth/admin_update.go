package auth

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

const endAllSessions = endCodes + `
delete from auth.sessions
where user_id = $1`

// AdminUpdateUser changes an account. A new password ends all of its sessions.
func (s *Service) AdminUpdateUser(ctx context.Context, caller Caller, id uuid.UUID, in AdminUser, record Record[*User]) (*User, error) {
	u, err := s.adminUpdate(ctx, caller, id, in, record)
	s.event(caller, "admin_user_update", id, err)
	return u, err
}

func (s *Service) adminUpdate(ctx context.Context, caller Caller, id uuid.UUID, in AdminUser, record Record[*User]) (*User, error) {
	current, err := s.AdminUser(ctx, id)
	if err != nil {
		return nil, err
	}
	if current.DeletedAt != nil {
		return nil, userNotFound()
	}
	c, refusal := in.change(current, now())
	if refusal != nil {
		return nil, refusal
	}
	if c.hash, err = s.adminHash(ctx, in); err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	if err := c.queue(batch, id); err != nil {
		return nil, err
	}
	if c.hash != nil {
		queueEnd(batch, endAllSessions, id)
	}
	s.audit(batch, auditEntry{action: actionModified, user: id, admin: true, caller: caller, at: c.at})
	return recorded(ctx, s, record, func(db limit.Sender) (*User, error) { return writeAndRead(ctx, db, batch, id, userNotFound()) })
}

// change reads what an administrator says about an account that is there, but for the password.
func (in AdminUser) change(current *User, at time.Time) (c change, refusal *Error) {
	c = change{audience: in.Audience, role: in.Role, at: at}
	if refusal := in.checkNames(); refusal != nil {
		return c, refusal
	}
	if c.user, refusal = readMetadata("user_metadata", in.UserMetadata, maxUserMetadata); refusal != nil {
		return c, refusal
	}
	if c.app, refusal = adminMetadata(in.AppMetadata); refusal != nil {
		return c, refusal
	}
	switch {
	case c.user.merged(current.UserMetadata) > maxUserMetadata && len(c.user) > 0:
		return c, tooLarge("user_metadata", maxUserMetadata)
	case c.app.merged(current.AppMetadata) > maxAppMetadata && len(c.app) > 0:
		return c, tooLarge("app_metadata", maxAppMetadata)
	}
	if c.ban, c.bannedUntil, refusal = ban(in.BanDuration, at); refusal != nil {
		return c, refusal
	}
	c.confirm = says(in.EmailConfirm) && current.EmailConfirmedAt == nil
	c.confirmPhone = says(in.PhoneConfirm) && current.PhoneConfirmedAt == nil
	email, phone, refusal := in.addresses()
	if refusal != nil {
		return c, refusal
	}
	if email != nil && *email != current.Email {
		c.email, c.confirm = email, in.EmailConfirm == nil || *in.EmailConfirm
	}
	if phone != nil && *phone != current.Phone {
		c.phone, c.confirmPhone = phone, in.PhoneConfirm == nil || *in.PhoneConfirm
	}
	return c, nil
}
