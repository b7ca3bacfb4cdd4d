package admin

import (
	"context"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/auth/administrator"
)

const (
	// cookieName is of the cookie over plain HTTP; secureCookieName, which browsers take over TLS alone and give to no
	// other host (RFC 6265bis §4.1.3.2), is of the one over TLS.
	cookieName       = "basalt_admin"
	secureCookieName = "__Host-basalt_admin"

	// headerDashboard is demanded of all that changes something: pages of other origins cannot send it without asking
	// first, and are never allowed to.
	headerDashboard = "X-Basalt-Dashboard"
)

// Route is one of the routes, with the least role that it needs.
type Route struct {
	Method, Path string
	// Least is empty where nobody needs to be signed in.
	Least administrator.Role
}

// prepare makes what the guard needs.
func (o *Options) prepare() {
	o.origins = http.NewCrossOriginProtection()
	if !o.Public {
		return
	}
	if err := o.origins.AddTrustedOrigin(o.URL.Scheme + "://" + o.URL.Host); err != nil {
		o.Log.Warn().Err(err).Msg("the dashboard does not know its own origin: --public-url is no origin")
	}
}

// route puts a route on the group that needs at least a role. Bodies are application/json unless other types are named.
func (o *Options) route(g *echo.Group, method, path string, least administrator.Role, h echo.HandlerFunc, accepts ...string) {
	o.add(g, Route{method, path, least}, o.guard(least, accepts, h))
}

// brief puts a route on the group that asks the database for little: it is given up after patience.
func (o *Options) brief(g *echo.Group, method, path string, least administrator.Role, h echo.HandlerFunc) {
	o.route(g, method, path, least, patient(h))
}

// patience is how long a route waits that asks the database for little, with the hash of a password.
const patience = 20 * time.Second

func patient(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		whole := c.Request()
		ctx, cancel := context.WithTimeout(whole.Context(), patience)
		defer func() {
			cancel()
			c.SetRequest(whole) // who reads it later sees whether the client has left, not that patience is over
		}()
		c.SetRequest(whole.WithContext(ctx))
		return h(c)
	}
}

// open puts a route on the group for which nobody needs to be signed in.
func (o *Options) open(g *echo.Group, method, path string, h echo.HandlerFunc) {
	h = patient(h)
	o.add(g, Route{Method: method, Path: path}, func(c echo.Context) error {
		forbidCaching(c)
		if err := o.fromHere(c.Request(), nil); err != nil {
			return o.fail(c, err)
		}
		if err := h(c); err != nil {
			return o.fail(c, err)
		}
		return nil
	})
}

// add puts a route on the group. What answers GET answers HEAD (RFC 9110 §9.3.2): the server leaves the body out.
func (o *Options) add(g *echo.Group, route Route, h echo.HandlerFunc) {
	o.routes = append(o.routes, route)
	g.Add(route.Method, route.Path, h)
	if route.Method == http.MethodGet {
		route.Method = http.MethodHead
		o.add(g, route, h)
	}
}

// contextSession is where a request keeps the session that it came with.
const contextSession = "administrator session"

// guard lets only administrators of at least a role in, whose browser says that the dashboard itself asks. Keys and tokens
// of the app are not looked at.
func (o *Options) guard(least administrator.Role, accepts []string, h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		forbidCaching(c)
		session, err := o.admitted(c, least, accepts)
		if err == nil {
			c.Set(contextSession, session)
			err = h(c)
		}
		if err != nil {
			return o.fail(c, err)
		}
		return nil
	}
}

func (o *Options) admitted(c echo.Context, least administrator.Role, accepts []string) (*administrator.Session, error) {
	token := o.token(c.Request())
	if token == "" {
		return nil, &administrator.Error{Code: administrator.CodeSignedOut, Message: "You are not signed in"}
	}
	if err := o.fromHere(c.Request(), accepts); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), patience)
	defer cancel()
	session, err := o.Administrators.Session(ctx, token)
	if err != nil {
		return nil, err
	}
	if !session.Administrator.Role.Includes(least) {
		p := refuse(http.StatusForbidden, "role_too_low", "This needs the role "+string(least))
		p.Hint = "Your role is " + string(session.Administrator.Role) + ". An owner can change it."
		return nil, p
	}
	return session, nil
}

