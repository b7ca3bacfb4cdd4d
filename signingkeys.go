package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"basalt/api"
	"basalt/auth"
	"basalt/auth/token"
)

// signingCommand is `basalt keys signing`.
func signingCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "signing",
		Short: "List, add, promote and revoke the keys that tokens are signed with",
		Long: "List, add, promote and revoke the asymmetric keys that tokens are signed with. They are kept sealed in the database.\n\n" +
			"A key is added as standby: it is published at /auth/v1/.well-known/jwks.json and does not sign yet. Others keep\n" +
			"copies of that set for ten minutes: only then it can be promoted. The key that signed before goes on to verify\n" +
			"until it is revoked; wait for the tokens it has signed to end, an hour by default. All running servers follow within\n" +
			"seconds. The JWT secret verifies always: the anon and service keys are signed with it.",
		Example: "  basalt keys signing add --algorithm ES256\n  basalt keys signing promote\n  basalt keys signing list",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(signingListCommand(), signingAddCommand(), signingPromoteCommand(), signingRevokeCommand())
	return cmd
}

// overDatabase runs a command's work on the database that the settings point at.
func overDatabase(cmd *cobra.Command, settings *api.Settings, work func(ctx context.Context, conn *pgx.Conn) error) error {
	if err := settings.TakeOver(cmd.Flags()); err != nil {
		return err
	}
	conn, _, err := connect(cmd.Context(), settings)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(cmd.Context()))
	return work(cmd.Context(), conn)
}

func signingListCommand() *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Print the signing keys, the current one first",
		Example: "  basalt keys signing list",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return overDatabase(cmd, &settings, func(ctx context.Context, conn *pgx.Conn) error {
				keys, err := auth.ListSigningKeys(ctx, conn)
				if err != nil {
					return err
				}
				table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				for _, key := range keys {
					fmt.Fprintf(table, "%s\t%s\t%s\tsince %s\n", key.ID, key.Algorithm, key.State, key.ChangedAt.UTC().Format("2006-01-02T15:04:05Z"))
				}
				return table.Flush()
			})
		},
	}
	bind(cmd, &settings, "data", "database-url", "postgrest-config")
	return cmd
}

func signingAddCommand() *cobra.Command {
	var settings api.Settings
	var algorithm string
	cmd := &cobra.Command{
		Use:     "add",
		Short:   "Make a standby key and print its id",
		Example: "  basalt keys signing add --algorithm EdDSA",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(token.PairAlgorithms(), algorithm) {
				return usageError{fmt.Errorf("--algorithm %q is none of %s", algorithm, strings.Join(token.PairAlgorithms(), ", "))}
			}
			return overDatabase(cmd, &settings, func(ctx context.Context, conn *pgx.Conn) error {
				keys, err := auth.LoadKeys(ctx, conn, settings.JWTSecret)
				if err != nil {
					return err
				}
				id, err := auth.AddSigningKey(ctx, conn, settings.Vault(conn, keys.Secret), algorithm)
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), id)
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&algorithm, "algorithm", token.PairAlgorithms()[0], strings.Join(token.PairAlgorithms(), ", "))
	bind(cmd, &settings, "data", "database-url", "jwt-secret", "encryption-key", "postgrest-config")
	return cmd
}

func signingPromoteCommand() *cobra.Command {
	var settings api.Settings
	var now bool
	cmd := &cobra.Command{
		Use:     "promote",
		Short:   "Let the standby key sign from now on and print its id",
		Example: "  basalt keys signing promote",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return overDatabase(cmd, &settings, func(ctx context.Context, conn *pgx.Conn) error {
				published := auth.JWKSLife
				if now {
					published = 0
				}
				id, err := auth.PromoteSigningKey(ctx, conn, published)
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), id)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&now, "now", false, "also when the key has not been published for ten minutes: whoever verifies by a copy of the keys refuses its tokens meanwhile")
	bind(cmd, &settings, "data", "database-url", "postgrest-config")
	return cmd
}

func signingRevokeCommand() *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Forget a standby or previous key: what it has signed is refused",
		Example: "  basalt keys signing revoke 2Zc0Yd4wT9…",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("name one key, as `basalt keys signing list` prints it")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return overDatabase(cmd, &settings, func(ctx context.Context, conn *pgx.Conn) error {
				return auth.RevokeSigningKey(ctx, conn, args[0])
			})
		},
	}
	bind(cmd, &settings, "data", "database-url", "postgrest-config")
	return cmd
}
