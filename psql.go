package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"basalt/api"
)

func psqlCommand() *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{
		Use:     "psql [--data DIR | --database-url URL | --postgrest-config FILE] [ARGS]",
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
			if err := settings.TakeOver(cmd.Flags()); err != nil {
				return err
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
	bind(cmd, &settings, "data", "database-url", "postgrest-config")
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
func psqlEnvironment(address string) ([]string, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("read the database's URL: %w", err)
	}
	environment := []string{
		"PGHOST=" + config.Host, fmt.Sprintf("PGPORT=%d", config.Port), "PGDATABASE=" + config.Database,
		"PGUSER=" + config.User, "PGPASSWORD=" + config.Password,
	}
	// Without these psql would connect otherwise than Basalt does, with an unverified certificate for one.
	for _, p := range []struct{ name, variable string }{
		{"sslmode", "PGSSLMODE"}, {"sslrootcert", "PGSSLROOTCERT"}, {"sslcert", "PGSSLCERT"}, {"sslkey", "PGSSLKEY"},
		{"channel_binding", "PGCHANNELBINDING"}, {"target_session_attrs", "PGTARGETSESSIONATTRS"}, {"options", "PGOPTIONS"},
	} {
		if value := parameter(address, p.name); value != "" {
			environment = append(environment, p.variable+"="+value)
		}
	}
	return environment, nil
}

// parameter finds a setting in a database's URL or key=value string.
func parameter(text, name string) string {
	if u, err := url.Parse(text); err == nil && u.Scheme != "" {
		return u.Query().Get(name)
	}
	found := regexp.MustCompile(`(?:^|\s)` + name + `\s*=\s*(?:'((?:[^'\\]|\\.)*)'|(\S+))`).FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return regexp.MustCompile(`\\(.)`).ReplaceAllString(found[1]+found[2], "$1")
}
