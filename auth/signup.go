package auth

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
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
	// Channel is how a code is texted: sms or whatsapp; empty is sms.
	Channel string
	Return
}

// SignedUp is the outcome of a sign-up: a session when the account is good at once, else
// the account alone.
type SignedUp struct {
	User    *User
	Session *Session
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
	case in.Phone != "" && !s.links.Phone:
		return nil, refuse(CodePhoneProviderDisabled, "Phone signups are disabled")
	case in.Email == "" && in.Phone == "" && in.Password != "":
		return nil, refuse(CodeValidationFailed, "To signup, please provide your email")
	case in.Email == "" && in.Phone == "":
		return s.signUpAnonymously(ctx, caller, data)
	}
	address, refusal := s.addressOf(in.Email, in.Phone, in.Channel)
	if refusal != nil {
		return nil, refusal
	}
	back, refusal := s.readReturn(in.Return)
	if refusal != nil {
		return nil, refusal
	}
	if in.Password == "" {
		return nil, refuse(CodeValidationFailed, "Signup requires a valid password")
	}
	if refusal := s.judge(in.Password); refusal != nil {
		return nil, refusal
	}
	if refusal, err := s.admit(ctx, caller, limit.Hit{Rule: signUpRule(), Of: caller.Network()}); err != nil {
		return nil, err
	} else if refusal != nil {
		return nil, tooOften(refusal)
	}
	// The hash is made for taken addresses too: their sign-up takes as long.
	hash, err := s.hash(ctx, in.Password)
	if err != nil {
		return nil, err
	}
	confirmed := s.autoconfirms(address)
	d, err := newDraft(address, data, confirmed)
	if err != nil {
		return nil, err
	}
	d.secret, d.hash = in.Password, &hash
	if err := s.beforeUserCreated(ctx, caller, d.preview(now())); err != nil {
		return nil, err
	}
	for range signUpAttempts {
		out, err := s.signUpByAddress(ctx, caller, d, confirmed, message{back: back, channel: in.Channel})
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

func (s *Service) signUpByAddress(ctx context.Context, caller Caller, d draft, confirmed bool, m message) (*SignedUp, error) {
	at := now()
	if confirmed {
		d.confirmedAt, d.signedInAt = &at, &at
		return s.signUpConfirmed(ctx, caller, d, MethodPassword, at)
	}
	d.sentAt = &at
	var err error
	if d.token, err = s.newOneTime(tokenConfirmation, d.address(), m.back.challenge.asked()); err != nil {
		return nil, err
	}
	m.kind, m.purpose, m.token = MailConfirmation, VerifySignUp, d.token
	var out *SignedUp
	err = s.evenly(ctx, func() error {
		out, err = s.signUpUnconfirmed(ctx, caller, d, m, at)
		return err
	})
	return out, err
}

// autoconfirms tells whether an address needs no confirmation.
func (s *Service) autoconfirms(address string) bool {
	if isPhone(address) {
		return s.links.PhoneAutoconfirm
	}
	return s.options.Autoconfirm
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
	if refusal, err := s.admit(ctx, caller, limit.Hit{Rule: anonymousRule(), Of: caller.Network()}); err != nil {
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
	o := newOpening(method, at)
	provider := providerOf(d.address())
	if d.anonymous {
		provider = MethodAnonymous
	}
	user, err := s.insert(ctx, s.pool, signUpWithSession, append(o.parameters(caller), d.parameters()...), d.id,
		auditEntry{action: actionSignedUp, user: d.id, provider: provider, caller: caller, at: at},
		auditEntry{action: actionLogin, user: d.id, session: o.id, provider: provider, caller: caller, at: at})
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

// signUpUnconfirmed writes the account and the message that it is confirmed by. Whether the address was free shows
// only to who reads what is sent there: a confirmed account is answered with an invented one.
func (s *Service) signUpUnconfirmed(ctx context.Context, caller Caller, d draft, m message, at time.Time) (*SignedUp, error) {
	if err := s.spend(ctx, caller, d.address()); err != nil {
		return nil, err
	}
	var user *User
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var err error
		user, err = s.insert(ctx, tx, signUpWithToken, append(opening{at: at}.parameters(caller), d.parameters()...), d.id,
			auditEntry{action: actionConfirmationAsked, user: d.id, provider: providerOf(d.address()), caller: caller, at: at})
		if err != nil || user == nil {
			return err
		}
		m.to = user
		batch := &pgx.Batch{}
		s.count(batch, caller, s.intervalHit(tokenConfirmation, d.address()))
		if err := s.queueMessage(batch, m, at); err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, saveFailed("Error sending confirmation message", err)
	}
	if user == nil {
		if user, err = s.remind(ctx, caller, d, m, at); err != nil {
			return nil, err
		}
		return &SignedUp{User: user}, nil
	}
	if err := s.afterUserCreated(ctx, caller, user); err != nil {
		return nil, err
	}
	return &SignedUp{User: user}, nil
}

// insert runs a sign-up's statement and reads the account back. It gives nil when the
// address was taken.
func (s *Service) insert(ctx context.Context, db limit.Sender, statement string, parameters []any, id uuid.UUID, audits ...auditEntry) (*User, error) {
	var user *User
	batch := &pgx.Batch{}
	batch.Queue(statement, parameters...)
	for _, e := range audits {
		s.audit(batch, e)
	}
	batch.Queue(userByID, id).QueryRow(func(row pgx.Row) error {
		var err error
		if user, err = scanUser(row); errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return nil, saveFailed("Database error saving new user", err)
	}
	return user, nil
}

// taken is the answer to a sign-up that has inserted nothing.
func (s *Service) taken(ctx context.Context, d draft) error {
	if d.anonymous {
		return unexpected("Database error saving new user", errVanished)
	}
	user, err := s.find(ctx, d.address())
	switch {
	case err != nil:
		return err
	case user == nil:
		return errVanished
	}
	return refuse(CodeUserAlreadyExists, "User already registered")
}

// remind answers a sign-up for an address that has an account already. An account that
// waits for its confirmation gets a new mail. Who asks now need not be who asked first, and
// either may be its owner: when they chose other credentials, it keeps nobody's.
func (s *Service) remind(ctx context.Context, caller Caller, d draft, m message, at time.Time) (*User, error) {
	var existing *User
	batch := &pgx.Batch{}
	verdict := s.count(batch, caller, s.intervalHit(tokenConfirmation, d.address()))
	batch.Queue(userAt(d.address()), d.address()).QueryRow(func(row pgx.Row) error {
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
	}
	s.auditLater(auditEntry{action: actionRepeatedSignUp, user: existing.ID, provider: providerOf(d.address()), caller: caller})
	if existing.hasConfirmed(d.address()) {
		return invented(d, at), nil
	}
	stranger, err := s.strange(ctx, existing, d.secret)
	if err != nil {
		return nil, err
	}
	answer := existing
	if stranger || existing.passwordHash == "" {
		if answer, err = d.inPlaceOf(existing, at); err != nil {
			return nil, err
		}
	}
	if verdict.Refused() != nil {
		// There is no second mail so soon, and the first one is what the account is confirmed by: what a stranger chose
		// must not be in it then.
		if stranger {
			batch := &pgx.Batch{}
			queueForsake(batch, existing.ID)
			err = s.send(ctx, batch)
		}
		return answer, saveFailed("Database error saving new user", err)
	}
	m.to, m.forsake = existing, stranger
	if err := s.sendMessage(ctx, m, tokenConfirmation, d.address()); err != nil {
		return nil, err
	}
	answer.ConfirmationSentAt, answer.UpdatedAt = &at, &at
	return answer, nil
}

// inPlaceOf is what somebody is told who signs up for an account that waits for its confirmation and whose password they
// do not know: what they have said themselves, and nothing that others, an administrator who invites say, have.
func (d draft) inPlaceOf(existing *User, at time.Time) (*User, error) {
	u := d.preview(at)
	u.ID, u.ConfirmationSentAt = existing.ID, existing.ConfirmationSentAt
	var known metadata
	if err := json.Unmarshal(d.user, &known); err != nil {
		return nil, unexpected("The metadata could not be read", err)
	}
	known["sub"] = json.RawMessage(strconv.Quote(u.ID.String()))
	var err error
	if u.UserMetadata, err = known.text(); err != nil {
		return nil, err
	}
	provider := providerOf(d.address())
	for _, i := range existing.Identities {
		if i.Provider == provider {
			u.Identities = []Identity{{
				ID: i.ID, ProviderID: i.ProviderID, UserID: u.ID, Data: u.UserMetadata, Provider: provider, Email: u.Email,
				LastSignInAt: &at, CreatedAt: &at, UpdatedAt: &at,
			}}
		}
	}
	return u, nil
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
	if d.phone != nil {
		u.Phone = *d.phone
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
