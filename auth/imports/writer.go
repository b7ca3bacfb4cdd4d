package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// insertAccounts leaves out what is there already: by its id, its address or its number. The empty texts among the
	// values are what Supabase's own server expects to find.
	insertAccounts = `
insert into auth.users (
    instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, invited_at, confirmation_token,
    recovery_token, email_change_token_new, email_change, last_sign_in_at, raw_app_meta_data, raw_user_meta_data,
    created_at, updated_at, phone, phone_confirmed_at, banned_until, is_sso_user, is_anonymous
)
select instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, invited_at, confirmation_token,
    recovery_token, email_change_token_new, email_change, last_sign_in_at, raw_app_meta_data, raw_user_meta_data,
    created_at, updated_at, phone, phone_confirmed_at, banned_until, is_sso_user, is_anonymous
from jsonb_populate_recordset(null::auth.users, $1)
on conflict do nothing
returning id`

	// whatIsThere tells of accounts that were left out whether they had been imported before.
	whatIsThere = `
select id
from auth.users
where id = any($1)`

	// noteImported takes down whose identities and factors may come with them: those of accounts that were added, now or by
	// an import that was broken off, and that nobody has used since. What somebody has taken away from theirs does not come
	// back, and nothing is added to an account of another origin.
	noteImported = `
insert into pg_temp.basalt_imported (id)
select u.id
from jsonb_populate_recordset(null::auth.users, $1) as new
join auth.users u on u.id = new.id
where u.id = any($2)
or (
    u.updated_at = new.updated_at
    and u.email is not distinct from new.email
    and u.phone is not distinct from new.phone
)
on conflict do nothing`

	makeNote = `
create temporary table if not exists basalt_imported (id uuid primary key)`

	clearNote = `
truncate pg_temp.basalt_imported`

	insertIdentities = `
insert into auth.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
select coalesce(id, gen_random_uuid()), provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at
from jsonb_populate_recordset(null::auth.identities, $1) as new
where exists (
    select
    from pg_temp.basalt_imported i
    where i.id = new.user_id
)
on conflict do nothing
returning provider, provider_id`

	insertFactors = `
insert into auth.mfa_factors (
    id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone, last_challenged_at,
    web_authn_credential, web_authn_aaguid
)
select id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone, last_challenged_at,
    web_authn_credential, web_authn_aaguid
from jsonb_populate_recordset(null::auth.mfa_factors, $1) as new
where exists (
    select
    from pg_temp.basalt_imported i
    where i.id = new.user_id
)
on conflict do nothing
returning id::text, ''`
)

// batchSize is how many rows are written in one transaction.
const batchSize = 500

// beginner starts transactions: a connection, or a transaction, in which they are savepoints.
type beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// writer writes rows in batches. A batch that PostgreSQL refuses is halved until the row is found that is to blame.
type writer struct {
	db      beginner
	pending []row
	report  *Report
	refused func(Refusal)
}

func (w *writer) refuse(r row, reason string) {
	w.report.Refused++
	w.refused(Refusal{Place: r.place, Reason: reason})
}

// add takes a row. Rows of different tables are never in one batch.
func (w *writer) add(ctx context.Context, r row) error {
	if len(w.pending) > 0 && w.pending[0].table != r.table {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.pending = append(w.pending, r)
	if len(w.pending) < batchSize {
		return nil
	}
	return w.flush(ctx)
}

func (w *writer) flush(ctx context.Context) error {
	if len(w.pending) == 0 {
		return nil
	}
	rows := w.pending
	w.pending = w.pending[:0]
	return w.write(ctx, rows)
}

func (w *writer) write(ctx context.Context, rows []row) error {
	err := w.attempt(ctx, rows)
	var refusal *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refusal) || !isRows(refusal):
		return fmt.Errorf("write accounts: %w", err)
	case len(rows) == 1:
		w.refuse(rows[0], refusal.Message)
		return nil
	}
	half := len(rows) / 2
	if err := w.write(ctx, rows[:half]); err != nil {
		return err
	}
	return w.write(ctx, rows[half:])
}

// isRows tells whether a row may be to blame: for what its values are, for a constraint, or for what a trigger says. The
// other errors are of the connection, of rights, of resources.
func isRows(refusal *pgconn.PgError) bool {
	for _, class := range []string{"08", "25", "28", "3D", "40", "42", "53", "55", "57", "58", "XX"} {
		if strings.HasPrefix(refusal.Code, class) {
			return false
		}
	}
	return true
}

