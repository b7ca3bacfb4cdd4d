package auth

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/factor"
	"basalt/auth/limit"
	"basalt/auth/seal"
)

// The kinds of second factors, as they stand in the database.
const (
	FactorTOTP         = "totp"
	FactorPhone        = "phone"
	FactorWebAuthn     = "webauthn"
	FactorRecoveryCode = "recovery_code"
)

// AllFactors are the kinds that there are.
func AllFactors() []string {
	return []string{FactorTOTP, FactorPhone, FactorWebAuthn, FactorRecoveryCode}
}

// DefaultFactors are those that need nothing else to be set up.
func DefaultFactors() []string { return []string{FactorTOTP, FactorWebAuthn, FactorRecoveryCode} }

// Methods of proving a second factor, as they stand in a token's `amr`.
const (
	MethodTOTP         = "totp"
	MethodMFAPhone     = "mfa/phone"
	MethodMFAWebAuthn  = "mfa/webauthn"
	MethodRecoveryCode = "mfa/recovery_code"
)

const (
	// maxFactors is how many factors an account may have, those that were never proved among them.
	maxFactors = 10
	// factorPatience is how long a factor waits to be proved before another may take its place.
	factorPatience = 5 * time.Minute
	// maxFactorName and maxIssuer bound what is shown beside a factor, in bytes.
	maxFactorName = 255
	maxIssuer     = 128

	statusVerified   = "verified"
	statusUnverified = "unverified"

	// lowestLevel is of sessions without a second factor.
	lowestLevel = "aal1"
)

const (
	insertFactor = `
insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone)
values ($1, $2, $3, $4::text::auth.factor_type, $5::text::auth.factor_status, $6, $6, $7, $8)`

	deleteFactors = `
delete from auth.mfa_factors
where user_id = $1
and id = any($2)`

	// removeFactor lowers the sessions that the factor had raised.
	removeFactor = `
with gone as (
    delete from auth.mfa_factors
    where id = $1
    and user_id = $2
),
lowered as (
    update auth.sessions
    set aal = 'aal1',
        factor_id = null,
        updated_at = $4
    where user_id = $2
    and factor_id = $1
    returning id
)
delete from auth.mfa_amr_claims a
using lowered
where a.session_id = lowered.id
and a.authentication_method = $3`
)

// NewFactor is what a user asks a second factor to be.
type NewFactor struct {
	Type         string
	FriendlyName string
	// Issuer is what an authenticator app shows; empty is the site's host.
	Issuer string
	// Phone is for a factor of type phone, in E.164.
	Phone string
}

// Enrollment is a factor that its user has to prove yet. Nobody is told its secret again.
type Enrollment struct {
	ID           uuid.UUID
	Type         string
	FriendlyName string
	Phone        string
	// Secret is in base32, URI what apps read, QRCode its picture as SVG; all are for type totp.
	Secret, URI, QRCode Secret
}

// factorMethod is how a factor of a kind stands in a token's `amr`.
func factorMethod(factorType string) string {
	switch factorType {
	case FactorPhone:
		return MethodMFAPhone
	case FactorWebAuthn:
		return MethodMFAWebAuthn
	case FactorRecoveryCode:
		return MethodRecoveryCode
	}
	return MethodTOTP
}

// secretCell is where a factor's secret is kept.
func secretCell(id uuid.UUID) seal.Cell {
	return seal.Cell{Table: "auth.mfa_factors", Row: id.String(), Column: "secret"}
}

// locked runs a change of the account behind a token, while nobody else changes it, if the token is still good.
func (s *Service) locked(ctx context.Context, p *Principal, change func(pgx.Tx, *lookup) error) error {
	if refusal := namesSession(p); refusal != nil {
		return refusal
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		l, err := s.lock(ctx, tx, p)
		if err != nil {
			return err
		}
		return change(tx, l)
	})
}

// lock keeps everybody else from changing the account behind a token until a transaction ends, and gives the account as
// it is then, if the token is still good.
func (s *Service) lock(ctx context.Context, tx pgx.Tx, p *Principal) (*lookup, error) {
	l := &lookup{principal: p}
	batch := &pgx.Batch{}
	batch.Queue(lockUser, p.UserID)
	s.lookups.ask(batch, p).QueryRow(l.scan)
	return l, l.refusal(tx.SendBatch(ctx, batch).Close())
}

// namesSession refuses tokens without a session: what proves a factor is a session's.
func namesSession(p *Principal) *Error {
	if refusal := namesUser(p); refusal != nil {
		return refusal
	}
	if p.SessionID == uuid.Nil {
		return deny(CodeBadJWT, "invalid claim: missing session_id claim")
	}
	return nil
}

