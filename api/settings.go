package api

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/auth"
	"basalt/auth/password/worker"
	"basalt/auth/token"
	"basalt/store/managed"
)

// Settings are all settings of `basalt serve`. Each field is a flag of the name in its tag and an environment
// variable BASALT_<FLAG>; the flag wins. The tag env names a second variable that is read when neither is given; title
// is what the dashboard calls it.
type Settings struct {
	Listen string `flag:"listen" start:"true" default:"127.0.0.1:8090" title:"Listen address" help:"address of the HTTP server; port 0 picks a free one and prints it"`
	Data   string `flag:"data" start:"true" default:"./basalt_data" title:"Data folder" help:"folder of the managed PostgreSQL and of generated secrets"`

	DatabaseURL      auth.Secret   `flag:"database-url" start:"true" env:"DATABASE_URL" title:"Database URL" help:"PostgreSQL to use, as a postgres:// URL or a key=value string; empty: Basalt starts its own in --data"`
	PostgresPort     int           `flag:"postgres-port" start:"true" default:"0" title:"Port of the managed PostgreSQL" help:"loopback TCP port of the managed PostgreSQL; 0: its Unix socket only"`
	PoolSize         int           `flag:"pool-size" default:"0" title:"Connection pool: size" help:"most connections to PostgreSQL for requests; 0: 4 per CPU, at least 8"`
	PoolWait         int           `flag:"pool-wait" default:"2000" title:"Connection pool: waiting requests" help:"most requests that wait for a connection; one more is answered 504"`
	PoolTimeout      time.Duration `flag:"pool-timeout" default:"10s" title:"Connection pool: longest wait" help:"longest wait for a connection before the answer is 504"`
	StatementTimeout time.Duration `flag:"statement-timeout" default:"60s" title:"Statement timeout" help:"longest run of one statement of a request; 0: PostgreSQL's own setting"`

	Schemas              []string      `flag:"schemas" default:"public" title:"Exposed schemas" help:"exposed schemas, comma-separated; the first is the default"`
	ExtraSearchPath      []string      `flag:"extra-search-path" default:"public,extensions" title:"Extra search path" help:"schemas searched behind the request's own, comma-separated"`
	MaxRows              int64         `flag:"max-rows" default:"1000" title:"Most rows of a read" help:"most rows a read returns when nothing smaller is asked; 0: no cap"`
	RestAggregates       bool          `flag:"rest-aggregates" default:"false" title:"Aggregate functions" help:"allow aggregate functions in select"`
	RestPlan             bool          `flag:"rest-plan" default:"false" title:"Query plans for clients" help:"let clients ask for PostgreSQL's plans of their requests (for development: plans tell of rows that policies hide)"`
	LegacyTargetNames    bool          `flag:"rest-legacy-target-names" default:"true" title:"Embeds by relation name" help:"let an aliased embed be addressed by its relation's name too"`
	RestTxEnd            string        `flag:"rest-tx-end" default:"commit" title:"End of transactions" help:"how transactions of requests end: commit, rollback, commit-allow-override or rollback-allow-override (Prefer: tx= decides)"`
	RestPreRequest       string        `flag:"rest-pre-request" title:"Function before each request" help:"function that each request runs before its statement, as schema.function"`
	RestHoisted          []string      `flag:"rest-hoisted-settings" default:"statement_timeout,plan_filter.statement_cost_limit,default_transaction_isolation" title:"Function settings for the whole transaction" help:"settings of a called function that hold for its whole transaction, comma-separated"`
	RestAnonRole         string        `flag:"rest-anon-role" default:"anon" title:"Anonymous role" help:"role of requests without a token; empty: they are refused"`
	RequireFilters       bool          `flag:"require-filters" default:"true" title:"Required filters" help:"refuse PATCH and DELETE without a filter for the anonymous role"`
	RestIdempotency      bool          `flag:"rest-idempotency" default:"false" title:"Idempotency keys" help:"answer a write that repeats its Idempotency-Key with the first answer, which is kept in the database"`
	IdempotencyRetention time.Duration `flag:"rest-idempotency-retention" default:"24h" title:"Idempotency keys: retention" help:"how long such answers are kept"`

	AppSettings      auth.Secret `flag:"app-settings" title:"Settings for SQL" help:"settings for SQL, as name=value,name=value: current_setting('app.settings.name')"`
	OpenAPIMode      string      `flag:"openapi-mode" default:"follow-privileges" title:"API description: coverage" help:"what the description at /rest/v1/ covers: follow-privileges (of the request's role), ignore-privileges, or disabled"`
	OpenAPISecurity  bool        `flag:"openapi-security-active" default:"false" title:"API description: token" help:"describe the token in the description at /rest/v1/"`
	OpenAPIServer    string      `flag:"openapi-server-proxy-uri" title:"API description: server URL" help:"URL of the REST API that the description names; empty: <public-url>/rest/v1"`
	RestRootFunction string      `flag:"rest-root-function" title:"Root function" help:"function of the exposed schema that answers at /rest/v1/ in place of the description"`

	JWTSecret    auth.Secret `flag:"jwt-secret" start:"true" env:"JWT_SECRET" title:"JWT secret" help:"HS256 secret, 32 bytes or more; empty: generated once and kept in the database"`
	JWTKeys      auth.Secret `flag:"jwt-keys" start:"true" title:"Further trusted keys" help:"JSON Web Key or set of them whose tokens the REST API believes too; @FILE reads it from a file"`
	JWTRoleClaim string      `flag:"jwt-role-claim" start:"true" default:"$.role" title:"Role claim" help:"where the role stands in a token (RFC 9535 member path, at its end also [?(@ == \"text\")])"`
	JWTAudience  string      `flag:"jwt-audience" title:"Required audience" help:"audience demanded of tokens; empty: any"`
	PublicURL    string      `flag:"public-url" start:"true" title:"Public URL" help:"URL that clients reach this server by, for the issuer of tokens; empty: http://<listen>"`

	AccountSettings
	OAuthSettings

	BodyLimit       Bytes         `flag:"body-limit" default:"50MiB" title:"Largest request body" help:"largest request body"`
	BodyMemory      Bytes         `flag:"body-memory" default:"512MiB" title:"Memory for request bodies" help:"most memory for request bodies being read at once; beyond it requests are answered 503"`
	AnswerMemory    Bytes         `flag:"answer-memory" default:"64MiB" title:"Largest held-back answer" help:"largest answer of a write or a function, which is held back until its transaction has committed"`
	MaxConnections  int           `flag:"max-connections" start:"true" default:"10000" title:"Most client connections" help:"most open client connections; further ones wait to be accepted"`
	ReadTimeout     time.Duration `flag:"read-timeout" default:"60s" title:"Read timeout" help:"longest time to read a whole request"`
	WriteTimeout    time.Duration `flag:"write-timeout" default:"30s" title:"Write timeout" help:"longest time that a client may take to accept the next part of an answer"`
	IdleTimeout     time.Duration `flag:"idle-timeout" default:"120s" title:"Idle timeout" help:"how long an idle keep-alive connection is kept"`
	ShutdownTimeout time.Duration `flag:"shutdown-timeout" default:"30s" title:"Shutdown timeout" help:"how long requests under way may take to end after SIGTERM"`
	PostgrestConfig string        `flag:"postgrest-config" start:"true" title:"PostgREST configuration file" help:"configuration file of PostgREST whose settings are taken over at the start, but for those given here"`
	ServerTiming    bool          `flag:"server-timing" default:"false" title:"Server-Timing header" help:"tell in Server-Timing what parts of a REST request took how long"`
	TraceHeader     string        `flag:"trace-header" title:"Trace header" help:"header of requests that answers echo, such as X-Trace-Id"`
	CORSOrigins     []string      `flag:"cors-origins" title:"CORS origins" help:"origins whose scripts may call the API, comma-separated, such as https://app.example.com; empty: all"`
	TrustedProxies  []string      `flag:"trusted-proxies" start:"true" title:"Trusted proxies" help:"networks whose X-Forwarded-For is believed, comma-separated CIDRs"`

	MigrationsDir string `flag:"migrations-dir" start:"true" title:"Migrations folder" help:"folder that the dashboard may save changes of the structure to, as migrations; empty: it may not"`

	LogFormat string `flag:"log-format" start:"true" default:"auto" title:"Log format" help:"console, json, or auto (console on a terminal)"`
	LogLevel  string `flag:"log-level" start:"true" default:"info" title:"Log level" help:"debug, info, warn or error"`

	LogRequests time.Duration `flag:"log-requests" default:"0s" title:"Request log: retention" help:"how long requests are kept in the table basalt.requests, for the dashboard; 0: only the last 8192, in memory"`

	// Taken is what TakeOver found beside settings, nil without --postgrest-config.
	Taken *TakenOver

	// given are the settings that the operator gave, with how; stored those that count as an owner has stored them.
	given  map[string]source
	stored []string
	// processors is how many there are, as Check has found them: Serve runs more threads than that.
	processors int
	// hashes is where passwords are hashed; nil is in this process.
	hashes *worker.Worker
}

