package admin

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/store/console"
)

//go:embed catalog_sql/*.sql
var catalogSQL embed.FS

const (
	// mostListedObjects bounds the relations and the functions of a catalog, each.
	mostListedObjects = 20_000
	// catalogTimeout bounds each query of it, lockPatience each wait for who alters a view.
	catalogTimeout = 20 * time.Second
	catalogLocks   = 2 * time.Second
)

// CatalogBody is all that is defined in the database, of the system's own schemas excepted.
type CatalogBody struct {
	Schemas    []SchemaBody    `json:"schemas"`
	Relations  []*RelationBody `json:"relations"`
	Enums      []EnumBody      `json:"enums"`
	Functions  []FunctionBody  `json:"functions"`
	Roles      []RoleBody      `json:"roles"`
	Extensions []ExtensionBody `json:"extensions"`
	// Migrations tells whether changes of the structure can be saved as migrations.
	Migrations bool `json:"migrations"`
	// Truncated says that there are more relations or functions than are listed.
	Truncated bool `json:"truncated"`
}

// SchemaBody is a schema.
type SchemaBody struct {
	Name    string `json:"name"`
	Comment string `json:"comment"`
	Owner   string `json:"owner"`
}

// RelationBody is a table, view, materialized view or foreign table.
type RelationBody struct {
	OID       uint32 `json:"oid"`
	Schema    string `json:"schema"`
	Name      string `json:"name"`
	Kind      string `json:"kind"` // table, partitioned_table, view, materialized_view, foreign_table
	Comment   string `json:"comment"`
	RLS       bool   `json:"rls"`
	RLSForced bool   `json:"rls_forced"`
	// EstimatedRows are what PostgreSQL believes, null when it has no idea.
	EstimatedRows *int64 `json:"estimated_rows"`
	// Bytes are of the table with its indexes at the last vacuum or analyze.
	Bytes int64  `json:"bytes"`
	Owner string `json:"owner"`
	// PartitionOf is the table that this is a partition of, "" for none.
	PartitionOf string `json:"partition_of"`
	// ViewDefinition is the query of a view, null for tables.
	ViewDefinition  *string `json:"view_definition"`
	SecurityInvoker bool    `json:"security_invoker"` // of a view: whose rights count
	Insertable      bool    `json:"insertable"`
	Updatable       bool    `json:"updatable"`
	Deletable       bool    `json:"deletable"`
	// Readers are those of anon, authenticated and service_role that may read all of its columns. Viewers read as one of them.
	Readers []string `json:"readers"`

	PrimaryKey  []string         `json:"primary_key"`
	Columns     []ColumnBody     `json:"columns"`
	ForeignKeys []ForeignKeyBody `json:"foreign_keys"`
	Uniques     []ConstraintBody `json:"uniques"`
	Checks      []ConstraintBody `json:"checks"`
	Exclusions  []ConstraintBody `json:"exclusions"`
	Indexes     []IndexBody      `json:"indexes"`
	Triggers    []TriggerBody    `json:"triggers"`
	Policies    []PolicyBody     `json:"policies"`
}

// ColumnBody is a column. Type is as SQL spells it with its modifier.
type ColumnBody struct {
	Name     string `json:"name"`
	Position int    `json:"position"`
	Type     string `json:"type"`
	TypeKind string `json:"type_kind"` // base, enum, array, domain, range, composite
	// Element is the type of an array's elements, or what a domain is made of.
	Element    *string  `json:"element"`
	EnumValues []string `json:"enum_values"`
	NotNull    bool     `json:"not_null"`
	Default    *string  `json:"default"`
	Identity   string   `json:"identity"` // always, by default, or ""
	// Generated is the expression of a generated column.
	Generated *string `json:"generated"`
	Comment   string  `json:"comment"`
}

// ForeignKeyBody is a foreign key.
type ForeignKeyBody struct {
	Name       string   `json:"name"`
	Definition string   `json:"definition"`
	Columns    []string `json:"columns"`
	RefSchema  string   `json:"ref_schema"`
	RefTable   string   `json:"ref_table"`
	RefColumns []string `json:"ref_columns"`
	OnUpdate   string   `json:"on_update"`
	OnDelete   string   `json:"on_delete"`
	Valid      bool     `json:"valid"`
	Deferrable bool     `json:"deferrable"`
}

// ConstraintBody is a unique, check or exclusion constraint.
type ConstraintBody struct {
	Name       string   `json:"name"`
	Definition string   `json:"definition"`
	Columns    []string `json:"columns"`
	Valid      bool     `json:"valid"`
}

// IndexBody is an index. Scans are counted since the statistics were reset.
type IndexBody struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
	Unique     bool   `json:"unique"`
	Primary    bool   `json:"primary"`
	Valid      bool   `json:"valid"`
	Bytes      int64  `json:"bytes"`
	Scans      int64  `json:"scans"`
}

// TriggerBody is a trigger.
type TriggerBody struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
	Enabled    bool   `json:"enabled"`
}

