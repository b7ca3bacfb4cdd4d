package auth

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Scope is which of a user's sessions a sign-out ends.
type Scope string

// The scopes of a sign-out.
const (
	ScopeGlobal Scope = "global"
	ScopeLocal  Scope = "local"
	ScopeOthers Scope = "others"
)

const (
	// endLinkings begins the end of sessions: an identity whose linking one of them has begun is not added any more, or
	// whoever was thrown out could finish it and be in again. Who goes on begins anew.
	endLinkings = `
with linkings as (
    delete from auth.flow_state
    where user_id = $1
    and linking_target_id is not null
)`

	// endCodes begins the end of all sessions of an account that must not outlive what it is entered by: nor must
	// the codes that stand for sessions yet to be opened.
	endCodes = `
with flows as (
    delete from auth.flow_state
    where user_id = $1
)`

	// endApprovals follows the end of sessions as a statement of its own: one of them may be about to let an OAuth client
	// in, for which their end waits, and only what begins after that sees the code.
	endApprovals = `
delete from auth.oauth_authorizations
where user_id = $1
and status = 'approved'`
)

// queueEnd adds the end of sessions of an account to a batch, by a statement whose first parameter is the account, and of
// the codes that they have given to OAuth clients.
func queueEnd(batch *pgx.Batch, statement string, user uuid.UUID, more ...any) *pgx.QueuedQuery {
	ended := batch.Queue(statement, append([]any{user}, more...)...)
	batch.Queue(endApprovals, user)
	return ended
}

// endAll ends all sessions of an account.
func (s *Service) endAll(ctx context.Context, user uuid.UUID, record Record[*User]) error {
	batch := &pgx.Batch{}
	queueEnd(batch, endAllSessions, user)
	return s.sendAbout(ctx, batch, user, record)
}

// endSessions deletes the sessions that a scope names, as long as the session that asks is
// alive: a token that outlived its session ends nobody's.
const endSessions = endLinkings + `
delete from auth.sessions
where user_id = $1
and case $3
    when 'global' then true
    when 'local' then id = $2
    when 'others' then id <> $2
    else false
end
and (
    $2 = '00000000-0000-0000-0000-000000000000'
    or exists (
        select
        from auth.sessions own
        where own.id = $2
        and own.user_id = $1
        and (own.not_after is null or own.not_after > now())
    )
)`

// SignOut ends sessions. One that is over already is no error: its end was what was asked for.
func (s *Service) SignOut(ctx context.Context, caller Caller, p *Principal, scope Scope) error {
	err := s.signOut(ctx, caller, p, scope)
	s.event(caller, "signout", p.UserID, err)
	return err
}

func (s *Service) signOut(ctx context.Context, caller Caller, p *Principal, scope Scope) error {
	switch scope {
	case "":
		scope = ScopeGlobal
	case ScopeGlobal, ScopeLocal, ScopeOthers:
	default:
		return refuse(CodeValidationFailed, "Unsupported logout scope")
	}
	if refusal := namesUser(p); refusal != nil {
		return refusal
	}
	batch := &pgx.Batch{}
	queueEnd(batch, endSessions, p.UserID, p.SessionID, scope)
	s.audit(batch, auditEntry{action: actionLogout, user: p.UserID, caller: caller})
	if err := s.send(ctx, batch); err != nil {
		return saveFailed("Error logging out user", err)
	}
	return nil
}

// namesUser refuses tokens that stand for no account: the API keys above all.
func namesUser(p *Principal) *Error {
	switch {
	case p.Subject == "":
		return deny(CodeBadJWT, "invalid claim: missing sub claim")
	case p.UserID == uuid.Nil:
		return deny(CodeBadJWT, "invalid claim: sub claim must be a UUID")
	}
	return nil
}
