package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"basalt/api"
	"basalt/auth"
	"basalt/auth/administrator"
	"basalt/auth/password"
)

func adminCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Make, list and delete administrators of the dashboard",
		Example: "  basalt admin create --email ada@example.com\n  basalt admin list\n" +
			"  basalt admin reset-password --email ada@example.com",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(adminCreate(), adminList(), adminResetPassword(), adminDelete())
	return cmd
}

// adminFlags are the flags of `admin`.
type adminFlags struct {
	email, role   string
	passwordStdin bool
	removeFactors bool
}

// check refuses what the command line alone says to be wrong.
func (f *adminFlags) check() error {
	if f.email == "" {
		return usageError{errors.New("--email is needed, such as --email ada@example.com")}
	}
	return nil
}

// administrators makes a command that works with the administrators of a database.
func administrators(use, short string, check func() error, run func(cmd *cobra.Command, rules *administrator.Service) error) *cobra.Command {
	var settings api.Settings
	cmd := &cobra.Command{Use: use, Short: short, Args: noArguments}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := check(); err != nil {
			return err
		}
		return overDatabase(cmd, &settings, func(ctx context.Context, conn *pgx.Conn) error {
			if err := knowsAdministrators(ctx, conn); err != nil {
				return err
			}
			err := run(cmd, administrator.New(conn, administrator.Options{Policy: settings.PasswordPolicy()}))
			var refusal *administrator.Error
			if errors.As(err, &refusal) && refusal.Hint != "" {
				return fmt.Errorf("%s: %s", refusal.Message, refusal.Hint)
			}
			if errors.As(err, &refusal) {
				return errors.New(refusal.Message)
			}
			return err
		})
	}
	bind(cmd, &settings, "data", "database-url", "postgrest-config", "password-min-length", "password-characters")
	return cmd
}

// knowsAdministrators refuses a database that an older version has prepared.
func knowsAdministrators(ctx context.Context, conn *pgx.Conn) error {
	var there bool
	if err := conn.QueryRow(ctx, `select to_regclass('basalt.administrators') is not null`).Scan(&there); err != nil {
		return err
	}
	if !there {
		return errors.New("the database has not seen this version of Basalt yet: start `basalt serve` on it once")
	}
	return nil
}

func adminCreate() *cobra.Command {
	var flags adminFlags
	cmd := administrators("create --email E [--role R] [--password-stdin]", "Make an administrator of the dashboard", flags.check,
		func(cmd *cobra.Command, rules *administrator.Service) error {
			secret, err := flags.password(cmd)
			if err != nil {
				return err
			}
			a, err := rules.Create(cmd.Context(), administrator.Shell(), flags.email, administrator.Role(flags.role), secret)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "%s is %s\n", a.Email, a.Role)
			}
			return err
		})
	cmd.Example = "  basalt admin create --email ada@example.com\n" +
		"  pwgen 20 1 | basalt admin create --email ada@example.com --role editor --password-stdin"
	flags.bind(cmd)
	cmd.Flags().StringVar(&flags.role, "role", string(administrator.Owner), "owner, editor or viewer")
	return cmd
}

func adminResetPassword() *cobra.Command {
	var flags adminFlags
	cmd := administrators("reset-password --email E [--remove-factors] [--password-stdin]",
		"Set the password of an administrator and end their sessions", flags.check,
		func(cmd *cobra.Command, rules *administrator.Service) error {
			a, err := rules.ByEmail(cmd.Context(), flags.email)
			if err != nil {
				return err
			}
			secret, err := flags.password(cmd)
			if err != nil {
				return err
			}
			if err := rules.ResetPassword(cmd.Context(), administrator.Shell(), a.ID, secret); err != nil {
				return err
			}
			if flags.removeFactors {
				if err := rules.RemoveFactors(cmd.Context(), administrator.Shell(), a.ID, uuid.Nil); err != nil {
					return err
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s has a new password\n", a.Email)
			return nil
		})
	flags.bind(cmd)
	cmd.Flags().BoolVar(&flags.removeFactors, "remove-factors", false, "take away the authenticator app and the passkeys too, which are lost")
	return cmd
}

func adminDelete() *cobra.Command {
	var flags adminFlags
	cmd := administrators("delete --email E", "Delete an administrator and end their sessions", flags.check,
		func(cmd *cobra.Command, rules *administrator.Service) error {
			a, err := rules.ByEmail(cmd.Context(), flags.email)
			if err != nil {
				return err
			}
			if err := rules.Delete(cmd.Context(), administrator.Shell(), a.ID); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is deleted\n", a.Email)
			return nil
		})
	cmd.Flags().StringVar(&flags.email, "email", "", "address of the administrator")
	return cmd
}

func adminList() *cobra.Command {
	return administrators("list", "List the administrators of the dashboard", func() error { return nil },
		func(cmd *cobra.Command, rules *administrator.Service) error {
			list, err := rules.List(cmd.Context())
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, a := range list {
				last := "never signed in"
				switch {
				case !a.Joined:
					last = "invited"
				case a.LastSignInAt != nil:
					last = a.LastSignInAt.UTC().Format(time.RFC3339)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", a.Email, a.Role, last)
			}
			return w.Flush()
		})
}

// bind declares the flags of commands that set a password.
func (f *adminFlags) bind(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.email, "email", "", "address that the administrator signs in with")
	cmd.Flags().BoolVar(&f.passwordStdin, "password-stdin", false, "read the password from standard input, to its end or the end of its line")
}

// password reads a new password: from standard input, or twice from the terminal, where it is not shown.
func (f *adminFlags) password(cmd *cobra.Command) (auth.Secret, error) {
	if f.passwordStdin {
		text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), password.MaxBytes+2))
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		return auth.Secret(strings.TrimSuffix(line, "\r")), nil
	}
	terminal := int(os.Stdin.Fd())
	if !term.IsTerminal(terminal) {
		return "", usageError{errors.New("there is no terminal to ask for the password at: give it with --password-stdin")}
	}
	var typed [2][]byte
	for i, prompt := range []string{"Password: ", "Once more: "} {
		fmt.Fprint(cmd.ErrOrStderr(), prompt)
		var err error
		typed[i], err = term.ReadPassword(terminal)
		fmt.Fprintln(cmd.ErrOrStderr())
		if err != nil {
			return "", fmt.Errorf("read the password: %w", err)
		}
	}
	if string(typed[0]) != string(typed[1]) {
		return "", errors.New("the two are not the same")
	}
	return auth.Secret(typed[0]), nil
}
