package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/store/console"
)

// PoliciesBody is who may read and write which rows, table by table.
type PoliciesBody struct {
	Tables []PolicyTableBody `json:"tables"`
	// Schemas are those that the API exposes.
	Schemas []string `json:"schemas"`
	// Roles are those that a policy may name.
	Roles []string `json:"roles"`
	// Migrations says that changes can be saved as migrations.
	Migrations bool `json:"migrations"`
	// Truncated says that there are more tables than are listed.
	Truncated bool `json:"truncated"`
}

// PolicyTableBody is a table with its policies.
type PolicyTableBody struct {
	Schema    string `json:"schema"`
	Name      string `json:"name"`
	Owner     string `json:"owner"`
	RLS       bool   `json:"rls"`
	RLSForced bool   `json:"rls_forced"`
	Exposed   bool   `json:"exposed"` // its schema is one of the API's
	// OwnerBypasses says that row level security does not hold for the owner of the database, forced or not.
	OwnerBypasses bool               `json:"owner_bypasses"`
	Columns       []PolicyColumnBody `json:"columns"`
	Grants        []PolicyGrantBody  `json:"grants"`
	Policies      []PolicyBody       `json:"policies"`
}

// PolicyColumnBody is a column as a policy may speak of it.
type PolicyColumnBody struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Generated says that it cannot be written.
	Generated bool `json:"generated"`
}

// PolicyGrantBody is what a role of the API may do with a table as far as grants go.
type PolicyGrantBody struct {
	Role string `json:"role"`
	// Privileges are among select, insert, update and delete.
	Privileges []string `json:"privileges"`
}

const policyRoles = `
select r.rolname::text
from pg_catalog.pg_roles r
where r.rolname !~ '^pg_'
order by r.rolname not in ('anon', 'authenticated', 'service_role'), r.rolname`

const policyTables = `
select
  c.oid,
  n.nspname::text,
  c.relname::text,
  pg_get_userbyid(c.relowner)::text,
  c.relrowsecurity,
  c.relforcerowsecurity,
  n.nspname = any ($1::text[]),
  me.rolsuper or me.rolbypassrls,
  array(
    select jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'generated', a.attgenerated <> '' or a.attidentity = 'a')
    from pg_attribute a
    where a.attrelid = c.oid
      and a.attnum > 0
      and not a.attisdropped
    order by a.attnum
  ),
  array(
    select jsonb_build_object('role', r.rolname, 'privileges', held.names)
    from pg_roles r
    cross join lateral (
      select jsonb_agg(p.name order by p.place) as names
      from unnest(array['select', 'insert', 'update', 'delete']) with ordinality as p (name, place)
      where has_table_privilege(r.oid, c.oid, p.name)
        or (p.name <> 'delete' and has_any_column_privilege(r.oid, c.oid, p.name))
    ) held
    where r.rolname in ('anon', 'authenticated', 'service_role')
      and held.names is not null
    order by r.rolname
  )
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_roles me on me.rolname = current_user
where c.relkind in ('r', 'p')
  and n.nspname !~ '^pg_'
  and n.nspname not in ('information_schema', 'basalt')
order by not n.nspname = any ($1::text[]), n.nspname, c.relname
limit $2`

// policies answers GET /policies.
func (d *Data) policies(c echo.Context) error {
	ctx := c.Request().Context()
	body := PoliciesBody{Tables: []PolicyTableBody{}, Schemas: d.options.Exposed, Migrations: d.options.MigrationsDir != ""}
	session := console.Session{ReadOnly: true, StatementTimeout: catalogTimeout, LockTimeout: catalogLocks}
	err := d.pool.Tx(ctx, session, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(spellNames)
		batch.Queue(policyRoles).Query(func(rows pgx.Rows) (err error) {
			body.Roles, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		if err := body.queueTables(batch); err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, body)
}

// queueTables adds the queries of tables and of their policies to a batch.
func (b *PoliciesBody) queueTables(batch *pgx.Batch) error {
	var (
		oid             uint32
		table           PolicyTableBody
		columns, grants []json.RawMessage
		policy          PolicyBody
	)
	at := map[uint32]int{}
	batch.Queue(policyTables, b.Schemas, mostListedObjects).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{
			&oid, &table.Schema, &table.Name, &table.Owner, &table.RLS, &table.RLSForced, &table.Exposed, &table.OwnerBypasses, &columns, &grants,
		}, func() (err error) {
			added := table
			added.Policies = []PolicyBody{}
			if added.Columns, err = unmarshalEach[PolicyColumnBody](columns); err != nil {
				return err
			}
			if added.Grants, err = unmarshalEach[PolicyGrantBody](grants); err != nil {
				return err
			}
			at[oid], columns, grants = len(b.Tables), nil, nil
			b.Tables = append(b.Tables, added)
			return nil
		})
		b.Truncated = len(b.Tables) == mostListedObjects
		return err
	})
	return eachOf(batch, "policies", nil, []any{
		&oid, &policy.Name, &policy.Command, &policy.Permissive, &policy.Roles, &policy.Using, &policy.Check,
	}, func() {
		if i, listed := at[oid]; listed {
			b.Tables[i].Policies = append(b.Tables[i].Policies, policy)
		}
		policy.Roles = nil
	})
}

func unmarshalEach[T any](texts []json.RawMessage) ([]T, error) {
	values := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &values[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// PolicyCheckBody asks whether PostgreSQL would take statements.
type PolicyCheckBody struct {
	Statements []string `json:"statements"`
}

// PolicyCheckedBody says that it would.
type PolicyCheckedBody struct {
	DurationMS float64 `json:"duration_ms"`
}

// errUndone ends a transaction whose work is not to be kept.
var errUndone = errors.New("undone")

// checkPolicies answers POST /policies/check: the statements are run in a transaction that is rolled back, so the table is
// locked for the blink of an eye.
func (d *Data) checkPolicies(c echo.Context) error {
	var body PolicyCheckBody
	if err := decode(c, &body); err != nil {
		return err
	}
	if err := d.checkDDL(&DDLBody{Statements: body.Statements}); err != nil {
		return err
	}
	ctx, began := c.Request().Context(), time.Now()
	session := console.Session{StatementTimeout: probeTimeout, LockTimeout: probeLocks}
	err := d.pool.Tx(ctx, session, func(tx pgx.Tx) error {
		for i, statement := range body.Statements {
			if err := runDDL(ctx, tx.Conn(), statement); err != nil {
				return about(i, withLockHint(err))
			}
		}
		return errUndone
	})
	if !errors.Is(err, errUndone) {
		return err
	}
	return c.JSON(http.StatusOK, PolicyCheckedBody{milliseconds(time.Since(began))})
}

// PolicyClaimsBody is what the tokens of a user say.
type PolicyClaimsBody struct {
	Role   string          `json:"role"`
	Claims json.RawMessage `json:"claims" tstype:"{ [claim: string]: unknown }"`
}

// policyClaims answers GET /policies/claims?role=&user=.
func (d *Data) policyClaims(c echo.Context) error {
	as, err := d.view(c, c.QueryParam("role"), c.QueryParam("user"))
	if err != nil {
		return err
	}
	if as.role == "" {
		return refusedf(http.StatusBadRequest, "bad_parameter", "A role or a user is wanted")
	}
	return c.JSON(http.StatusOK, PolicyClaimsBody{as.role, json.RawMessage(as.claims)})
}
