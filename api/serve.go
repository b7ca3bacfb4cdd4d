package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"basalt/api/admin"
	"basalt/api/requests"
	"basalt/auth"
	"basalt/auth/password/worker"
	"basalt/store"
	"basalt/store/managed"
)

// Build says what was built.
type Build struct{ Version, Commit string }

// Serve runs the server until ctx ends, then lets requests under way finish. Once ready it prints to out what a
// person has to know; the log goes to logFile.
func Serve(ctx context.Context, s Settings, build Build, out io.Writer, logFile *os.File) error {
	if err := s.Check(); err != nil {
		return err
	}
	shareProcessors(s.processors)
	log, logs := newLogger(&s, logFile)
	defer logs.Close()
	s.hashes = worker.New(log)
	defer s.hashes.Close()
	server, err := Start(ctx, s, build, log, logFile)
	if ctx.Err() != nil && err != nil {
		log.Info().Err(err).Msg("stopped before the start was complete")
		return nil
	}
	if err != nil {
		return err
	}
	server.metrics.counter("basalt_log_lines_dropped_total", "Log lines dropped because their sink did not take them.",
		func() float64 { return float64(logs.dropped.Load()) })
	setup, err := server.project.Administrators.NewSetupLink(ctx)
	if err != nil {
		log.Error().Err(err).Msg("no set-up link for the dashboard: make an administrator by `basalt admin create`")
	}
	announce(out, log, &s, server.URL, server.project.Keys, setup, build)
	return server.Wait()
}

// Server is a server that runs.
type Server struct {
	// URL is where clients reach it.
	URL string

	project  *Project
	data     *admin.Data
	settings *Settings
	given    Settings // those without what is stored in the database
	mail     mailServer
	build    Build
	log      zerolog.Logger
	metrics  *metrics
	requests *requests.Log
	ids      *requestIDs
	group    *errgroup.Group
	closers  []func() // run in reverse order when everything has ended
}

// Start brings everything up and returns once requests are served. The server ends with ctx; Wait must be called.
func Start(ctx context.Context, s Settings, build Build, log zerolog.Logger, progress io.Writer) (_ *Server, err error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	log.Info().Str("version", build.Version).Str("commit", build.Commit).Msg("start")
	warn(&s, log)
	server := &Server{settings: &s, build: build, log: log, metrics: newMetrics(), requests: requests.New(), ids: newRequestIDs()}
	defer func() {
		if err != nil {
			server.close()
		}
	}()
	signals := reloadSignals() // from here on none of them ends the process
	server.closers = append(server.closers, func() { signal.Stop(signals) })
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; choose another address with --listen", s.Listen, err)
	}
	server.closers = append(server.closers, func() { listener.Close() })
	server.URL = s.URL(listener.Addr().String())
	url, postgres, err := server.database(ctx, progress)
	if err != nil {
		return nil, err
	}
	password, err := prepare(ctx, url, s.overManaged(), log)
	if err != nil {
		return nil, err
	}
	if err := s.TakeOverDatabase(ctx, url, log); err != nil {
		return nil, err
	}
	server.given = s
	if err := s.takeStored(ctx, url, log); err != nil {
		return nil, err
	}
	if server.project, err = open(ctx, &s, url, password, server.URL, log); err != nil {
		return nil, err
	}
	server.mail.from.Store(&s)
	server.closers = append(server.closers, server.project.DB.Close)
	if err := server.openData(ctx, url); err != nil {
		return nil, err
	}
	server.run(ctx, listener, postgres, signals)
	if err := firstCatalog(ctx, server.project.Catalogs); err != nil {
		return nil, errors.Join(err, server.Wait())
	}
	return server, nil
}

