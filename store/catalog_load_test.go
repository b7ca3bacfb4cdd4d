package store_test

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"basalt/query/catalog"
	"basalt/store"
	"basalt/store/storetest"
)

//go:embed testdata/catalog.sql
var richSchema string

var richOptions = store.CatalogOptions{
	Schemas:         []string{"public", "second"},
	ExtraSearchPath: []string{"public", "extensions"},
}

func richDatabase(t *testing.T) *storetest.Database {
	t.Helper()
	db := storetest.New(t)
	db.Exec(t, richSchema)
	return db
}

func load(t *testing.T, url string, o store.CatalogOptions) *catalog.Catalog {
	t.Helper()
	conn := connect(t, url)
	c, err := store.LoadCatalog(t.Context(), conn, o, 1)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if status := conn.TxStatus(); status != 'I' {
		t.Errorf("the load left the connection in transaction state %c", status)
	}
	return c
}

func connect(t *testing.T, url string) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func public(name string) catalog.Name { return catalog.Name{Schema: "public", Name: name} }

func TestCatalogOfARichSchema(t *testing.T) {
	t.Parallel()
	c := load(t, richDatabase(t).URL, richOptions)

	t.Run("relations of each kind are told apart", func(t *testing.T) {
		kinds := map[string]catalog.RelationKind{
			"people":      catalog.Table,
			"events":      catalog.PartitionedTable,
			"people_view": catalog.View,
			"people_kept": catalog.MaterializedView,
			"passwd":      catalog.ForeignTable,
			"Mixed Case":  catalog.Table,
		}
		for name, kind := range kinds {
			if r := c.Relation(public(name)); r == nil || r.Kind != kind {
				t.Errorf("%s: %+v", name, r)
			}
		}
	})

	t.Run("what is not exposed, partitions included, is not found by name", func(t *testing.T) {
		for _, name := range []catalog.Name{
			{Schema: "private", Name: "ledger"}, public("events_2024"), {Schema: "auth", Name: "users"},
			{Schema: "pg_catalog", Name: "pg_class"}, public("point3"), public("nothing"),
		} {
			if r := c.Relation(name); r != nil {
				t.Errorf("%s is there", name)
			}
		}
	})

	t.Run("what can be written follows PostgreSQL", func(t *testing.T) {
		want := map[string]string{
			"people": "iud", "events": "iud", "people_view": "iud", "people_kept": "", "triggered": "i",
			"both_halves": "", "passwd": "",
		}
		for name, rights := range want {
			r := c.Relation(public(name))
			got := ""
			for _, right := range []struct {
				letter string
				has    bool
			}{{"i", r.Insertable}, {"u", r.Updatable}, {"d", r.Deletable}} {
				if right.has {
					got += right.letter
				}
			}
			if got != rights {
				t.Errorf("%s: %q, want %q", name, got, rights)
			}
		}
	})

	t.Run("columns carry types, defaults, lengths and comments", func(t *testing.T) {
		kinds := c.Relation(public("kinds"))
		var got []string
		for _, column := range kinds.Columns {
			got = append(got, describeColumn(column))
		}
		want := []string{
			"id integer not null identity a",
			"small smallint not null default nextval('public.kinds_small_seq'::regclass)",
			"label character varying not null default 'none'::character varying length 20 comment What it is called",
			"code bpchar length 3",
			`bits "bit" length 4`,
			"open_bits bit varying",
			"amount numeric",
			"doubled numeric generated",
			"mood public.mood default 'ok'::public.mood",
			"moods public.mood[]",
			"place public.point3",
			"spots public.point3[]",
			"mail public.email not null default 'nobody@example.com'::text",
			"work public.work_email not null default 'nobody@example.com'::text",
			"tint public.colour",
			"life public.span",
			"lives int4multirange",
			"vec int2vector",
			"note text",
			"late timestamp with time zone",
		}
		compare(t, got, want)
		if kinds.Comment != "All kinds" {
			t.Errorf("comment %q", kinds.Comment)
		}
		for _, column := range kinds.Columns {
			if kinds.Column(column.Name) != column {
				t.Errorf("column %s is not found by its name", column.Name)
			}
		}
		if kinds.Column("gone") != nil || c.Relation(public("people")).Column("gone") != nil {
			t.Error("a dropped column is found")
		}
	})

	t.Run("types know their elements, bases, labels and fields", func(t *testing.T) {
		kinds := c.Relation(public("kinds"))
		moods := kinds.Column("moods").Type
		if moods.Elem == nil || !slices.Equal(moods.Elem.Labels, []string{"sad", "ok", "happy"}) {
			t.Errorf("moods: %+v", moods)
		}
		if moods.Elem.Array != moods.OID || c.Type(moods.OID) != moods {
			t.Error("the array type is not found from its element")
		}
		place := kinds.Column("place").Type
		if place.Kind != catalog.CompositeType || len(place.Fields) != 3 || place.Fields[2].Type.SQL != "numeric" {
			t.Errorf("place: %+v", place)
		}
		if base := kinds.Column("work").Type.Underlying(); base.SQL != "text" {
			t.Errorf("work rests on %s", base.SQL)
		}
		tint := kinds.Column("tint").Type
		if tint.JSONCast != public("colour_to_json") || tint.FromText != public("colour_from_text") ||
			tint.FromJSON != public("colour_from_json") {
			t.Errorf("representations of colour: %+v", tint)
		}
		if vec := kinds.Column("vec").Type; vec.Elem == nil || vec.Elem.SQL != "smallint" {
			t.Errorf("int2vector: %+v", vec)
		}
		if point, _ := c.FindType("point", nil); point == nil || point.Elem != nil {
			t.Errorf("point is no array: %+v", point)
		}
		people := c.Relation(public("people"))
		if row := c.Type(people.RowType); row == nil || row.Relation != people || len(row.Fields) != len(people.Columns) {
			t.Errorf("row type of people: %+v", row)
		}
		if kinds.Column("life").Type.Kind != catalog.RangeType || kinds.Column("lives").Type.Kind != catalog.MultirangeType {
			t.Error("ranges are not told apart")
		}
	})

	t.Run("primary keys show through views", func(t *testing.T) {
		want := map[string]string{
			"regions": "country name", "events": "id day", "people_view": "person_id", "people_again": "Person Id",
			"no_keys": "", "towns_of_people": "town person", "members_view": "person club", "people_kept": "id",
			"both_halves": "", "twice": "a", "ledger": "entry", "Mixed Case": "Primary Key",
			"odd_names": `a "quoted" (name) {with} \brackets`,
		}
		for name, key := range want {
			if got := columnNames(c.Relation(public(name)).PrimaryKey); got != key {
				t.Errorf("%s: %q, want %q", name, got, key)
			}
		}
	})

	t.Run("relationships are found in both directions and in the order of the keys", func(t *testing.T) {
		compare(t, describeRelationships(c, public("towns"), "regions"), []string{
			"many-to-one towns_region country=country region=name",
			"one-to-one towns_capital_of_fkey capital_of=code",
		})
		compare(t, describeRelationships(c, public("regions"), "towns"), []string{
			"one-to-one inverse towns_capital_of_fkey code=capital_of",
			"one-to-many inverse towns_region country=country name=region",
		})
		compare(t, describeRelationships(c, public("people"), "towns"), []string{
			"many-to-one people_home home=id",
			"many-to-one people_work work=id",
		})
		compare(t, describeRelationships(c, public("badges"), "people"), []string{
			"one-to-one badges_person_fkey person=id",
		})
		compare(t, describeRelationships(c, public("people"), "people"), []string{
			"many-to-one self people_boss_fkey boss=id",
			"one-to-many self neighbours()",
			"one-to-many self inverse people_boss_fkey id=boss",
			"many-to-many self friends friends_a id=a friends_b b=id",
			"many-to-many self friends friends_b id=b friends_a a=id",
		})
		compare(t, describeRelationships(c, public("Mixed Case"), "people"), []string{
			`many-to-one Odd "constraint" To people=id`,
		})
	})

	t.Run("junctions need both keys within their primary key", func(t *testing.T) {
		compare(t, describeRelationships(c, public("people"), "clubs"), []string{
			"many-to-many members members_person_fkey id=person members_club_fkey club=id",
			"many-to-many members_view members_person_fkey id=person members_club_fkey club=id",
		})
	})

	t.Run("a partitioned table counts as a whole", func(t *testing.T) {
		compare(t, describeRelationships(c, public("people"), "events"), []string{
			"one-to-many inverse events_person id=person",
		})
		compare(t, describeRelationships(c, public("remarks"), "events"), []string{
			"many-to-one remarks_event event=id day=day",
		})
	})

	t.Run("views inherit the keys that they show", func(t *testing.T) {
		compare(t, describeRelationships(c, public("people_again"), "towns"), []string{
			"many-to-one people_home house=id",
		})
		compare(t, describeRelationships(c, public("people_view"), "people_kept"), []string{
			"many-to-one people_boss_fkey boss=id",
			"many-to-many friends friends_a person_id=a friends_b b=id",
			"many-to-many friends friends_b person_id=b friends_a a=id",
		})
		compare(t, describeRelationships(c, public("people_kept"), "half_a_key"), []string{
			"many-to-one people_home home=id",
		})
		compare(t, describeRelationships(c, public("with_subquery"), "towns"), []string{
			"many-to-one people_home h=id",
		})
		compare(t, describeRelationships(c, public("ledger"), "people"), []string{
			"many-to-one ledger_person person=id",
		})
		compare(t, describeRelationships(c, public("badges"), "twice"), []string{
			"one-to-one badges_person_fkey person=a",
			"one-to-one badges_person_fkey person=b",
		})
		compare(t, describeRelationships(c, public("odd_names"), "towns"), []string{
			"many-to-one people_home  ,:x =id",
		})
		for _, name := range []string{"no_keys", "both_halves", "half_a_key"} {
			if got := describeRelationships(c, public(name), "regions"); got != nil {
				t.Errorf("%s: %q", name, got)
			}
		}
	})

	t.Run("keys across exposed schemas count, those of others do not", func(t *testing.T) {
		letters := catalog.Name{Schema: "second", Name: "letters"}
		compare(t, describeRelationships(c, letters, "people"), []string{"many-to-one letters_author author=id"})
		for _, r := range c.Relationships(public("people")) {
			if r.To.Name.Schema == "private" {
				t.Errorf("people leads to %s", r.To.Name)
			}
		}
	})

	t.Run("computed relationships replace those of their name", func(t *testing.T) {
		compare(t, describeRelationships(c, public("people"), "visits"), []string{"one-to-many visits()"})
		compare(t, describeRelationships(c, public("clubs"), "people"), []string{
			"many-to-one captain()",
			"many-to-one deputy()",
			"many-to-many members members_club_fkey id=club members_person_fkey person=id",
			"many-to-many members_view members_club_fkey id=club members_person_fkey person=id",
		})
	})

	t.Run("computed columns are functions of a row that give one value", func(t *testing.T) {
		for name, want := range map[string]bool{
			"shout": true, "initials": true, "several": false, "neighbours": false, "add": false,
		} {
			if got := c.ComputedColumn(public("people"), name) != nil; got != want {
				t.Errorf("%s: %t", name, got)
			}
		}
	})

	t.Run("routines carry their arguments and results", func(t *testing.T) {
		for name, want := range map[string][]string{
			"add": {
				"add(a integer, b integer default) immutable integer comment Adds",
				"add(a text, b text) stable text",
			},
			"total":       {"total(variadic numbers integer[]) volatile bigint"},
			"halves":      {"halves(n integer) volatile record out low integer out high integer"},
			"bump":        {"bump(n integer) volatile integer out n integer"},
			"listed":      {"listed(prefix text) stable setof record out id integer out name text rows 7"},
			"everyone":    {"everyone() stable setof public.people relation people rows 1000"},
			"someone":     {"someone(wanted integer) stable public.people relation people set statement_timeout=5s set my.flag=a=b"},
			"from_body":   {"from_body( json) volatile json"},
			"ledger_rows": {"ledger_rows() volatile setof private.ledger relation ledger rows 1000"},
			"ping":        {"ping() volatile void"},
			"aliased":     {"aliased() volatile public.people_alias relation people"},
			"never":       nil,
			"take_row":    nil,
			"hidden":      nil,
			"initials":    nil,
		} {
			var got []string
			for _, r := range c.Routines(public(name)) {
				got = append(got, describeRoutine(r))
			}
			slices.Sort(got)
			compare(t, got, want)
		}
		if rows := c.Routines(public("ledger_rows")); len(rows[0].Relation.Columns) != 3 {
			t.Error("the relation of another schema that a routine gives has no columns")
		}
	})

	t.Run("schemas are listed with what they offer", func(t *testing.T) {
		if got := c.Schemas(); !slices.Equal(got, richOptions.Schemas) {
			t.Errorf("schemas %q", got)
		}
		if c.SchemaComment("public") != "The shop" || c.SchemaComment("private") != "" {
			t.Error("comments of schemas")
		}
		var names []string
		for _, r := range c.Relations("second") {
			names = append(names, r.Name.Name)
		}
		compare(t, names, []string{"letters", "people"})
		if len(c.RoutinesOf("public")) == 0 || c.Relations("private") != nil {
			t.Error("objects of schemas")
		}
	})

	t.Run("near names come from what is exposed", func(t *testing.T) {
		for _, test := range []struct {
			kind        catalog.Kind
			schema      string
			wrong, want string
		}{
			{catalog.RelationName, "public", "poeple", ""},
			{catalog.RelationName, "public", "peopl", "people"},
			{catalog.RelationName, "public", "Badge", "badges"},
			{catalog.RelationName, "private", "ledge", ""},
			{catalog.RoutineName, "public", "everyones", "everyone"},
			{catalog.RoutineName, "public", "peopl", ""},
		} {
			if got, _ := c.Similar(test.schema, test.kind, test.wrong); got != test.want {
				t.Errorf("%s in %s: %q, want %q", test.wrong, test.schema, got, test.want)
			}
		}
	})

	if c.ServerVersion < 140000 {
		t.Errorf("server version %d", c.ServerVersion)
	}
}

