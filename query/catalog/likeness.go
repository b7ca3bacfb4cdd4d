package catalog

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// minLikeness is the share of a name that must be right for it to be offered in place of a wrong one.
const minLikeness = 0.75

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
	best := newNearest(name)
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

// Nearest finds the candidate that is most like a name, if any is like it enough. The first wins among equals.
func Nearest(name string, candidates []string) (string, bool) {
	best := newNearest(name)
	for _, candidate := range candidates {
		best.offer(candidate)
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

func newNearest(name string) *nearest {
	n := &nearest{likeness: minLikeness}
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
