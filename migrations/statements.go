package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// countStatements makes the view of what PostgreSQL counts of statements anyway, once it has loaded the library. The
// extension lets everybody read it, and the API roles enter its schema: of their statements they would see those of all
// users.
const countStatements = `do $$
begin
  if current_setting('pg_stat_statements.max', true) is null
  or exists (select from pg_extension where extname = 'pg_stat_statements') then
    return;
  end if;
  create extension pg_stat_statements with schema extensions;
  revoke all on extensions.pg_stat_statements, extensions.pg_stat_statements_info from public;
  revoke all on function extensions.pg_stat_statements(boolean), extensions.pg_stat_statements_info() from public;
end
$$`

// CountStatements makes the extension pg_stat_statements where its library is loaded. The connection must be a superuser's.
//
// It does so at each start and not only at the first: clusters of earlier versions have none, and whoever wants nothing
// counted does not get that by dropping the extension, but by a shared_preload_libraries of their own, which this heeds.
func CountStatements(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, countStatements); err != nil {
		return fmt.Errorf("make the extension pg_stat_statements: %w", err)
	}
	return nil
}