// mostConnections is PostgreSQL's own maximum of max_connections.
const mostConnections = 262143

// Check refuses settings that cannot work, by the name of the first that is wrong, and fills in those that depend
// on the machine.
func (s *Settings) Check() error {
	_, port, err := net.SplitHostPort(s.Listen)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		return &SettingError{"listen", fmt.Sprintf("%q is not host:port", s.Listen)}
	}
	if s.Data == "" {
		return &SettingError{"data", "a folder is needed, such as ./basalt_data"}
	}
	if err := s.CheckDatabaseURL(); err != nil {
		return err
	}
	if s.PostgresPort > 65535 {
		return &SettingError{"postgres-port", fmt.Sprintf("%d is no port", s.PostgresPort)}
	}
	if s.processors == 0 {
		s.processors = min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	}
	if s.PoolSize == 0 {
		s.PoolSize = max(8, 4*s.processors)
	}
	if s.PoolSize > mostConnections {
		return &SettingError{"pool-size", fmt.Sprintf("%d is more than PostgreSQL can serve (%d)", s.PoolSize, mostConnections)}
	}
	if err := s.checkPatience(); err != nil {
		return err
	}
	if _, err := token.ParsePath(s.JWTRoleClaim); err != nil {
		return &SettingError{"jwt-role-claim", err.Error()}
	}
	if _, err := s.foreignKeys(); err != nil {
		return &SettingError{"jwt-keys", err.Error()}
	}
	if err := s.checkDialect(); err != nil {
		return err
	}
	if len(s.Schemas) == 0 {
		return &SettingError{"schemas", "at least one schema must be exposed"}
	}
	for _, schema := range s.Schemas {
		if schema == "pg_catalog" || schema == "information_schema" || schema == "basalt" || schema == "auth" {
			return &SettingError{"schemas", fmt.Sprintf("the schema %s must not be exposed", schema)}
		}
	}
	if s.RestIdempotency && s.IdempotencyRetention < time.Second {
		return &SettingError{"rest-idempotency-retention", fmt.Sprintf("%s is less than a second", s.IdempotencyRetention)}
	}
	if s.JWTSecret != "" && len(s.JWTSecret) < auth.MinSecretLength {
		return &SettingError{"jwt-secret", fmt.Sprintf("it has %d bytes, %d are the least (RFC 7518 §3.2)", len(s.JWTSecret), auth.MinSecretLength)}
	}
	if err := s.checkAccounts(); err != nil {
		return err
	}
	for flag, address := range map[string]string{"public-url": s.PublicURL, "openapi-server-proxy-uri": s.OpenAPIServer} {
		if err := checkWebURL(flag, address); err != nil {
			return err
		}
	}
	for _, origin := range s.CORSOrigins {
		if !isOrigin(origin) {
			return &SettingError{"cors-origins", fmt.Sprintf("%q is no origin such as https://app.example.com", origin)}
		}
	}
	for _, network := range s.TrustedProxies {
		if _, err := netip.ParsePrefix(network); err != nil {
			return &SettingError{"trusted-proxies", fmt.Sprintf("%q is not a network such as 10.0.0.0/8", network)}
		}
	}
	for _, choice := range []choice{
		{"openapi-mode", s.OpenAPIMode, []string{"follow-privileges", "ignore-privileges", "disabled"}},
		{"log-format", s.LogFormat, []string{"auto", "console", "json"}},
		{"log-level", s.LogLevel, []string{"debug", "info", "warn", "error"}},
	} {
		if err := choice.check(); err != nil {
			return err
		}
	}
	if s.LogRequests != 0 && s.LogRequests < time.Minute {
		return &SettingError{"log-requests", fmt.Sprintf("%s is less than a minute", s.LogRequests)}
	}
	if s.BodyMemory < s.BodyLimit {
		return &SettingError{"body-memory", fmt.Sprintf("%s is less than one body of --body-limit (%s)", s.BodyMemory, s.BodyLimit)}
	}
	if s.DatabaseURL != "" && s.PostgresPort != 0 {
		return &SettingError{"postgres-port", "it belongs to the managed PostgreSQL, but --database-url is given"}
	}
	return nil
}

