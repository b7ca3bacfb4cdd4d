package sql_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"basalt/query/catalog"
	"basalt/query/sql"
)

// FuzzCompile: whatever a request holds, its statement is made of our own words, names of the catalog and numbers of
// parameters. No text of the client's gets into it, neither as a literal nor as a name, and values do not change it.
func FuzzCompile(f *testing.F) {
	s := newSample(f)
	known := s.names()
	for _, seed := range []string{
		"GET /orders?select=id,x:data->a->>\"b'c\",customers(name)&or=(id.eq.1,status.like.*x)&order=customers(name),data->a.desc&limit=3",
		"GET /customers?select=...orders!inner(total.sum(),x:total::numeric(10,2))&orders.tags=cs.{a}&name=fts(simple).x&joined=in.(\"a\",b)",
		"GET /orders?select=*,\"Odd \\\"name\"&status=eq(any).{a,b}&at->>x=is.null&not.and=(paid.is.true,id.isdistinct.5) # count=estimated max-rows=5",
		"POST /keyed?columns=id,name&select=id # return=representation resolution=merge missing=default\n> [{\"id\":1,\"x'y\":2}]",
		"PATCH /keyed?id=eq.1 # return=headers-only\n> {\"name\":\"'; drop\"}",
		"PUT /keyed?id=eq.7\n> {\"id\":7}",
		"DELETE /keyed?or=(id.eq.1,name.not.in.(a,b)) # return=representation",
		"GET /rpc/add?a=1&b=2&select=x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, " /") {
			return
		}
		r, statement, err := s.compile(text)
		if err != nil {
			return
		}
		check := func(statement *sql.Statement) {
			if statement == nil {
				return
			}
			for _, name := range quotedName().FindAllString(statement.SQL, -1) {
				if !known[name] {
					t.Fatalf("%q\nthe name %s is none of the catalog's\n%s", text, name, statement.SQL)
				}
			}
			rest := quotedName().ReplaceAllString(statement.SQL, "")
			for _, constant := range constants().FindAllString(rest, -1) {
				if !slices.Contains(ownLiterals(), constant) && !s.isDefault(constant) {
					t.Fatalf("%q\nthe literal %s is none of ours\n%s", text, constant, statement.SQL)
				}
			}
		}
		check(statement)
		check(statement.Count)
		check(statement.Plan)
		for i := range r.Query.Values {
			r.Query.Values[i] = canary
		}
		again, err := s.statement(r)
		if err == nil && again.SQL != statement.SQL {
			t.Fatalf("%q\nother values make another statement\n%s\n%s", text, statement.SQL, again.SQL)
		}
	})
}

func quotedName() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"]|"")*"`) }

func constants() *regexp.Regexp { return regexp.MustCompile(`'(?:[^']|'')*'`) }

// ownLiterals are all that statements hold beside the defaults of columns.
func ownLiterals() []string {
	return []string{"'{}'", "'t'", "''", "'basalt.updated'", "'basalt: rows written '"}
}

// isDefault says that a literal is part of a default that the catalog knows.
func (s *sample) isDefault(constant string) bool {
	return slices.ContainsFunc(s.catalog.Relations("public"), func(r *catalog.Relation) bool {
		return slices.ContainsFunc(r.Columns, func(c *catalog.Column) bool { return strings.Contains(c.Default, constant) })
	})
}

// names are those of everything that a statement may name, as SQL quotes them.
func (s *sample) names() map[string]bool {
	known := map[string]bool{`"inserted?"`: true, `"public"`: true, `"pg_catalog"`: true}
	add := func(names ...string) {
		for _, name := range names {
			known[sql.QuoteIdentifier(name)] = true
		}
	}
	var addType func(t *catalog.Type)
	addType = func(t *catalog.Type) {
		if t == nil || known["type "+t.Name.String()] {
			return
		}
		known["type "+t.Name.String()] = true
		add(t.Name.Schema, t.Name.Name, t.FromJSON.Name, t.FromText.Name, t.JSONCast.Name)
		for _, name := range quotedName().FindAllString(t.SQL, -1) {
			known[name] = true
		}
		addType(t.Base)
		addType(t.Elem)
	}
	for _, r := range s.catalog.Relations("public") {
		add(r.Name.Schema, r.Name.Name)
		for _, c := range r.Columns {
			add(c.Name)
			addType(c.Type)
		}
	}
	for _, r := range s.catalog.RoutinesOf("public") {
		add(r.Name.Schema, r.Name.Name)
		for _, arg := range r.Args {
			add(arg.Name)
			addType(arg.Type)
		}
		for _, out := range r.Out {
			add(out.Name)
		}
		addType(r.Returns)
	}
	// A cast may name any type that there is.
	for oid := range uint32(1 << 16) {
		addType(s.catalog.Type(oid))
	}
	return known
}