// PolicyBody is a policy of row level security.
type PolicyBody struct {
	Name       string   `json:"name"`
	Command    string   `json:"command"` // select, insert, update, delete, all
	Permissive bool     `json:"permissive"`
	Roles      []string `json:"roles"`
	Using      *string  `json:"using"`
	Check      *string  `json:"check"`
}

// EnumBody is an enum type.
type EnumBody struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Comment string   `json:"comment"`
	Values  []string `json:"values"`
}

// FunctionBody is a function, procedure or aggregate.
type FunctionBody struct {
	Schema            string `json:"schema"`
	Name              string `json:"name"`
	Arguments         string `json:"arguments"`
	IdentityArguments string `json:"identity_arguments"` // as DROP FUNCTION wants them
	Returns           string `json:"returns"`
	Language          string `json:"language"`
	SecurityDefiner   bool   `json:"security_definer"`
	Volatility        string `json:"volatility"`
	Definition        string `json:"definition"`
	Kind              string `json:"kind"` // function, procedure, aggregate, window
	Comment           string `json:"comment"`
}

// RoleBody is a role of PostgreSQL.
type RoleBody struct {
	Name      string `json:"name"`
	Login     bool   `json:"login"`
	Superuser bool   `json:"superuser"`
	BypassRLS bool   `json:"bypass_rls"`
	Owner     bool   `json:"owner"`  // the role that the dashboard acts as
	Usable    bool   `json:"usable"` // it can be viewed as
}

// ExtensionBody is an extension that is installed.
type ExtensionBody struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Schema  string `json:"schema"`
	Comment string `json:"comment"`
}

// catalog answers GET /catalog. Its ETag stands for the definitions: sizes, estimates and counts may change under it.
func (d *Data) catalog(c echo.Context) error {
	var body *CatalogBody
	session := console.Session{ReadOnly: true, StatementTimeout: catalogTimeout, LockTimeout: catalogLocks}
	err := d.pool.Use(c.Request().Context(), session, func(conn *pgx.Conn) error {
		return pgx.BeginTxFunc(c.Request().Context(), conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) (err error) {
			body, err = readCatalogBody(c.Request().Context(), tx)
			return err
		})
	})
	if err != nil {
		return err
	}
	body.Migrations = d.options.MigrationsDir != ""
	tag, err := body.etag()
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, no-cache")
	if c.Request().Header.Get("If-None-Match") == tag {
		return c.NoContent(http.StatusNotModified)
	}
	return c.JSON(http.StatusOK, body)
}

// etag is a hash of the catalog without what changes by itself.
func (b *CatalogBody) etag() (string, error) {
	still := *b
	still.Relations = make([]*RelationBody, len(b.Relations))
	for i, relation := range b.Relations {
		copied := *relation
		copied.EstimatedRows, copied.Bytes = nil, 0
		copied.Indexes = append([]IndexBody{}, relation.Indexes...)
		for j := range copied.Indexes {
			copied.Indexes[j].Bytes, copied.Indexes[j].Scans = 0, 0
		}
		still.Relations[i] = &copied
	}
	text, err := json.Marshal(&still)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:18]) + `"`, nil
}

// spellNames empties the search_path: every name outside of pg_catalog is spelled with its schema then. To compile
// queries of the catalog would take longer than to run them.
const spellNames = `select pg_catalog.num_nulls(pg_catalog.set_config('search_path', '', true), pg_catalog.set_config('jit', 'off', true))`

