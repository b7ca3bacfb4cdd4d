// Package openapi describes what a role may do with a schema over REST, as Swagger 2.0 and as OpenAPI 3.1.
package openapi

import (
	"net/url"
	"strings"

	"basalt/query/catalog"
)

// Version is a version of the specification.
type Version byte

// The versions.
const (
	Swagger2  Version = iota // what PostgREST serves
	OpenAPI31                // JSON Schema's types, bodies of their own for inserts and updates, results of functions
)

// Verb is a set of what may be done with a relation.
type Verb byte

// The verbs.
const (
	Select Verb = 1 << iota
	Insert
	Update
	Delete
)

// Rights are what a role may use. Nil rights are all.
type Rights struct {
	Relations map[catalog.OID]Verb
	Routines  map[catalog.OID]bool
}

// Options are what an operator decides about the description.
type Options struct {
	// Server is where clients reach the REST API.
	Server *url.URL
	// Release is the version of the server, as info shows it.
	Release string
	// Security describes the token that requests carry.
	Security bool
}

const (
	defaultTitle       = "Basalt API"
	defaultDescription = "REST over the tables, views and functions of a PostgreSQL schema"
	// The dialect is PostgREST's, and so is its manual.
	manual     = "https://postgrest.org/en/v16/references/api.html"
	manualName = "PostgREST Documentation"
	tokenHint  = `Add the token prepending "Bearer " (without quotes) to it`
)

// Document writes the description of a schema for a role with these rights.
func Document(c *catalog.Catalog, schema string, rights *Rights, version Version, o Options) []byte {
	s := scope{catalog: c, schema: schema, options: o}
	s.addRelations(rights)
	s.addRoutines(rights)
	if version == OpenAPI31 {
		d := document31{scope: &s}
		return d.write().append(nil)
	}
	return s.swagger().append(nil)
}

// scope is what a description covers.
type scope struct {
	catalog   *catalog.Catalog
	schema    string
	options   Options
	relations []relation
	routines  []overloads // by name
}

// relation is a relation with what may be done with it.
type relation struct {
	*catalog.Relation
	verbs Verb
}

// overloads are the routines that share a name.
type overloads []*catalog.Routine

func (s *scope) addRelations(rights *Rights) {
	for _, r := range s.catalog.Relations(s.schema) {
		verbs := Select
		if r.Insertable {
			verbs |= Insert
		}
		if r.Updatable {
			verbs |= Update
		}
		if r.Deletable {
			verbs |= Delete
		}
		if rights != nil {
			verbs &= rights.Relations[r.OID]
		}
		if verbs != 0 {
			s.relations = append(s.relations, relation{r, verbs})
		}
	}
}

func (s *scope) addRoutines(rights *Rights) {
	for _, r := range s.catalog.RoutinesOf(s.schema) {
		if !r.Callable() || rights != nil && !rights.Routines[r.OID] {
			continue
		}
		last := len(s.routines) - 1
		if last >= 0 && s.routines[last][0].Name == r.Name {
			s.routines[last] = append(s.routines[last], r)
		} else {
			s.routines = append(s.routines, overloads{r})
		}
	}
}

// readable says that some overload can be called by GET.
func (o overloads) readable() bool {
	for _, r := range o {
		if r.Volatility != catalog.Volatile && !r.TakesBody() {
			return true
		}
	}
	return false
}

// argument is one argument of the overloads of a name.
type argument struct {
	*catalog.Arg
	required bool // by all of them
	variadic bool
}

// arguments gives the named arguments of all overloads, each once.
func (o overloads) arguments() []argument {
	var list []argument
	at := map[string]int{}
	times := map[string]int{}
	for _, r := range o {
		for i := range r.Args {
			arg := &r.Args[i]
			if arg.Name == "" {
				continue
			}
			if !arg.HasDefault {
				times[arg.Name]++
			}
			if _, known := at[arg.Name]; !known {
				at[arg.Name] = len(list)
				list = append(list, argument{Arg: arg, variadic: r.Variadic && i == len(r.Args)-1})
			}
		}
	}
	for i := range list {
		list[i].required = times[list[i].Name] == len(o)
	}
	return list
}

// comment gives the first of the overloads' comments.
func (o overloads) comment() string {
	for _, r := range o {
		if r.Comment != "" {
			return r.Comment
		}
	}
	return ""
}

// information is the head of the description: the schema's comment gives its title and text.
func (s *scope) information() object {
	title, description := split(s.catalog.SchemaComment(s.schema))
	if title == "" {
		title = defaultTitle
	}
	if description == "" {
		description = defaultDescription
	}
	release := s.options.Release
	if release == "" {
		release = "dev"
	}
	return object{{"title", text(title)}, {"description", text(description)}, {"version", text(release)}}
}

// split takes a comment apart: its first line, and what follows behind empty lines.
func split(comment string) (first, rest string) {
	first, rest, _ = strings.Cut(comment, "\n")
	return first, strings.TrimLeft(rest, "\n")
}

// note describes a column: its comment, and what keys it is part of.
func (s *scope) note(r *catalog.Relation, c *catalog.Column) string {
	var notes []string
	for _, key := range r.PrimaryKey {
		if key == c {
			notes = append(notes, "This is a Primary Key.<pk/>")
		}
	}
	if table, column := s.referenced(r, c); table != "" {
		notes = append(notes, "This is a Foreign Key to `"+table+"."+column+"`.<fk table='"+table+"' column='"+column+"'/>")
	}
	if len(notes) == 0 {
		return c.Comment
	}
	head := "Note:\n"
	if c.Comment != "" {
		head = c.Comment + "\n\n" + head
	}
	return head + strings.Join(notes, "\n")
}

// referenced finds what a column refers to by a foreign key of its own, tables before views.
func (s *scope) referenced(r *catalog.Relation, c *catalog.Column) (table, column string) {
	for _, rel := range s.catalog.Relationships(r.Name) {
		if rel.Function != nil || rel.Inverse || !rel.Cardinality.ToOne() || len(rel.Columns) != 1 ||
			rel.Columns[0].From != c || rel.To.Name.Schema != s.schema {
			continue
		}
		if table == "" || !rel.To.IsView() {
			table, column = rel.To.Name.Name, rel.Columns[0].To.Name
		}
		if !rel.To.IsView() {
			break
		}
	}
	return table, column
}
