package auth

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// AuditOptions are how the audit log is kept.
type AuditOptions struct {
	// Off keeps none.
	Off bool
	// Retention is how long entries are kept; 0 keeps them for ever.
	Retention time.Duration
}

// action is what an entry of the audit log tells of, in Supabase's words where it has some.
type action string

const (
	actionLogin               action = "login"
	actionLogout              action = "logout"
	actionSignedUp            action = "user_signedup"
	actionInvited             action = "user_invited"
	actionDeleted             action = "user_deleted"
	actionModified            action = "user_modified"
	actionPasswordUpdated     action = "user_updated_password"
	actionRecoveryRequested   action = "user_recovery_requested"
	actionConfirmationAsked   action = "user_confirmation_requested"
	actionRepeatedSignUp      action = "user_repeated_signup"
	actionReauthentication    action = "user_reauthenticate_requested"
	actionLinkGenerated       action = "link_generated"
	actionIdentityUnlinked    action = "identity_unlinked"
	actionTokenRefreshed      action = "token_refreshed"
	actionTokenRevoked        action = "token_revoked"
	actionFactorEnrolled      action = "factor_in_progress"
	actionFactorUnenrolled    action = "factor_unenrolled"
	actionFactorChallenged    action = "challenge_created"
	actionFactorVerified      action = "verification_attempted"
	actionFactorUpdated       action = "factor_updated"
	actionFactorDeleted       action = "factor_deleted"
	actionRecoveryCodes       action = "generate_recovery_codes"
	actionRecoveryCodesGone   action = "recovery_codes_deleted"
	actionRecoveryCodeUsed    action = "mfa_code_login"
	actionPasskeyCreated      action = "passkey_created"
	actionPasskeyUpdated      action = "passkey_updated"
	actionPasskeyDeleted      action = "passkey_deleted"
	actionConsentRevoked      action = "oauth_consent_revoked"
	actionOAuthCodeExchanged  action = "oauth_code_exchanged"
	actionOAuthTokenRefreshed action = "oauth_token_refreshed"
)

// logType is the kind of things that an action is about.
func (a action) logType() string {
	switch a {
	case actionLogin, actionLogout:
		return "account"
	case actionSignedUp, actionInvited, actionDeleted:
		return "team"
	case actionTokenRefreshed, actionTokenRevoked, actionOAuthCodeExchanged, actionOAuthTokenRefreshed:
		return "token"
	case actionFactorEnrolled, actionFactorUnenrolled, actionFactorChallenged, actionFactorVerified, actionFactorUpdated,
		actionFactorDeleted, actionRecoveryCodeUsed:
		return "factor"
	case actionRecoveryCodesGone:
		return "recovery_codes"
	}
	return "user"
}

const (
	// auditActor describes an account u as who has acted. What users say about themselves has no business to be long.
	auditActor = `
        'actor_id', u.id,
        'actor_name', left(u.raw_user_meta_data ->> 'full_name', 255),
        'actor_username', coalesce(nullif(u.phone, ''), u.email, ''),
        'actor_via_sso', u.is_sso_user,`

	// auditByUser writes an entry for an account, if it is there, and so is the session that the entry tells of.
	auditByUser = `
insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
select
    '00000000-0000-0000-0000-000000000000',
    gen_random_uuid(),
    json_strip_nulls(json_build_object(` + auditActor + `
        'action', $2::text,
        'log_type', $3::text,
        'traits', $4::json
    )),
    $5,
    $6
from auth.users u
where u.id = $1
and (
    $7::uuid is null
    or exists (
        select
        from auth.sessions s
        where s.id = $7
        and s.user_id = u.id
    )
)`

	// auditByAdmin writes an entry for what the service key has done to an account.
	auditByAdmin = `
insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
select
    '00000000-0000-0000-0000-000000000000',
    gen_random_uuid(),
    json_build_object(
        'actor_id', '00000000-0000-0000-0000-000000000000',
        'actor_username', 'service_role',
        'actor_via_sso', false,
        'action', $2::text,
        'log_type', $3::text,
        'traits', json_build_object(
            'user_id', u.id,
            'user_email', coalesce(u.email, ''),
            'user_phone', coalesce(u.phone, '')
        )
    ),
    $4,
    $5
from auth.users u
where u.id = $1
and (u.deleted_at is null or $6)`
)

