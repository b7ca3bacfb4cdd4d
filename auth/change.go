package auth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// change is what is to become different about an account. Nil fields change nothing.
type change struct {
	audience, role, hash, email, phone *string
	// confirm makes the address good: the new one, or the one that is there; confirmPhone does so for the number.
	confirm, confirmPhone bool
	// app and user are merged into the account's metadata.
	app, user metadata
	// ban tells whether bannedUntil counts; a ban without an end is none.
	ban         bool
	bannedUntil *time.Time
	at          time.Time
}

const (
	// changeUser is one update, because the project's own triggers run at each. An account without any credential
	// becomes a lasting one by an address. With a new password an address that waits is given up: whoever has learned the
	// old one may have asked for it, and anybody can have its messages sent again. $12 tells whether links that were sent are to be void, $14 are the providers by
	// which the account comes to be known.
	changeUser = `
update auth.users
set aud = coalesce($2, aud),
    role = coalesce($3, role),
    encrypted_password = coalesce($4, encrypted_password),
    email = coalesce($5, email),
    email_change = case when $4 is null and $5 is null then email_change else '' end,
    email_confirmed_at = case
        when $5 is null then case when $6 then coalesce(email_confirmed_at, $13) else email_confirmed_at end
        when $6 then $13
    end,
    email_change_confirm_status = case when $4 is null and $5 is null then email_change_confirm_status else 0 end,
    phone = coalesce($17, phone),
    phone_change = case when $4 is null and $17 is null then phone_change else '' end,
    phone_confirmed_at = case
        when $17 is null then case when $18 then coalesce(phone_confirmed_at, $13) else phone_confirmed_at end
        when $18 then $13
    end,
    is_anonymous = is_anonymous and $5 is null and $17 is null,
    raw_app_meta_data = (coalesce(raw_app_meta_data, '{}') || $7::jsonb || case
        when cardinality($14::text[]) = 0 then '{}'
        else jsonb_build_object(
            'provider', coalesce(raw_app_meta_data -> 'provider', to_jsonb(($14::text[])[1])),
            'providers', coalesce(raw_app_meta_data -> 'providers', '[]') || coalesce((
                select jsonb_agg(p.name)
                from unnest($14::text[]) as p (name)
                where not coalesce(raw_app_meta_data -> 'providers', '[]') ? p.name
            ), '[]')
        )
    end) - $8::text[],
    raw_user_meta_data = ((coalesce(raw_user_meta_data, '{}') || $9::jsonb) - $10::text[]) || $11::jsonb,
    banned_until = case when $15 then $16 else banned_until end,
    confirmation_token = case when $12 then '' else confirmation_token end,
    recovery_token = case when $12 then '' else recovery_token end,
    email_change_token_new = case when $12 then '' else email_change_token_new end,
    email_change_token_current = case when $12 then '' else email_change_token_current end,
    phone_change_token = case when $12 then '' else phone_change_token end,
    reauthentication_token = case when $12 then '' else reauthentication_token end,
    updated_at = $13
where id = $1
and deleted_at is null`

	// changeIdentity is for the identities that are an address of the account: `email` and `phone`.
	changeIdentity = `
insert into auth.identities as i (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
values (gen_random_uuid(), $1::uuid::text, $1::uuid, $2, $4, $3, $3, $3)
on conflict (provider_id, provider) do update
set identity_data = i.identity_data || excluded.identity_data,
    updated_at = excluded.updated_at
where i.user_id = excluded.user_id`

	confirmIdentity = `
update auth.identities
set identity_data = identity_data || $2,
    updated_at = $3
where user_id = $1
and provider = $4`

	voidLinks = `
delete from auth.one_time_tokens
where user_id = $1`
)

