// Command basalt is a backend in one binary beside PostgreSQL: REST over your own tables, accounts, row-level
// security. `basalt help` lists its commands.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"basalt/api"
	"basalt/auth"
	"basalt/migrations"
	"basalt/store/managed"
)

// Stamped by the linker: -X main.version=… -X main.commit=…
var (
	version = "dev"
	commit  = "unknown"
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a call that cannot be carried out as it is written.
type usageError struct{ error }

func main() {
	zerolog.MessageFieldName = "msg" // scripts look for "msg":"ready"
	ctx, stop := context.WithCancel(context.Background())
	// Both signals are caught: between giving the first back to its default and the second there would be a gap.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		stop()
		<-signals
		os.Exit(exitFailed)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	root := command()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	complain(errs, err)
	var usage usageError
	var setting *api.SettingError
	if errors.As(err, &usage) || errors.As(err, &setting) || strings.HasPrefix(err.Error(), "unknown command") {
		return exitUsage
	}
	var child *exec.ExitError
	if errors.As(err, &child) && child.ExitCode() > 0 {
		return child.ExitCode()
	}
	return exitFailed
}

// complain says in one line what went wrong; of a migration that PostgreSQL refused it shows the statement too.
func complain(errs io.Writer, err error) {
	if refused, ok := errors.AsType[*migrations.StatementError](err); ok {
		fmt.Fprint(errs, "basalt: ", refused.Explain())
		return
	}
	fmt.Fprintln(errs, "basalt:", strings.Join(strings.Fields(err.Error()), " "))
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "basalt",
		Short:         "A backend in one binary beside PostgreSQL",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	root.AddCommand(serveCommand(), keysCommand(), migrateCommand(), psqlCommand(), versionCommand())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	return root
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print the usage of a command with an example",
		Example: "  basalt help serve",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{fmt.Errorf("unknown command %q", strings.Join(args, " "))}
			}
			return found.Help()
		},
	}
}

// arguments checks positional arguments as wrong usage.
func arguments(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// bind declares settings as flags of a command. A malformed environment variable stops the command when it runs.
func bind(cmd *cobra.Command, settings *api.Settings, names ...string) {
	err := settings.Bind(cmd.Flags(), names...)
	cmd.PreRunE = func(*cobra.Command, []string) error { return err }
}

func serveCommand() *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run the server until SIGINT or SIGTERM; a second signal forces the exit",
		Example: "  basalt serve --listen 127.0.0.1:8090 --data ./basalt_data\n  DATABASE_URL=postgres://user:password@host/app basalt serve",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGPIPE) // whoever reads the log may die; the server lives on
			return api.Serve(cmd.Context(), settings, api.Build{Version: version, Commit: commit}, cmd.OutOrStdout(), os.Stderr)
		},
	}
	bind(cmd, &settings)
	return cmd
}

func keysCommand() *cobra.Command {
	var settings api.Settings
	var asEnv bool
	cmd := &cobra.Command{
		Use:     "keys",
		Short:   "Print the API URL and the keys",
		Example: "  basalt keys\n  eval \"$(basalt keys --env | sed 's/^/export /')\"",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			conn, url, err := connect(cmd.Context(), &settings)
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(cmd.Context()))
			keys, err := auth.LoadKeys(cmd.Context(), conn, settings.JWTSecret)
			if err != nil {
				return err
			}
			rows := [][2]string{
				{"API_URL", settings.RunningURL()},
				{"ANON_KEY", keys.AnonKey},
				{"SERVICE_ROLE_KEY", keys.ServiceKey.Reveal()},
			}
			if !asEnv {
				for _, row := range rows {
					fmt.Fprintf(cmd.OutOrStdout(), "%-17s %s\n", row[0], row[1])
				}
				return nil
			}
			rows = append(rows, [2]string{"JWT_SECRET", keys.Secret.Reveal()}, [2]string{"DATABASE_URL", url})
			for _, row := range rows {
				fmt.Fprintf(cmd.OutOrStdout(), "%s=%s\n", row[0], shellQuote(row[1]))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asEnv, "env", false, "print NAME=value lines, with the JWT secret and the database's URL")
	bind(cmd, &settings, "data", "database-url", "jwt-secret", "listen", "public-url")
	return cmd
}