// auditEntry is what has happened to an account.
type auditEntry struct {
	action action
	user   uuid.UUID
	// session is one without which it has not happened; nil is none.
	session uuid.UUID
	// admin is set when it was the service key's doing; deleted also has entries of accounts that are deleted softly.
	admin, deleted bool
	// provider is how somebody came in; empty is left out.
	provider string
	caller   Caller
	at       time.Time
}

func (e auditEntry) traits() *string {
	if e.provider == "" {
		return nil
	}
	text, err := json.Marshal(map[string]string{"provider": e.provider})
	if err != nil {
		return nil // a text is never refused
	}
	traits := string(text)
	return &traits
}

// audit adds an entry to the batch, or to the transaction, that does what it tells of.
func (s *Service) audit(batch *pgx.Batch, e auditEntry) {
	if !s.options.Audit.Off {
		e.queue(batch)
	}
}

func (e auditEntry) queue(batch *pgx.Batch) {
	if e.at.IsZero() {
		e.at = now()
	}
	if e.admin {
		batch.Queue(auditByAdmin, e.user, e.action, e.action.logType(), e.at, e.caller.origin(), e.deleted)
		return
	}
	batch.Queue(auditByUser, e.user, e.action, e.action.logType(), e.traits(), e.at, e.caller.origin(), optionalID(e.session))
}

// providerOf names the way in that an address is.
func providerOf(address string) string {
	if isPhone(address) {
		return "phone"
	}
	return "email"
}

// audited are the events whose entries are written behind them: they have no batch of their own that an entry could be
// part of. Events that are missing here write theirs themselves, or tell of no account.
func audited(event string) (a action, admin, ok bool) {
	switch event {
	case "session_end":
		return actionLogout, false, true
	case "admin_session_end", "admin_sessions_end":
		return actionTokenRevoked, true, true
	case "invite":
		return actionInvited, true, true
	case "generate_link":
		return actionLinkGenerated, true, true
	case "otp", "recovery_request":
		return actionRecoveryRequested, false, true
	case "resend":
		return actionConfirmationAsked, false, true
	case "reauthenticate":
		return actionReauthentication, false, true
	case "identity_unlink":
		return actionIdentityUnlinked, false, true
	case "factor_enroll":
		return actionFactorEnrolled, false, true
	case "factor_unenroll":
		return actionFactorUnenrolled, false, true
	case "factor_challenge":
		return actionFactorChallenged, false, true
	case "factor_verify":
		return actionFactorVerified, false, true
	case "admin_factor_update":
		return actionFactorUpdated, true, true
	case "admin_factor_delete":
		return actionFactorDeleted, true, true
	case "recovery_codes_generate", "recovery_codes_regenerate":
		return actionRecoveryCodes, false, true
	case "recovery_codes_delete":
		return actionRecoveryCodesGone, false, true
	case "recovery_codes_verify":
		return actionRecoveryCodeUsed, false, true
	case "passkey_create":
		return actionPasskeyCreated, false, true
	case "passkey_update":
		return actionPasskeyUpdated, false, true
	case "passkey_delete":
		return actionPasskeyDeleted, false, true
	case "admin_passkey_delete":
		return actionPasskeyDeleted, true, true
	case "oauth_code_exchange":
		return actionOAuthCodeExchanged, false, true
	case "oauth_refresh":
		return actionOAuthTokenRefreshed, false, true
	case "oauth_revoke":
		return actionConsentRevoked, false, true
	}
	return "", false, false
}
