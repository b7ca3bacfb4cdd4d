package auth

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// confirmAddress notes that the user of an account has the address that a token was sent to. With the first confirmation
// of an address all other tokens are void.
const confirmAddress = `
with before as (
    select
        id,
        case when email = $2 then email_confirmed_at else phone_confirmed_at end is null as fresh
    from auth.users
    where id = $1
),
proved as (
    update auth.users u
    set email_confirmed_at = case when u.email = $2 then coalesce(u.email_confirmed_at, $3) else u.email_confirmed_at end,
        phone_confirmed_at = case when u.phone = $2 then coalesce(u.phone_confirmed_at, $3) else u.phone_confirmed_at end,
        raw_user_meta_data = coalesce(u.raw_user_meta_data, '{}') || case when before.fresh then $5::jsonb else '{}' end,
        is_anonymous = false,
        confirmation_token = case when before.fresh or $4 = 'confirmation_token' then '' else u.confirmation_token end,
        recovery_token = case when before.fresh or $4 = 'recovery_token' then '' else u.recovery_token end,
        email_change_token_new = case when before.fresh then '' else u.email_change_token_new end,
        email_change_token_current = case when before.fresh then '' else u.email_change_token_current end,
        phone_change_token = case when before.fresh then '' else u.phone_change_token end,
        reauthentication_token = case when before.fresh then '' else u.reauthentication_token end,
        updated_at = $3
    from before
    where u.id = before.id
    returning u.id, before.fresh
),
void as (
    delete from auth.one_time_tokens
    where user_id in (select id from proved where fresh)
)
update auth.identities i
set identity_data = i.identity_data || $5::jsonb,
    updated_at = $3
from proved
where i.user_id = proved.id
and proved.fresh
and i.provider = $6`

// fulfil does what a token is good for. It tells whether its holder is to be let in.
func (s *Service) fulfil(ctx context.Context, tx pgx.Tx, t usedToken) (bool, error) {
	switch t.kind {
	case tokenEmailChangeCurrent, tokenEmailChangeNew:
		return s.confirmEmailChange(ctx, tx, t)
	case tokenPhoneChange:
		return true, s.confirmPhoneChange(ctx, tx, t)
	}
	known, provider := `{"email_verified": true}`, "email"
	if isPhone(t.address) {
		known, provider = `{"phone_verified": true}`, "phone"
	}
	batch := &pgx.Batch{}
	if t.kind == tokenRecovery {
		// A sign-in is not what whoever made the account has asked for.
		queueForsake(batch, t.user)
	}
	batch.Queue(confirmAddress, t.user, t.address, now(), string(t.kind), known, provider)
	return true, saveFailed("Database error updating user", tx.SendBatch(ctx, batch).Close())
}

// changeTo writes the new address of an account in a transaction that has locked it.
func (s *Service) changeTo(ctx context.Context, tx pgx.Tx, c change, u *User) error {
	batch := &pgx.Batch{}
	if err := c.queue(batch, u.ID); err != nil {
		return err
	}
	if err := s.tell(batch, u, c); err != nil {
		return err
	}
	_, err := writeAndRead(ctx, tx, batch, u.ID, userOfTokenGone())
	return err
}

// changing is the state of an account's change of address, whose row is locked.
type changing struct {
	user      *User
	confirmed bool
}

const changingUser = `
select` + userColumns + `,
    coalesce(u.email_change_confirm_status, 0) > 0
from auth.users u
where u.id = $1`

func readChanging(ctx context.Context, tx pgx.Tx, id uuid.UUID) (changing, error) {
	var c changing
	err := tx.QueryRow(ctx, changingUser, id).Scan(reader(func(r *row) { c.user, c.confirmed = r.user(), r.flag() }))
	return c, err
}

// asksBoth tells whether the address that an account has is asked too before it gets another one.
func (s *Service) asksBoth(u *User) bool {
	return !s.links.OneSidedEmailChange && u.EmailConfirmedAt != nil && u.Email != ""
}

// acceptOneSide notes that one of two addresses has confirmed a change.
const acceptOneSide = `
update auth.users
set email_change_confirm_status = 1,
    email_change_token_new = case when $2 = 'email_change_token_new' then '' else email_change_token_new end,
    email_change_token_current = case when $2 = 'email_change_token_current' then '' else email_change_token_current end,
    updated_at = $3
where id = $1`

// confirmEmailChange gives an account the address that it waits for, when all have confirmed it who have to.
func (s *Service) confirmEmailChange(ctx context.Context, tx pgx.Tx, t usedToken) (bool, error) {
	c, err := readChanging(ctx, tx, t.user)
	if err != nil {
		return false, err
	}
	at := now()
	if s.asksBoth(c.user) && !c.confirmed {
		_, err := tx.Exec(ctx, acceptOneSide, t.user, string(t.kind), at)
		return false, saveFailed("Database error updating user", err)
	}
	return true, s.changeTo(ctx, tx, change{email: &c.user.NewEmail, confirm: true, at: at}, c.user)
}

// confirmPhoneChange gives an account the number that it waits for.
func (s *Service) confirmPhoneChange(ctx context.Context, tx pgx.Tx, t usedToken) error {
	c, err := readChanging(ctx, tx, t.user)
	if err != nil {
		return err
	}
	return s.changeTo(ctx, tx, change{phone: &t.address, confirmPhone: true, at: now()}, c.user)
}
