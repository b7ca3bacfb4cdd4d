package auth

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/auth/limit"
	"basalt/auth/provider"
	"basalt/auth/seal"
)

// MethodOAuth is the method of sign-ins at other servers.
const MethodOAuth = "oauth"

// oauthLife is how long a user may take at a provider.
const oauthLife = 5 * time.Minute

const (
	// A state is good once: who comes with it takes it.
	takeFlow = `
update auth.flow_state
set auth_code = '',
    updated_at = clock_timestamp()
where id = $1
and auth_code is null
and authentication_method = 'oauth'
and created_at > clock_timestamp() - $2::interval
returning provider_type, coalesce(referrer, ''), coalesce(linking_target_id, '00000000-0000-0000-0000-000000000000'), code_challenge is not null`

	// What was asked is told apart from whether it may still be had, so that the refusal reaches the app.
	returnOfFlow = `
select coalesce(referrer, ''), code_challenge is not null
from auth.flow_state
where id = $1
and authentication_method = 'oauth'`

	endFlow = `
delete from auth.flow_state
where id = $1`

	keepPending = `
insert into basalt.pending_identities (flow_id, provider, subject, email, verified, data)
values ($1, $2, $3, $4, $5, $6)`

	sweepPending = `
delete from basalt.pending_identities
where flow_id in (
    select flow_id
    from basalt.pending_identities
    where created_at < now() - interval '1 day'
    order by created_at
    limit 10
    for update skip locked
)`

	keepProviderTokens = `
update auth.flow_state
set provider_access_token = $2,
    provider_refresh_token = $3
where id = $1`
)

// Authorize is a sign-in at a provider that a client asks for.
type Authorize struct {
	Provider string
	// RedirectTo is an outcome of RedirectTarget.
	RedirectTo string
	// Scopes are asked for beside the usual ones, divided by spaces or commas.
	Scopes string
	// Challenge and ChallengeMethod are those of RFC 7636: the sign-in ends in a code for who has the verifier.
	Challenge, ChallengeMethod string
	// Params are handed on to the provider.
	Params url.Values
	// Browser is what the browser was given to come back with; empty when the answer does not reach it.
	Browser Secret
	// LinkTo is whose account gains the identity; nil for a sign-in.
	LinkTo *Principal
}

// Authorization is where a user is led to.
type Authorization struct {
	URL string
	// Posted is set when the provider leads back by a form, from its own site.
	Posted bool
}

// Authorize begins a sign-in at a provider, or the linking of an identity.
func (s *Service) Authorize(ctx context.Context, caller Caller, in Authorize) (*Authorization, error) {
	linkTo, err := s.linkableTo(ctx, in.LinkTo)
	if err != nil {
		return nil, err
	}
	challenge, refusal := s.readChallenge(in.Challenge, in.ChallengeMethod)
	if refusal != nil {
		return nil, refusal
	}
	if in.Browser == "" && linkTo == uuid.Nil && !challenge.asked() {
		return nil, refuse(CodeValidationFailed, "skip_http_redirect needs a code_challenge: nothing else would bind the sign-in to who began it")
	}
	p, err := s.providerNamed(ctx, in.Provider)
	if err != nil {
		return nil, err
	}
	if refusal, err := s.admit(ctx, caller, limit.Hit{Rule: authorizeRule(), Of: caller.Network()}); err != nil {
		return nil, err
	} else if refusal != nil {
		return nil, tooOften(refusal)
	}
	f := flow{
		id: uuid.New(), challenge: challenge, provider: p.Name(), method: MethodOAuth, redirect: in.RedirectTo,
		linkTo: linkTo, user: linkTo,
	}
	state := s.oauthStateOf(f.id)
	address, err := p.AuthorizationURL(ctx, provider.Request{
		State: state.text(in.Browser), Nonce: state.nonce(), Verifier: state.verifier(), Params: in.Params,
		Scopes: strings.FieldsFunc(in.Scopes, func(r rune) bool { return r == ' ' || r == ',' }),
	})
	if err != nil {
		return nil, providerRefusal(err)
	}
	batch := &pgx.Batch{}
	queueFlow(batch, f)
	if err := s.send(ctx, batch); err != nil {
		return nil, err
	}
	return &Authorization{URL: address, Posted: p.Posts()}, nil
}

