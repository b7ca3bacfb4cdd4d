package auth

import (
	"fmt"
	"time"

	"basalt/auth/password"
)

// Code names a refusal in the words of Supabase's accounts API.
type Code string

// The codes that the flows of this package use.
const (
	CodeUnexpectedFailure                 Code = "unexpected_failure"
	CodeValidationFailed                  Code = "validation_failed"
	CodeBadJWT                            Code = "bad_jwt"
	CodeNotAdmin                          Code = "not_admin"
	CodeNoAuthorization                   Code = "no_authorization"
	CodeUserNotFound                      Code = "user_not_found"
	CodeSessionNotFound                   Code = "session_not_found"
	CodeSessionExpired                    Code = "session_expired"
	CodeRefreshTokenNotFound              Code = "refresh_token_not_found"
	CodeRefreshTokenAlreadyUsed           Code = "refresh_token_already_used"
	CodeSignupDisabled                    Code = "signup_disabled"
	CodeUserBanned                        Code = "user_banned"
	CodeUserAlreadyExists                 Code = "user_already_exists"
	CodeEmailExists                       Code = "email_exists"
	CodeEmailNotConfirmed                 Code = "email_not_confirmed"
	CodeInvalidCredentials                Code = "invalid_credentials"
	CodePhoneProviderDisabled             Code = "phone_provider_disabled"
	CodeAnonymousProviderDisabled         Code = "anonymous_provider_disabled"
	CodeFeatureDisabled                   Code = "feature_disabled"
	CodeWeakPassword                      Code = "weak_password"
	CodeSamePassword                      Code = "same_password"
	CodeCurrentPasswordInvalid            Code = "current_password_invalid"
	CodeInsufficientAAL                   Code = "insufficient_aal"
	CodeTooManyFactors                    Code = "too_many_enrolled_mfa_factors"
	CodeFactorNameConflict                Code = "mfa_factor_name_conflict"
	CodeFactorNotFound                    Code = "mfa_factor_not_found"
	CodeFactorAddressMismatch             Code = "mfa_ip_address_mismatch"
	CodeFactorChallengeExpired            Code = "mfa_challenge_expired"
	CodeFactorVerificationFailed          Code = "mfa_verification_failed"
	CodeFactorExists                      Code = "mfa_verified_factor_exists"
	CodeRecoveryCodesLocked               Code = "mfa_recovery_codes_locked"
	CodeRecoveryCodesSoleFactor           Code = "mfa_recovery_codes_sole_factor"
	CodeConflict                          Code = "conflict"
	CodeOverRequestRateLimit              Code = "over_request_rate_limit"
	CodeOverEmailSendRateLimit            Code = "over_email_send_rate_limit"
	CodePhoneNotConfirmed                 Code = "phone_not_confirmed"
	CodeUserSSOManaged                    Code = "user_sso_managed"
	CodeOverSMSSendRateLimit              Code = "over_sms_send_rate_limit"
	CodeFlowStateNotFound                 Code = "flow_state_not_found"
	CodeFlowStateExpired                  Code = "flow_state_expired"
	CodeFlowStateAlreadyUsed              Code = "flow_state_already_used"
	CodeBadCodeVerifier                   Code = "bad_code_verifier"
	CodeRequestTimeout                    Code = "request_timeout"
	CodeMFAVerificationRejected           Code = "mfa_verification_rejected"
	CodeUnknown                           Code = "unknown"
	CodeCaptchaFailed                     Code = "captcha_failed"
	CodeBadOAuthState                     Code = "bad_oauth_state"
	CodeBadOAuthCallback                  Code = "bad_oauth_callback"
	CodeOAuthProviderNotSupported         Code = "oauth_provider_not_supported"
	CodeProviderEmailNeedsVerification    Code = "provider_email_needs_verification"
	CodeCustomProviderNotFound            Code = "custom_provider_not_found"
	CodeOverCustomProviderQuota           Code = "over_custom_provider_quota"
	CodeManualLinkingDisabled             Code = "manual_linking_disabled"
	CodeIdentityAlreadyExists             Code = "identity_already_exists"
	CodeIdentityNotFound                  Code = "identity_not_found"
	CodeSingleIdentityNotDeletable        Code = "single_identity_not_deletable"
	CodeEmailConflictIdentityNotDeletable Code = "email_conflict_identity_not_deletable"
	CodeOTPExpired                        Code = "otp_expired"
	CodeOTPDisabled                       Code = "otp_disabled"
	CodePhoneExists                       Code = "phone_exists"
	CodeReauthenticationNeeded            Code = "reauthentication_needed"
	CodeReauthenticationNotValid          Code = "reauthentication_not_valid"
)

// Error is a refusal that the caller may read.
type Error struct {
	Code    Code
	Message string
	// Status is the HTTP status that a hook of the project's owner asks for, or 502 for another server that gives no
	// answer; 0 leaves it to the code.
	Status int
	// Denied is set when the caller's own token, session or account is refused, whatever
	// was asked for: 403 rather than 400 or 404.
	Denied bool
	// Absent is set when what was asked for is not there: 404 whatever the code.
	Absent bool
	// Unprocessable is set when the request is understood but cannot be carried out now: 422 whatever the code's
	// own status (RFC 9110 §15.5.21).
	Unprocessable bool
	// RetryAfter is when the caller may come again; zero when that would not help.
	RetryAfter time.Duration
	// Reasons are why a password is weak.
	Reasons []password.Reason
	// Cause is for the log only.
	Cause error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Cause }

func refuse(code Code, message string) *Error { return &Error{Code: code, Message: message} }

func deny(code Code, message string) *Error {
	return &Error{Code: code, Message: message, Denied: true}
}

func absent(code Code, message string) *Error {
	return &Error{Code: code, Message: message, Absent: true}
}

func unprocessable(code Code, message string) *Error {
	return &Error{Code: code, Message: message, Unprocessable: true}
}

func invalidCredentials() *Error { return refuse(CodeInvalidCredentials, "Invalid login credentials") }

func banned() *Error { return refuse(CodeUserBanned, "User is banned") }

func unexpected(message string, cause error) *Error {
	return &Error{Code: CodeUnexpectedFailure, Message: message, Cause: cause}
}

func weak(w *password.Weakness) *Error {
	return &Error{Code: CodeWeakPassword, Message: w.Message, Reasons: w.Reasons}
}
