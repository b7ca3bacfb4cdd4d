package auth

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
	"basalt/auth/password"
)

const adminInsert = `
with signed as (
    insert into auth.users (
        instance_id, id, aud, role, email, encrypted_password, email_confirmed_at,
        confirmation_token, recovery_token, email_change_token_new, email_change,
        raw_app_meta_data, raw_user_meta_data, created_at, updated_at, banned_until,
        phone, phone_confirmed_at
    )
    values (
        '00000000-0000-0000-0000-000000000000', $1, $2, $3, $4, $5, $6,
        '', '', '', '',
        $7, $8, $9, $9, $10,
        $12, $13
    )
    returning id
)
insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
select gen_random_uuid(), signed.id::text, signed.id, known.data, known.provider, $9, $9, $9
from signed, (values ('email', $11::jsonb), ('phone', $14::jsonb)) as known (provider, data)
where known.data is not null`

// maxName is the length of the columns for an account's role and audience.
const maxName = 255

// AdminCreateUser makes an account without a session and without a mail.
func (s *Service) AdminCreateUser(ctx context.Context, caller Caller, in AdminUser, record Record[*User]) (*User, error) {
	u, err := s.adminCreate(ctx, caller, in, record)
	id := uuid.Nil
	if err == nil {
		id = u.ID
	}
	s.event(caller, "admin_user_create", id, err)
	return u, err
}

func (s *Service) adminCreate(ctx context.Context, caller Caller, in AdminUser, record Record[*User]) (*User, error) {
	email, phone, refusal := in.addresses()
	switch {
	case refusal != nil:
		return nil, refusal
	case email == nil && phone == nil:
		return nil, refuse(CodeValidationFailed, "Cannot create a user without either an email or phone")
	}
	if refusal := in.checkNames(); refusal != nil {
		return nil, refusal
	}
	data, refusal := readMetadata("user_metadata", in.UserMetadata, maxUserMetadata)
	if refusal != nil {
		return nil, refusal
	}
	app, refusal := adminMetadata(in.AppMetadata)
	if refusal != nil {
		return nil, refusal
	}
	at := now()
	_, bannedUntil, refusal := ban(in.BanDuration, at)
	if refusal != nil {
		return nil, refusal
	}
	hash, err := s.adminHash(ctx, in)
	if err != nil {
		return nil, err
	}
	id := uuid.New()
	if in.ID != nil {
		id = *in.ID
	}
	known := change{email: email, confirm: says(in.EmailConfirm), phone: phone, confirmPhone: says(in.PhoneConfirm)}
	emailText, phoneText, err := known.identityTexts(id)
	if err != nil {
		return nil, err
	}
	userText, err := data.text()
	if err != nil {
		return nil, err
	}
	maps.Copy(app, appMetadata(known.providers()...))
	appText, err := app.text()
	if err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	batch.Queue(adminInsert, id, or(in.Audience, audience), or(in.Role, RoleAuthenticated), email, hash, when(email != nil && known.confirm, at),
		appText, userText, at, bannedUntil, emailText, phone, when(phone != nil && known.confirmPhone, at), phoneText)
	s.audit(batch, auditEntry{action: actionSignedUp, user: id, admin: true, caller: caller, at: at})
	u, err := recorded(ctx, s, record, func(db limit.Sender) (*User, error) { return writeAndRead(ctx, db, batch, id, userNotFound()) })
	if isUniqueViolation(err, "users_pkey") {
		return nil, refuse(CodeUserAlreadyExists, "A user with this id already exists")
	}
	return u, err
}

func or(text *string, otherwise string) string {
	if text == nil || *text == "" {
		return otherwise
	}
	return *text
}

// says tells whether an administrator says yes.
func says(answer *bool) bool { return answer != nil && *answer }

// when is a time if something is so, else NULL.
func when(so bool, at time.Time) *time.Time {
	if !so {
		return nil
	}
	return &at
}

// addresses reads the addresses that an account is to have; nil is none.
func (in AdminUser) addresses() (email, phone *string, refusal *Error) {
	if in.Email != nil && *in.Email != "" {
		address, refusal := normalizeEmail(*in.Email)
		if refusal != nil {
			return nil, nil, refusal
		}
		email = &address
	}
	if in.Phone != nil && *in.Phone != "" {
		number, refusal := normalizePhone(*in.Phone)
		if refusal != nil {
			return nil, nil, refusal
		}
		phone = &number
	}
	return email, phone, nil
}

// checkNames refuses names that no account can have.
func (in AdminUser) checkNames() *Error {
	for field, name := range map[string]*string{"role": in.Role, "aud": in.Audience} {
		if name != nil && (len(*name) > maxName || strings.ContainsFunc(*name, unicode.IsControl)) {
			return refuse(CodeValidationFailed, field+" is not a name")
		}
	}
	if in.ID != nil && *in.ID == uuid.Nil {
		return refuse(CodeValidationFailed, "id must not be the nil UUID: it stands for nobody")
	}
	return nil
}

// adminMetadata reads app_metadata; `provider` and `providers` follow from the identities.
func adminMetadata(text json.RawMessage) (metadata, *Error) {
	app, refusal := readMetadata("app_metadata", text, maxAppMetadata)
	if refusal != nil {
		return nil, refusal
	}
	delete(app, "provider")
	delete(app, "providers")
	return app, nil
}

// adminHash gives the hash to store: of a password, or one that comes ready made. Nil is no change.
func (s *Service) adminHash(ctx context.Context, in AdminUser) (*string, error) {
	switch {
	case in.Password != nil && *in.Password != "" && in.PasswordHash != nil && *in.PasswordHash != "":
		return nil, refuse(CodeValidationFailed, "Only a password or a password hash should be provided")
	case in.PasswordHash != nil && *in.PasswordHash != "":
		if err := password.Check(in.PasswordHash.Reveal()); err != nil {
			return nil, refuse(CodeValidationFailed, "The password hash cannot be used ("+err.Error()+"): bcrypt, argon2i, argon2id, Firebase scrypt and PBKDF2 are understood")
		}
		hash := in.PasswordHash.Reveal()
		return &hash, nil
	case in.Password != nil && *in.Password != "":
		if refusal := s.judge(*in.Password); refusal != nil {
			return nil, refusal
		}
		hash, err := s.hash(ctx, *in.Password)
		if err != nil {
			return nil, err
		}
		return &hash, nil
	}
	return nil, nil
}

// ban reads a ban's length; the time is nil when a ban is lifted.
func ban(text *string, at time.Time) (changed bool, until *time.Time, refusal *Error) {
	switch {
	case text == nil || *text == "":
		return false, nil, nil
	case *text == "none":
		return true, nil, nil
	}
	length, err := time.ParseDuration(*text)
	if err != nil || length < 0 {
		return false, nil, refuse(CodeValidationFailed, `invalid format for ban duration: write it like "24h", or "none"`)
	}
	end := at.Add(length)
	return true, &end, nil
}
