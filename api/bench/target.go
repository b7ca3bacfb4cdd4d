package bench

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"basalt/api/bench/report"
	"basalt/auth"
)

// Target is the Basalt that is measured.
type Target struct {
	URL        string
	AnonKey    string
	ServiceKey string
	// DatabaseURL is its database, for the figures beside which it is measured; empty: those are left out.
	DatabaseURL string

	// Owner of all rows: a user of the server, signed in.
	OwnerID string
	Token   string

	password string      // the owner's
	secret   auth.Secret // that tokens are signed with; empty: not known
	own      *Own        // nil: it is somebody else's
	made     bool        // the tables were made for this run
	users    []string    // ids of the users that were made for this run
}

// The user that owns the rows.
const ownerEmail = "bench-owner@example.com"

// IsLoopback says whether the server runs on this machine.
func (t *Target) IsLoopback() bool {
	u, err := url.Parse(t.URL)
	if err != nil {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// prepare makes what is measured: the tables where the database is known, the owner, the rows.
func (t *Target) prepare(ctx context.Context, progress Progress) error {
	if t.DatabaseURL != "" {
		if err := t.makeTables(ctx); err != nil {
			return err
		}
	}
	if err := t.signIn(ctx); err != nil {
		return err
	}
	if err := t.fill(ctx, progress); err != nil {
		return err
	}
	if t.DatabaseURL != "" {
		return t.sql(ctx, `vacuum analyze public.bench_item, public.bench_part, public.bench_entry`)
	}
	return nil
}

// makeTables makes the tables unless they are there, made by a person for runs without the database's address.
func (t *Target) makeTables(ctx context.Context) error {
	var there bool
	err := t.connected(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `select to_regclass('public.bench_item') is not null`).Scan(&there)
	})
	if err != nil || there {
		return err
	}
	t.made = true // an interrupt may come before the answer
	if err := t.sql(ctx, Schema); err != nil {
		return fmt.Errorf("make the tables of the benchmark: %w", err)
	}
	return t.seen(ctx)
}

// seen waits until the server knows the tables.
func (t *Target) seen(ctx context.Context) error {
	for {
		err := t.service(ctx, http.MethodGet, "/rest/v1/rpc/bench_rows?n=1", nil, nil)
		if err == nil || !strings.Contains(err.Error(), "PGRST202") {
			return err
		}
		if err := sleep(ctx, retryEvery); err != nil {
			return err
		}
	}
}

// closeTimeout is the longest that cleaning up may take, also after an interrupt.
const closeTimeout = 30 * time.Second

// Close takes away what the run has made, and ends an own server.
func (t *Target) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var problems []error
	if t.own == nil {
		problems = append(problems, t.removeUsers(ctx))
	}
	if t.made && t.own == nil {
		problems = append(problems, t.sql(ctx, DropSchema))
	}
	if t.own != nil {
		problems = append(problems, t.own.Close())
	}
	return errors.Join(problems...)
}

func (t *Target) sql(ctx context.Context, statements string) error {
	return t.connected(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statements)
		return err
	})
}

// connected works with a connection to the database.
func (t *Target) connected(ctx context.Context, work func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, t.DatabaseURL)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return work(conn)
}

// signIn makes the owner and signs in.
func (t *Target) signIn(ctx context.Context) error {
	t.password = rand.Text()
	id, err := t.makeUser(ctx, ownerEmail, "password", t.password)
	if err != nil {
		return err
	}
	t.OwnerID = id
	return t.renew(ctx)
}

// goodFor is how long a token is to be good when a section begins: longer than a stretched section takes.
const goodFor = 25 * time.Minute

// renew signs the owner in anew when her token may not last for a section. It does so only then: sign-ins are limited on
// a server in use, and may have been used up by the benchmark itself.
func (t *Target) renew(ctx context.Context) error {
	var claims struct {
		ExpiresAt int64 `json:"exp"`
	}
	if err := json.Unmarshal([]byte(t.claims()), &claims); err != nil {
		return fmt.Errorf("read the owner's token: %w", err)
	}
	if time.Until(time.Unix(claims.ExpiresAt, 0)) > goodFor {
		return nil
	}
	var session struct {
		AccessToken string `json:"access_token"`
	}
	body := fmt.Appendf(nil, `{"email": %q, "password": %q}`, ownerEmail, t.password)
	if err := t.ask(ctx, http.MethodPost, "/auth/v1/token?grant_type=password", t.AnonKey, body, &session); err != nil {
		return err
	}
	t.Token = session.AccessToken
	return nil
}

// headers are the lines of a request that the owner makes.
func (t *Target) headers() string {
	return "Apikey: " + t.AnonKey + "\r\nAuthorization: Bearer " + t.Token + "\r\n"
}

// claims are those of the owner's token, as the server hands them to PostgreSQL.
func (t *Target) claims() string {
	parts := strings.Split(t.Token, ".")
	if len(parts) != 3 {
		return "{}"
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "{}"
	}
	return string(text)
}

// describe tells what the figures depend on.
func (t *Target) describe(ctx context.Context) report.Server {
	server := report.Server{URL: t.URL, Own: t.own != nil}
	if t.DatabaseURL == "" {
		return server
	}
	_ = t.connected(ctx, func(conn *pgx.Conn) error { // what is not told is not shown
		_ = conn.QueryRow(ctx, `show server_version`).Scan(&server.Postgres)
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_connections", "jit"} {
			var value string
			if conn.QueryRow(ctx, `select current_setting($1, true)`, name).Scan(&value) == nil {
				server.Settings = append(server.Settings, report.Setting{Name: name, Value: value})
			}
		}
		return nil
	})
	return server
}

// metric reads one value of the server's /metrics.
func (t *Target) metric(ctx context.Context, name string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.URL+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("the server's /metrics has no %s", name)
}
