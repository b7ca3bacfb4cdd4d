package auth

import "errors"

// The codes of the API for what belongs to the OAuth server.
const (
	CodeOAuthClientNotFound        Code = "oauth_client_not_found"
	CodeOAuthAuthorizationNotFound Code = "oauth_authorization_not_found"
	CodeOAuthConsentNotFound       Code = "oauth_consent_not_found"
	CodeOAuthRegistrationDisabled  Code = "oauth_dynamic_client_registration_disabled"
	CodeInvalidRedirectURI         Code = "invalid_redirect_uri"
)

// OAuthCode names a refusal in the words of OAuth.
type OAuthCode string

// The codes of RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core §3.1.2.6, RFC 6750 §3.1 and RFC 7591 §3.2.2.
const (
	OAuthInvalidRequest          OAuthCode = "invalid_request"
	OAuthInvalidClient           OAuthCode = "invalid_client"
	OAuthInvalidGrant            OAuthCode = "invalid_grant"
	OAuthInvalidScope            OAuthCode = "invalid_scope"
	OAuthUnauthorizedClient      OAuthCode = "unauthorized_client"
	OAuthUnsupportedGrantType    OAuthCode = "unsupported_grant_type"
	OAuthUnsupportedResponseType OAuthCode = "unsupported_response_type"
	OAuthAccessDenied            OAuthCode = "access_denied"
	OAuthLoginRequired           OAuthCode = "login_required"
	OAuthRequestNotSupported     OAuthCode = "request_not_supported"
	OAuthRequestURINotSupported  OAuthCode = "request_uri_not_supported"
	OAuthInvalidTarget           OAuthCode = "invalid_target" // RFC 8707 §2
)

// OAuthError is a refusal that an OAuth client may read.
type OAuthError struct {
	Code        OAuthCode
	Description string
}

func (e *OAuthError) Error() string { return string(e.Code) + ": " + e.Description }

func oauthRefusal(code OAuthCode, description string) *OAuthError {
	return &OAuthError{Code: code, Description: description}
}

// asOAuth says in OAuth's words why a grant gave no session; what is no refusal of the grant stays as it is.
func asOAuth(err error) error {
	var refusal *Error
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case CodeRefreshTokenNotFound, CodeRefreshTokenAlreadyUsed, CodeSessionNotFound, CodeSessionExpired:
		return oauthRefusal(OAuthInvalidGrant, "The refresh token is invalid or expired")
	case CodeUserBanned, CodeUserNotFound, CodeNotAdmin:
		return oauthRefusal(OAuthInvalidGrant, "The user may not sign in")
	}
	return err
}
