package admin

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/labstack/echo/v4"

	"basalt/auth"
	"basalt/query/catalog"
	"basalt/store/console"
)

// RESTOffer is what the server's settings say of the REST API that apps use.
type RESTOffer struct {
	AnonKey string
	// Catalog gives the current catalog of the exposed schemas, nil while none was loaded yet.
	Catalog    func() *catalog.Catalog
	Aggregates bool
	Plans      bool
	MaxRows    int64
}

// ExploreBody is what the REST API offers.
type ExploreBody struct {
	AnonKey string `json:"anon_key"`
	// Schemas are the exposed ones, the default first.
	Schemas    []string          `json:"schemas"`
	Aggregates bool              `json:"aggregates"`
	Plans      bool              `json:"plans"`
	MaxRows    int64             `json:"max_rows"` // 0 for no cap
	Roles      []string          `json:"roles"`
	Relations  []ExploreRelation `json:"relations"`
	Functions  []ExploreFunction `json:"functions"`
}

// ExploreRelation is a table or a view that is exposed.
type ExploreRelation struct {
	Schema     string          `json:"schema"`
	Name       string          `json:"name"`
	Kind       string          `json:"kind"` // as in the catalog
	Comment    string          `json:"comment"`
	Columns    []ExploreColumn `json:"columns"`
	PrimaryKey []string        `json:"primary_key"`
	Uniques    [][]string      `json:"uniques"`
	// Verbs are what the relation itself allows, of select, insert, update and delete.
	Verbs []string `json:"verbs"`
	// RLS says that policies decide about its rows.
	RLS bool `json:"rls"`
	// Access tells what each role may do.
	Access []ExploreAccess `json:"access"`
	Embeds []ExploreEmbed  `json:"embeds"`
	// Outside are the relations of other schemas that foreign keys lead to or come from: rows of these are not embedded.
	Outside []string `json:"outside"`
}

// ExploreColumn is a column.
type ExploreColumn struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Category   string   `json:"category"` // of the type, as pg_type.typcategory
	EnumValues []string `json:"enum_values,omitempty"`
	NotNull    bool     `json:"not_null"`
	HasDefault bool     `json:"has_default"`
	Writable   bool     `json:"writable"`
	Comment    string   `json:"comment"`
}

// ExploreAccess is what a role may do with a relation.
type ExploreAccess struct {
	Role string `json:"role"`
	// Granted are the verbs that grants allow, on the table or on some column of it.
	Granted []string `json:"granted"`
	// Passed are those of them for which row level security is off, passed by, or has a permissive policy.
	Passed []string `json:"passed"`
}

// ExploreEmbed is a relationship along which rows of another relation can be embedded.
type ExploreEmbed struct {
	Schema string `json:"schema"`
	Target string `json:"target"` // a relation, or a function that stands for a relationship
	// Relation is the name of the target's rows, which differs from Target for functions alone.
	Relation string `json:"relation"`
	// Name is what to embed it by: that of the target, or of a column where a relation refers to itself.
	Name string `json:"name"`
	// Hint tells this relationship from others to the same target, "" where there are none.
	Hint string `json:"hint"`
	// Constraint is the foreign key's name, which is a hint also where none is needed; "" for functions.
	Constraint  string `json:"constraint"`
	Cardinality string `json:"cardinality"`
	ToOne       bool   `json:"to_one"`
	Through     string `json:"through"` // the junction of many-to-many
	// Columns are the pairs of columns that are equal, as text to read.
	Columns []string `json:"columns"`
}

// ExploreFunction is a function that can be called.
type ExploreFunction struct {
	Schema     string            `json:"schema"`
	Name       string            `json:"name"`
	Comment    string            `json:"comment"`
	Arguments  []ExploreArgument `json:"arguments"`
	TakesBody  bool              `json:"takes_body"` // its only argument, which has no name, is the whole body
	Returns    string            `json:"returns"`
	ReturnsSet bool              `json:"returns_set"`
	// Columns are those of the rows that it returns, empty for others.
	Columns  []ExploreColumn `json:"columns"`
	ReadOnly bool            `json:"read_only"` // it is stable or immutable, so that GET calls it too
	Roles    []string        `json:"roles"`     // that may call it
}

