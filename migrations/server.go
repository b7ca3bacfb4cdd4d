package migrations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// server is what a script needs to know of the PostgreSQL that it runs on.
type server struct {
	version    int
	extensions []string
}

// platformExtensions come with every hosted Supabase project, so that a dump of one
// asks for them, while hardly any schema uses them.
var platformExtensions = [...]string{"pg_graphql", "pg_net", "pg_stat_statements", "pgjwt", "pgsodium", "supabase_vault"}

func readServer(ctx context.Context, conn *pgx.Conn) (server, error) {
	var s server
	err := conn.QueryRow(ctx, `
		select current_setting('server_version_num')::int,
		  array(select name from pg_available_extensions)`).Scan(&s.version, &s.extensions)
	if err != nil {
		return s, fmt.Errorf("read what the server offers: %w", err)
	}
	return s, nil
}

// without answers why a statement of a dump means nothing on this server and is
// left out; empty when it has to run.
func (s server) without(statement Statement) string {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(statement.Text, `"`, "")))
	if len(words) < 3 {
		return ""
	}
	switch {
	case words[0] == "set" && words[1] == "transaction_timeout" && s.version < 170000:
		return "transaction_timeout: a setting of PostgreSQL 17 and newer"
	case words[0] == "create" && words[1] == "extension":
		name := words[2]
		if name == "if" && len(words) > 5 {
			name = words[5]
		}
		if slices.Contains(platformExtensions[:], name) && !slices.Contains(s.extensions, name) {
			return fmt.Sprintf("extension %s: part of the hosted platform, not on this server", name)
		}
	case words[0] == "comment" && words[1] == "on" && words[2] == "extension" && len(words) > 3:
		if slices.Contains(platformExtensions[:], words[3]) && !slices.Contains(s.extensions, words[3]) {
			return fmt.Sprintf("comment on extension %s: part of the hosted platform, not on this server", words[3])
		}
	}
	return ""
}
