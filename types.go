package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"basalt/api"
	"basalt/query/catalog"
	"basalt/query/typescript"
	"basalt/store"
	"basalt/store/managed"
)

// languages are those that types can be written in.
func languages() map[string]func(*catalog.Catalog) string {
	return map[string]func(*catalog.Catalog) string{"ts": typescript.Generate}
}

func typesCommand() *cobra.Command {
	var settings api.Settings
	var language string
	var schemas []string
	cmd := &cobra.Command{
		Use:     "types",
		Short:   "Print the client types of the exposed schemas",
		Example: "  basalt types --lang ts > database.types.ts\n  basalt types --lang ts --schema public --schema shop",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, ok := languages()[language]
			if !ok {
				return usageError{fmt.Errorf("there are no types in the language %q, only in: %s", language, strings.Join(languageNames(), ", "))}
			}
			if err := settings.TakeOver(cmd.Flags()); err != nil {
				return err
			}
			c, err := readCatalog(cmd.Context(), &settings, schemas, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), write(c))
			return err
		},
	}
	cmd.Flags().StringVar(&language, "lang", "ts", "language of the types: "+strings.Join(languageNames(), ", "))
	cmd.Flags().StringArrayVar(&schemas, "schema", nil, "schema to print, several times for several; without it those that a server with the same settings exposes")
	bind(cmd, &settings, "data", "database-url", "postgrest-config")
	return cmd
}

func languageNames() []string {
	var names []string
	for name := range languages() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// stopPatience is how long a PostgreSQL that was started for one command may take to stop.
const stopPatience = 30 * time.Second

// readCatalog reads what schemas of the database that the settings point at offer, without any those that are exposed. A
// managed PostgreSQL that does not
// run is started for as long as that takes.
func readCatalog(ctx context.Context, settings *api.Settings, schemas []string, progress io.Writer) (c *catalog.Catalog, err error) {
	if err := settings.CheckDatabaseURL(); err != nil {
		return nil, err
	}
	server, err := startAside(ctx, settings, progress)
	if err != nil {
		return nil, err
	}
	if server != nil {
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
			defer cancel()
			err = errors.Join(err, server.Stop(ctx))
		}()
	}
	conn, _, err := connect(ctx, settings)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if len(schemas) == 0 {
		schemas = settings.Schemas
	}
	return loadCatalog(ctx, conn, schemas)
}

// startAside starts the managed PostgreSQL if it is the one to read and does not run, nil otherwise.
func startAside(ctx context.Context, settings *api.Settings, progress io.Writer) (*managed.Server, error) {
	if settings.DatabaseURL != "" {
		return nil, nil
	}
	_, running, err := managed.AttachURL(settings.Data)
	if err != nil || running {
		return nil, err
	}
	exists, err := managed.Exists(settings.Data)
	if err != nil || !exists {
		return nil, err
	}
	return managed.Start(ctx, managed.Options{DataDir: settings.Data, Log: zerolog.Nop(), Progress: progress})
}

// loadCatalog reads what schemas offer. One that does not exist is refused: it would look like an empty one.
func loadCatalog(ctx context.Context, conn *pgx.Conn, schemas []string) (*catalog.Catalog, error) {
	var missing []string
	err := conn.QueryRow(ctx, `
select coalesce(array_agg(wanted), '{}')
from unnest($1::text[]) wanted
where not exists (
  select
  from pg_namespace n
  where n.nspname = wanted
)`, schemas).Scan(&missing)
	if err != nil {
		return nil, fmt.Errorf("look for the schemas: %w", err)
	}
	if len(missing) > 0 {
		return nil, errors.New("the database has no schema " + strings.Join(missing, ", "))
	}
	return store.LoadCatalog(ctx, conn.PgConn(), store.CatalogOptions{Schemas: schemas}, 1)
}
