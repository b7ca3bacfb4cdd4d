package auth

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
	"basalt/auth/password"
)

// Credentials are an address and a password.
type Credentials struct {
	Email    string
	Phone    string
	Password Secret
}

const (
	// userToSignIn adds whether the account has a session in the caller's network place.
	userToSignIn = selectToSignIn + `
where u.email = $1
and not u.is_sso_user
and u.deleted_at is null`

	userToSignInByPhone = selectToSignIn + `
where u.phone = $1
and not u.is_sso_user
and u.deleted_at is null`

	selectToSignIn = `
select` + userColumns + `,
    exists (
        select
        from auth.sessions s
        where s.user_id = u.id
        and s.ip <<= $2
    )
from auth.users u`

	// signIn is the one update of an account that a sign-in makes. It checks once more what
	// may have changed while the password was being hashed.
	signIn = `
with signed as (
    update auth.users
    set last_sign_in_at = $2,
        updated_at = $2,
        encrypted_password = coalesce($9, encrypted_password)
    where id = $7
    and encrypted_password = $8
    and deleted_at is null
    and (banned_until is null or banned_until <= now())
    returning *
),` + openSession + `
select` + userColumns + `
from signed u`
)

// SignIn opens a session for an address and its password. Unknown addresses, accounts
// without a password and wrong passwords cannot be told apart.
func (s *Service) SignIn(ctx context.Context, caller Caller, in Credentials) (*Session, error) {
	session, user, err := s.signIn(ctx, caller, in)
	s.event(caller, "signin", user, err)
	return session, err
}

func (s *Service) signIn(ctx context.Context, caller Caller, in Credentials) (*Session, uuid.UUID, error) {
	email, refusal := s.addressToSignIn(in)
	if refusal != nil {
		return nil, uuid.Nil, refusal
	}
	user, err := s.lookUp(ctx, caller, email)
	if err != nil {
		return nil, uuid.Nil, err
	}
	stored := s.decoys.of(email)
	id := uuid.Nil
	if user != nil {
		id = user.ID
		if hash := user.passwordHash.Reveal(); password.Readable(hash) {
			stored = hash
		}
	}
	ok, err := s.matches(ctx, stored, in.Password)
	if err == nil {
		err = s.passwordAttempted(ctx, caller, user, ok)
	}
	switch {
	case err != nil:
		return nil, id, err
	case !ok || user == nil:
		return nil, id, invalidCredentials()
	case user.banned:
		return nil, id, banned()
	case !user.hasConfirmed(email):
		return nil, id, notConfirmed(email)
	}
	var renewed *string
	if s.options.Passwords.Outdated(stored) {
		hash, err := s.hash(ctx, in.Password)
		if err != nil {
			return nil, id, err
		}
		renewed = &hash
	}
	at := now()
	o := newOpening(MethodPassword, at)
	batch := &pgx.Batch{}
	batch.Queue(signIn, append(o.parameters(caller), id, stored, renewed)...).QueryRow(func(row pgx.Row) error {
		user, err = scanUser(row)
		return err
	})
	s.audit(batch, auditEntry{action: actionLogin, user: id, session: o.id, provider: providerOf(email), caller: caller, at: at})
	s.limits.Forget(batch, guessHit(caller, email))
	err = s.send(ctx, batch)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, id, invalidCredentials()
	}
	if err != nil {
		return nil, id, saveFailed("Database error granting user", err)
	}
	session, err := s.session(ctx, s.pool, caller, o, user)
	if err != nil {
		return nil, id, err
	}
	session.Weak = s.options.PasswordPolicy.Check(in.Password.Reveal())
	return session, id, nil
}

// addressToSignIn reads the address that somebody signs in with. One that cannot be one is looked up all the same: it is
// nobody's, which "" stands for.
func (s *Service) addressToSignIn(in Credentials) (string, *Error) {
	switch {
	case in.Email == "" && in.Phone == "":
		return "", refuse(CodeValidationFailed, "missing email or phone")
	case in.Email != "" && in.Phone != "":
		return "", refuse(CodeValidationFailed, "Only an email address or phone number should be provided on login.")
	case in.Email != "":
		address, refusal := normalizeEmail(in.Email)
		if refusal != nil {
			address = ""
		}
		return address, nil
	case !s.links.Phone:
		return "", refuse(CodePhoneProviderDisabled, "Phone logins are disabled")
	}
	number, refusal := normalizePhone(in.Phone)
	if refusal != nil {
		number = ""
	}
	return number, nil
}

func notConfirmed(address string) *Error {
	if isPhone(address) {
		return refuse(CodePhoneNotConfirmed, "Phone not confirmed")
	}
	return refuse(CodeEmailNotConfirmed, "Email not confirmed")
}

func guessHit(caller Caller, email string) limit.Hit {
	return limit.Hit{Rule: guessRule(), Of: caller.Network() + " " + email}
}

// lookUp counts the attempt and finds the account in one flight; nil is nobody. The counts
// are the same for addresses without an account, and are made before the password is
// looked at: attempts at the same moment cannot slip through together.
func (s *Service) lookUp(ctx context.Context, caller Caller, email string) (*User, error) {
	var user *User
	var known bool
	batch := &pgx.Batch{}
	s.decoys.queue(batch)
	verdict := s.count(batch, caller,
		limit.Hit{Rule: signInRule(), Of: caller.Network()},
		guessHit(caller, email),
		limit.Hit{Rule: siegeRule(), Of: email},
	)
	statement := userToSignIn
	if email != "" && isPhone(email) {
		statement = userToSignInByPhone
	}
	batch.Queue(statement, email, caller.place()).QueryRow(func(found pgx.Row) error {
		err := found.Scan(reader(func(r *row) { user, known = r.user(), r.flag() }))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err := s.send(ctx, batch); err != nil {
		return nil, err
	}
	if refusal := verdict.Refused(signInRule(), guessRule()); refusal != nil {
		return nil, tooOften(refusal)
	}
	if refusal := verdict.Refused(siegeRule()); refusal != nil && !known {
		return nil, tooOften(refusal)
	}
	if email == "" {
		return nil, nil // the empty address of an account that has none is not a way in
	}
	return user, nil
}