// ExploreArgument is an argument of a function.
type ExploreArgument struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Category   string   `json:"category"`
	EnumValues []string `json:"enum_values,omitempty"`
	Required   bool     `json:"required"`
	Variadic   bool     `json:"variadic"`
}

// appRoles are the roles of requests of apps.
var appRoles = [...]string{auth.RoleAnon, auth.RoleAuthenticated, auth.RoleService}

// explore answers GET /explore.
func (d *Data) explore(c echo.Context) error {
	offer := &d.options.REST
	model := offer.Catalog()
	if model == nil {
		return refusedf(http.StatusServiceUnavailable, "catalog_missing", "The database's schema has not been read yet")
	}
	rights, err := d.rights(c.Request().Context(), model.Schemas())
	if err != nil {
		return err
	}
	body := ExploreBody{
		AnonKey: offer.AnonKey, Schemas: model.Schemas(), Aggregates: offer.Aggregates, Plans: offer.Plans, MaxRows: offer.MaxRows,
		Roles: appRoles[:], Relations: []ExploreRelation{}, Functions: []ExploreFunction{},
	}
	for _, schema := range model.Schemas() {
		for _, r := range model.Relations(schema) {
			body.Relations = append(body.Relations, exploreRelation(model, r, rights.relations[uint32(r.OID)], rights.outside[uint32(r.OID)]))
		}
		for _, r := range model.RoutinesOf(schema) {
			if r.Callable() {
				body.Functions = append(body.Functions, exploreFunction(r, rights.routines[uint32(r.OID)]))
			}
		}
	}
	return c.JSON(http.StatusOK, body)
}

// relationRights are what the roles may do with a relation.
type relationRights struct {
	rls    bool
	access []ExploreAccess
}

type restRights struct {
	relations map[uint32]*relationRights
	routines  map[uint32][]string
	outside   map[uint32][]string // see ExploreRelation.Outside
}

