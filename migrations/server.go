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
	// roles are those that the connecting user may become, and so give objects to.
	roles []string
}

// platformExtensions come with every hosted Supabase project, so that a dump of one
// asks for them, while hardly any schema uses them.
var platformExtensions = [...]string{"pg_graphql", "pg_net", "pg_stat_statements", "pgjwt", "pgsodium", "supabase_vault"}

func readServer(ctx context.Context, conn *pgx.Conn) (server, error) {
	var s server
	err := conn.QueryRow(ctx, `
		select current_setting('server_version_num')::int,
		  array(select name from pg_available_extensions),
		  array(
		    select rolname
		    from pg_roles
		    where pg_has_role(oid, case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)
		  )`).Scan(&s.version, &s.extensions, &s.roles)
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
	switch words[0] + " " + words[1] {
	case "set transaction_timeout":
		if s.version < 170000 {
			return "transaction_timeout: a setting of PostgreSQL 17 and newer"
		}
	case "create extension":
		name := words[2]
		if name == "if" && len(words) > 5 {
			name = words[5]
		}
		if s.lacks(name) {
			return fmt.Sprintf("extension %s: part of the hosted platform, not on this server", name)
		}
	case "comment on":
		if words[2] == "extension" && len(words) > 3 && s.lacks(words[3]) {
			return fmt.Sprintf("comment on extension %s: not on this server", words[3])
		}
	}
	if owner := namedOwner(words); slices.Contains(dumpRoles[:], owner) && !slices.Contains(s.roles, owner) {
		return fmt.Sprintf("%q: the connecting user cannot act for %s and remains the owner", strings.Join(words, " "), owner)
	}
	return ""
}

// lacks tells an extension that a dump asks for only because every project has it.
func (s server) lacks(extension string) bool {
	return slices.Contains(platformExtensions[:], extension) && !slices.Contains(s.extensions, extension)
}

// namedOwner returns the role that a statement of a dump makes an owner, or that it
// sets default privileges for.
func namedOwner(words []string) string {
	n := len(words)
	switch {
	case words[0] != "alter" || n < 6:
		return ""
	case words[n-3] == "owner" && words[n-2] == "to":
		return words[n-1]
	case words[1] == "default" && words[2] == "privileges" && words[3] == "for" && words[4] == "role":
		return words[5]
	}
	return ""
}