// Callback is what a provider leads a user back with.
type Callback struct {
	State, Code, Issuer string
	// Error and ErrorDescription are in the place of the code when the provider or the user refuses.
	Error, ErrorDescription string
	// User is what Apple tells of a user the first time.
	User string
	// Browsers are the secrets that the browser comes back with.
	Browsers []Secret
}

// CameBack is the outcome of a sign-in at a provider. Where it leads is known of refusals too.
type CameBack struct {
	SignedInElsewhere
	// PKCE is set when the app that asked takes a code.
	PKCE bool
}

// OAuthRefusal is a provider's own no, by its name of RFC 6749 §4.1.2.1.
type OAuthRefusal struct {
	Name, Description string
}

func (e *OAuthRefusal) Error() string { return "the provider refuses: " + e.Name }

// ComeBack ends a sign-in at a provider. The outcome is there with an error too.
func (s *Service) ComeBack(ctx context.Context, caller Caller, in Callback) (*CameBack, error) {
	out := &CameBack{SignedInElsewhere: SignedInElsewhere{Redirect: s.options.SiteURL}}
	user, err := s.comeBack(ctx, caller, in, out)
	s.event(caller, "oauth", user, err)
	return out, err
}

func (s *Service) comeBack(ctx context.Context, caller Caller, in Callback, out *CameBack) (uuid.UUID, error) {
	state, bound, ok := s.readOAuthState(in.State, in.Browsers)
	if in.State == "" {
		return uuid.Nil, refuse(CodeBadOAuthState, "OAuth state parameter missing")
	}
	if !ok {
		return uuid.Nil, refuse(CodeBadOAuthState, "OAuth state is not one of this browser's")
	}
	var name string
	var linkTo uuid.UUID
	err := s.pool.QueryRow(ctx, takeFlow, state.id, oauthLife).Scan(&name, &out.Redirect, &linkTo, &out.PKCE)
	if errors.Is(err, pgx.ErrNoRows) {
		err = s.pool.QueryRow(ctx, returnOfFlow, state.id).Scan(&out.Redirect, &out.PKCE)
		if err == nil || errors.Is(err, pgx.ErrNoRows) {
			err = refuse(CodeBadOAuthState, "OAuth state has expired or was used already")
		}
	}
	// It has been checked before, but the list may be another by now.
	out.Redirect = s.redirectTarget(out.Redirect)
	if err != nil {
		return uuid.Nil, err
	}
	if !bound && !out.PKCE && linkTo == uuid.Nil {
		return uuid.Nil, refuse(CodeBadOAuthState, "OAuth state is not one of this browser's")
	}
	switch {
	case in.Error != "":
		return uuid.Nil, &OAuthRefusal{Name: in.Error, Description: in.ErrorDescription}
	case in.Code == "":
		return uuid.Nil, refuse(CodeBadOAuthCallback, "OAuth callback with missing authorization code missing")
	}
	p, err := s.providerNamed(ctx, name)
	if err != nil {
		return uuid.Nil, err
	}
	granted, err := p.Redeem(ctx, provider.Answer{
		Code: in.Code, Issuer: in.Issuer, Nonce: state.nonce(), Verifier: state.verifier(), User: in.User,
	})
	if err != nil {
		return uuid.Nil, providerRefusal(err)
	}
	return s.settle(ctx, caller, p, granted, settlement{flow: state.id, linkTo: linkTo, out: out})
}

// settlement is what a proof of another server leads to.
type settlement struct {
	// flow is where a code comes from, if the outcome is one.
	flow   uuid.UUID
	linkTo uuid.UUID
	// linker is whose request links an identity at once, without a flow that ends with their session.
	linker *Principal
	out    *CameBack
	// newcomer is the id of the account that is made if there is none yet.
	newcomer uuid.UUID
	making   *making
	// unproved is set when the address has to be confirmed before anybody gets in, mail when it may be asked for.
	unproved, mail bool
}