// rights asks PostgreSQL what the roles of apps may do in the schemas, and which foreign keys leave them.
func (d *Data) rights(ctx context.Context, schemas []string) (*restRights, error) {
	found := &restRights{map[uint32]*relationRights{}, map[uint32][]string{}, map[uint32][]string{}}
	session := console.Session{ReadOnly: true, StatementTimeout: catalogTimeout, LockTimeout: catalogLocks}
	err := d.pool.Tx(ctx, session, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(spellNames)
		var oid uint32
		var rls bool
		var role string
		var granted, passed []string
		err := eachOf(batch, "relation_rights", []any{schemas, appRoles[:]}, []any{&oid, &rls, &role, &granted, &passed}, func() {
			r := found.relations[oid]
			if r == nil {
				r = &relationRights{rls: rls}
				found.relations[oid] = r
			}
			r.access = append(r.access, ExploreAccess{role, granted, passed})
			granted, passed = nil, nil
		})
		if err != nil {
			return err
		}
		err = eachOf(batch, "routine_rights", []any{schemas, appRoles[:]}, []any{&oid, &role}, func() {
			found.routines[oid] = append(found.routines[oid], role)
		})
		if err != nil {
			return err
		}
		var outside []string
		err = eachOf(batch, "outside_keys", []any{schemas}, []any{&oid, &outside}, func() {
			found.outside[oid], outside = outside, nil
		})
		if err != nil {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	return found, err
}

func exploreRelation(model *catalog.Catalog, r *catalog.Relation, rights *relationRights, outside []string) ExploreRelation {
	body := ExploreRelation{
		Schema: r.Name.Schema, Name: r.Name.Name, Kind: relationKind(r.Kind), Comment: r.Comment,
		Columns: make([]ExploreColumn, len(r.Columns)), PrimaryKey: columnNames(r.PrimaryKey), Uniques: [][]string{},
		Verbs: []string{"select"}, Access: []ExploreAccess{}, Embeds: []ExploreEmbed{},
		Outside: append([]string{}, outside...),
	}
	for i, column := range r.Columns {
		body.Columns[i] = ExploreColumn{
			Name: column.Name, Type: column.Type.SQL, Category: category(column.Type), EnumValues: column.Type.Underlying().Labels,
			NotNull: column.NotNull, HasDefault: column.HasDefault(), Comment: column.Comment,
			Writable: column.Writable && !column.Generated && column.Identity != 'a',
		}
	}
	for _, unique := range r.Uniques {
		body.Uniques = append(body.Uniques, columnNames(unique))
	}
	for _, verb := range []struct {
		name string
		may  bool
	}{{"insert", r.Insertable}, {"update", r.Updatable}, {"delete", r.Deletable}} {
		if verb.may {
			body.Verbs = append(body.Verbs, verb.name)
		}
	}
	if rights != nil {
		body.RLS, body.Access = rights.rls, rights.access
	}
	for _, schema := range model.Schemas() {
		for _, to := range model.Relationships(r.Name) {
			if to.To.Name.Schema == schema && schema == r.Name.Schema {
				body.Embeds = append(body.Embeds, exploreEmbed(model, to))
			}
		}
	}
	return body
}

// exploreEmbed finds by which name and hint a relationship is meant alone.
func exploreEmbed(model *catalog.Catalog, r *catalog.Relationship) ExploreEmbed {
	body := ExploreEmbed{
		Schema: r.To.Name.Schema, Target: r.To.Name.Name, Relation: r.To.Name.Name, Name: r.To.Name.Name,
		Cardinality: r.Cardinality.String(), ToOne: r.Cardinality.ToOne(), Constraint: r.Constraint, Columns: []string{},
	}
	for _, pair := range r.Columns {
		body.Columns = append(body.Columns, pair.From.Name+" = "+pair.To.Name)
	}
	if r.Function != nil {
		body.Target, body.Name = r.Function.Name.Name, r.Function.Name.Name
		return body
	}
	alone := func(target string, hints ...string) bool {
		found := model.FindRelationships(r.From.Name, body.Schema, target, hints)
		return len(found) == 1 && found[0] == r
	}
	if r.Junction != nil {
		body.Through = r.Junction.Table.Name.Name
	}
	if alone(body.Name) {
		return body
	}
	hints := []string{r.Constraint}
	if r.Junction != nil {
		hints = []string{r.Junction.Table.Name.Name, r.Junction.ConstraintTo}
	} else if len(r.Columns) == 1 {
		hints = append(hints, r.Columns[0].From.Name, r.Columns[0].To.Name)
	}
	for _, hint := range hints {
		if hint != "" && alone(body.Name, hint) {
			body.Hint = hint
			return body
		}
	}
	if len(r.Columns) == 1 && alone(r.Columns[0].From.Name) {
		body.Name = r.Columns[0].From.Name
	} else if r.Junction == nil {
		body.Name = r.Constraint
	}
	return body
}

func exploreFunction(r *catalog.Routine, roles []string) ExploreFunction {
	body := ExploreFunction{
		Schema: r.Name.Schema, Name: r.Name.Name, Comment: r.Comment, Arguments: make([]ExploreArgument, len(r.Args)), TakesBody: r.TakesBody(),
		Returns: r.Returns.SQL, ReturnsSet: r.ReturnsSet, Columns: []ExploreColumn{}, ReadOnly: r.Volatility != catalog.Volatile,
		Roles: append([]string{}, roles...),
	}
	for i, argument := range r.Args {
		body.Arguments[i] = ExploreArgument{
			Name: argument.Name, Type: argument.Type.SQL, Category: category(argument.Type), EnumValues: argument.Type.Underlying().Labels,
			Required: !argument.HasDefault, Variadic: r.Variadic && i == len(r.Args)-1,
		}
	}
	switch {
	case r.Relation != nil:
		for _, column := range r.Relation.Columns {
			body.Columns = append(body.Columns, ExploreColumn{Name: column.Name, Type: column.Type.SQL, Category: category(column.Type), EnumValues: column.Type.Underlying().Labels})
		}
	case r.ReturnsSet || len(r.Out) > 1:
		for _, field := range r.Out {
			body.Columns = append(body.Columns, ExploreColumn{Name: field.Name, Type: field.Type.SQL, Category: category(field.Type), EnumValues: field.Type.Underlying().Labels})
		}
	}
	return body
}

func columnNames(columns []*catalog.Column) []string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.Name
	}
	return names
}

func category(t *catalog.Type) string { return string(rune(t.Underlying().Category)) }

func relationKind(kind catalog.RelationKind) string {
	switch kind {
	case catalog.PartitionedTable:
		return "partitioned_table"
	case catalog.View:
		return "view"
	case catalog.MaterializedView:
		return "materialized_view"
	case catalog.ForeignTable:
		return "foreign_table"
	default:
		return "table"
	}
}