// attempt writes rows in one transaction. What is counted and told of them is so only once it has committed.
func (w *writer) attempt(ctx context.Context, rows []row) error {
	tx, err := w.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }() // after the commit there is nothing to roll back
	var tell func()
	if rows[0].account != nil {
		tell, err = w.accounts(ctx, tx, rows)
	} else {
		tell, err = w.details(ctx, tx, rows)
	}
	if err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	tell()
	return nil
}

func (w *writer) accounts(ctx context.Context, tx pgx.Tx, rows []row) (tell func(), err error) {
	accounts := make([]*Account, len(rows))
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		accounts[i], ids[i] = r.account, r.account.ID
	}
	text, err := json.Marshal(accounts)
	if err != nil {
		return nil, err
	}
	added, err := identifiers(ctx, tx, insertAccounts, string(text))
	if err != nil {
		return nil, err
	}
	if _, err := tx.Exec(ctx, noteImported, string(text), slices.Collect(maps.Keys(added))); err != nil {
		return nil, err
	}
	before := map[uuid.UUID]bool{}
	if len(added) < len(rows) {
		if before, err = identifiers(ctx, tx, whatIsThere, ids); err != nil {
			return nil, err
		}
	}
	lost, err := w.identities(ctx, tx, rows, added)
	if err != nil {
		return nil, err
	}
	return func() {
		for _, r := range rows {
			switch id := r.account.ID; {
			case added[id]:
				w.report.Imported++
				delete(added, id) // the same account again in the batch was left out
			case before[id]:
				w.report.Skipped++
			default:
				w.refuse(r, "its e-mail address or phone number belongs to another account")
			}
		}
		for _, l := range lost {
			w.refuse(l, "the account is there, but this identity belongs to another one")
		}
	}, nil
}

// identifiers runs a statement with one parameter that gives ids.
func identifiers(ctx context.Context, tx pgx.Tx, statement string, parameter any) (map[uuid.UUID]bool, error) {
	found, err := tx.Query(ctx, statement, parameter)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(found, pgx.RowTo[[16]byte])
	if err != nil {
		return nil, err
	}
	all := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	return all, nil
}

// identities writes those of accounts that were added, and gives those that belong to others already.
func (w *writer) identities(ctx context.Context, tx pgx.Tx, rows []row, added map[uuid.UUID]bool) (lost []row, err error) {
	var identities []Identity
	var owners []row
	for _, r := range rows {
		if !added[r.account.ID] {
			continue
		}
		for _, identity := range r.account.Identities {
			identities = append(identities, identity)
			owners = append(owners, row{place: fmt.Sprintf("%s, %s %s", r.place, identity.Provider, identity.ProviderID)})
		}
	}
	if len(identities) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(identities)
	if err != nil {
		return nil, err
	}
	written, err := pairs(ctx, tx, insertIdentities, string(text))
	if err != nil {
		return nil, err
	}
	for i, identity := range identities {
		if !written[[2]string{identity.Provider, identity.ProviderID}] {
			lost = append(lost, owners[i])
		}
	}
	return lost, nil
}

func pairs(ctx context.Context, tx pgx.Tx, statement, parameter string) (map[[2]string]bool, error) {
	found, err := tx.Query(ctx, statement, parameter)
	if err != nil {
		return nil, err
	}
	all := map[[2]string]bool{}
	var first, second string
	_, err = pgx.ForEachRow(found, []any{&first, &second}, func() error {
		all[[2]string{first, second}] = true
		return nil
	})
	return all, err
}

// details writes rows of the tables beside auth.users. Those whose account was not imported, or is in use, are left out.
func (w *writer) details(ctx context.Context, tx pgx.Tx, rows []row) (tell func(), err error) {
	values := make([]json.RawMessage, len(rows))
	for i, r := range rows {
		values[i] = r.values
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	statement := insertIdentities
	if rows[0].table == factorTable {
		statement = insertFactors
	}
	written, err := pairs(ctx, tx, statement, string(text))
	if err != nil {
		return nil, err
	}
	return func() {
		if rows[0].table == factorTable {
			w.report.Factors += len(written)
		} else {
			w.report.Identities += len(written)
		}
	}, nil
}
