package auth

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// lastSession is the newest session of a user with its level, if there is one.
const lastSession = `
select s.id, coalesce(s.aal::text, 'aal1')
from auth.sessions s
where s.user_id = $1
order by s.created_at desc
limit 1`

// ClaimsOf gives the claims that an access token of a user would have now, and the database role in them: by these an
// administrator sees the database as the user does. They are those of the user's newest session, or of none. No token is
// made, and a hook that is a server is not told.
func (s *Service) ClaimsOf(ctx context.Context, id uuid.UUID) (claims json.RawMessage, role string, err error) {
	u, err := s.AdminUser(ctx, id)
	if err != nil {
		return nil, "", err
	}
	st := standing{level: lowestLevel}
	err = s.pool.QueryRow(ctx, lastSession, id).Scan(&st.sessionID, &st.level)
	if err != nil && err != pgx.ErrNoRows {
		return nil, "", unexpected("Database error finding the session", err)
	}
	at := now()
	text, err := json.Marshal(accessClaims{
		Issuer: s.options.Issuer, Subject: u.ID, Audience: u.Audience,
		ExpiresAt: at.Add(s.options.TokenLife).Unix(), IssuedAt: at.Unix(), Email: u.Email, Phone: u.Phone,
		AppMetadata: u.AppMetadata, UserMetadata: u.UserMetadata,
		Role: u.Role, Level: st.level, Methods: []methodClaim{}, SessionID: st.sessionID, Anonymous: u.Anonymous,
	})
	if err != nil {
		return nil, "", unexpected("The claims could not be written", err)
	}
	if h := s.hooks.CustomAccessToken; h != nil && !h.Outside() {
		if text, _, err = s.customize(ctx, s.pool, Caller{}, grant{user: u, standing: st, method: methodRefresh, at: at}, text); err != nil {
			return nil, "", err
		}
	}
	var held struct {
		Role string `json:"role"`
	}
	if err := json.Unmarshal(text, &held); err != nil {
		return nil, "", unexpected("The claims could not be read", err)
	}
	return text, held.Role, nil
}
