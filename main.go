// Command basalt is a backend in one binary beside PostgreSQL: REST over your own tables, accounts, row-level
// security. `basalt help` lists its commands.
package main

import (
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
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"basalt/api"
	"basalt/auth"
	"basalt/auth/password/worker"
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
	if len(os.Args) == 2 && os.Args[1] == worker.Flag {
		hashPasswords()
	}
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

// hashPasswords is all that the process does that `basalt serve` starts to hash passwords.
func hashPasswords() {
	if err := worker.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "basalt: hash passwords:", err)
		os.Exit(exitFailed)
	}
	os.Exit(0)
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	return execute(ctx, command(), args, out, errs)
}

func execute(ctx context.Context, root *cobra.Command, args []string, out, errs io.Writer) int {
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if psql, ok := err.(*exec.ExitError); ok && psql.ExitCode() > 0 {
		return psql.ExitCode() // it has said why
	}
	fmt.Fprintln(errs, "basalt:", explain(ctx, err))
	var usage usageError
	var setting *api.SettingError
	if errors.As(err, &usage) || errors.As(err, &setting) || strings.HasPrefix(err.Error(), "unknown command") {
		return exitUsage
	}
	return exitFailed
}

// explain is what a person reads about a failure: one line, and of a migration the statement below it.
func explain(ctx context.Context, err error) string {
	var statement *migrations.StatementError
	if errors.As(err, &statement) {
		return strings.TrimRight(statement.Explain(), "\n")
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return printable(strings.Join(strings.Fields(err.Error()), " "))
}

// printable replaces what would steer the terminal: an error may quote what another server has said.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "basalt",
		Short:         "A backend in one binary beside PostgreSQL",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	root.AddCommand(serveCommand(), keysCommand(), migrateCommand(), typesCommand(), usersCommand(), adminCommand(), psqlCommand(), benchCommand(), versionCommand())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
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

// noArguments refuses arguments that are no flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if args[0] == "true" || args[0] == "false" {
		return usageError{fmt.Errorf("%q stands alone: a switch takes its value after an equals sign, as in --switch=%s", args[0], args[0])}
	}
	if cmd.HasSubCommands() {
		return usageError{fmt.Errorf("unknown command %q; see %s --help", args[0], cmd.CommandPath())}
	}
	return usageError{fmt.Errorf("%s takes no argument such as %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())}
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
		Long: "Run the server until SIGINT or SIGTERM; a second signal forces the exit.\n\n" +
			"Each flag is also an environment variable: --max-rows is BASALT_MAX_ROWS. The flag wins. DATABASE_URL and JWT_SECRET\n" +
			"are read where BASALT_DATABASE_URL and BASALT_JWT_SECRET are not set. Of a --postgrest-config those of its settings count\n" +
			"that are given neither way; keys that cannot be taken over are refused with the reason.\n\n" +
			"Changes of the schema and of roles' settings are noticed by themselves; NOTIFY pgrst, SIGUSR1 and SIGUSR2 make it look at\n" +
			"once. Changes of these settings need a restart.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := settings.TakeOver(cmd.Flags()); err != nil {
				return err
			}
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
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := settings.TakeOver(cmd.Flags()); err != nil {
				return err
			}
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
	bind(cmd, &settings, "data", "database-url", "jwt-secret", "listen", "public-url", "postgrest-config")
	cmd.AddCommand(signingCommand(), rotateEncryptionCommand())
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

// connect opens the database that the settings point at: the given one, else the running managed one. What PostgREST
// would find there counts with its file.
func connect(ctx context.Context, settings *api.Settings) (*pgx.Conn, string, error) {
	url, err := databaseURL(settings)
	if err != nil {
		return nil, "", err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, "", fmt.Errorf("connect to the database: %w", err)
	}
	var prepared bool
	if err := conn.QueryRow(ctx, `select to_regclass('basalt.user_migrations') is not null`).Scan(&prepared); err == nil && !prepared {
		conn.Close(context.WithoutCancel(ctx))
		return nil, "", errors.New("the database has never seen Basalt: start `basalt serve` on it once")
	}
	if err := settings.TakeOverDatabase(ctx, url, zerolog.Nop()); err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil, "", err
	}
	return conn, url, nil
}