// run starts what runs until ctx ends or one of its parts fails.
func (s *Server) run(ctx context.Context, listener net.Listener, postgres *managed.Server, signals chan os.Signal) {
	group, ctx := errgroup.WithContext(ctx)
	s.group = group
	group.Go(func() error { return s.project.Catalogs.Run(ctx) })
	group.Go(func() error { return s.project.Keyring.Run(ctx) })
	if sessions := s.project.identity.sessions; sessions != nil {
		group.Go(func() error { return sessions.Run(ctx) })
	}
	group.Go(func() error { return s.serve(ctx, listener) })
	group.Go(func() error { return s.project.Outbox.Run(ctx) })
	group.Go(func() error { return s.watchMailServer(ctx) })
	group.Go(func() error { return s.project.Auth.RunAudit(ctx, s.project.Administrators.PruneAudit) })
	group.Go(func() error { return s.reload(ctx, signals) })
	if keep := s.settings.LogRequests; keep > 0 {
		group.Go(func() error { return s.requests.Keep(ctx, s.project.DB.Pool(), keep, s.log) })
	}
	if postgres == nil {
		return
	}
	group.Go(func() error {
		select {
		case <-postgres.Done():
			return fmt.Errorf("the managed PostgreSQL has ended: %w", postgres.Err())
		case <-ctx.Done():
			return nil
		}
	})
}

// Wait waits for the end and takes everything down.
func (s *Server) Wait() error {
	err := s.group.Wait()
	s.close()
	s.log.Info().Msg("stop")
	return err
}

func (s *Server) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i]()
	}
	s.closers = nil
}

// warn says at the start what is unsafe about the settings.
func warn(s *Settings, log zerolog.Logger) {
	if s.Taken != nil {
		for _, note := range s.Taken.Notes {
			log.Warn().Str("file", s.PostgrestConfig).Msg(note)
		}
	}
	for _, note := range UnknownVariables(os.Environ()) {
		log.Warn().Msg(note)
	}
	if s.Passkeys || s.WebAuthnRPID != "" {
		if strangers, _ := s.relyingParty().Strangers(s.SiteURL); len(strangers) > 0 {
			log.Warn().Strs("origins", strangers).Str("domain", s.WebAuthnRPID).
				Msg("browsers let these pages use passkeys only when https://<domain>/.well-known/webauthn names them (Related Origin Requests)")
		}
	}
	if s.Limits == "off" {
		log.Warn().Msg("rate limits are off: for tests only")
	}
	if !s.overManaged() && s.EncryptionKey == "" && s.JWTSecret == "" {
		log.Warn().Msg("secrets at rest are encrypted under a key of the JWT secret, which is kept in the same database: set --encryption-key")
	}
	if !s.autoconfirm() && s.SMTPURL == "" && s.HookSendEmail == "" {
		log.Warn().Msg("sign-ups wait for a confirmation by e-mail, but no mail is sent: set --smtp-url, read the mails in the dashboard's outbox, or set --autoconfirm=true")
	}
	if host, _, _ := net.SplitHostPort(s.Listen); host != "localhost" && s.PublicURL == "" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			log.Warn().Msg("listening beyond this machine in clear text: put TLS in front and set --public-url")
		}
	}
}

// database gives the URL of the database, starting the managed one when no other is given.
func (s *Server) database(ctx context.Context, progress io.Writer) (string, *managed.Server, error) {
	if s.settings.DatabaseURL != "" {
		return s.settings.DatabaseURL.Reveal(), nil, nil
	}
	postgres, err := managed.Start(ctx, managed.Options{
		DataDir: s.settings.Data, TCPPort: s.settings.PostgresPort, Log: s.log, Progress: progress,
	})
	if err != nil {
		return "", nil, err
	}
	s.closers = append(s.closers, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.settings.ShutdownTimeout)
		defer cancel()
		if err := postgres.Stop(ctx); err != nil {
			s.log.Error().Err(err).Msg("stop the managed PostgreSQL")
		}
	})
	file := filepath.Join(s.settings.Data, urlFile)
	if err := os.WriteFile(file, []byte(s.URL+"\n"), 0o600); err != nil {
		return "", nil, fmt.Errorf("note the address for `basalt keys`: %w", err)
	}
	s.closers = append(s.closers, func() { os.Remove(file) })
	return postgres.URL(), postgres, nil
}

