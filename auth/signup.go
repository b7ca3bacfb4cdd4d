package auth

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth/limit"
	"basalt/auth/password"
)

// SignUp is what somebody says who wants an account.
type SignUp struct {
	Email    string
	Phone    string
	Password Secret
	// Data is a JSON object for the user's metadata; empty is {}.
	Data json.RawMessage
}

// SignedUp is the outcome of a sign-up: a session when the account is good at once, else
// the account alone.
type SignedUp struct {
	User    *User
	Session *Session
}

// insertUser begins a WITH that makes an account with its e-mail identity. An address that
// is taken inserts nothing: among sign-ups at the same moment the first one wins and the
// others wait for it. The empty texts are what Supabase's own server expects to find.
const insertUser = `
signed as (
    insert into auth.users (
        instance_id, id, aud, role, email, encrypted_password,
        email_confirmed_at, confirmation_token, confirmation_sent_at, last_sign_in_at,
        recovery_token, email_change_token_new, email_change,
        raw_app_meta_data, raw_user_meta_data, created_at, updated_at, is_anonymous
    )
    values (
        '00000000-0000-0000-0000-000000000000', $7, 'authenticated', 'authenticated', $8, $9,
        $10, $11, $12, $13,
        '', '', '',
        $14, $15, $2, $2, $16
    )
    on conflict do nothing
    returning id
),
identified as (
    insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
    select gen_random_uuid(), id::text, id, $15, 'email', $2, $2, $2
    from signed
    where not $16
)`

// The statements of a sign-up. All have the same parameters: $1 to $6 are the session's.
const (
	signUpWithSession = `
with` + insertUser + `,` + openSession + `
select id
from signed`

	// A confirmation is due: its token is what the mail's link is compared with. The first
	// select keeps the session's parameters typed.
	signUpWithToken = `
with unused as (
    select $1::uuid, $3::text, $4::inet, $5::text, $6::text
),` + insertUser + `,
due as (
    insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
    select gen_random_uuid(), id, 'confirmation_token', $11, $8
    from signed
)
select id
from signed`

	userByEmail = `
select` + userColumns + `
from auth.users u
where u.email = $1
and not u.is_sso_user`

	renewConfirmation = `
with renewed as (
    update auth.users
    set confirmation_token = $2,
        confirmation_sent_at = $3,
        updated_at = $3
    where id = $1
    and email_confirmed_at is null
    returning id, email
)
insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
select gen_random_uuid(), id, 'confirmation_token', $2, email
from renewed
on conflict (user_id, token_type) do update
set token_hash = excluded.token_hash,
    relates_to = excluded.relates_to,
    updated_at = now()`
)

// draft is an account before it is written.
type draft struct {
	id          uuid.UUID
	email       *string
	hash        *string
	confirmedAt *time.Time
	signedInAt  *time.Time
	sentAt      *time.Time
	token       linkToken
	app, user   json.RawMessage
	anonymous   bool
}

func (d draft) parameters() []any {
	return []any{d.id, d.email, d.hash, d.confirmedAt, d.token.hash, d.sentAt, d.signedInAt, d.app, d.user, d.anonymous}
}

// SignUp makes an account with an e-mail address and a password, or without any credential.
func (s *Service) SignUp(ctx context.Context, caller Caller, in SignUp) (*SignedUp, error) {
	out, err := s.signUp(ctx, caller, in)
	id := uuid.Nil
	if err == nil {
		id = out.User.ID
	}
	s.event(caller, "signup", id, err)
	return out, err
}

