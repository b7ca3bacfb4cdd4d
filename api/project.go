// Package api is the edge: it serves everything under one listener, knows who is calling, and stops in order.
package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/token"
	"basalt/migrations"
	"basalt/store"
)

// Project is all that belongs to one database: its pool, its catalog, its keys, its accounts.
type Project struct {
	DB       *store.DB
	Catalogs *store.CatalogWatcher
	Keys     *auth.Keys
	Verifier *auth.Verifier
	Auth     *auth.Service

	identity identity
}

// startPatience is how long a start waits for a database that does not answer yet.
const startPatience = 30 * time.Second

// prepare brings a database to the schema that this version needs.
func prepare(ctx context.Context, url string, log zerolog.Logger) error {
	conn, err := connect(ctx, url, log)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	report, err := migrations.Up(ctx, conn, migrations.Options{
		Progress: func(name string) { log.Info().Str("file", name).Msg("apply system migration") },
	})
	if err != nil {
		return fmt.Errorf("apply system migrations: %w", err)
	}
	needed := 0
	for _, missing := range report.Missing {
		event := log.Warn()
		if !missing.Optional {
			event = log.Error()
			needed++
		}
		event.Str("what", missing.What).Str("why", missing.Why).Str("sql", missing.SQL).
			Msg("the database user may not do this; let an owner run the SQL")
	}
	if needed > 0 {
		return fmt.Errorf("the database user may not do all that is needed: let an owner run the SQL that the log gives with each error (%d), then start again", needed)
	}
	return nil
}

// connect opens a connection, waiting for a database that is just starting.
func connect(ctx context.Context, url string, log zerolog.Logger) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			return conn, nil
		}
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) && refusal.Code != "57P03" { // it answers, and says no
			return nil, fmt.Errorf("connect to the database: %s (%s)", refusal.Message, refusal.Code)
		}
		log.Warn().Err(err).Msg("the database does not answer yet")
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the database did not answer within %s: check --database-url", startPatience)
		case <-time.After(time.Second):
		}
	}
}

// open connects the parts of a project over a prepared database.
func open(ctx context.Context, s *Settings, url, apiURL string, log zerolog.Logger) (*Project, error) {
	db, err := store.Open(ctx, store.Options{
		URL: url, PoolSize: int32(s.PoolSize), MaxWaiting: s.PoolWait, AcquireTimeout: s.PoolTimeout,
		StatementTimeout: s.StatementTimeout, ApplicationName: "basalt", Log: log,
	})
	if err != nil {
		return nil, err
	}
	p := &Project{DB: db}
	if p.Keys, err = auth.LoadKeys(ctx, db.Pool(), s.JWTSecret); err != nil {
		db.Close()
		return nil, err
	}
	connection, err := pgconn.ParseConfig(url)
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	p.Catalogs = store.NewCatalogWatcher(store.WatchOptions{
		Connection: connection,
		Catalog:    store.CatalogOptions{Schemas: s.Schemas, ExtraSearchPath: s.ExtraSearchPath},
		VersionSQL: migrations.CatalogVersion,
		Logger:     log,
	})
	path, err := token.ParsePath(s.JWTRoleClaim)
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read --jwt-role-claim: %w", err) // Check has refused such
	}
	p.Verifier = auth.NewVerifier(*p.Keys, auth.VerifierOptions{
		RoleClaim: path, Audience: s.JWTAudience,
		RoleAllowed: func(role string) bool {
			c := p.Catalogs.Current()
			return c == nil || c.Role(role) != nil
		},
	})
	p.Auth = accountsOf(p, s, apiURL, log)
	p.identity = identity{verifier: p.Verifier, anonymous: auth.Nobody()}
	return p, nil
}

// accountsOf makes the rules of accounts as the settings ask.
func accountsOf(p *Project, s *Settings, apiURL string, log zerolog.Logger) *auth.Service {
	return auth.New(p.DB.Pool(), p.Keys, auth.Options{
		Issuer: apiURL + "/auth/v1", SiteURL: s.SiteURL,
		Autoconfirm: s.autoconfirm(),
		LimitsOff:   s.Limits == "off", Log: log,
	})
}
