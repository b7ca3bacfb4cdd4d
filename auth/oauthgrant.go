package auth

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	listGrants = `
select
    given.scopes,
    given.granted_at,` + clientColumns + `
from auth.oauth_consents given
join auth.oauth_clients c on c.id = given.client_id
where given.user_id = $1
and given.revoked_at is null
and c.deleted_at is null
order by given.granted_at desc
limit $2`

	revokeConsent = `
update auth.oauth_consents
set revoked_at = greatest(clock_timestamp(), granted_at)
where user_id = $1
and client_id = $2
and revoked_at is null`

	// What was approved and not exchanged yet goes too.
	dropAuthorizations = `
delete from auth.oauth_authorizations
where user_id = $1
and client_id = $2`

	endGrantedSessions = `
delete from auth.sessions
where user_id = $1
and oauth_client_id = $2`
)

// Grant is what a user has consented to.
type Grant struct {
	Client    *OAuthClient
	Scopes    []string
	GrantedAt *time.Time
}

// Grants gives what the user behind a token has consented to, the newest first.
func (s *Service) Grants(ctx context.Context, p *Principal) ([]Grant, error) {
	if _, err := s.User(ctx, p); err != nil {
		return nil, err
	}
	var found []Grant
	batch := &pgx.Batch{}
	batch.Queue(listGrants, p.UserID, mostListed).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			err := rows.Scan(reader(func(r *row) {
				found = append(found, Grant{Scopes: strings.Fields(r.text()), GrantedAt: r.time(), Client: r.client()})
			}))
			if err != nil {
				return err
			}
		}
		return rows.Err()
	})
	return found, s.send(ctx, batch)
}

// RevokeGrant takes a consent back and ends the sessions that the client holds by it.
func (s *Service) RevokeGrant(ctx context.Context, caller Caller, p *Principal, client uuid.UUID) error {
	err := s.revokeGrant(ctx, p, client)
	s.event(caller, "oauth_revoke", p.UserID, err)
	return err
}

func (s *Service) revokeGrant(ctx context.Context, p *Principal, client uuid.UUID) error {
	if _, err := s.User(ctx, p); err != nil {
		return err
	}
	revoked := false
	batch := &pgx.Batch{}
	batch.Queue(revokeConsent, p.UserID, client).Exec(func(tag pgconn.CommandTag) error {
		revoked = tag.RowsAffected() == 1
		return nil
	})
	batch.Queue(dropAuthorizations, p.UserID, client)
	batch.Queue(endGrantedSessions, p.UserID, client)
	if err := s.send(ctx, batch); err != nil {
		return err
	}
	if !revoked {
		return refuse(CodeOAuthConsentNotFound, "No active grant found for this client")
	}
	return nil
}
