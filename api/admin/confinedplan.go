package admin

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// planFunction makes the plan of a statement as who has created it. PostgreSQL changes neither role nor session
	// authorization inside of a security-definer function. A cursor takes one statement alone.
	planFunction = `
create function pg_temp.` + planSignature + `
returns setof text
language plpgsql
security definer
as $$
declare
  line text;
begin
  for line in execute $1 loop
    return next line;
  end loop;
end
$$`

	planSignature = `basalt_plan(text)`
)

// confine gives the query that makes a plan with no way back to the owner, as whom the session has begun: functions that
// are not volatile are carried out while their calls are planned, and may carry out what is given to them. The transaction
// must be able to write, and cannot any more behind this.
func confine(ctx context.Context, tx pgx.Tx, explain string) (string, error) {
	conn := tx.Conn().PgConn()
	if err := conn.Exec(ctx, planFunction+`; set transaction read only`).Close(); err != nil { // in one flight
		return "", err
	}
	text, err := conn.EscapeString(explain)
	return `select pg_temp.basalt_plan('` + text + `')`, err
}

// unconfined gives the error of a confined plan as if its text had been sent by itself.
func unconfined(err error, explain string) error {
	database, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return err
	}
	said := *database
	if said.InternalQuery == explain {
		said.Position, said.InternalPosition, said.InternalQuery = said.InternalPosition, 0, ""
	}
	// Its lines are in the language of the server: what is named in them is not.
	said.Where = before(before(said.Where, planSignature), explain)
	return &said
}

// before gives the lines of a text before the last one in which something begins.
func before(text, something string) string {
	at := strings.LastIndex(text, something)
	if at < 0 {
		return text
	}
	return text[:max(0, strings.LastIndexByte(text[:at], '\n'))]
}