// settle finds or makes the account of who has proved at a provider who they are, and lets them in.
func (s *Service) settle(ctx context.Context, caller Caller, p *provider.Provider, granted *provider.Granted, to settlement) (uuid.UUID, error) {
	visitor, refusal := newVisitor(p, granted.Profile)
	if refusal != nil {
		return uuid.Nil, refusal
	}
	to.newcomer = uuid.New()
	access, err := s.sealProviderToken(ctx, granted.AccessToken, to.flow, "provider_access_token")
	if err != nil {
		return uuid.Nil, err
	}
	refresh, err := s.sealProviderToken(ctx, granted.RefreshToken, to.flow, "provider_refresh_token")
	if err != nil {
		return uuid.Nil, err
	}
	if visitor.email != "" && !visitor.verified && !s.options.Autoconfirm && to.linkTo == uuid.Nil {
		if to.mail, err = s.mayAskToConfirm(ctx, caller, visitor); err != nil {
			return uuid.Nil, err
		}
	}
	var user uuid.UUID
	err = s.making(ctx, caller, func(m *making) (*Session, error) {
		to.making = m
		err := s.again(ctx, func(tx pgx.Tx) error {
			var err error
			user, err = s.enter(ctx, tx, caller, visitor, &to, access, refresh)
			return err
		})
		return to.out.Session, err
	})
	switch {
	case err != nil:
		to.out.Code, to.out.Session = "", nil
		return user, saveFailed("Database error saving new user", err)
	case to.unproved:
		return user, unverified(visitor)
	case to.out.Session != nil:
		to.out.Session.ProviderToken, to.out.Session.ProviderRefreshToken = Secret(granted.AccessToken), Secret(granted.RefreshToken)
	}
	return user, nil
}

// enter finds or makes the account of a visitor, and writes a code or a session for it.
func (s *Service) enter(
	ctx context.Context, tx pgx.Tx, caller Caller, v visitor, to *settlement, access, refresh *string,
) (user uuid.UUID, err error) {
	if to.linker != nil {
		// The provider may have taken its time.
		l, err := s.lock(ctx, tx, to.linker)
		if err != nil {
			return to.linkTo, err
		}
		if refusal := mayLink(l.user, l.level); refusal != nil {
			return to.linkTo, refusal
		}
	}
	if to.linkTo != uuid.Nil && to.out.PKCE {
		user, err = to.linkTo, s.suspend(ctx, tx, v, to)
	} else {
		user, err = s.accountOf(ctx, tx, v, to)
	}
	switch {
	case err != nil:
		return user, err
	case !to.unproved && to.out.PKCE:
		if _, err := tx.Exec(ctx, keepProviderTokens, to.flow, access, refresh); err != nil {
			return user, err
		}
		to.out.Code, _, err = issueCode(ctx, tx, to.flow, user)
		return user, err
	}
	ended, err := tx.Exec(ctx, endFlow, to.flow)
	switch {
	case err != nil:
		return user, err
	case to.linkTo != uuid.Nil && to.flow != uuid.Nil && ended.RowsAffected() == 0:
		return user, flowNotFound() // the session that began it has ended meanwhile
	}
	if to.unproved {
		if to.mail {
			err = s.askToConfirm(ctx, tx, user, to.out.Redirect)
		}
		return user, err
	}
	to.out.Session, err = s.open(ctx, tx, caller, user, MethodOAuth)
	return user, err
}

// suspend keeps an identity until the app that asked to link it brings the flow's code. Where nothing ties the flow to a
// browser, somebody else may have been made to follow it.
func (s *Service) suspend(ctx context.Context, tx pgx.Tx, v visitor, to *settlement) error {
	if err := s.unlinked(ctx, tx, v, to.linkTo); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue(sweepPending)
	batch.Queue(keepPending, to.flow, v.provider, v.subject, v.email, v.verified, v.data)
	return tx.SendBatch(ctx, batch).Close()
}

// providerTokenCell is where the token of a provider waits for the exchange of its flow's code.
func providerTokenCell(flow uuid.UUID, column string) seal.Cell {
	return seal.Cell{Table: "auth.flow_state", Row: flow.String(), Column: column}
}

func (s *Service) sealProviderToken(ctx context.Context, token string, flow uuid.UUID, column string) (*string, error) {
	if token == "" {
		return nil, nil
	}
	sealed, err := s.seal(ctx, Secret(token), providerTokenCell(flow, column))
	return &sealed, err
}

// unsealProviderToken gives the token that a flow has kept.
func (s *Service) unsealProviderToken(ctx context.Context, kept *string, flow uuid.UUID, column string) (Secret, error) {
	if kept == nil {
		return "", nil
	}
	token, _, err := s.unseal(ctx, *kept, providerTokenCell(flow, column))
	return token, err
}