func TestFindRelationships(t *testing.T) {
	t.Parallel()
	c := load(t, richDatabase(t).URL, richOptions)
	for _, test := range []struct {
		name         string
		from, target string
		hints        []string
		want         []string
	}{
		{"a relation by its name", "remarks", "events", nil, []string{"many-to-one remarks_event event=id day=day"}},
		{"two keys to one relation are ambiguous", "people", "towns", nil, []string{
			"many-to-one people_home home=id", "many-to-one people_work work=id",
		}},
		{"the constraint decides", "people", "towns", []string{"people_work"}, []string{"many-to-one people_work work=id"}},
		{"the column decides", "people", "towns", []string{"home"}, []string{"many-to-one people_home home=id"}},
		{"the column of the other side decides", "towns", "people", []string{"work"}, []string{
			"one-to-many inverse people_work id=work",
		}},
		{"the column as target leads to views too", "people", "home", nil, []string{
			"many-to-one people_home home=id", "many-to-one people_home home=id", "many-to-one people_home home=town",
		}},
		{"a constraint as target", "remarks", "remarks_event", nil, []string{
			"many-to-one remarks_event event=id day=day",
		}},
		{"a self reference by its name is the many", "people", "people", nil, []string{
			"one-to-many self inverse people_boss_fkey id=boss",
		}},
		{"a self reference with the column as hint is the many", "people", "people", []string{"boss"}, []string{
			"one-to-many self inverse people_boss_fkey id=boss",
		}},
		{"a junction as hint", "people", "clubs", []string{"members"}, []string{
			"many-to-many members members_person_fkey id=person members_club_fkey club=id",
		}},
		{"the direction of a junction of one relation with itself", "people", "people", []string{"friends", "friends_b"}, []string{
			"many-to-many self friends friends_a id=a friends_b b=id",
		}},
		{"a computed relationship by its function", "clubs", "captain", nil, []string{"many-to-one captain()"}},
		{"a relation of another schema is not found", "people", "letters", nil, nil},
		{"a hint that fits nothing", "people", "towns", []string{"nowhere"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, r := range c.FindRelationships(public(test.from), "public", test.target, test.hints) {
				got = append(got, describeRelationship(r))
			}
			compare(t, got, test.want)
		})
	}
}

