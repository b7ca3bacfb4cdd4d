package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// RequestUser is whom the requests of a managed database connect as.
const RequestUser = "basalt_requests"

// requestLogin makes the user and gives it its password. It has no power but to become what authenticator may become,
// and to keep the answers to requests with an Idempotency-Key.
// A password that stands is given anew at each start: it follows from the superuser's, which may have changed.
const requestLogin = `do $$
begin
  create role ` + RequestUser + ` login noinherit;
exception when duplicate_object or unique_violation then
  null; -- made before
end
$$;
alter role ` + RequestUser + `
  login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls
  password '%s';
grant authenticator to ` + RequestUser + `;
grant usage on schema basalt to ` + RequestUser + `;
grant execute on function
  basalt.claim_idempotency_key(bytea, text, bytea, interval),
  basalt.keep_idempotent_answer(bytea, text, integer, text, bytea),
  basalt.idempotent_answer(bytea, text)
to ` + RequestUser + `;`

// RequestLogin makes RequestUser with a password of letters, digits, - and _. The connection must be a superuser's.
//
// Whatever role a request takes, a function that it runs may return to the role of the connection: with that of a
// superuser, whoever may create a function would have the machine.
func RequestLogin(ctx context.Context, conn *pgx.Conn, password string) error {
	if _, err := conn.PgConn().Exec(ctx, fmt.Sprintf(requestLogin, password)).ReadAll(); err != nil {
		return fmt.Errorf("make the user of requests: %w", err)
	}
	return nil
}
