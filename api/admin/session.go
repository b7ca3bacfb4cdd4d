package admin

import (
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
)

// sessions puts the routes of signing in and out on the group.
func (o *Options) sessions(g *echo.Group) {
	o.open(g, "POST", "/session", o.signIn)
	o.brief(g, "GET", "/session", viewer, o.session)
	o.brief(g, "DELETE", "/session", viewer, o.signOut)
	o.brief(g, "POST", "/session/elevate", viewer, o.elevate)
	o.brief(g, "GET", "/sessions", viewer, o.listSessions)
	o.brief(g, "DELETE", "/sessions", viewer, o.endOtherSessions)
	o.brief(g, "DELETE", "/sessions/:id", viewer, o.endSession)
}

// SignedIn is what the dashboard knows of whom it works for, and where.
type SignedIn struct {
	Administrator Me         `json:"administrator"`
	Session       OwnSession `json:"session"`
	Server        ServerInfo `json:"server"`
}

// Me is the administrator who asks.
type Me struct {
	ID    uuid.UUID          `json:"id"`
	Email string             `json:"email"`
	Role  administrator.Role `json:"role"`
	// TOTP tells whether a code of the time is asked for at sign-in.
	TOTP bool `json:"totp"`
	// RecoveryCodes is how many are left that stand in for such a code.
	RecoveryCodes int `json:"recovery_codes"`
	// Passkeys is how many there are.
	Passkeys int `json:"passkeys"`
}

// OwnSession is a browser in which who asks is signed in.
type OwnSession struct {
	ID            uuid.UUID `json:"id"`
	Current       bool      `json:"current"`
	CreatedAt     time.Time `json:"created_at"`
	LastSeenAt    time.Time `json:"last_seen_at"`
	ExpiresAt     time.Time `json:"expires_at"`
	ElevatedUntil time.Time `json:"elevated_until"`
	IP            string    `json:"ip"`
	UserAgent     string    `json:"user_agent"`
}

// ServerInfo is the server as the dashboard shows it.
type ServerInfo struct {
	Version string `json:"version"`
	APIURL  string `json:"api_url"`
	SiteURL string `json:"site_url"`
	// Production tells that others than this machine's users may reach the server.
	Production bool `json:"production"`
}

func (o *Options) signedIn(x *administrator.Session) SignedIn {
	who := x.Administrator
	return SignedIn{
		Administrator: Me{ID: who.ID, Email: who.Email, Role: who.Role, TOTP: who.TOTP, RecoveryCodes: who.RecoveryCodes, Passkeys: who.Passkeys},
		Session:       ownSession(x, x.ID),
		Server:        ServerInfo{Version: o.Version, APIURL: o.URL.String(), SiteURL: o.SiteURL, Production: !loopback(o.URL.Hostname())},
	}
}

func ownSession(x *administrator.Session, current uuid.UUID) OwnSession {
	own := OwnSession{
		ID: x.ID, Current: x.ID == current, CreatedAt: x.CreatedAt.UTC(), LastSeenAt: x.LastSeenAt.UTC(), ExpiresAt: x.ExpiresAt.UTC(),
		ElevatedUntil: x.ElevatedUntil.UTC(), UserAgent: x.UserAgent,
	}
	if x.IP != nil {
		own.IP = x.IP.String()
	}
	return own
}

// loopback tells a host that only this machine reaches.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// SignInRequest is the body of POST /session.
type SignInRequest struct {
	Email    string      `json:"email"`
	Password auth.Secret `json:"password" tstype:"string"`
	Code     auth.Secret `json:"code,omitempty" tstype:"string"`
}

// signIn answers POST /session.
func (o *Options) signIn(c echo.Context) error {
	var in SignInRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	opened, err := o.Administrators.SignIn(c.Request().Context(), callerOf(c),
		administrator.Credentials{Email: in.Email, Password: in.Password, Code: in.Code}, o.token(c.Request()))
	if err != nil {
		return err
	}
	return o.welcome(c, opened)
}

// welcome gives the browser the token of a session and says what the session is.
func (o *Options) welcome(c echo.Context, opened *administrator.Opened) error {
	o.keep(c, opened.Token)
	return c.JSON(http.StatusOK, o.signedIn(opened.Session))
}

// session answers GET /session.
func (o *Options) session(c echo.Context) error {
	return c.JSON(http.StatusOK, o.signedIn(sessionOf(c)))
}

// signOut answers DELETE /session.
func (o *Options) signOut(c echo.Context) error {
	if err := o.Administrators.SignOut(c.Request().Context(), o.token(c.Request())); err != nil {
		return err
	}
	o.keep(c, "")
	return c.NoContent(http.StatusNoContent)
}

// ElevateRequest is the body of POST /session/elevate: one of both.
type ElevateRequest struct {
	Password auth.Secret `json:"password,omitempty" tstype:"string"`
	Code     auth.Secret `json:"code,omitempty" tstype:"string"`
}

// elevate answers POST /session/elevate.
func (o *Options) elevate(c echo.Context) error {
	var in ElevateRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	if (in.Password == "") == (in.Code == "") {
		return refuse(http.StatusBadRequest, "validation_failed", "Either password or code is needed")
	}
	opened, err := o.Administrators.Elevate(c.Request().Context(), callerOf(c), sessionOf(c), o.token(c.Request()),
		administrator.Proof{Password: in.Password, Code: in.Code})
	if err != nil {
		return err
	}
	return o.welcome(c, opened)
}

// OwnSessions is the answer of GET /sessions.
type OwnSessions struct {
	Sessions []OwnSession `json:"sessions"`
}

// listSessions answers GET /sessions.
func (o *Options) listSessions(c echo.Context) error {
	list, err := o.Administrators.Sessions(c.Request().Context(), administratorOf(c).ID)
	if err != nil {
		return err
	}
	body := OwnSessions{Sessions: make([]OwnSession, len(list))}
	for i := range list {
		body.Sessions[i] = ownSession(&list[i], sessionOf(c).ID)
	}
	return c.JSON(http.StatusOK, body)
}

// endSession answers DELETE /sessions/{id}.
func (o *Options) endSession(c echo.Context) error {
	id, err := idOf(c, "a session")
	if err != nil {
		return err
	}
	if err := o.Administrators.EndSession(c.Request().Context(), actorOf(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// EndedSessions is the answer of DELETE /sessions.
type EndedSessions struct {
	Ended int64 `json:"ended"`
}

// endOtherSessions answers DELETE /sessions.
func (o *Options) endOtherSessions(c echo.Context) error {
	ended, err := o.Administrators.EndOtherSessions(c.Request().Context(), actorOf(c), sessionOf(c).ID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, EndedSessions{ended})
}
