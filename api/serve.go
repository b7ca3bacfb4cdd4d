package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"basalt/auth"
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
	log, logs := newLogger(&s, logFile)
	defer logs.Close()
	log.Info().Str("version", build.Version).Str("commit", build.Commit).Msg("start")
	warn(&s, log)

	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; choose another address with --listen", s.Listen, err)
	}
	defer listener.Close()
	url, postgres, err := database(ctx, &s, log, logFile)
	if err != nil {
		return err
	}
	if postgres != nil {
		defer stopPostgres(postgres, log)
	}
	if err := prepare(ctx, url, log); err != nil {
		return err
	}
	project, err := open(ctx, &s, url, log)
	if err != nil {
		return err
	}
	defer project.DB.Close()
	project.logs = logs
	apiURL := s.URL(listener.Addr().String())
	if postgres != nil {
		file := filepath.Join(s.Data, urlFile)
		if err := os.WriteFile(file, []byte(apiURL+"\n"), 0o600); err != nil {
			return fmt.Errorf("note the address for `basalt keys`: %w", err)
		}
		defer os.Remove(file)
	}
	project.Auth = accountsOf(project, &s, apiURL, log)
	server := &server{project: project, settings: &s, build: build, log: log, metrics: newMetrics(), ids: newRequestIDs()}

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return project.Catalogs.Run(ctx) })
	if postgres != nil {
		group.Go(func() error {
			select {
			case <-postgres.Done():
				return errors.New("the managed PostgreSQL has ended and could not be started again; see its log in " + filepath.Join(s.Data, "postgres.log"))
			case <-ctx.Done():
				return nil
			}
		})
	}
	group.Go(func() error { return server.run(ctx, listener) })
	group.Go(func() error {
		if err := firstCatalog(ctx, project.Catalogs); err != nil {
			return nil // the end came before the first catalog
		}
		announce(out, log, &s, apiURL, project.Keys, build)
		return nil
	})
	err = group.Wait()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	log.Info().Msg("stop")
	return err
}

// warn says at the start what is unsafe about the settings.
func warn(s *Settings, log zerolog.Logger) {
	if s.Limits == "off" {
		log.Warn().Msg("rate limits are off: for tests only")
	}
	if host, _, _ := net.SplitHostPort(s.Listen); host != "localhost" && s.PublicURL == "" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			log.Warn().Msg("listening beyond this machine in clear text: put TLS in front and set --public-url")
		}
	}
}

// database gives the URL of the database, starting the managed one when no other is given.
func database(ctx context.Context, s *Settings, log zerolog.Logger, progress io.Writer) (string, *managed.Server, error) {
	if s.DatabaseURL != "" {
		return s.DatabaseURL, nil, nil
	}
	server, err := managed.Start(ctx, managed.Options{DataDir: s.Data, TCPPort: s.PostgresPort, Log: log, Progress: progress})
	if err != nil {
		return "", nil, err
	}
	return server.URL(), server, nil
}

func stopPostgres(server *managed.Server, log zerolog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		log.Error().Err(err).Msg("stop the managed PostgreSQL")
	}
}

// accountsOf makes the rules of accounts as the settings ask.
func accountsOf(p *Project, s *Settings, apiURL string, log zerolog.Logger) *auth.Service {
	return auth.New(p.DB.Pool(), p.Keys, auth.Options{
		Issuer: apiURL + "/auth/v1", SiteURL: s.SiteURL,
		Autoconfirm: s.AutoConfirm == "true" || s.AutoConfirm == "auto" && s.DatabaseURL == "",
		LimitsOff:   s.Limits == "off", Log: log,
	})
}

// run serves HTTP until ctx ends, then drains for at most the shutdown timeout.
func (s *server) run(ctx context.Context, listener net.Listener) error {
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

// announce prints what a person needs to begin: addresses and the public key. The service key stays out of
// terminals and logs; `basalt keys` prints it.
func announce(out io.Writer, log zerolog.Logger, s *Settings, apiURL string, keys *auth.Keys, build Build) {
	if s.LogFormat == "json" {
		log.Info().Str("api_url", apiURL).Str("dashboard_url", apiURL+"/admin/").Str("anon_key", keys.AnonKey).Msg("ready")
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nBasalt %s is ready.\n\n", build.Version)
	fmt.Fprintf(&b, "  API URL    %s\n", apiURL)
	fmt.Fprintf(&b, "  Dashboard  %s/admin/\n", apiURL)
	fmt.Fprintf(&b, "  Anon key   %s\n\n", keys.AnonKey)
	fmt.Fprintf(&b, "The service key, for servers only: basalt keys%s\n\n", keysArguments(s))
	_, _ = io.WriteString(out, b.String()) // nobody may be reading
}

func keysArguments(s *Settings) string {
	if s.DatabaseURL != "" || s.Data == "./basalt_data" {
		return ""
	}
	return " --data " + s.Data
}