// EnrollFactor adds a second factor, which counts when it has been proved.
func (s *Service) EnrollFactor(ctx context.Context, caller Caller, p *Principal, in NewFactor) (*Enrollment, error) {
	e, err := s.enrollFactor(ctx, caller, p, in)
	s.event(caller, "factor_enroll", p.UserID, err)
	return e, err
}

func (s *Service) enrollFactor(ctx context.Context, caller Caller, p *Principal, in NewFactor) (*Enrollment, error) {
	if refusal := namesSession(p); refusal != nil {
		return nil, refusal
	}
	if in.Type == FactorRecoveryCode {
		return nil, refuse(CodeValidationFailed, "Recovery codes are enrolled with POST /factors/recovery-codes")
	}
	if refusal := s.factorAllowed(in.Type, "enroll"); refusal != nil {
		return nil, refusal
	}
	if refusal := checkLabels(in); refusal != nil {
		return nil, refusal
	}
	e := &Enrollment{ID: uuid.New(), Type: in.Type, FriendlyName: in.FriendlyName}
	var secret, phone *string
	switch in.Type {
	case FactorWebAuthn:
		if _, err := s.ceremonies(secondFactor()); err != nil {
			return nil, err
		}
	case FactorPhone:
		number, refusal := normalizePhone(in.Phone)
		if refusal != nil {
			return nil, refusal
		}
		e.Phone, phone = number, &number
	}
	u, err := s.beforeEnrollment(ctx, caller, p, e)
	if err != nil {
		return nil, err
	}
	if in.Type == FactorTOTP {
		sealed, err := s.newTOTP(ctx, e, u, in.Issuer)
		if err != nil {
			return nil, err
		}
		secret = &sealed
	}
	err = s.locked(ctx, p, func(tx pgx.Tx, l *lookup) error {
		replaced, refusal := l.replaced(e)
		if refusal != nil {
			return refusal
		}
		batch := &pgx.Batch{}
		batch.Queue(deleteFactors, p.UserID, replaced)
		batch.Queue(insertFactor, e.ID, p.UserID, e.FriendlyName, e.Type, statusUnverified, now(), secret, phone)
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return nil, saveFailed("Database error creating factor", err)
	}
	return e, nil
}

// beforeEnrollment counts an enrolment and refuses those that could not be, before anything is drawn for them.
func (s *Service) beforeEnrollment(ctx context.Context, caller Caller, p *Principal, e *Enrollment) (*User, error) {
	l := &lookup{principal: p}
	batch := &pgx.Batch{}
	verdict := s.count(batch, caller, limit.Hit{Rule: enrollRule(), Of: p.UserID.String()})
	s.lookups.ask(batch, p).QueryRow(l.scan)
	if err := l.refusal(s.send(ctx, batch)); err != nil {
		return nil, err
	}
	if refusal := verdict.Refused(); refusal != nil {
		return nil, tooOften(refusal)
	}
	if _, refusal := l.replaced(e); refusal != nil {
		return nil, refusal
	}
	return l.user, nil
}

// newTOTP draws the secret of a factor and gives it as it is kept.
func (s *Service) newTOTP(ctx context.Context, e *Enrollment, u *User, issuer string) (string, error) {
	if issuer == "" {
		issuer = s.siteHost()
	}
	account := u.Email
	switch {
	case account == "" && u.Phone != "":
		account = u.Phone
	case account == "":
		account = u.ID.String()
	}
	made := factor.NewTOTP(issuer, account)
	picture, err := factor.QRCode(made.URI)
	if err != nil {
		return "", unexpected("Error generating QR Code", err)
	}
	e.Secret, e.URI, e.QRCode = Secret(made.Secret), Secret(made.URI), Secret(picture)
	return s.seal(ctx, e.Secret, secretCell(e.ID))
}

// siteHost is how users know the project.
func (s *Service) siteHost() string {
	if u, err := url.Parse(s.options.SiteURL); err == nil && u.Hostname() != "" && len(u.Hostname()) <= maxIssuer {
		return u.Hostname()
	}
	return "Basalt"
}

// factorAllowed refuses kinds of factors that are unknown or switched off, for what is to be done with them: enroll or verify.
func (s *Service) factorAllowed(factorType, what string) *Error {
	switch factorType {
	case FactorTOTP, FactorPhone, FactorWebAuthn, FactorRecoveryCode:
	default:
		return refuse(CodeValidationFailed, "factor_type needs to be totp, phone, or webauthn")
	}
	if !slices.Contains(s.options.Factors, factorType) {
		name := factorType
		if factorType == FactorRecoveryCode {
			name = "recovery_codes"
		}
		return unprocessable(Code("mfa_"+name+"_"+what+"_not_enabled"), fmt.Sprintf("MFA %s is disabled for %s", what, name))
	}
	return nil
}

func checkLabels(in NewFactor) *Error {
	for _, label := range []struct {
		name, text string
		most       int
	}{{"friendly_name", in.FriendlyName, maxFactorName}, {"issuer", in.Issuer, maxIssuer}} {
		if len(label.text) > label.most || !utf8.ValidString(label.text) || strings.ContainsFunc(label.text, unicode.IsControl) {
			return refuse(CodeValidationFailed, fmt.Sprintf("%s must have at most %d bytes and no control characters", label.name, label.most))
		}
	}
	return nil
}

// replaced gives the factors that make room for a new one, or why it may not be added.
func (l *lookup) replaced(e *Enrollment) ([]uuid.UUID, *Error) {
	if l.user.Anonymous {
		return nil, deny(CodeNoAuthorization, "Anonymous user not allowed to perform these actions")
	}
	replaced := []uuid.UUID{}
	kept, verified := 0, 0
	taken := false
	for _, f := range l.user.Factors {
		samePhone := e.Type == FactorPhone && f.Type == FactorPhone && f.Phone == e.Phone
		switch {
		case f.Status != statusVerified && (samePhone || f.abandoned()):
			replaced = append(replaced, f.ID)
			continue
		case samePhone:
			return nil, unprocessable(CodeFactorExists, "A verified phone factor already exists, unenroll the existing factor to continue")
		case f.Status == statusVerified:
			verified++
		}
		kept++
		taken = taken || f.FriendlyName == e.FriendlyName
	}
	switch {
	case taken:
		return nil, unprocessable(CodeFactorNameConflict, fmt.Sprintf("A factor with the friendly name %q for this user already exists", e.FriendlyName))
	case kept >= maxFactors:
		return nil, unprocessable(CodeTooManyFactors, "Maximum number of verified factors reached, unenroll to continue")
	case verified > 0 && l.level == lowestLevel:
		return nil, deny(CodeInsufficientAAL, "AAL2 required to enroll a new factor")
	}
	return replaced, nil
}

// abandoned tells whether nobody seems to be about to prove the factor.
func (f Factor) abandoned() bool {
	border := now().Add(-factorPatience)
	return (f.CreatedAt == nil || f.CreatedAt.Before(border)) && (f.LastChallengedAt == nil || f.LastChallengedAt.Before(border))
}

// factor finds one of the account's factors.
func (u *User) factor(id uuid.UUID) (Factor, *Error) {
	for _, f := range u.Factors {
		if f.ID == id {
			return f, nil
		}
	}
	return Factor{}, factorNotFound()
}

func factorNotFound() *Error { return refuse(CodeFactorNotFound, "Factor not found") }

// UnenrollFactor removes a factor; sessions that it had raised fall back to aal1. For one that has been proved the
// session must itself stand at aal2.
func (s *Service) UnenrollFactor(ctx context.Context, caller Caller, p *Principal, id uuid.UUID) error {
	err := s.unenrollFactor(ctx, p, id)
	s.event(caller, "factor_unenroll", p.UserID, err)
	return err
}

func (s *Service) unenrollFactor(ctx context.Context, p *Principal, id uuid.UUID) error {
	err := s.locked(ctx, p, func(tx pgx.Tx, l *lookup) error {
		f, refusal := l.user.factor(id)
		switch {
		case refusal != nil:
			return refusal
		case f.Type == FactorRecoveryCode:
			return unprocessable(CodeValidationFailed, "Recovery codes cannot be unenrolled with this endpoint, use DELETE /factors/recovery-codes")
		case f.Status == statusVerified && l.level == lowestLevel:
			return unprocessable(CodeInsufficientAAL, "AAL2 required to unenroll verified factor")
		case f.Status == statusVerified && l.user.hasRecoveryCodes() && !l.user.hasOtherFactor(id):
			return unprocessable(CodeRecoveryCodesSoleFactor, "Recovery codes cannot be the only verified factor. Please enroll another factor before unenrolling this one or delete your recovery codes.")
		}
		batch := &pgx.Batch{}
		batch.Queue(removeFactor, id, p.UserID, factorMethod(f.Type), now())
		if f.Status == statusVerified {
			if err := s.notifyOfFactor(batch, MailFactorUnenrolled, l.user, f.Type); err != nil {
				return err
			}
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return saveFailed("Database error deleting factor", err)
	}
	return nil
}

// hasOtherFactor tells whether the account has another proved factor than a given one and than recovery codes, which
// stand in for a factor and are none alone.
func (u *User) hasOtherFactor(than uuid.UUID) bool {
	return slices.ContainsFunc(u.Factors, func(f Factor) bool {
		return f.Status == statusVerified && f.Type != FactorRecoveryCode && f.ID != than
	})
}

func (u *User) hasRecoveryCodes() bool {
	_, found := u.recoveryFactor()
	return found
}