func TestCatalogTellsRoutinesThatSetTheResponse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, sql string
		want      bool
	}{
		{"none", "", false},
		{"in the source", `create schema inner_api; create function inner_api.f() returns void language plpgsql as
			$$ begin perform set_config('response.status', '201', true); end $$`, true},
		{"in a standard body", `create function f() returns text begin atomic
			select set_config('response.headers', '[]', true); end`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := storetest.NewEmpty(t)
			db.Exec(t, test.sql)
			if got := load(t, db.URL, richOptions).SetsResponse; got != test.want {
				t.Errorf("%t, want %t", got, test.want)
			}
		})
	}
}

func TestCatalogHoldsTheRolesThatAuthenticatorMayBecome(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	role := storetestRole(t, db)
	db.Exec(t, fmt.Sprintf(`grant %[1]s to authenticator;
		alter role %[1]s set statement_timeout = '3s';
		alter role %[1]s set "my.setting" = 'a, b';
		alter role %[1]s set log_statement = 'all';
		alter role %[1]s set role = 'anon';
		alter role %[1]s in database %[2]s set statement_timeout = '2s'`, role, databaseName(t, db)))
	c := load(t, db.URL, richOptions)
	for _, name := range []string{"anon", "authenticated", "service_role"} {
		if c.Role(name) == nil {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"authenticator", "postgres", "pg_monitor", "nobody"} {
		if c.Role(name) != nil {
			t.Errorf("%s is there", name)
		}
	}
	got := c.Role(role)
	if got == nil {
		t.Fatal("the role is missing")
	}
	want := []catalog.Setting{{Name: "statement_timeout", Value: "2s"}, {Name: "my.setting", Value: "a, b"}}
	if !slices.Equal(got.Settings, want) {
		t.Errorf("settings %v, want %v", got.Settings, want)
	}
}

// storetestRole makes a role of the test's own; roles belong to the server, not to the database.
func storetestRole(t *testing.T, db *storetest.Database) string {
	t.Helper()
	name := databaseName(t, db) + "_role"
	db.Exec(t, "create role "+name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := db.Pool.Exec(ctx, "drop owned by "+name); err != nil {
			t.Errorf("drop what the role owns: %v", err)
		}
		if _, err := db.Pool.Exec(ctx, "drop role "+name); err != nil {
			t.Errorf("drop the role: %v", err)
		}
	})
	return name
}

