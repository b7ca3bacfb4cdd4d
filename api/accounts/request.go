package accounts

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	bounds "basalt/api/body"
	"basalt/auth"
)

// maxBody is far above what any flow takes.
const maxBody = 1 << 20

// read fills a value from the request's JSON. Content-Type is not asked for: clients leave
// it out. Unknown fields are passed over: clients send more than each flow reads.
func read(c echo.Context, into any) error {
	body, err := body(c)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return badJSON("the body is empty")
	}
	return parse(body, into)
}

// readOptional is read for routes that may come without a body.
func readOptional(c echo.Context, into any) error {
	body, err := body(c)
	if err != nil || len(body) == 0 {
		return err
	}
	return parse(body, into)
}

func body(c echo.Context) ([]byte, error) {
	limited := http.MaxBytesReader(c.Response(), c.Request().Body, maxBody)
	text, err := io.ReadAll(limited)
	var tooLarge *http.MaxBytesError
	var busy *bounds.BusyError
	switch {
	case errors.As(err, &busy):
		return nil, &problem{status: http.StatusServiceUnavailable, code: auth.CodeUnexpectedFailure, message: "The server has no room for another large request body", retryAfter: time.Second, cause: err}
	case errors.As(err, &tooLarge):
		return nil, &problem{status: http.StatusRequestEntityTooLarge, code: "request_entity_too_large", message: "The request body is larger than 1 MiB"}
	case err != nil:
		return nil, &problem{status: http.StatusBadRequest, code: "bad_json", message: "Could not read the request body", cause: err}
	}
	return text, nil
}

// readForm reads a body of application/x-www-form-urlencoded.
func readForm(c echo.Context) (url.Values, error) {
	text, err := body(c)
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, &problem{status: http.StatusBadRequest, code: auth.CodeValidationFailed, message: "Could not parse the form", cause: err}
	}
	return values, nil
}

func parse(text []byte, into any) error {
	// The reader would put one and the same character in the place of all that is no UTF-8 (RFC 8259 §8.1).
	if !utf8.Valid(text) {
		return badJSON("it is not UTF-8")
	}
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		return badJSON("it must be an object")
	}
	err := json.Unmarshal(text, into)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		return badJSON("the field " + mistyped.Field + " has the wrong type")
	case err != nil:
		return badJSON("it is not well-formed")
	}
	return nil
}

func badJSON(why string) error {
	return &problem{status: http.StatusBadRequest, code: "bad_json", message: "Could not parse request body as JSON: " + why}
}

// caller is where the request comes from.
func (f *face) caller(c echo.Context) auth.Caller {
	ip, _ := netip.ParseAddr(c.RealIP())
	return auth.Caller{IP: ip, UserAgent: c.Request().UserAgent(), RequestID: requestID(c), Trusted: f.trusted(c)}
}

// trusted tells whether the request comes with the service key: as the bearer, or as the
// API key beside no bearer or one that repeats it. A token that is refused is no one's here:
// flows that need none pass over it.
func (f *face) trusted(c echo.Context) bool {
	token, found := bearer(c)
	if !found {
		token = c.Request().Header.Get("apikey")
	}
	if token == "" {
		return false
	}
	p, err := f.verifier.VerifyOwn(token)
	return err == nil && p.ClientID == uuid.Nil && p.Administers()
}

// bearer gives the token of the Authorization header. The scheme's case does not matter (RFC 9110 §11.1).
func bearer(c echo.Context) (string, bool) {
	scheme, token, found := strings.Cut(c.Request().Header.Get(echo.HeaderAuthorization), " ")
	token = strings.TrimSpace(token)
	if !found || !strings.EqualFold(scheme, "bearer") || token == "" {
		return "", false
	}
	return token, true
}

// principal is the user who is calling, for routes that need to know. It refuses requests without a token. A token that
// was given to an OAuth client does not stand for its user here: what the client was let do is to read who they are, not
// to change their account, their sessions or their consents (RFC 9700 §2.3).
func (f *face) principal(c echo.Context) (*auth.Principal, error) {
	p, err := f.holder(c)
	if err == nil && p.ClientID != uuid.Nil {
		return nil, notForClients()
	}
	return p, err
}

func notForClients() *problem {
	return &problem{status: http.StatusForbidden, code: codeInsufficientScope, message: "A token of an OAuth client may not be used here"}
}

// codeInsufficientScope is RFC 6750 §3.1's word for a token that is good, but not for this.
const codeInsufficientScope auth.Code = "insufficient_scope"

// holder is whoever has the token that a request carries, the user or a client that they gave it to.
func (f *face) holder(c echo.Context) (*auth.Principal, error) {
	token, found := bearer(c)
	if !found {
		return nil, &problem{status: http.StatusUnauthorized, code: auth.CodeNoAuthorization, message: "This endpoint requires a valid Bearer token"}
	}
	return f.verifier.VerifyOwn(token)
}

// admin lets only the service key, and tokens of its role, pass.
func (f *face) admin(h handler) handler {
	return func(c echo.Context) error {
		p, err := f.principal(c)
		switch {
		case err != nil:
			return err
		case !p.Administers():
			return &problem{status: http.StatusForbidden, code: auth.CodeNotAdmin, message: "User not allowed"}
		}
		return h(c)
	}
}
