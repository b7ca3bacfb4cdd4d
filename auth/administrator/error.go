package administrator

import (
	"fmt"
	"time"

	"basalt/auth/limit"
)

// Code names a refusal.
type Code string

// The codes of refusals.
const (
	CodeInvalidCredentials Code = "invalid_credentials"
	CodeSecondFactorNeeded Code = "second_factor_needed"
	CodeCodeInvalid        Code = "code_invalid"
	CodeSignedOut          Code = "signed_out"
	CodeRateLimited        Code = "rate_limited"
	CodeSetUp              Code = "already_set_up"
	CodeLinkInvalid        Code = "link_invalid"
	CodeWeakPassword       Code = "weak_password"
	CodeEmailInvalid       Code = "email_invalid"
	CodeEmailTaken         Code = "email_taken"
	CodeRoleInvalid        Code = "role_invalid"
	CodeLastOwner          Code = "last_owner"
	CodeNotFound           Code = "not_found"
	CodeTOTPEnabled        Code = "totp_enabled"
	CodeTOTPMissing        Code = "totp_missing"
	CodePasskeyRefused     Code = "passkey_refused"
	CodePasskeyExists      Code = "passkey_exists"
	CodeTooManyPasskeys    Code = "too_many_passkeys"
	CodeChallengeGone      Code = "challenge_gone"
	CodeDomainNeeded       Code = "domain_needed"
)

// Error is a refusal that the caller may read.
type Error struct {
	Code    Code
	Message string
	// Hint is what to do next; it may be empty.
	Hint string
	// RetryAfter is when the caller may come again; zero when that would not help.
	RetryAfter time.Duration
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

func tooOften(r *limit.Refusal) *Error {
	return &Error{
		Code:       CodeRateLimited,
		Message:    fmt.Sprintf("Too many attempts, try again in %d seconds", int(r.RetryAfter.Seconds())),
		RetryAfter: r.RetryAfter,
	}
}

func invalidCredentials() *Error {
	return refuse(CodeInvalidCredentials, "The e-mail address or the password is wrong")
}

func signedOut() *Error { return refuse(CodeSignedOut, "You are not signed in") }

func notFound(what string) *Error { return refuse(CodeNotFound, "There is no such "+what) }