// readCatalogBody reads all of it in the snapshot of a transaction, in one flight.
func readCatalogBody(ctx context.Context, tx pgx.Tx) (*CatalogBody, error) {
	batch := &pgx.Batch{}
	batch.Queue(spellNames)
	b := &CatalogBody{
		Schemas: []SchemaBody{}, Relations: []*RelationBody{}, Enums: []EnumBody{}, Functions: []FunctionBody{},
		Roles: []RoleBody{}, Extensions: []ExtensionBody{},
	}
	byOID := map[uint32]*RelationBody{}
	if err := b.queueObjects(batch, byOID); err != nil {
		return nil, err
	}
	if err := queueParts(batch, byOID); err != nil {
		return nil, err
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	b.Truncated = len(b.Relations) == mostListedObjects || len(b.Functions) == mostListedObjects
	return b, nil
}

// eachOf adds the query of a file to a batch, and calls add for each row, once it is in the targets.
func eachOf(batch *pgx.Batch, file string, arguments []any, targets []any, add func()) error {
	text, err := catalogSQL.ReadFile("catalog_sql/" + file + ".sql")
	if err != nil {
		return err
	}
	batch.Queue(string(text), arguments...).Query(func(rows pgx.Rows) error {
		if _, err := pgx.ForEachRow(rows, targets, func() error { add(); return nil }); err != nil {
			return fmt.Errorf("read the %s: %w", file, err)
		}
		return nil
	})
	return nil
}

func (b *CatalogBody) queueObjects(batch *pgx.Batch, byOID map[uint32]*RelationBody) error {
	var (
		schema    SchemaBody
		relation  RelationBody
		events    int
		enum      EnumBody
		function  FunctionBody
		role      RoleBody
		extension ExtensionBody
	)
	for _, query := range []struct {
		file      string
		arguments []any
		targets   []any
		add       func()
	}{
		{"schemas", nil, []any{&schema.Name, &schema.Comment, &schema.Owner}, func() { b.Schemas = append(b.Schemas, schema) }},
		{"relations", []any{mostListedObjects, appRoles[:]}, []any{
			&relation.OID, &relation.Schema, &relation.Name, &relation.Kind, &relation.Comment, &relation.RLS, &relation.RLSForced,
			&relation.EstimatedRows, &relation.Bytes, &relation.Owner, &relation.PartitionOf, &relation.ViewDefinition,
			&relation.SecurityInvoker, &events, &relation.Readers,
		}, func() {
			added := relation
			relation.Readers = nil
			readOnly := added.Kind == "materialized_view"
			added.Updatable, added.Insertable, added.Deletable = events&4 != 0 && !readOnly, events&8 != 0 && !readOnly, events&16 != 0 && !readOnly
			added.PrimaryKey, added.Columns, added.ForeignKeys = []string{}, []ColumnBody{}, []ForeignKeyBody{}
			added.Uniques, added.Checks, added.Exclusions = []ConstraintBody{}, []ConstraintBody{}, []ConstraintBody{}
			added.Indexes, added.Triggers, added.Policies = []IndexBody{}, []TriggerBody{}, []PolicyBody{}
			b.Relations = append(b.Relations, &added)
			byOID[added.OID] = &added
		}},
		{"enums", nil, []any{&enum.Schema, &enum.Name, &enum.Comment, &enum.Values}, func() {
			b.Enums = append(b.Enums, enum)
			enum.Values = nil
		}},
		{"functions", []any{mostListedObjects}, []any{
			&function.Schema, &function.Name, &function.Arguments, &function.IdentityArguments, &function.Returns, &function.Language,
			&function.SecurityDefiner, &function.Volatility, &function.Definition, &function.Kind, &function.Comment,
		}, func() { b.Functions = append(b.Functions, function) }},
		{"roles", nil, []any{&role.Name, &role.Login, &role.Superuser, &role.BypassRLS, &role.Owner, &role.Usable}, func() { b.Roles = append(b.Roles, role) }},
		{"extensions", nil, []any{&extension.Name, &extension.Version, &extension.Schema, &extension.Comment}, func() { b.Extensions = append(b.Extensions, extension) }},
	} {
		if err := eachOf(batch, query.file, query.arguments, query.targets, query.add); err != nil {
			return err
		}
	}
	return nil
}

// constraintRow is a row of constraints.sql.
type constraintRow struct {
	kind string
	ForeignKeyBody
}

// queueParts adds the queries of what belongs to relations, behind that of the relations.
func queueParts(batch *pgx.Batch, byOID map[uint32]*RelationBody) error {
	var (
		oid        uint32
		column     ColumnBody
		constraint constraintRow
		index      IndexBody
		trigger    TriggerBody
		policy     PolicyBody
	)
	for _, query := range []struct {
		file    string
		targets []any
		add     func(*RelationBody)
	}{
		{"columns", []any{
			&oid, &column.Name, &column.Position, &column.Type, &column.TypeKind, &column.Element, &column.EnumValues,
			&column.NotNull, &column.Default, &column.Identity, &column.Generated, &column.Comment,
		}, func(r *RelationBody) { r.Columns = append(r.Columns, column); column.EnumValues = nil }},
		{"constraints", []any{
			&oid, &constraint.Name, &constraint.kind, &constraint.Definition, &constraint.Columns, &constraint.RefSchema,
			&constraint.RefTable, &constraint.RefColumns, &constraint.OnUpdate, &constraint.OnDelete, &constraint.Valid, &constraint.Deferrable,
		}, func(r *RelationBody) { r.addConstraint(constraint); constraint = constraintRow{} }},
		{"indexes", []any{
			&oid, &index.Name, &index.Definition, &index.Unique, &index.Primary, &index.Valid, &index.Bytes, &index.Scans,
		}, func(r *RelationBody) { r.Indexes = append(r.Indexes, index) }},
		{"triggers", []any{&oid, &trigger.Name, &trigger.Definition, &trigger.Enabled}, func(r *RelationBody) {
			r.Triggers = append(r.Triggers, trigger)
		}},
		{"policies", []any{
			&oid, &policy.Name, &policy.Command, &policy.Permissive, &policy.Roles, &policy.Using, &policy.Check,
		}, func(r *RelationBody) { r.Policies = append(r.Policies, policy); policy.Roles = nil }},
	} {
		err := eachOf(batch, query.file, nil, query.targets, func() {
			if relation := byOID[oid]; relation != nil {
				query.add(relation)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *RelationBody) addConstraint(row constraintRow) {
	plain := ConstraintBody{row.Name, row.Definition, row.Columns, row.Valid}
	switch row.kind {
	case "p":
		r.PrimaryKey = row.Columns
	case "f":
		r.ForeignKeys = append(r.ForeignKeys, row.ForeignKeyBody)
	case "u":
		r.Uniques = append(r.Uniques, plain)
	case "c":
		r.Checks = append(r.Checks, plain)
	case "x":
		r.Exclusions = append(r.Exclusions, plain)
	}
}
