// Package api is the edge: it serves everything under one listener, knows who is calling, and stops in order.
package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/mail"
	"basalt/auth/outbox"
	"basalt/auth/token"
	"basalt/migrations"
	"basalt/store"
)

// Project is all that belongs to one database: its pool, its catalog, its keys, its accounts.
type Project struct {
	DB       *store.DB
	Catalogs *store.CatalogWatcher
	Keys     *auth.Keys
	Keyring  *auth.Keyring
	Verifier *auth.Verifier
	Auth     *auth.Service
	Outbox   *outbox.Outbox
	// Templates are those that its mails are written by.
	Templates *mail.Stored
	// Administrators run the project from the dashboard.
	Administrators *administrator.Service

	identity identity
}

// startPatience is how long a start waits for a database that does not answer yet.
const startPatience = 30 * time.Second

// prepare brings a database to the schema that this version needs. It gives the password of the user that requests
// connect as, which is empty when that is the user of the URL.
func prepare(ctx context.Context, url string, managed bool, log zerolog.Logger) (password string, err error) {
	conn, err := connect(ctx, url, log)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if err := migrate(ctx, conn, log); err != nil {
		return "", err
	}
	switch {
	case managed:
		if err := migrations.CountStatements(ctx, conn); err != nil {
			log.Warn().Err(err).Msg("the dashboard cannot show slow statements")
		}
		password = requestPassword(conn.Config().Password)
		return password, migrations.RequestLogin(ctx, conn, password)
	case conn.PgConn().ParameterStatus("is_superuser") == "on":
		log.Warn().Msg("requests connect as a superuser, and any function that they run can return to it: " +
			"let --database-url name a user without that power")
	}
	return "", nil
}

// requestPassword derives a password from the superuser's, so that all processes of a data folder know the same one
// and it is stored nowhere.
func requestPassword(superuser string) string {
	mac := hmac.New(sha256.New, []byte(superuser))
	mac.Write([]byte(migrations.RequestUser))
	return hex.EncodeToString(mac.Sum(nil))
}

// migrate applies what is missing of the system schema.
func migrate(ctx context.Context, conn *pgx.Conn, log zerolog.Logger) error {
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
func open(ctx context.Context, s *Settings, url, password, apiURL string, log zerolog.Logger) (*Project, error) {
	options := store.Options{
		URL: url, PoolSize: int32(s.PoolSize), MaxWaiting: s.PoolWait, AcquireTimeout: s.PoolTimeout,
		StatementTimeout: s.StatementTimeout, MaxRow: int(s.AnswerMemory + s.BodyLimit), ApplicationName: "basalt", Log: log,
	}
	if password != "" {
		options.RequestUser, options.RequestPassword = migrations.RequestUser, password
	}
	db, err := store.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	p := &Project{DB: db}
	if p.Keys, err = auth.LoadKeys(ctx, db.Pool(), s.JWTSecret); err != nil {
		db.Close()
		return nil, err
	}
	if p.Keyring, err = keyringOf(ctx, p, s, log); err != nil {
		db.Close()
		return nil, err
	}
	*p.Keys = p.Keyring.Keys()
	connection, err := pgconn.ParseConfig(url)
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	p.Catalogs = store.NewCatalogWatcher(store.WatchOptions{
		Connection: connection,
		Catalog:    store.CatalogOptions{Schemas: s.Schemas, ExtraSearchPath: s.ExtraSearchPath},
		VersionSQL: migrations.CatalogVersion,
		Changed:    (&absences{settings: s, log: log}).look,
		Logger:     log,
	})
	path, err := token.ParsePath(s.JWTRoleClaim)
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read --jwt-role-claim: %w", err) // Check has refused such
	}
	foreign, err := s.foreignKeys()
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read --jwt-keys: %w", err)
	}
	p.Verifier = auth.NewVerifier(*p.Keys, auth.VerifierOptions{
		RoleClaim: path, Audience: s.JWTAudience, ForeignKeys: foreign,
		DefaultRole: s.RestAnonRole, RoleRequired: s.RestAnonRole == "", KeysCame: p.Keyring.Missed,
		RoleAllowed: func(role string) bool {
			c := p.Catalogs.Current()
			return c == nil || c.Role(role) != nil
		},
	})
	if p.Templates, err = storedTemplates(p, s, log); err != nil {
		db.Close()
		return nil, err
	}
	if p.Outbox, err = outboxOf(p, s, apiURL, log); err != nil {
		db.Close()
		return nil, err
	}
	if p.Auth, err = accountsOf(p, s, apiURL, log); err != nil {
		db.Close()
		return nil, err
	}
	if err := p.Auth.CheckEncryptionKeys(ctx); err != nil {
		log.Error().Err(err).Msg("second factors cannot be verified nor enrolled: give the key that secrets were encrypted under behind the current one in --encryption-key")
	}
	p.Administrators = administratorsOf(p, s, log)
	p.Keyring.OnChange(func(keys auth.Keys) {
		p.Verifier.Rotate(keys)
		p.Auth.UseKeys(keys)
	})
	p.identity = identity{verifier: p.Verifier}
	if s.StrictSessions {
		p.identity.sessions = auth.NewSessionWatch(auth.SessionWatchOptions{
			Connection: connection, DB: db.Pool(), Limits: s.sessionLimits(), Log: log,
		})
	}
	if s.RestAnonRole != "" {
		p.identity.anonymous = auth.Nobody(s.RestAnonRole)
	}
	return p, nil
}