func databaseName(t *testing.T, db *storetest.Database) (name string) {
	t.Helper()
	if err := db.Pool.QueryRow(t.Context(), "select current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestCatalogLoadsForAUserWithoutRights(t *testing.T) {
	t.Parallel()
	db := richDatabase(t)
	role := storetestRole(t, db)
	db.Exec(t, "alter role "+role+" login; revoke all on schema public, private, second from public, "+role)
	everything := load(t, db.URL, richOptions)
	got := load(t, strings.Replace(db.URL, "postgres@", role+"@", 1), richOptions)
	for _, schema := range richOptions.Schemas {
		if len(got.Relations(schema)) != len(everything.Relations(schema)) {
			t.Errorf("%s has %d relations, want %d", schema, len(got.Relations(schema)), len(everything.Relations(schema)))
		}
		if len(got.RoutinesOf(schema)) != len(everything.RoutinesOf(schema)) {
			t.Errorf("%s has %d routines, want %d", schema, len(got.RoutinesOf(schema)), len(everything.RoutinesOf(schema)))
		}
	}
	if got.Relation(public("people_view")).Insertable != true {
		t.Error("what can be written depends on who asks")
	}
	if got.Role("anon") == nil {
		t.Error("roles are missing")
	}
}

func TestAFailedLoadLeavesTheConnectionUsable(t *testing.T) {
	t.Parallel()
	conn := connect(t, storetest.NewEmpty(t).URL)
	ctx := t.Context()
	if _, err := conn.Exec(ctx, "begin; set local statement_timeout = 0; do $$ begin raise exception 'no'; end $$").ReadAll(); err == nil {
		t.Fatal("the preparation was meant to fail")
	}
	if _, err := store.LoadCatalog(ctx, conn, richOptions, 1); err == nil {
		t.Error("a load in a failed transaction succeeded")
	}
	if _, err := store.LoadCatalog(ctx, conn, richOptions, 1); err != nil {
		t.Errorf("the next load: %v", err)
	}
}

func describeColumn(c *catalog.Column) string {
	var b strings.Builder
	b.WriteString(c.Name + " " + c.Type.SQL)
	if c.NotNull {
		b.WriteString(" not null")
	}
	if c.Default != "" {
		b.WriteString(" default " + c.Default)
	}
	if c.Identity != 0 {
		b.WriteString(" identity " + string(c.Identity))
	}
	if c.Generated {
		b.WriteString(" generated")
	}
	if c.MaxLength != 0 {
		fmt.Fprintf(&b, " length %d", c.MaxLength)
	}
	if c.Comment != "" {
		b.WriteString(" comment " + c.Comment)
	}
	return b.String()
}

func columnNames(columns []*catalog.Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// describeRelationships describes those that lead to a relation of public.
func describeRelationships(c *catalog.Catalog, from catalog.Name, to string) []string {
	var list []string
	for _, r := range c.Relationships(from) {
		if r.To.Name == public(to) {
			list = append(list, describeRelationship(r))
		}
	}
	return list
}

func describeRelationship(r *catalog.Relationship) string {
	parts := []string{r.Cardinality.String()}
	if r.Self {
		parts = append(parts, "self")
	}
	if r.Inverse {
		parts = append(parts, "inverse")
	}
	pairs := func(columns []catalog.ColumnPair) {
		for _, p := range columns {
			parts = append(parts, p.From.Name+"="+p.To.Name)
		}
	}
	switch {
	case r.Function != nil:
		parts = append(parts, r.Function.Name.Name+"()")
	case r.Junction != nil:
		parts = append(parts, r.Junction.Table.Name.Name, r.Junction.ConstraintFrom)
		pairs(r.Junction.FromColumns)
		parts = append(parts, r.Junction.ConstraintTo)
		pairs(r.Junction.ToColumns)
	default:
		parts = append(parts, r.Constraint)
		pairs(r.Columns)
	}
	return strings.Join(parts, " ")
}

func describeRoutine(r *catalog.Routine) string {
	var args []string
	for i, a := range r.Args {
		text := a.Name + " " + a.Type.SQL
		if a.HasDefault {
			text += " default"
		}
		if r.Variadic && i == len(r.Args)-1 {
			text = "variadic " + text
		}
		args = append(args, text)
	}
	parts := []string{r.Name.Name + "(" + strings.Join(args, ", ") + ")"}
	parts = append(parts, map[catalog.Volatility]string{
		catalog.Immutable: "immutable", catalog.Stable: "stable", catalog.Volatile: "volatile",
	}[r.Volatility])
	if r.ReturnsSet {
		parts = append(parts, "setof")
	}
	parts = append(parts, r.Returns.SQL)
	for _, o := range r.Out {
		parts = append(parts, "out", o.Name, o.Type.SQL)
	}
	if r.Relation != nil {
		parts = append(parts, "relation", r.Relation.Name.Name)
	}
	if r.Rows != 0 {
		parts = append(parts, fmt.Sprintf("rows %g", r.Rows))
	}
	for _, s := range r.Settings {
		parts = append(parts, "set", s.Name+"="+s.Value)
	}
	if r.Comment != "" {
		parts = append(parts, "comment", r.Comment)
	}
	return strings.Join(parts, " ")
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
}
