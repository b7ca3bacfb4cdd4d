package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"basalt/api"
	"basalt/auth/imports"
)

func usersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "users",
		Short:   "Import accounts of other systems",
		Example: "  basalt users import --from supabase dump.sql",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(usersImport())
	return cmd
}

// importFlags are the flags of `users import`.
type importFlags struct {
	from, collection   string
	dryRun, confirm    bool
	hashConfig         string
	signerKey          string
	saltSeparator      string
	rounds, memoryCost int
}

func usersImport() *cobra.Command {
	var settings api.Settings
	var flags importFlags
	cmd := &cobra.Command{
		Use:   "import --from supabase|firebase|pocketbase FILE",
		Short: "Import accounts with their password hashes",
		Example: "  basalt users import --from supabase dump.sql\n" +
			"  basalt users import --from firebase accounts.json --hash-config hash_config.txt\n" +
			"  basalt users import --from pocketbase pb_data/data.db --dry-run",
		Long: "Import accounts with their password hashes; each is replaced by one of Basalt's own when its owner signs in.\n\n" +
			"  supabase    a plain dump of the database (COPY or INSERT, also gzipped), or auth.users as CSV or JSON\n" +
			"  firebase    what `firebase auth:export accounts.json --format=json` writes, with the project's password hash\n" +
			"              parameters as its console shows them\n" +
			"  pocketbase  pb_data/data.db\n\n" +
			"Accounts that are there already are skipped: an import that was broken off is taken up by running it again. Each\n" +
			"account that is refused is told on stderr by its place in the file, with the reason; the others are imported, and the\n" +
			"exit code is 1. Ids of Firebase and PocketBase become UUIDs and stay in app_metadata (firebase_id, pocketbase_id).",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("name one FILE to import; see " + cmd.CommandPath() + " --help")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := flags.source(cmd, args[0])
			if err != nil {
				return err
			}
			if err := settings.TakeOver(cmd.Flags()); err != nil {
				return err
			}
			return importUsers(cmd, &settings, source, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.from, "from", "", "system that the file comes from: supabase, firebase or pocketbase")
	f.BoolVar(&flags.dryRun, "dry-run", false, "do everything and take it back")
	f.BoolVar(&flags.confirm, "confirm", false, "count every e-mail address as confirmed: accounts with an unconfirmed one cannot sign in")
	f.StringVar(&flags.hashConfig, "hash-config", "", "firebase: file with the block hash_config { … } as the console shows it")
	f.StringVar(&flags.signerKey, "hash-key", "", "firebase: base64_signer_key; @FILE reads it from a file")
	f.StringVar(&flags.saltSeparator, "salt-separator", "Bw==", "firebase: base64_salt_separator")
	f.IntVar(&flags.rounds, "rounds", 8, "firebase: rounds")
	f.IntVar(&flags.memoryCost, "mem-cost", 14, "firebase: mem_cost")
	f.StringVar(&flags.collection, "collection", "users", "pocketbase: the auth collection")
	bind(cmd, &settings, "data", "database-url", "postgrest-config")
	return cmd
}

// source opens what is imported, as far as the command line alone can be wrong.
func (f importFlags) source(cmd *cobra.Command, path string) (imports.Source, error) {
	owners := map[string]string{
		"hash-config": "firebase", "hash-key": "firebase", "salt-separator": "firebase", "rounds": "firebase", "mem-cost": "firebase",
		"collection": "pocketbase",
	}
	for name, owner := range owners {
		if cmd.Flags().Changed(name) && f.from != owner {
			return nil, usageError{fmt.Errorf("--%s belongs to --from %s", name, owner)}
		}
	}
	switch f.from {
	case "supabase":
		return imports.Supabase(path), nil
	case "pocketbase":
		return imports.PocketBase(path, f.collection), nil
	case "firebase":
		config, err := f.firebase()
		if err != nil {
			return nil, err
		}
		source, err := imports.Firebase(path, config)
		if err != nil {
			return nil, usageError{fmt.Errorf("the hash parameters cannot be used: %w", err)}
		}
		return source, nil
	}
	return nil, usageError{fmt.Errorf("--from is %q: it is one of supabase, firebase, pocketbase", f.from)}
}

func (f importFlags) firebase() (imports.HashConfig, error) {
	if f.hashConfig != "" {
		if f.signerKey != "" {
			return imports.HashConfig{}, usageError{errors.New("--hash-config and --hash-key are two ways to say the same: give one")}
		}
		text, err := os.ReadFile(f.hashConfig)
		if err != nil {
			return imports.HashConfig{}, usageError{fmt.Errorf("--hash-config: %w", err)}
		}
		config, err := imports.ParseHashConfig(string(text))
		if err != nil {
			return config, usageError{fmt.Errorf("--hash-config %s: %w", f.hashConfig, err)}
		}
		return config, nil
	}
	config := imports.HashConfig{SignerKey: f.signerKey, SaltSeparator: f.saltSeparator, Rounds: f.rounds, MemoryCost: f.memoryCost}
	if path, ok := strings.CutPrefix(f.signerKey, "@"); ok {
		text, err := os.ReadFile(path)
		if err != nil {
			return config, usageError{fmt.Errorf("--hash-key: %w", err)}
		}
		config.SignerKey = strings.TrimSpace(string(text))
	}
	return config, nil
}

func importUsers(cmd *cobra.Command, settings *api.Settings, source imports.Source, flags importFlags) error {
	ctx := cmd.Context()
	conn, _, err := connect(ctx, settings)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	bar := importBar(cmd.ErrOrStderr())
	report, err := imports.Run(ctx, conn, source, imports.Options{
		DryRun: flags.dryRun, Confirm: flags.confirm,
		Refused: func(r imports.Refusal) {
			_ = bar.Clear() // a line is written in its place
			fmt.Fprintf(cmd.ErrOrStderr(), "refused: %s: %s\n", r.Place, r.Reason)
		},
		Progress: func(done, total int64) {
			bar.ChangeMax64(max(total, 1))
			_ = bar.Set64(done) // a bar that cannot be drawn stops nothing
		},
	})
	_ = bar.Finish()
	done := "imported"
	if flags.dryRun {
		done = "would be imported"
	}
	if err == nil || report.Imported > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "%d %s, %d skipped because they are there, %d refused\n", report.Imported, done, report.Skipped, report.Refused)
	}
	if err != nil {
		if report.Imported > 0 && !flags.dryRun {
			return fmt.Errorf("%w (run it again: what is there is skipped)", err)
		}
		return err
	}
	if report.Refused > 0 {
		return fmt.Errorf("%d rows were refused for the reasons above: mend them in the file and run it again, what is there is skipped", report.Refused)
	}
	return nil
}

// importBar shows on a terminal how far an import has come.
func importBar(errs io.Writer) *progressbar.ProgressBar {
	file, ok := errs.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return progressbar.NewOptions64(1, progressbar.OptionSetVisibility(false))
	}
	return progressbar.NewOptions64(1,
		progressbar.OptionSetWriter(file),
		progressbar.OptionSetDescription("import accounts"),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}
