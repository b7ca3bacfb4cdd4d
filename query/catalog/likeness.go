package catalog

import (
	"iter"
	"math/bits"
	"strings"
	"unicode/utf8"
)

// How much of a name must be right for another to be offered in its place. Names of relations and routines are told to
// those only who know most of them already; what is embedded is named by those who may see it.
const (
	minLikeness        = 0.75
	minRelatedLikeness = 1. / 3
)

// Kind says among which objects of a schema a name is looked for.
type Kind byte

// The kinds.
const (
	RelationName Kind = iota
	RoutineName
)

// Similar finds the name of a relation or routine of an exposed schema that is most like a wrong one, if any is like
// it enough. The first in order wins among equals.
func (c *Catalog) Similar(schema string, kind Kind, name string) (string, bool) {
	s := c.schemas[schema]
	if s == nil {
		return "", false
	}
	best := newNearest(name, minLikeness)
	if kind == RoutineName {
		for _, r := range s.routines {
			best.offer(r.Name.Name)
		}
	} else {
		for _, r := range s.relations {
			best.offer(r.Name.Name)
		}
	}
	return best.found, best.found != ""
}

// MostLike finds the candidate that is most like a name, if any is like it enough. The first wins among equals.
func MostLike(name string, candidates iter.Seq[string]) (string, bool) {
	best := newNearest(name, minLikeness)
	for candidate := range candidates {
		best.offer(candidate)
	}
	return best.found, best.found != ""
}

// SimilarTarget finds what an embed that was not found may have meant to embed: the relation most like its name among
// those that the origin is related to in a schema. None is offered when one has that very name: it is the hint of the
// embed that is wrong.
func (c *Catalog) SimilarTarget(origin Name, schema, target string) (string, bool) {
	best := newNearest(target, minRelatedLikeness)
	for _, r := range c.relationships[origin] {
		switch {
		case r.To.Name == Name{schema, target}:
			return "", false
		case r.To.Name.Schema == schema:
			best.offer(r.To.Name.Name)
		}
	}
	return best.found, best.found != ""
}

// SimilarOrigin finds the relation most like an origin without relationships among those of its schema that have some.
func (c *Catalog) SimilarOrigin(origin Name) (string, bool) {
	best := newNearest(origin.Name, minRelatedLikeness)
	for _, r := range c.Relations(origin.Schema) {
		if c.Related(r.Name, origin.Schema) {
			best.offer(r.Name.Name)
		}
	}
	return best.found, best.found != ""
}

// nearest looks for the name that is most like a wanted one: 1 - edits / length, upper and lower case being one.
type nearest struct {
	wanted   []rune
	letters  uint64
	found    string
	likeness float64
	row      []int
}

// maxName bounds what is compared: PostgreSQL's own names have 63 bytes.
const maxName = 63

func newNearest(name string, likeness float64) *nearest {
	n := &nearest{likeness: likeness}
	if len(name) > 2*maxName {
		// No name of the database is like it by three quarters.
		return n
	}
	n.wanted = []rune(strings.ToLower(name))
	n.letters = letterSet(n.wanted)
	return n
}

func (n *nearest) offer(candidate string) {
	if len(n.wanted) == 0 {
		return
	}
	length := utf8.RuneCountInString(candidate)
	longer := max(length, len(n.wanted))
	// Names whose lengths or letters differ too much need no closer look; most are of that kind.
	allowed := int(float64(longer) * (1 - n.likeness))
	if longer-min(length, len(n.wanted)) > allowed {
		return
	}
	runes := []rune(strings.ToLower(candidate))
	letters := letterSet(runes)
	if max(bits.OnesCount64(letters&^n.letters), bits.OnesCount64(n.letters&^letters)) > allowed {
		return
	}
	likeness := 1 - float64(n.edits(runes))/float64(max(len(runes), len(n.wanted)))
	if likeness > n.likeness || likeness == n.likeness && n.found == "" {
		n.found, n.likeness = candidate, likeness
	}
}

// letterSet has a bit for each letter, some letters sharing one.
func letterSet(runes []rune) (set uint64) {
	for _, r := range runes {
		set |= 1 << (uint(r) % 64)
	}
	return set
}

// edits is the Levenshtein distance.
func (n *nearest) edits(other []rune) int {
	n.row = n.row[:0]
	for i := range len(other) + 1 {
		n.row = append(n.row, i)
	}
	for i, w := range n.wanted {
		diagonal := n.row[0]
		n.row[0] = i + 1
		for j, o := range other {
			cost := diagonal
			if w != o {
				cost++
			}
			diagonal = n.row[j+1]
			n.row[j+1] = min(cost, diagonal+1, n.row[j]+1)
		}
	}
	return n.row[len(other)]
}