func databaseURL(settings *api.Settings) (string, error) {
	if err := settings.CheckDatabaseURL(); err != nil {
		return "", err
	}
	if settings.DatabaseURL != "" {
		return settings.DatabaseURL.Reveal(), nil
	}
	url, running, err := managed.AttachURL(settings.Data)
	if err != nil {
		return "", err
	}
	if exists, err := managed.Exists(settings.Data); err == nil && !exists {
		return "", fmt.Errorf("there is no database in %s: run this where `basalt serve` runs, or give its --data or --database-url", settings.Data)
	}
	if !running {
		return "", fmt.Errorf("the PostgreSQL of %s does not run: start it with `basalt serve --data %s`", settings.Data, settings.Data)
	}
	return url, nil
}

func versionCommand() *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of Basalt, Go and the PostgreSQL that would be used",
		Example: "  basalt version",
		Args:    noArguments,
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
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(migrateUp(), migrateStatus(), migrateNew())
	return cmd
}

// migrateDatabase makes a command that works with a database and a folder of migrations.
func migrateDatabase(use, short string, run func(cmd *cobra.Command, conn *pgx.Conn, dir string) error) *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{Use: use, Short: short, Args: noArguments}
	dir := folderFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := settings.TakeOver(cmd.Flags()); err != nil {
			return err
		}
		conn, _, err := connect(cmd.Context(), &settings)
		if err != nil {
			return err
		}
		defer conn.Close(context.WithoutCancel(cmd.Context()))
		return run(cmd, conn, *dir)
	}
	bind(cmd, &settings, "data", "database-url", "postgrest-config")
	return cmd
}

// folderFlag declares where the migrations are.
func folderFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("dir", "./migrations", "folder of the .sql files")
}

func migrateUp() *cobra.Command {
	const short = "Apply the migrations that are not applied yet, in the order of their names"
	return migrateDatabase("up", short, func(cmd *cobra.Command, conn *pgx.Conn, dir string) error {
		applied, err := migrations.UserUp(cmd.Context(), conn, dir, migrations.UserOptions{
			Progress: func(event migrations.Event) {
				if line := progressLine(event); line != "" {
					fmt.Fprintln(cmd.ErrOrStderr(), line)
				}
			},
		})
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%d applied\n", len(applied))
		}
		return err
	})
}

// progressLine is what a person reads of an event; a start is told by its end, or by the error.
func progressLine(event migrations.Event) string {
	switch event.Stage {
	case migrations.Waiting:
		return "waiting for another run on this database"
	case migrations.Done:
		return fmt.Sprintf("%-10s %s (%d ms)", migrations.Applied, event.File, event.Took.Milliseconds())
	case migrations.Ignored, migrations.Skipped:
		return fmt.Sprintf("%-10s %s: %s", event.Stage, event.File, event.Note)
	}
	return ""
}

func migrateStatus() *cobra.Command {
	const short = "List the migrations with their state"
	return migrateDatabase("status", short, func(cmd *cobra.Command, conn *pgx.Conn, dir string) error {
		list, err := migrations.UserStatus(cmd.Context(), conn, dir)
		for _, migration := range list {
			file := migration.File
			if file == "" {
				file = strings.TrimSuffix(migration.Version+"_"+migration.Name, "_") + " (its file is not in " + dir + ")"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", migration.State, file)
		}
		return err
	})
}

func migrateNew() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create an empty migration named by the time and NAME",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{fmt.Errorf("one NAME is needed, such as: basalt migrate new add_cities; %d were given", len(args))}
			}
			return nil
		},
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
