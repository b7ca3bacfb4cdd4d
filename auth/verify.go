package auth

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
)

// MethodOTP stands in the `amr` of sessions that a link or a code has opened.
const MethodOTP = "otp"

// SingleConfirmation is said to who has confirmed one side of a change of address.
const SingleConfirmation = "Confirmation link accepted. Please proceed to confirm link sent to the other email"

// Verify is a link or a code that is brought back.
type Verify struct {
	Type Verification
	// Token is a code, with the Email or Phone that it was sent to.
	Token        Secret
	Email, Phone string
	// TokenHash is the long form of a token, as it stands in links; it comes alone.
	TokenHash Secret
	// Followed is set when somebody follows a link: it may end in a code for the app that asked for it.
	Followed bool
}

// Verified is the outcome of a verification: a session, a code (PKCE), or neither when the other side of a change of
// address has to confirm it too.
type Verified struct {
	Session *Session
	Code    Secret
}

// PKCE tells whether the outcome is for the app that asked, by a code.
func (v Verify) PKCE() bool { return strings.HasPrefix(v.TokenHash.Reveal(), pkcePrefix) }

// Verify uses a token up, does what it is good for, and lets its holder in.
func (s *Service) Verify(ctx context.Context, caller Caller, in Verify) (*Verified, error) {
	out, user, err := s.verify(ctx, caller, in)
	s.event(caller, "verify", user, err)
	return out, err
}

func (s *Service) verify(ctx context.Context, caller Caller, in Verify) (*Verified, uuid.UUID, error) {
	p, kinds, guesses, refusal := s.readVerify(caller, in)
	if refusal != nil {
		return nil, uuid.Nil, refusal
	}
	if err := s.admitVerify(ctx, caller, guesses); err != nil {
		return nil, uuid.Nil, err
	}
	var used usedToken
	out := &Verified{}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var err error
		if used, err = s.use(ctx, tx, p, kinds...); err != nil {
			return err
		}
		done, err := s.fulfil(ctx, tx, used)
		switch {
		case err != nil || !done:
			return err
		case in.Followed && in.PKCE():
			out.Code, _, err = issueLinkCode(ctx, tx, used.user, in.Type.method())
			return err
		}
		out.Session, err = s.open(ctx, tx, caller, used.user, MethodOTP)
		return err
	})
	if err != nil {
		return nil, used.user, saveFailed("Database error updating user", err)
	}
	s.forgive(ctx, guesses)
	if out.Session != nil {
		err = s.complete(ctx, caller, out.Session)
	}
	return out, used.user, err
}

// guessing is what is counted of codes that are tried.
type guessing struct {
	address string
	hits    []limit.Hit
}

// readVerify reads what is brought back.
func (s *Service) readVerify(caller Caller, in Verify) (p proof, kinds []tokenKind, g guessing, refusal *Error) {
	invalid := func(message string) (proof, []tokenKind, guessing, *Error) {
		return proof{}, nil, guessing{}, refuse(CodeValidationFailed, message)
	}
	code := Secret(strings.ReplaceAll(strings.TrimSpace(in.Token.Reveal()), "-", ""))
	switch {
	case in.Type == "":
		return invalid("Verify requires a verification type")
	case code == "" && in.TokenHash == "":
		return invalid("Verify requires either a token or a token hash")
	case in.TokenHash != "" && (code != "" || in.Email != "" || in.Phone != ""):
		return invalid("Only the token_hash and type should be provided")
	case in.TokenHash != "":
		if kinds = mailKinds(in.Type); kinds == nil {
			return invalid("Invalid email verification type")
		}
		return proof{hashes: []string{storedLink(in.TokenHash)}}, kinds, g, nil
	case (in.Email != "") == (in.Phone != ""):
		return invalid("Only an email address or phone number should be provided on verify")
	}
	if in.Phone != "" {
		if kinds = phoneKinds(in.Type); kinds == nil {
			return invalid("Invalid sms verification type")
		}
		g.address, refusal = s.phoneOf(in.Phone, "")
	} else {
		if kinds = mailKinds(in.Type); kinds == nil {
			return invalid("Invalid email verification type")
		}
		g.address, refusal = normalizeEmail(in.Email)
	}
	if refusal != nil {
		return p, nil, g, refusal
	}
	g.hits = otpHits(caller, g.address)
	return proof{hashes: s.storedCode(g.address, code), typed: true}, kinds, g, nil
}

func otpHits(caller Caller, of string) []limit.Hit {
	return []limit.Hit{
		{Rule: codeRule(), Of: caller.Network() + " " + of},
		{Rule: codeSiegeRule(), Of: of},
	}
}

// mailKinds are the tokens that a verification by mail is made with.
func mailKinds(v Verification) []tokenKind {
	switch v {
	case VerifySignUp, VerifyInvite:
		return []tokenKind{tokenConfirmation}
	case VerifyMagicLink, VerifyRecovery:
		return []tokenKind{tokenRecovery}
	case VerifyEmail:
		return []tokenKind{tokenConfirmation, tokenRecovery}
	case VerifyEmailChange:
		return []tokenKind{tokenEmailChangeCurrent, tokenEmailChangeNew}
	}
	return nil
}

func phoneKinds(v Verification) []tokenKind {
	switch v {
	case VerifySMS:
		return []tokenKind{tokenConfirmation, tokenRecovery}
	case VerifyPhoneChange:
		return []tokenKind{tokenPhoneChange}
	}
	return nil
}

// inNetwork tells whether an account has a session in a network place.
const inNetwork = `
select exists (
    select
    from auth.sessions s
    where s.ip <<= $2
    and s.user_id in (
        select id
        from auth.users
        where email = $1
        and not is_sso_user
        union all
        select id
        from auth.users
        where phone = $1
    )
)`

// admitVerify counts a try before anything is looked up.
func (s *Service) admitVerify(ctx context.Context, caller Caller, g guessing) error {
	var known bool
	batch := &pgx.Batch{}
	verdict := s.count(batch, caller, append(g.hits, limit.Hit{Rule: verifyRule(), Of: caller.Network()})...)
	if g.address != "" {
		batch.Queue(inNetwork, g.address, caller.place()).QueryRow(func(found pgx.Row) error { return found.Scan(&known) })
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := s.send(ctx, batch); err != nil {
		return err
	}
	if refusal := verdict.Refused(verifyRule(), codeRule()); refusal != nil {
		return tooOften(refusal)
	}
	if refusal := verdict.Refused(codeSiegeRule()); refusal != nil && !known {
		return tooOften(refusal)
	}
	return nil
}

// forgive lets tries that ended well count no more. That they go on counting is no reason to refuse what they gave.
func (s *Service) forgive(ctx context.Context, g guessing) {
	batch := &pgx.Batch{}
	s.limits.Forget(batch, g.hits...)
	if batch.Len() == 0 {
		return
	}
	if err := s.send(ctx, batch); err != nil {
		s.log.Warn().Err(err).Msg("the count of tried codes goes on after the right one")
	}
}
