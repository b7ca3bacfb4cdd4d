package auth

import (
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// evictions leave of an account nothing that lets in who had it before, nothing that they have written about
// themselves, and nothing that they have asked for and could still use: pre-hijacking needs one of these to stay.
var evictions = [...]string{
	`
delete from auth.identities
where user_id = $1`, `
delete from auth.sessions
where user_id = $1`, `
delete from auth.refresh_tokens
where user_id = $1::uuid::text`, `
delete from auth.one_time_tokens
where user_id = $1`, `
delete from auth.mfa_factors
where user_id = $1`, `
delete from auth.webauthn_credentials
where user_id = $1`, `
delete from auth.webauthn_challenges
where user_id = $1`, `
delete from auth.oauth_authorizations
where user_id = $1`, `
delete from auth.oauth_consents
where user_id = $1`, `
delete from auth.flow_state
where user_id = $1
or linking_target_id = $1`,
}

const vacate = `
update auth.users
set encrypted_password = '',
    email_confirmed_at = null,
    phone = null,
    phone_confirmed_at = null,
    phone_change = '',
    phone_change_token = '',
    phone_change_sent_at = null,
    email_change = '',
    email_change_token_new = '',
    email_change_token_current = '',
    email_change_confirm_status = 0,
    email_change_sent_at = null,
    confirmation_token = '',
    recovery_token = '',
    reauthentication_token = '',
    raw_user_meta_data = '{}',
    raw_app_meta_data = coalesce(raw_app_meta_data, '{}') - 'provider' - 'providers',
    is_anonymous = false,
    updated_at = $2
where id = $1`

// queueEviction adds to a batch that an account is emptied for its owner.
func queueEviction(batch *pgx.Batch, user uuid.UUID, at time.Time) {
	for _, statement := range evictions {
		batch.Queue(statement, user)
	}
	batch.Queue(vacate, user, at)
}