// serve serves HTTP until ctx ends, then drains for at most the shutdown timeout.
func (s *Server) serve(ctx context.Context, listener net.Listener) error {
	server := s.http(s.handler())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(limited(listener, s.settings.MaxConnections)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve HTTP: %w", err)
	case <-ctx.Done():
	}
	s.log.Info().Msg("let requests under way end")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.settings.ShutdownTimeout)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		s.log.Warn().Msg("requests were cut: they did not end within --shutdown-timeout")
		_ = server.Close() // the listener is closed already
	}
	<-ended
	return nil
}

// firstCatalog waits until requests can be served.
func firstCatalog(ctx context.Context, catalogs *store.CatalogWatcher) error {
	for catalogs.Current() == nil {
		if err := catalogs.Reload(ctx); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// announce prints what a person needs to begin: addresses, the public key, and, while the dashboard has no administrator,
// the link that makes one, once. The service key stays out of terminals and logs; `basalt keys` prints it.
func announce(out io.Writer, log zerolog.Logger, s *Settings, apiURL string, keys *auth.Keys, setup auth.Secret, build Build) {
	link := ""
	if setup != "" {
		link = apiURL + "/admin/setup#token=" + setup.Reveal() // behind the #, browsers send it to nobody
	}
	if s.LogFormat == "json" {
		ready := log.Info().Str("api_url", apiURL).Str("dashboard_url", apiURL+"/admin/").Str("anon_key", keys.AnonKey)
		if link != "" {
			ready = ready.Str("setup_url", link)
		}
		ready.Msg("ready")
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nBasalt %s is ready.\n\n", build.Version)
	fmt.Fprintf(&b, "  API URL      %s\n", apiURL)
	fmt.Fprintf(&b, "  Dashboard    %s/admin/\n", apiURL)
	if link != "" {
		fmt.Fprintf(&b, "  Set it up    %s\n", link)
	}
	fmt.Fprintf(&b, "  Anon key     %s\n\n", keys.AnonKey)
	if link != "" {
		b.WriteString("The set-up link makes the dashboard's first administrator, once, within the hour.\n")
	}
	fmt.Fprintf(&b, "The service key, for servers only: %s keys%s\n\n", quoteArgument(os.Args[0]), keysArguments(s))
	_, _ = io.WriteString(out, b.String()) // nobody may be reading
}

// keysArguments are the flags by which `basalt keys` finds this server and its keys. What an environment variable says
// is not repeated; secrets and addresses of databases are not shown.
func keysArguments(s *Settings) string {
	var b strings.Builder
	add := func(flag, value string) { b.WriteString(" --" + flag + " " + value) }
	byFlag := func(flag string) bool { return s.given[flag] == fromFlag }
	if byFlag("postgrest-config") {
		add("postgrest-config", quoteArgument(s.PostgrestConfig))
	}
	if byFlag("jwt-secret") {
		add("jwt-secret", "…")
	}
	if s.DatabaseURL == "" {
		if byFlag("data") && s.Data != Defaults().Data {
			add("data", quoteArgument(s.Data))
		}
		return b.String()
	}
	if byFlag("database-url") {
		add("database-url", "…")
	}
	switch {
	case byFlag("public-url"):
		add("public-url", quoteArgument(s.PublicURL))
	case s.PublicURL == "" && s.Listen != Defaults().Listen && byFlag("listen"):
		add("listen", quoteArgument(s.Listen))
	}
	return b.String()
}

// quoteArgument writes a word so that a shell takes it as one.
func quoteArgument(word string) string {
	if !strings.ContainsAny(word, " '\"$`\\&;|<>()*?") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
