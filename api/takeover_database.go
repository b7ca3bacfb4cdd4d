package api

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"basalt/query/sql"
)

// databaseKeys are the pgrst.* settings of the roles that PostgREST would connect as: those of this database win over
// those of all, and those of the role that we connect as over authenticator's.
const databaseKeys = `
select distinct on (key)
  key,
  value
from (
  select
    split_part(entry, '=', 1) as key,
    substr(entry, strpos(entry, '=') + 1) as value,
    r.rolname = current_user as own,
    s.setdatabase
  from pg_db_role_setting s
  join pg_roles r on r.oid = s.setrole
  cross join unnest(s.setconfig) as _ (entry)
  where r.rolname in (current_user, 'authenticator')
    and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
) _
where key like 'pgrst.%'
order by
  key,
  own desc,
  setdatabase desc`

// preConfigKeys are the settings that a function has made in the transaction.
const preConfigKeys = `
select
  name,
  current_setting(name, true)
from unnest($1::text[]) as _ (name)
where current_setting(name, true) <> ''`

// inDatabasePrefix stands before the names of PostgREST's settings in the database.
const inDatabasePrefix = "pgrst."

// TakeOverDatabase takes over what PostgREST would find in the database, above the file's settings. Without a file it
// does nothing.
func (s *Settings) TakeOverDatabase(ctx context.Context, url string, log zerolog.Logger) error {
	if s.Taken == nil || !s.Taken.inDatabase {
		return nil
	}
	conn, err := connect(ctx, url, log)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	found := map[string]string{}
	// What the roles say about the function itself comes first, and above what it says.
	if err := collect(ctx, conn, found, databaseKeys); err != nil {
		return fmt.Errorf("read PostgREST's settings in the database: %w", err)
	}
	function := s.Taken.preConfig
	if name, ok := found[inDatabasePrefix+"db_pre_config"]; ok {
		function = name
	}
	if function != "" {
		if err := s.callPreConfig(ctx, conn, found, function); err != nil {
			return s.refuseFile(fmt.Sprintf("db-pre-config: %s: %v", function, err))
		}
	}
	return s.takeOverKeys(found, log)
}

// callPreConfig runs the function that makes settings, and adds those that are not there.
func (s *Settings) callPreConfig(ctx context.Context, conn *pgx.Conn, found map[string]string, function string) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	if _, err := tx.Exec(ctx, sql.CompileBefore(functionName(function)).SQL); err != nil {
		return err
	}
	var names []string
	for _, key := range takenKeys() {
		if key.inDatabase {
			names = append(names, inDatabasePrefix+strings.ReplaceAll(key.name, "-", "_"))
		}
	}
	made := map[string]string{}
	if err := collect(ctx, tx, made, preConfigKeys, names); err != nil {
		return err
	}
	for name, value := range made {
		if _, there := found[name]; !there {
			found[name] = value
		}
	}
	return nil
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func collect(ctx context.Context, from querier, into map[string]string, query string, args ...any) error {
	rows, err := from.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	var name, value string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		into[name] = value
		return nil
	})
	return err
}

// takeOverKeys puts settings of the database in place.
func (s *Settings) takeOverKeys(found map[string]string, log zerolog.Logger) error {
	t := taking{settings: s, taken: s.Taken, values: map[string]string{}, places: map[string]string{}}
	told := len(s.Taken.Notes)
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		place := name + " of the database"
		key := takenKeyNamed(strings.ReplaceAll(strings.TrimPrefix(name, inDatabasePrefix), "_", "-"))
		if key == nil || !key.inDatabase {
			s.Taken.Notes = append(s.Taken.Notes, name+" has no effect: PostgREST has no such setting")
			continue
		}
		if err := t.read(key.name, found[name], place); err != nil {
			return s.refuseFile(place + ": " + err.Error())
		}
	}
	for _, note := range s.Taken.Notes[told:] {
		log.Warn().Msg(note)
	}
	if err := t.apply(false); err != nil {
		return s.refuseFile(err.Error())
	}
	return s.checkTaken()
}