func (s *Service) signUp(ctx context.Context, caller Caller, in SignUp) (*SignedUp, error) {
	if s.options.DisableSignup {
		return nil, refuse(CodeSignupDisabled, "Signups not allowed for this instance")
	}
	data, refusal := readMetadata("data", in.Data, maxUserMetadata)
	if refusal != nil {
		return nil, refusal
	}
	switch {
	case in.Email != "" && in.Phone != "":
		return nil, refuse(CodeValidationFailed, "Only an email address or phone number should be provided on signup.")
	case in.Phone != "":
		return nil, refuse(CodePhoneProviderDisabled, "Phone signups are disabled")
	case in.Email == "" && in.Password != "":
		return nil, refuse(CodeValidationFailed, "To signup, please provide your email")
	case in.Email == "":
		return s.signUpAnonymously(ctx, caller, data)
	}
	email, refusal := normalizeEmail(in.Email)
	if refusal != nil {
		return nil, refusal
	}
	if in.Password == "" {
		return nil, refuse(CodeValidationFailed, "Signup requires a valid password")
	}
	if refusal := s.judge(in.Password); refusal != nil {
		return nil, refusal
	}
	if refusal, err := s.admit(ctx, caller, limit.Hit{Rule: signUpRule(), Of: caller.network()}); err != nil {
		return nil, err
	} else if refusal != nil {
		return nil, tooOften(refusal)
	}
	// The hash is made for taken addresses too: their sign-up takes as long.
	hash, err := s.hash(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	d := draft{id: uuid.New(), email: &email, hash: &hash}
	if d.app, err = appMetadata("email").text(); err != nil {
		return nil, err
	}
	// The server's word wins over what a client says about itself.
	maps.Copy(data, emailMetadata(d.id, email, s.options.Autoconfirm))
	if d.user, err = data.text(); err != nil {
		return nil, err
	}
	if err := s.beforeUserCreated(ctx, caller, d.preview(now())); err != nil {
		return nil, err
	}
	for range signUpAttempts {
		out, err := s.signUpByEmail(ctx, caller, d)
		if !errors.Is(err, errVanished) {
			return out, err
		}
	}
	return nil, unexpected("Database error saving new user", errVanished)
}

// signUpAttempts bounds how often a sign-up begins anew because the account in its way has been deleted.
const signUpAttempts = 10

// errVanished is a sign-up that found its address taken, and then by nobody. The other reason for that is a trigger
// that silently leaves the account out.
var errVanished = errors.New("the address is taken by an account that is not there")

func (s *Service) signUpByEmail(ctx context.Context, caller Caller, d draft) (*SignedUp, error) {
	at := now()
	if s.options.Autoconfirm {
		d.confirmedAt, d.signedInAt = &at, &at
		return s.signUpConfirmed(ctx, caller, d, MethodPassword, at)
	}
	d.sentAt = &at
	var err error
	if d.token, err = newLinkToken(); err != nil {
		return nil, err
	}
	return s.signUpUnconfirmed(ctx, caller, d, at)
}

// admit counts hits in a flight of its own, before anything expensive is done.
func (s *Service) admit(ctx context.Context, caller Caller, hits ...limit.Hit) (*limit.Refusal, error) {
	if caller.Trusted {
		return nil, nil
	}
	verdict, err := s.limits.Take(ctx, s.pool, hits...)
	if err != nil {
		return nil, err
	}
	return verdict.Refused(), nil
}

func (s *Service) signUpAnonymously(ctx context.Context, caller Caller, data metadata) (*SignedUp, error) {
	if !s.options.Anonymous {
		return nil, refuse(CodeAnonymousProviderDisabled, "Anonymous sign-ins are disabled")
	}
	if refusal, err := s.admit(ctx, caller, limit.Hit{Rule: anonymousRule(), Of: caller.network()}); err != nil {
		return nil, err
	} else if refusal != nil {
		return nil, tooOften(refusal)
	}
	text, err := data.text()
	if err != nil {
		return nil, err
	}
	at := now()
	d := draft{id: uuid.New(), signedInAt: &at, app: json.RawMessage(`{}`), user: text, anonymous: true}
	if err := s.beforeUserCreated(ctx, caller, d.preview(at)); err != nil {
		return nil, err
	}
	return s.signUpConfirmed(ctx, caller, d, MethodAnonymous, at)
}

// signUpConfirmed writes the account and its first session in one flight. The account is
// read back after its triggers have run: they may have changed it.
func (s *Service) signUpConfirmed(ctx context.Context, caller Caller, d draft, method string, at time.Time) (*SignedUp, error) {
	o, err := newOpening(method, at)
	if err != nil {
		return nil, err
	}
	user, err := s.insert(ctx, signUpWithSession, append(o.parameters(caller), d.parameters()...), d.id)
	if err != nil {
		return nil, err
	}
	if user == nil {
		return nil, s.taken(ctx, d)
	}
	if err := s.afterUserCreated(ctx, caller, user); err != nil {
		return nil, s.abandon(ctx, o.id, err)
	}
	session, err := s.session(ctx, s.pool, caller, o, user)
	if err != nil {
		return nil, err
	}
	return &SignedUp{User: user, Session: session}, nil
}

// signUpUnconfirmed writes the account and mails a link. Whether the address was free shows
// only to who reads its mail: a confirmed account is answered with an invented one.
func (s *Service) signUpUnconfirmed(ctx context.Context, caller Caller, d draft, at time.Time) (*SignedUp, error) {
	user, err := s.insert(ctx, signUpWithToken, append(opening{at: at}.parameters(caller), d.parameters()...), d.id)
	if err != nil {
		return nil, err
	}
	if user == nil {
		if user, err = s.remind(ctx, caller, d, at); err != nil {
			return nil, err
		}
		return &SignedUp{User: user}, nil
	}
	if _, err := s.admit(ctx, caller, limit.Hit{Rule: mailRule(), Of: *d.email}); err != nil {
		return nil, err
	}
	if err := s.mail(ctx, Mail{Kind: MailConfirmation, To: *d.email, Link: s.link(MailConfirmation, d.token)}); err != nil {
		return nil, err
	}
	if err := s.afterUserCreated(ctx, caller, user); err != nil {
		return nil, err
	}
	return &SignedUp{User: user}, nil
}

// insert runs a sign-up's statement and reads the account back. It gives nil when the
// address was taken.
func (s *Service) insert(ctx context.Context, statement string, parameters []any, id uuid.UUID) (*User, error) {
	var user *User
	batch := &pgx.Batch{}
	batch.Queue(statement, parameters...)
	batch.Queue(userByID, id).QueryRow(func(row pgx.Row) error {
		var err error
		if user, err = scanUser(row); errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err := s.send(ctx, batch); err != nil {
		return nil, saveFailed("Database error saving new user", err)
	}
	return user, nil
}

// taken is the answer to a sign-up that has inserted nothing.
func (s *Service) taken(ctx context.Context, d draft) error {
	if d.email == nil {
		return unexpected("Database error saving new user", errVanished)
	}
	_, err := scanUser(s.pool.QueryRow(ctx, userByEmail, *d.email))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errVanished
	case err != nil:
		return err
	}
	return refuse(CodeUserAlreadyExists, "User already registered")
}

// remind answers a sign-up for an address that has an account already. An account that
// waits for its confirmation gets a new mail and is otherwise left as it is: who asks now
// need not be who asked first.
func (s *Service) remind(ctx context.Context, caller Caller, d draft, at time.Time) (*User, error) {
	var existing *User
	batch := &pgx.Batch{}
	verdict := s.count(batch, caller, limit.Hit{Rule: mailRule(), Of: *d.email})
	batch.Queue(userByEmail, *d.email).QueryRow(func(row pgx.Row) error {
		var err error
		existing, err = scanUser(row)
		return err
	})
	err := s.send(ctx, batch)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, errVanished
	case err != nil:
		return nil, err
	case existing.EmailConfirmedAt != nil || verdict.Refused() != nil:
		return invented(d, at), nil
	}
	if _, err := s.pool.Exec(ctx, renewConfirmation, existing.ID, d.token.hash, at); err != nil {
		return nil, saveFailed("Database error updating user", err)
	}
	if err := s.mail(ctx, Mail{Kind: MailConfirmation, To: *d.email, Link: s.link(MailConfirmation, d.token)}); err != nil {
		return nil, err
	}
	existing.ConfirmationSentAt, existing.UpdatedAt = &at, &at
	return existing, nil
}

// invented is an account as the draft would have become, but that no one will ever find.
func invented(d draft, at time.Time) *User {
	u := d.preview(at)
	u.ConfirmationSentAt = &at
	return u
}

// preview is the account that a draft would become.
func (d draft) preview(at time.Time) *User {
	u := &User{
		ID: d.id, Audience: audience, Role: RoleAuthenticated, Anonymous: d.anonymous,
		AppMetadata: d.app, UserMetadata: d.user, CreatedAt: &at, UpdatedAt: &at,
	}
	if d.email != nil {
		u.Email = *d.email
	}
	return u
}

// judge applies the rules for new passwords.
func (s *Service) judge(secret Secret) *Error {
	if len(secret) > password.MaxBytes {
		return refuse(CodeValidationFailed, "Password is too long")
	}
	// JSON readers put this rune in the place of what is no text: different secrets would become the same.
	if strings.ContainsRune(secret.Reveal(), unicode.ReplacementChar) {
		return refuse(CodeValidationFailed, "Password holds characters that are none")
	}
	if w := s.options.PasswordPolicy.Check(secret.Reveal()); w != nil {
		return weak(w)
	}
	return nil
}

// saveFailed translates what the database says when an account is written. Triggers of the
// project's owner run there, and what they raise refuses the whole. That the server is
// not there, or has no room or time, is no refusal: it stays what it is.
func saveFailed(message string, err error) error {
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || strings.HasPrefix(refusal.Code, "08") || strings.HasPrefix(refusal.Code, "53") ||
		strings.HasPrefix(refusal.Code, "57") || refusal.Code == "25006" {
		return err
	}
	switch refusal.Code {
	case "40001", "40P01", "55P03":
		return refuse(CodeConflict, "The account is being changed by another request, try again")
	}
	if full := outboxFull(refusal.Code); full != nil {
		return full
	}
	return unexpected(message, err)
}

func isUniqueViolation(err error, constraint string) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && refusal.Code == "23505" && refusal.ConstraintName == constraint
}
