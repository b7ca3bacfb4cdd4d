package api

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"
	"golang.org/x/net/netutil"

	"basalt/api/accounts"
	"basalt/api/admin"
	"basalt/api/body"
	"basalt/api/rest"
	"basalt/web"
)

const (
	// headerLimit bounds a request's line and headers together; beyond it the answer is 431.
	headerLimit = 32 << 10
	// headerTimeout is how long a client may take to send them.
	headerTimeout = 10 * time.Second
)

// handler builds the routes and the chain in front of them.
func (s *Server) handler() http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.answerError
	e.IPExtractor = ipExtractor(s.settings.TrustedProxies)
	e.Use(s.observe, s.recover)

	bodies := body.NewLimits(int64(s.settings.BodyLimit), int64(s.settings.BodyMemory))
	public := e.Group("", cors(s.settings.CORSOrigins), boundBodies(bodies), newCompressor().middleware)
	restHandler := rest.New(s.project.DB, s.project.Catalogs, s.project.identity.of, s.log, s.dialect())
	for _, path := range []string{restPrefix, restPrefix + "/*"} {
		public.Any(path, restHandler.Serve)
		public.RouteNotFound(path, restHandler.Serve) // methods that nobody knows are refused in the protocol's shape
	}
	accounts.Register(public.Group("/auth/v1", s.requireKey), s.project.Auth, s.project.Verifier, accounts.Options{Version: s.build.Version, Log: s.log})
	for _, document := range []string{"/.well-known/oauth-authorization-server/auth/v1", "/.well-known/openid-configuration/auth/v1"} {
		public.GET(document, accounts.Discovery(s.project.Auth, accounts.Options{Log: s.log}))
	}

	admin.Register(e.Group("/admin/api"), s.dashboard())

	e.GET("/health/live", s.live)
	e.GET("/health/ready", s.ready)
	e.GET("/metrics", s.metrics.handler())
	dashboard := web.Handler()
	reads := []string{http.MethodGet, http.MethodHead}
	e.Match(reads, "/", func(c echo.Context) error { return c.Redirect(http.StatusTemporaryRedirect, "/admin/") })
	e.Match(reads, "/admin", func(c echo.Context) error { return c.Redirect(http.StatusPermanentRedirect, "/admin/") })
	e.Match(reads, "/admin/*", echo.WrapHandler(http.StripPrefix("/admin/", dashboard)))
	s.measure(restHandler, bodies)
	return e
}

// restPrefix is where the REST API is.
const restPrefix = "/rest/v1"

// restRoot is what the settings say of the answer at the root of the REST API.
func (s *Server) restRoot() rest.Root {
	// As for PostgREST, the function is looked for in the schema of each request.
	root := rest.Root{Function: functionName(s.settings.RestRootFunction).Name, Mode: rest.DescriptionMode(s.settings.OpenAPIMode)}
	root.Release, root.Security = s.build.Version, s.settings.OpenAPISecurity
	address := s.settings.OpenAPIServer
	if address == "" {
		address = s.URL + restPrefix
	}
	parsed, err := url.Parse(address)
	if err != nil {
		panic(err) // Check has refused such
	}
	root.Server = parsed
	return root
}

// boundBodies bounds what the bodies of requests take.
func boundBodies(limits *body.Limits) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			request, release := limits.Bound(c.Request())
			defer release()
			c.SetRequest(request)
			return next(c)
		}
	}
}

// limited bounds the connections that are open at once; further ones wait to be accepted.
func limited(listener net.Listener, most int) net.Listener {
	if most == 0 {
		return listener
	}
	return netutil.LimitListener(listener, most)
}

// http gives the net/http server over a handler.
func (s *Server) http(handler http.Handler) *http.Server {
	headers := headerTimeout
	if s.settings.ReadTimeout > 0 {
		headers = min(headers, s.settings.ReadTimeout)
	}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headers,
		ReadTimeout:       s.settings.ReadTimeout,
		IdleTimeout:       s.settings.IdleTimeout,
		MaxHeaderBytes:    headerLimit - 4096, // net/http adds 4096 bytes of its own
		ErrorLog:          stdlog.New(serverLog{s.log}, "", 0),
	}
}

