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

	// genericPlanFunction makes the plan of a statement for any values of its parameters. PostgreSQL 16 has a word for that;
	// this way is one for all versions, and takes nothing but what can be prepared. Names without a schema are looked for
	// where apps have them.
	genericPlanFunction = `
create function pg_temp.basalt_generic_plan(text)
returns text
language plpgsql
security definer
set plan_cache_mode = force_generic_plan
set search_path = "$user", public, extensions
as $$
declare
  nulls text;
  plan text;
begin
  execute 'prepare basalt_planned as ' || $1;
  select '(' || string_agg('null', ', ') || ')'
  into nulls
  from pg_catalog.pg_prepared_statements p
  cross join unnest(p.parameter_types)
  where p.name = 'basalt_planned';
  execute 'explain (format json, verbose) execute basalt_planned' || coalesce(nulls, '') into plan;
  deallocate basalt_planned;
  return plan;
end
$$`

	// mostPlan is the most bytes of a plan that are read.
	mostPlan = 4 << 20
)

// genericPlan gives the plan of a statement, made as a role with no way back to the owner of the session, who must be
// able to become it. It is null when it is too large. The session must not be used by others after this: what the planner
// has carried out may have prepared statements in it. Its settings are as before.
func genericPlan(ctx context.Context, conn *pgx.Conn, role, statement string) (plan []byte, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadWrite}) // until the function is made
	if err != nil {
		return nil, err
	}
	defer func() {
		if ended := tx.Rollback(ctx); err == nil {
			err = ended
		}
	}()
	as := `set local role ` + pgx.Identifier{role}.Sanitize() + `;` + genericPlanFunction + `; reset role; set transaction read only`
	if err := conn.PgConn().Exec(ctx, as).Close(); err != nil {
		return nil, err
	}
	err = tx.QueryRow(ctx, `
select case when pg_catalog.octet_length(plan) <= $2 then plan end
from pg_temp.basalt_generic_plan($1) plan`, statement, mostPlan).Scan(&plan)
	return plan, err
}

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
