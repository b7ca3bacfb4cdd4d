package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"basalt/api"
	"basalt/migrations"
)

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
