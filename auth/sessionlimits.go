package auth

import "time"

// SessionLimits are how long sessions last. A zero limit is none. They are looked at when a session is refreshed and when
// its account is read; an access token that was given before is good until it ends.
type SessionLimits struct {
	// Timebox is the longest life of a session.
	Timebox time.Duration
	// Inactivity is the longest time from one refresh to the next.
	Inactivity time.Duration
	// LowAAL is the longest time that a session may stay without the second factor that its account has, those of OAuth
	// clients aside.
	LowAAL time.Duration
	// Single lets only the newest session of an account live, those of OAuth clients aside.
	Single bool
}

// parameters are $3 to $6 of sessionEnd; NULL is no limit.
func (l SessionLimits) parameters() []any {
	parameters := []any{nil, nil, nil, l.Single}
	for i, limit := range []time.Duration{l.Timebox, l.Inactivity, l.LowAAL} {
		if limit > 0 {
			parameters[i] = limit
		}
	}
	return parameters
}

// sessionEnd is why the session s is over, NULL while it is not.
const sessionEnd = `
    case
        when s.not_after <= clock_timestamp()
        or s.created_at + $3::interval <= clock_timestamp()
        then 'Session Expired'
        when coalesce(s.refreshed_at at time zone 'utc', s.created_at) + $4::interval <= clock_timestamp()
        then 'Session Expired (Inactivity)'
        when s.created_at + $5::interval <= clock_timestamp()
        and coalesce(s.aal, 'aal1') = 'aal1'
        and s.oauth_client_id is null
        and exists (
            select
            from auth.mfa_factors f
            where f.user_id = s.user_id
            and f.status = 'verified'
        )
        then 'Session Expired (Low AAL: User Needs MFA Verification)'
        when $6::boolean
        and s.oauth_client_id is null
        and exists (
            select
            from auth.sessions newer
            where newer.user_id = s.user_id
            and newer.oauth_client_id is null
            and (newer.created_at, newer.id) > (s.created_at, s.id)
            and (newer.not_after is null or newer.not_after > clock_timestamp())
        )
        then 'Session Expired (Revoked by Newer Login)'
    end`