// queue adds the change of an account to a batch. Whoever holds an unread link must not outlive the credential that
// was changed.
func (c change) queue(batch *pgx.Batch, id uuid.UUID) error {
	appSet, appDrop, err := c.app.change()
	if err != nil {
		return err
	}
	userSet, userDrop, err := c.user.change()
	if err != nil {
		return err
	}
	known := metadata{}
	email, phone := c.identities(id)
	for name, value := range email {
		if name != "phone_verified" {
			known[name] = value
		}
	}
	for name, value := range phone {
		if name != "email_verified" {
			known[name] = value
		}
	}
	knownText, err := known.text()
	if err != nil {
		return err
	}
	void := c.hash != nil || c.email != nil || c.confirm || c.phone != nil || c.confirmPhone
	batch.Queue(changeUser, id, c.audience, c.role, c.hash, c.email, c.confirm,
		appSet, appDrop, userSet, userDrop, knownText, void, c.at, c.providers(), c.ban, c.bannedUntil, c.phone, c.confirmPhone)
	for _, identity := range []struct {
		provider string
		changed  bool
		data     metadata
	}{
		{"email", c.email != nil, email},
		{"phone", c.phone != nil, phone},
	} {
		text, err := identity.data.text()
		switch {
		case err != nil:
			return err
		case identity.changed:
			batch.Queue(changeIdentity, id, text, c.at, identity.provider)
		case len(identity.data) > 0:
			batch.Queue(confirmIdentity, id, text, c.at, identity.provider)
		}
	}
	if void {
		batch.Queue(voidLinks, id)
	}
	return nil
}

// providers are the names by which the account comes to be known.
func (c change) providers() []string {
	providers := []string{}
	if c.email != nil {
		providers = append(providers, "email")
	}
	if c.phone != nil {
		providers = append(providers, "phone")
	}
	return providers
}

// identityTexts are the data of the identities that a new account has; nil is none.
func (c change) identityTexts(id uuid.UUID) (email, phone json.RawMessage, err error) {
	emailData, phoneData := c.identities(id)
	if c.email != nil {
		if email, err = emailData.text(); err != nil {
			return nil, nil, err
		}
	}
	if c.phone != nil {
		phone, err = phoneData.text()
	}
	return email, phone, err
}

// identities are what the change makes known about the account's addresses.
func (c change) identities(id uuid.UUID) (email, phone metadata) {
	switch {
	case c.email != nil:
		email = emailMetadata(id, *c.email, c.confirm)
	case c.confirm:
		email = metadata{"email_verified": json.RawMessage("true")}
	}
	switch {
	case c.phone != nil:
		phone = phoneMetadata(id, *c.phone, c.confirmPhone)
	case c.confirmPhone:
		phone = metadata{"phone_verified": json.RawMessage("true")}
	}
	return email, phone
}

// tell adds to a batch the mails about a change to who owns the account before it (OWASP ASVS 5 §6.3.7): whoever made it
// need not be them.
func (s *Service) tell(batch *pgx.Batch, u *User, c change) error {
	if u.EmailConfirmedAt == nil {
		return nil
	}
	mail := Mail{To: u.Email, UserID: u.ID, Email: u.Email, Data: u.UserMetadata}
	var mails []Mail
	if c.hash != nil {
		mail.Kind = MailPasswordChanged
		mails = append(mails, mail)
	}
	if c.phone != nil {
		mail.Kind, mail.Phone, mail.OldPhone = MailPhoneChanged, *c.phone, u.Phone
		mails = append(mails, mail)
	}
	if c.email != nil {
		mail.Kind, mail.Email, mail.OldEmail = MailEmailChanged, *c.email, u.Email
		mails = append(mails, mail)
	}
	for _, m := range mails {
		if err := s.notify(batch, m); err != nil {
			return err
		}
	}
	return nil
}

// writeAndRead sends changes and reads the account back in the same flight. An account that is not there any more is
// answered with the given refusal.
func writeAndRead(ctx context.Context, db limit.Sender, batch *pgx.Batch, id uuid.UUID, gone *Error) (*User, error) {
	var u *User
	batch.Queue(userByID, id).QueryRow(func(found pgx.Row) error {
		var err error
		u, err = scanUser(found)
		return err
	})
	err := db.SendBatch(ctx, batch).Close()
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, gone
	case isUniqueViolation(err, "users_email_partial_key"):
		return nil, emailExists()
	case isUniqueViolation(err, "users_phone_key"):
		return nil, phoneExists()
	case err != nil:
		return nil, saveFailed("Error updating user", err)
	case u.DeletedAt != nil:
		return nil, gone
	}
	return u, nil
}

func emailExists() *Error {
	return refuse(CodeEmailExists, "A user with this email address has already been registered")
}

func phoneExists() *Error {
	return refuse(CodePhoneExists, "A user with this phone number has already been registered")
}