// shellQuote writes a value so that a shell reads it as it is; plain ones stay plain.
func shellQuote(value string) string {
	if strings.IndexFunc(value, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,", r)
	}) < 0 {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// connect opens the database that the settings point at: the given one, else the running managed one.
func connect(ctx context.Context, settings *api.Settings) (*pgx.Conn, string, error) {
	url, err := databaseURL(settings)
	if err != nil {
		return nil, "", err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, "", fmt.Errorf("connect to the database: %w", err)
	}
	return conn, url, nil
}

func databaseURL(settings *api.Settings) (string, error) {
	if err := settings.CheckDatabaseURL(); err != nil {
		return "", err
	}
	if settings.DatabaseURL != "" {
		return settings.DatabaseURL, nil
	}
	url, running, err := managed.AttachURL(settings.Data)
	if err != nil {
		return "", err
	}
	if !running {
		return "", fmt.Errorf("the PostgreSQL of %s does not run: start it with `basalt serve --data %s`", settings.Data, settings.Data)
	}
	return url, nil
}

func psqlCommand() *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{
		Use:     "psql [--data DIR | --database-url URL] [ARGS]",
		Short:   "Open psql on the managed or given database; all other arguments are psql's",
		Example: "  basalt psql\n  basalt psql -c 'select now()'",
		// psql has flags of its own, which cobra would refuse.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			own, args := splitFlags(cmd.Flags(), args)
			if err := cmd.Flags().Parse(own); err != nil {
				return usageError{err}
			}
			url, err := databaseURL(&settings)
			if err != nil {
				return err
			}
			program, err := exec.LookPath("psql")
			if err != nil {
				return errors.New("psql is not installed: install PostgreSQL's client, or connect any client to the DATABASE_URL that `basalt keys --env` prints")
			}
			environment, err := psqlEnvironment(url)
			if err != nil {
				return err
			}
			child := exec.CommandContext(cmd.Context(), program, args...)
			child.Env = append(os.Environ(), environment...)
			child.Stdin, child.Stdout, child.Stderr = os.Stdin, cmd.OutOrStdout(), cmd.ErrOrStderr()
			return child.Run()
		},
	}
	bind(cmd, &settings, "data", "database-url")
	return cmd
}

// splitFlags takes the leading arguments that are flags of ours off the front.
func splitFlags(flags *pflag.FlagSet, args []string) (own, rest []string) {
	for len(args) > 0 {
		name, _, joined := strings.Cut(strings.TrimPrefix(args[0], "--"), "=")
		if !strings.HasPrefix(args[0], "--") || flags.Lookup(name) == nil {
			break
		}
		n := 2
		if joined {
			n = 1
		}
		n = min(n, len(args))
		own, args = append(own, args[:n]...), args[n:]
	}
	return own, args
}

// psqlEnvironment gives libpq the database by environment variables: a URL among the arguments would show its
// password to everybody who lists processes.
func psqlEnvironment(url string) ([]string, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	return []string{
		"PGHOST=" + config.Host, fmt.Sprintf("PGPORT=%d", config.Port), "PGDATABASE=" + config.Database,
		"PGUSER=" + config.User, "PGPASSWORD=" + config.Password,
	}, nil
}

func versionCommand() *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of Basalt, Go and the PostgreSQL that would be used",
		Example: "  basalt version",
		Args:    arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			postgres := "none found; one is fetched at the first start"
			if binaries, err := managed.FindBinaries(cmd.Context(), managed.Options{DataDir: settings.Data, NoFetch: true}); err == nil {
				postgres = binaries.Version + " in " + binaries.BinDir
			}
			fmt.Fprintf(cmd.OutOrStdout(), "basalt %s (commit %s)\n%s\npostgresql %s\n", version, commit, runtime.Version(), postgres)
			return nil
		},
	}
	bind(cmd, &settings, "data")
	return cmd
}

func migrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Apply, list or create your own migrations",
		Example: "  basalt migrate new add_cities\n  basalt migrate up\n  basalt migrate up --dir supabase/migrations\n" +
			"  basalt migrate status",
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(migrateUp(), migrateStatus(), migrateNew())
	return cmd
}

// folderFlag declares where the migrations are.
func folderFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("dir", "./migrations", "folder of the .sql files")
}

// migrateDatabase makes a command that works with a folder of migrations and a database.
func migrateDatabase(use, short string, run func(cmd *cobra.Command, conn *pgx.Conn, dir string) error) *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{Use: use, Short: short, Args: arguments(cobra.NoArgs)}
	dir := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		conn, _, err := connect(cmd.Context(), &settings)
		if err != nil {
			return err
		}
		defer conn.Close(context.WithoutCancel(cmd.Context()))
		return run(cmd, conn, *dir)
	}
	bind(cmd, &settings, "data", "database-url")
	return cmd
}

func migrateUp() *cobra.Command {
	return migrateDatabase("up", "Apply the migrations that are not applied yet, in the order of their names",
		func(cmd *cobra.Command, conn *pgx.Conn, dir string) error {
			applied, err := migrations.UserUp(cmd.Context(), conn, dir, migrations.UserOptions{
				Progress: func(event migrations.Event) { fmt.Fprintln(cmd.ErrOrStderr(), event) },
			})
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%d applied\n", len(applied))
			}
			return err
		})
}

func migrateStatus() *cobra.Command {
	return migrateDatabase("status", "List the migrations with their state",
		func(cmd *cobra.Command, conn *pgx.Conn, dir string) error {
			list, err := migrations.UserStatus(cmd.Context(), conn, dir)
			for _, migration := range list {
				fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", migration.State, cmp.Or(migration.File, migration.Version+" "+migration.Name))
			}
			return err
		})
}

func migrateNew() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create an empty migration named by the time and NAME",
		Args:  arguments(cobra.ExactArgs(1)),
	}
	dir := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		file, err := migrations.UserNew(*dir, args[0])
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), file)
		}
		return err
	}
	return cmd
}