// serverLog takes what net/http has to say into our log: what clients sent stays escaped in a field.
type serverLog struct{ log zerolog.Logger }

func (l serverLog) Write(p []byte) (int, error) {
	l.log.Warn().Str("error", strings.TrimSpace(string(p))).Msg("HTTP server")
	return len(p), nil
}

// ipExtractor tells who a request comes from: the peer itself, or, when the peer is a trusted proxy, whom it names.
func ipExtractor(trusted []string) echo.IPExtractor {
	if len(trusted) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, text := range trusted {
		network := netip.MustParsePrefix(text) // Check has refused others
		options = append(options, echo.TrustIPRange(&net.IPNet{
			IP: network.Addr().AsSlice(), Mask: net.CIDRMask(network.Bits(), network.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}

// recover turns a panic into a 500 and a log entry; the process lives on.
func (s *Server) recover(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch reason := recover(); reason {
			case nil:
			case http.ErrAbortHandler:
				panic(reason)
			default:
				s.log.Error().Str("request_id", c.Response().Header().Get("X-Request-Id")).
					Str("panic", fmt.Sprint(reason)).Bytes("stack", debug.Stack()).Msg("panic in a request")
				if c.Response().Committed {
					panic(http.ErrAbortHandler) // what has left must not look complete
				}
				err = echo.NewHTTPError(http.StatusInternalServerError, "internal error")
			}
		}()
		return next(c)
	}
}

// answerError writes what no room of its own has answered: unknown routes, refused bodies.
func (s *Server) answerError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	status, message := http.StatusInternalServerError, "internal error"
	var own *echo.HTTPError
	if errors.As(err, &own) {
		status = own.Code
		if text, ok := own.Message.(string); ok {
			message = text
		}
	} else {
		level := zerolog.ErrorLevel
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			status, message, level = http.StatusGatewayTimeout, "the request took too long", zerolog.WarnLevel
		case accounts.DatabaseAway(err):
			// That PostgreSQL is away is said once, not by each request.
			status, message, level = http.StatusServiceUnavailable, "the database is not available, try again", zerolog.DebugLevel
			c.Response().Header().Set("Retry-After", "1")
		}
		s.log.WithLevel(level).Err(err).Str("request_id", c.Response().Header().Get("X-Request-Id")).Msg("request failed")
	}
	_ = c.JSON(status, struct { // a broken connection needs no answer
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{status, message})
}

// requireKey refuses requests without one of the project's keys, as the gateway in front of the original does.
func (s *Server) requireKey(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if keyless(c.Request().URL.Path) {
			return next(c)
		}
		type refusal struct {
			Message string `json:"message"`
			Hint    string `json:"hint"`
		}
		key := apiKey(c.Request())
		if key == "" {
			return c.JSON(http.StatusUnauthorized, refusal{"No API key found in request", "No `apikey` request header or url param was found."})
		}
		if principal, err := s.project.Verifier.Verify(key); err != nil || !principal.APIKeyOnly {
			return c.JSON(http.StatusUnauthorized, refusal{"Invalid API key", "Double check your `anon` or `service_role` API key."})
		}
		return next(c)
	}
}

// keyless says which paths under /auth/v1 are opened by browsers and other servers, which have no key.
func keyless(path string) bool {
	switch path {
	case "/auth/v1/verify", "/auth/v1/callback", "/auth/v1/authorize", "/auth/v1/health",
		"/auth/v1/.well-known/jwks.json", "/auth/v1/.well-known/openid-configuration",
		"/auth/v1/.well-known/oauth-authorization-server", "/auth/v1/oauth/authorize", "/auth/v1/oauth/token",
		"/auth/v1/oauth/userinfo", "/auth/v1/oauth/clients/register", "/auth/v1/sso/saml/acs", "/auth/v1/sso/saml/metadata":
		return true
	}
	return false
}