func forbidCaching(c echo.Context) {
	header := c.Response().Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	// A function of the database may answer with a page: its scripts would be those of the dashboard's own origin.
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
}

// fromHere refuses requests that a page of another origin may have made.
func (o *Options) fromHere(r *http.Request, accepts []string) error {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default: // not even to read: other ports of this host are the same site, and are sent the cookie
		return crossOrigin()
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	if o.origins.Check(r) != nil {
		return crossOrigin()
	}
	if err := marked(r); err != nil {
		return err
	}
	if r.ContentLength == 0 {
		return nil
	}
	if len(accepts) == 0 {
		accepts = []string{"application/json"}
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !slices.Contains(accepts, kind) {
		p := refuse(http.StatusUnsupportedMediaType, "content_type", "The body is of a type that is not read here")
		p.Hint = "Send one of: " + join(accepts)
		return p
	}
	return nil
}

// marked refuses requests without the header that no page of another origin can send.
func marked(r *http.Request) error {
	if r.Header.Get(headerDashboard) == "1" {
		return nil
	}
	p := refuse(http.StatusForbidden, "header_missing", "The header "+headerDashboard+" is missing")
	p.Hint = "Send " + headerDashboard + ": 1 with every change, and with every call of a function."
	return p
}

func crossOrigin() *refusal {
	return refuse(http.StatusForbidden, "cross_origin", "Requests of other origins are refused")
}

// sessionOf is the session that a request came with.
func sessionOf(c echo.Context) *administrator.Session {
	return c.Get(contextSession).(*administrator.Session)
}

// administratorOf is who asks.
func administratorOf(c echo.Context) *administrator.Administrator {
	return &sessionOf(c).Administrator
}

// elevated lets only those pass who have proved who they are a short while ago: secrets are behind it, and all that opens
// other ways in.
func elevated(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !sessionOf(c).Elevated {
			p := refuse(http.StatusForbidden, "elevation_needed", "Prove once more who you are")
			p.Hint = "POST /admin/api/session/elevate with your password or a code."
			return p
		}
		return h(c)
	}
}

// token is what the cookie of a request says. Over TLS the plain cookie does not count: another host may have set it.
func (o *Options) token(r *http.Request) auth.Secret {
	name := cookieName
	if o.Secure(r) {
		name = secureCookieName
	}
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return auth.Secret(cookie.Value)
}

// keep gives the browser a session's token; an empty one takes it away.
func (o *Options) keep(c echo.Context, token auth.Secret) {
	cookie := &http.Cookie{
		Name: cookieName, Value: token.Reveal(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(administrator.SessionLife.Seconds()),
	}
	if o.Secure(c.Request()) {
		cookie.Name, cookie.Secure = secureCookieName, true
	}
	if token == "" {
		cookie.MaxAge = -1
	}
	c.SetCookie(cookie)
}

// callerOf is where a request comes from.
func callerOf(c echo.Context) auth.Caller {
	ip, _ := netip.ParseAddr(c.RealIP())
	return auth.Caller{IP: ip, UserAgent: c.Request().UserAgent(), RequestID: c.Response().Header().Get(echo.HeaderXRequestID)}
}

// actorOf is who is written in the audit log.
func actorOf(c echo.Context) administrator.Actor {
	caller, who := callerOf(c), administratorOf(c)
	return administrator.Actor{ID: who.ID, Email: who.Email, IP: caller.Addr(), RequestID: caller.RequestID}
}

// audit writes a change to the audit log, in the transaction that makes it.
func (o *Options) audit(c echo.Context, db administrator.Execer, change administrator.Change) error {
	return administrator.Record(c.Request().Context(), db, actorOf(c), change)
}
