package accounts

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"basalt/auth"
)

// oauthServerRoutes are what third parties and their users' browsers call (RFC 6749, OpenID Connect Core). Errors have OAuth's
// own shape here, but for the parts that the site's own scripts call.
func (f *face) oauthServerRoutes() routes {
	return routes{
		"/oauth/authorize":        {http.MethodGet: f.oauth(f.oauthAuthorize), http.MethodPost: f.oauth(f.oauthAuthorize)},
		"/oauth/token":            {http.MethodPost: f.oauth(f.oauthToken)},
		"/oauth/userinfo":         {http.MethodGet: f.oauth(f.oauthUserInfo), http.MethodPost: f.oauth(f.oauthUserInfo)},
		"/oauth/clients/register": {http.MethodPost: f.oauth(f.oauthRegister)},
	}
}

// providing lets a handler answer only where Basalt is an OAuth server.
func (f *face) providing(h handler) handler {
	return func(c echo.Context) error {
		if !f.service.OAuthServer().On {
			return &problem{status: http.StatusNotFound, code: auth.CodeFeatureDisabled, message: "This server is no OAuth server: --oauth-server makes it one"}
		}
		return h(c)
	}
}

// oauth writes the errors of a handler as OAuth clients read them.
func (f *face) oauth(h handler) handler {
	return f.providing(func(c echo.Context) error {
		if err := h(c); err != nil {
			return f.failOAuth(c, err)
		}
		return nil
	})
}

type oauthErrorBody struct {
	Code        auth.OAuthCode `json:"error"`
	Description string         `json:"error_description"`
	ErrorID     string         `json:"error_id,omitempty"`
}

// failOAuth writes an error in the shape of RFC 6749 §5.2.
func (f *face) failOAuth(c echo.Context, err error) error {
	var refusal *auth.OAuthError
	if errors.As(err, &refusal) {
		status := http.StatusBadRequest
		if refusal.Code == auth.OAuthInvalidClient {
			status = http.StatusUnauthorized
			c.Response().Header().Set("WWW-Authenticate", `Basic realm="oauth"`)
		}
		return c.JSON(status, oauthErrorBody{Code: refusal.Code, Description: refusal.Description})
	}
	p := translate(err)
	body := oauthErrorBody{Code: auth.OAuthInvalidRequest, Description: p.message}
	switch {
	case p.status == http.StatusTooManyRequests, p.status == http.StatusServiceUnavailable, p.status == http.StatusGatewayTimeout:
		body.Code = "temporarily_unavailable"
	case p.status >= http.StatusInternalServerError:
		body.Code = "server_error"
	case p.code == auth.CodeInvalidRedirectURI, p.code == auth.CodeOAuthRegistrationDisabled:
		body.Code = auth.OAuthCode(p.code)
	}
	if p.retryAfter > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(max(1, int((p.retryAfter+time.Second-1)/time.Second))))
	}
	if p.status >= http.StatusInternalServerError {
		body.ErrorID = requestID(c)
		f.options.Log.WithLevel(severity(p)).Str("request_id", body.ErrorID).Int("status", p.status).AnErr("error", p.cause).Msg("accounts request failed")
	}
	return c.JSON(p.status, body)
}

func invalidRequest(description string) *auth.OAuthError {
	return &auth.OAuthError{Code: auth.OAuthInvalidRequest, Description: description}
}

// parameters are those of a request, each of which may be there once (RFC 6749 §3.1, §3.2).
type parameters map[string]string

func single(values url.Values) (parameters, error) {
	once := parameters{}
	for name, all := range values {
		if len(all) > 1 {
			return nil, invalidRequest("a parameter is there more than once")
		}
		once[name] = all[0]
	}
	return once, nil
}

// oauthForm reads the parameters of a body: a form's, or an object of texts as Supabase's server takes too.
func oauthForm(c echo.Context) (parameters, error) {
	text, err := body(c)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	if kind == echo.MIMEApplicationJSON {
		var values map[string]json.RawMessage
		if err := parse(text, &values); err != nil {
			return nil, invalidRequest("the body is no JSON object")
		}
		once := parameters{}
		for name, value := range values {
			var text string
			if json.Unmarshal(value, &text) == nil {
				once[name] = text
			}
		}
		return once, nil
	}
	values, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, invalidRequest("the body is no form")
	}
	return single(values)
}

