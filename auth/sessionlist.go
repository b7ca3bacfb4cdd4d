package auth

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// mostListed bounds a list of sessions; the newest stand in it.
const mostListed = 500

const (
	// listSessions gives the sessions of account $1 that are alive, at most $2.
	listSessions = `
select
    s.id,
    s.created_at,
    s.updated_at,
    s.refreshed_at at time zone 'utc',
    s.not_after,
    coalesce(s.aal, 'aal1'),
    s.user_agent,
    host(s.ip),
    s.oauth_client_id,
    c.client_name,
    s.scopes,
    ` + sessionMethods + `
from auth.sessions s
left join auth.oauth_clients c on c.id = s.oauth_client_id
where s.user_id = $1
and (` + sessionEnd + `) is null
order by s.created_at desc, s.id desc
limit $2`

	endOneSession = endLinkings + `
delete from auth.sessions
where user_id = $1
and id = $2`
)

// SessionInfo is what a user may know of a session of theirs.
type SessionInfo struct {
	ID          uuid.UUID
	CreatedAt   *time.Time
	UpdatedAt   *time.Time
	RefreshedAt *time.Time
	NotAfter    *time.Time
	// Level is its assurance level, `aal1` or `aal2`.
	Level     string
	UserAgent string
	IP        string
	// ClientID is the OAuth client that holds it; zero when the user does.
	ClientID   uuid.UUID
	ClientName string
	Scopes     string
	// Methods are how the user has proved who they are, the newest first.
	Methods []SessionMethod
	// Current is set for the session that asks.
	Current bool
}

// SessionMethod is a proof, and when it was given.
type SessionMethod struct {
	Method string
	At     *time.Time
}

// Sessions gives the living sessions of the user behind a token, the newest first.
func (s *Service) Sessions(ctx context.Context, p *Principal) ([]SessionInfo, error) {
	if _, err := s.User(ctx, p); err != nil {
		return nil, err
	}
	found, err := s.listSessions(ctx, p.UserID)
	for i := range found {
		found[i].Current = found[i].ID == p.SessionID
	}
	return found, err
}

// EndSession ends one session of the user behind a token, their own or another.
func (s *Service) EndSession(ctx context.Context, caller Caller, p *Principal, id uuid.UUID) error {
	_, err := s.User(ctx, p)
	if err == nil {
		err = s.endSessionOf(ctx, p.UserID, id, nil)
	}
	s.event(caller, "session_end", p.UserID, err)
	return err
}

// AdminSessions gives the living sessions of an account, the newest first.
func (s *Service) AdminSessions(ctx context.Context, user uuid.UUID) ([]SessionInfo, error) {
	if _, err := s.AdminUser(ctx, user); err != nil {
		return nil, err
	}
	return s.listSessions(ctx, user)
}

// AdminEndSession ends one session of an account.
func (s *Service) AdminEndSession(ctx context.Context, caller Caller, user, id uuid.UUID, record Record[*User]) error {
	_, err := s.AdminUser(ctx, user)
	if err == nil {
		err = s.endSessionOf(ctx, user, id, record)
	}
	s.event(caller, "admin_session_end", user, err)
	return err
}

// AdminEndSessions ends all sessions of an account.
func (s *Service) AdminEndSessions(ctx context.Context, caller Caller, user uuid.UUID, record Record[*User]) error {
	_, err := s.AdminUser(ctx, user)
	if err == nil {
		err = s.endAll(ctx, user, record)
	}
	s.event(caller, "admin_sessions_end", user, err)
	return err
}

func (s *Service) endSessionOf(ctx context.Context, user, id uuid.UUID, record Record[*User]) error {
	batch := &pgx.Batch{}
	queueEnd(batch, endOneSession, user, id).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return refuse(CodeSessionNotFound, "Session not found")
		}
		return nil
	})
	return saveFailed("Error ending the session", s.sendAbout(ctx, batch, user, record))
}

func (s *Service) listSessions(ctx context.Context, user uuid.UUID) ([]SessionInfo, error) {
	found := []SessionInfo{}
	batch := &pgx.Batch{}
	batch.Queue(listSessions, append([]any{user, mostListed}, s.options.Sessions.parameters()...)...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var i SessionInfo
			if err := rows.Scan(reader(func(r *row) { i = r.sessionInfo() })); err != nil {
				return err
			}
			found = append(found, i)
		}
		return rows.Err()
	})
	return found, s.send(ctx, batch)
}

// sessionInfo reads a row of listSessions.
func (r *row) sessionInfo() SessionInfo {
	i := SessionInfo{
		ID: r.id(), CreatedAt: r.time(), UpdatedAt: r.time(), RefreshedAt: r.time(), NotAfter: r.time(), Level: r.text(),
		UserAgent: r.text(), IP: r.text(), ClientID: r.id(), ClientName: r.text(), Scopes: r.text(),
	}
	r.records(func(r *row) { i.Methods = append(i.Methods, SessionMethod{Method: r.text(), At: r.time()}) })
	return i
}
