package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"basalt/api"
	"basalt/auth"
	"basalt/auth/seal"
)

// rotateEncryptionCommand is `basalt keys rotate-encryption`.
func rotateEncryptionCommand() *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{
		Use:   "rotate-encryption",
		Short: "Encrypt the stored secrets under a new key",
		Long: "Encrypt the stored secrets under a new key: those of factors and providers, codes, signing keys, settings. Servers\n" +
			"may run meanwhile and need no restart. When it is cut off, run it again: it goes on where it was. The replaced key is\n" +
			"kept until the next rotation, for what servers encrypt in the moment of the change.\n\n" +
			"The key is kept in the database, itself encrypted under a master key. The master key of the managed database is\n" +
			"replaced too. To replace one that is given by --encryption-key, give all servers the new one with the old one behind\n" +
			"it, run this with both, then take the old one away.",
		Example: "  basalt keys rotate-encryption\n  basalt keys rotate-encryption --encryption-key @new-then-old.txt",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return overDatabase(cmd, &settings, func(ctx context.Context, conn *pgx.Conn) error {
				reader, err := pgx.ConnectConfig(ctx, conn.Config())
				if err != nil {
					return fmt.Errorf("connect to the database: %w", err)
				}
				defer reader.Close(context.WithoutCancel(ctx))
				keys, err := auth.LoadKeys(ctx, conn, settings.JWTSecret)
				if err != nil {
					return err
				}
				rotation := seal.Rotation{
					DB: reader, Writer: conn, Masters: settings.EncryptionKeys(keys.Secret), Columns: auth.SealedColumns(),
					Begin: settings.BeginRotation, End: settings.EndRotation, Progress: progress(cmd.ErrOrStderr(), "secrets"),
				}
				n, err := rotation.Run(ctx)
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%d secrets encrypted under the new key\n", n)
				return nil
			})
		},
	}
	bind(cmd, &settings, "data", "database-url", "jwt-secret", "encryption-key", "postgrest-config")
	return cmd
}

// progress shows on a terminal how far a work is.
func progress(errs io.Writer, what string) func(done, total int64) {
	file, ok := errs.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	var bar *progressbar.ProgressBar
	return func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(file), progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set64(min(done, total))
	}
}