// oauthAuthorize answers GET and POST /oauth/authorize: it leads the browser to the page of consent.
func (f *face) oauthAuthorize(c echo.Context) error {
	var in parameters
	var err error
	if c.Request().Method == http.MethodPost {
		in, err = oauthForm(c)
	} else {
		var values url.Values
		if values, err = url.ParseQuery(c.Request().URL.RawQuery); err != nil {
			return invalidRequest("the query is malformed")
		}
		in, err = single(values)
	}
	if err != nil {
		return err
	}
	to, err := f.service.BeginAuthorization(c.Request().Context(), f.caller(c), auth.AuthorizationRequest{
		ClientID: in["client_id"], RedirectURI: in["redirect_uri"], ResponseType: in["response_type"], ResponseMode: in["response_mode"],
		Scope: in["scope"], State: in["state"], Nonce: in["nonce"], Prompt: in["prompt"], Resource: in["resource"],
		Challenge: in["code_challenge"], ChallengeMethod: in["code_challenge_method"], Request: in["request"], RequestURI: in["request_uri"],
	})
	if err != nil {
		return err
	}
	// The page that is left has parameters in its address which are nobody else's (RFC 9700 §4.2.4).
	c.Response().Header().Set("Referrer-Policy", "no-referrer")
	return c.Redirect(http.StatusFound, to)
}

// oauthToken answers POST /oauth/token: tokens for a code or a refresh token.
func (f *face) oauthToken(c echo.Context) error {
	in, err := oauthForm(c)
	if err != nil {
		return err
	}
	proof, err := clientProof(c, in)
	if err != nil {
		return err
	}
	client, err := f.service.AuthenticateClient(c.Request().Context(), proof)
	if err != nil {
		return err
	}
	var session *auth.ClientSession
	switch grant := in["grant_type"]; {
	case grant == "":
		return invalidRequest("grant_type is required")
	case grant != auth.GrantCode && grant != auth.GrantRefresh:
		return &auth.OAuthError{Code: auth.OAuthUnsupportedGrantType, Description: "the grants are authorization_code and refresh_token"}
	case !client.Allows(grant):
		return &auth.OAuthError{Code: auth.OAuthUnauthorizedClient, Description: "the client may not use this grant"}
	case grant == auth.GrantCode:
		session, err = f.service.ExchangeAuthorization(c.Request().Context(), f.caller(c), client, auth.CodeGrant{
			Code: auth.Secret(in["code"]), Verifier: auth.Secret(in["code_verifier"]), RedirectURI: in["redirect_uri"], Resource: in["resource"],
		})
	default:
		session, err = f.service.RefreshClient(c.Request().Context(), f.caller(c), client, auth.Secret(in["refresh_token"]), in["scope"])
	}
	if err != nil {
		return err
	}
	c.Response().Header().Set("Pragma", "no-cache")
	return c.JSONBlob(http.StatusOK, clientSessionBody(session))
}

// clientProof reads how a client says who it is: by HTTP Basic, whose parts are encoded as in forms (RFC 6749 §2.3.1), or
// in the body. It may do so in one way only.
func clientProof(c echo.Context, in parameters) (auth.ClientProof, error) {
	proof := auth.ClientProof{ID: in["client_id"], Secret: auth.Secret(in["client_secret"])}
	id, secret, basic := c.Request().BasicAuth()
	if !basic {
		return proof, nil
	}
	id, idErr := url.QueryUnescape(id)
	secret, secretErr := url.QueryUnescape(secret)
	switch {
	case idErr != nil || secretErr != nil:
		return proof, invalidRequest("the credentials are not encoded as in forms")
	case proof.Secret != "", proof.ID != "" && proof.ID != id:
		return proof, invalidRequest("the client says in two ways who it is")
	}
	return auth.ClientProof{ID: id, Secret: auth.Secret(secret)}, nil
}

func clientSessionBody(session *auth.ClientSession) []byte {
	s := make(shape, 0, 512+2*len(session.AccessToken))
	s.open()
	s.text("access_token", session.AccessToken.Reveal())
	s.text("token_type", "bearer")
	s.number("expires_in", int64(session.ExpiresIn/time.Second))
	if session.Refreshable {
		s.text("refresh_token", session.RefreshToken.Reveal())
	}
	s.text("scope", session.Scope)
	s.textIf("id_token", session.IDToken.Reveal())
	s.close()
	return s
}

// oauthUserInfo answers GET and POST /oauth/userinfo (OpenID Connect Core §5.3). What is wrong with the token is said as
// RFC 6750 §3 has it.
func (f *face) oauthUserInfo(c echo.Context) error {
	p, err := f.holder(c)
	if err == nil {
		var info *auth.UserInfo
		if info, err = f.service.UserInfo(c.Request().Context(), p); err == nil {
			return c.JSON(http.StatusOK, info)
		}
	}
	refused := translate(err)
	if refused.status != http.StatusUnauthorized && refused.status != http.StatusForbidden {
		return err
	}
	challenge := `Bearer realm="oauth"`
	if refused.code != auth.CodeNoAuthorization {
		challenge += `, error="invalid_token"`
	}
	c.Response().Header().Set("WWW-Authenticate", challenge)
	return c.JSON(http.StatusUnauthorized, oauthErrorBody{Code: "invalid_token", Description: refused.message})
}