const (
	// leastPatience is the shortest time that any request, or a start, can be done in.
	leastPatience = 100 * time.Millisecond
	// mostStatementTimeout is PostgreSQL's own maximum.
	mostStatementTimeout = math.MaxInt32 * time.Millisecond
)

// checkPatience refuses times that nothing can be done in: stored ones could not be changed in the dashboard any more.
func (s *Settings) checkPatience() error {
	for flag, patience := range map[string]time.Duration{
		"read-timeout": s.ReadTimeout, "write-timeout": s.WriteTimeout, "statement-timeout": s.StatementTimeout,
	} {
		if patience != 0 && patience < leastPatience {
			return &SettingError{flag, fmt.Sprintf("%s is less than %s, in which nothing is done", patience, leastPatience)}
		}
	}
	if s.StatementTimeout > mostStatementTimeout {
		return &SettingError{"statement-timeout", fmt.Sprintf("%s is more than PostgreSQL takes (%s)", s.StatementTimeout, mostStatementTimeout)}
	}
	return nil
}

// CheckDatabaseURL refuses a --database-url that cannot be read. It does not repeat it: there may be a password in it.
// The address of the managed PostgreSQL stands for none while that is down: a shell that took it over from `basalt keys
// --env` would else wait for a server that nobody starts.
func (s *Settings) CheckDatabaseURL() error {
	if s.DatabaseURL == "" {
		return nil
	}
	config, err := pgconn.ParseConfig(s.DatabaseURL.Reveal())
	if missing := new(fs.PathError); errors.As(err, &missing) { // a certificate or key that it names
		return &SettingError{"database-url", missing.Error()}
	}
	if err != nil {
		return &SettingError{"database-url", "it is not a PostgreSQL URL such as postgres://user:password@host:5432/name"}
	}
	if managed.IsSocketFolder(s.Data, config.Host) {
		if _, running, err := managed.AttachURL(s.Data); err == nil && !running {
			s.DatabaseURL = ""
		}
	}
	return nil
}

// idempotencyRetention is how long answers are kept for their Idempotency-Key, 0 when none are.
func (s *Settings) idempotencyRetention() time.Duration {
	if !s.RestIdempotency {
		return 0
	}
	return s.IdempotencyRetention
}

// urlFile holds, in the data folder, the address of the server that runs over it.
const urlFile = "api-url"

// URL is where clients reach a server that listens at an address.
func (s *Settings) URL(address string) string {
	if s.PublicURL != "" {
		return strings.TrimSuffix(s.PublicURL, "/")
	}
	// An address that stands for all of the machine's is none to connect to.
	if host, port, err := net.SplitHostPort(address); err == nil {
		if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
			return "http://127.0.0.1:" + port
		}
	}
	return "http://" + address
}

// RunningURL is the address of the server that these settings point at: the one that runs over the managed data
// folder has written its own there.
func (s *Settings) RunningURL() string {
	if s.overManaged() && s.PublicURL == "" {
		if text, err := os.ReadFile(filepath.Join(s.Data, urlFile)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return s.URL(s.Listen)
}
