package store_test

import (
	"context"
	_ "embed"
	"slices"
	"testing"

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
			"unreachable": catalog.ForeignTable,
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
			"one-to-many inverse towns_region country=country name=region",
			"one-to-one inverse towns_capital_of_fkey code=capital_of",
		})
		compare(t, describeRelationships(c, public("people"), "towns"), []string{
			"many-to-one people_home home=id",
			"many-to-one people_work work=id",
		})
		compare(t, describeRelationships(c, public("badges"), "people"), []string{
			"one-to-one badges_person_fkey person=id",
		})
		compare(t, describeRelationships(c, public("people"), "people"), []string{
			"one-to-many self neighbours()",
			"one-to-many self inverse people_boss_fkey id=boss",
			"many-to-one self people_boss_fkey boss=id",
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

	t.Run("computed columns are functions of a row that give no rows", func(t *testing.T) {
		for name, want := range map[string]bool{
			"shout": true, "initials": true, "several": true, "neighbours": false, "add": false,
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
