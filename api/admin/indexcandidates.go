package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// planNode is what advice on indexes needs of a node of a plan in JSON. Conditions are text, in which every column has the
// alias of its relation before it (explain verbose).
type planNode struct {
	Type        string     `json:"Node Type"`
	Schema      string     `json:"Schema"`
	Relation    string     `json:"Relation Name"`
	Alias       string     `json:"Alias"`
	Index       string     `json:"Index Name"`
	Cost        float64    `json:"Total Cost"`
	Rows        float64    `json:"Plan Rows"`
	Place       string     `json:"Parent Relationship"`
	Filter      string     `json:"Filter"`
	IndexCond   string     `json:"Index Cond"`
	RecheckCond string     `json:"Recheck Cond"`
	HashCond    string     `json:"Hash Cond"`
	MergeCond   string     `json:"Merge Cond"`
	JoinFilter  string     `json:"Join Filter"`
	SortKey     []string   `json:"Sort Key"`
	Plans       []planNode `json:"Plans"`
}

// readPlan reads what EXPLAIN (format json) gives.
func readPlan(text []byte) (*planNode, error) {
	var parsed []struct{ Plan planNode }
	if err := json.Unmarshal(text, &parsed); err != nil {
		return nil, fmt.Errorf("read a plan: %w", err)
	}
	if len(parsed) == 0 {
		return nil, errors.New("read a plan: there is none")
	}
	return &parsed[0].Plan, nil
}

// uses tells whether a plan goes by an index.
func (node *planNode) uses(index string) bool {
	return node.Index == index || slices.ContainsFunc(node.Plans, func(child planNode) bool { return child.uses(index) })
}

// scan is a read of a relation in a plan.
type scan struct {
	schema, relation, alias string
	cost                    float64 // of all its repetitions
	indexed                 bool    // it goes by an index already
	conditions              []string
	joins                   []string // conditions that join it to others, further up in the plan
	sortKey                 []string // what its rows are sorted by of which the first few are wanted
}

// mostScans is how many scans of a plan are looked at: the costliest.
const mostScans = 12

// scansOf gives the reads of relations of a plan, the costliest first.
func scansOf(plan *planNode) []scan {
	var found []scan
	var walk func(node *planNode, times float64, joins, sortKey []string, limited bool)
	walk = func(node *planNode, times float64, joins, sortKey []string, limited bool) {
		for _, condition := range []string{node.HashCond, node.MergeCond, node.JoinFilter} {
			if condition != "" {
				joins = append(slices.Clip(joins), condition)
			}
		}
		switch node.Type {
		case "Limit":
			limited = true
		case "Sort", "Incremental Sort":
			if limited {
				sortKey = node.SortKey
			}
		case "Aggregate", "WindowAgg", "Unique", "SetOp":
			limited, sortKey = false, nil // all rows below are needed
		case "Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan":
			found = append(found, scan{
				schema: node.Schema, relation: node.Relation, alias: node.Alias, cost: node.Cost * times, indexed: node.Type != "Seq Scan",
				conditions: []string{node.IndexCond, node.RecheckCond, node.Filter}, joins: joins, sortKey: sortKey,
			})
		}
		for i := range node.Plans {
			repeated := times
			switch child := &node.Plans[i]; {
			case child.Type == "Materialize":
			case child.Place == "SubPlan":
				repeated *= max(1, node.Rows)
			case child.Place == "Inner" && node.Type == "Nested Loop":
				repeated *= max(1, node.Plans[0].Rows)
			}
			walk(&node.Plans[i], repeated, joins, sortKey, limited)
		}
	}
	walk(plan, 1, nil, nil, false)
	slices.SortStableFunc(found, func(a, b scan) int { return cmp.Compare(b.cost, a.cost) })
	return found[:min(len(found), mostScans)]
}

// column is a column of a scanned relation; Quoted is its name as PostgreSQL writes it in plans.
type column struct {
	Name    string
	Quoted  string
	Varchar bool // compared as text, which changes nothing for an index
}

// mostEqual and mostJoins are how many columns of each kind are thought of.
const (
	mostEqual = 3
	mostJoins = 2
)

// candidates are the columns of indexes that a scan might use: what is compared by = first, then one that is compared by
// another operator or sorted by. alias is quoted. They are guesses from text, for the planner or a person to judge.
func (s *scan) candidates(alias string, columns []column) [][]string {
	var equal, ranged, joined, sorted, either []string
	for _, c := range columns {
		name := alias + "." + c.Quoted
		for _, condition := range s.conditions {
			// Of columns in different branches no single index helps.
			operator := comparison(condition, name, c.Varchar)
			switch {
			case operator == "":
			case strings.Contains(condition, " OR "):
				either = append(either, c.Name)
			case operator == "=":
				equal = append(equal, c.Name)
			default:
				ranged = append(ranged, c.Name)
			}
		}
		for _, condition := range s.joins {
			if comparison(condition, name, c.Varchar) == "=" {
				joined = append(joined, c.Name)
			}
		}
		if len(s.sortKey) > 0 && isSortedBy(s.sortKey[0], name) {
			sorted = append(sorted, c.Name)
		}
	}
	equal = slices.Compact(equal)
	equal = equal[:min(len(equal), mostEqual)]
	joined = slices.Compact(joined)
	var found [][]string
	add := func(names ...string) {
		seen := map[string]bool{}
		names = slices.DeleteFunc(names, func(name string) bool {
			again := seen[name]
			seen[name] = true
			return again
		})
		if len(names) > 0 && !slices.ContainsFunc(found, func(other []string) bool { return slices.Equal(other, names) }) {
			found = append(found, names)
		}
	}
	then := func(last string) { add(append(slices.Clone(equal), last)...) }
	for _, last := range slices.Concat(ranged[:min(len(ranged), 1)], sorted) {
		then(last)
	}
	if len(found) == 0 {
		add(slices.Clone(equal)...)
	}
	for _, name := range joined[:min(len(joined), mostJoins)] {
		then(name)
		add(name)
	}
	for _, name := range either[:min(len(either), mostEqual)] {
		add(name)
	}
	return found
}

// comparison gives the operator by which a condition compares a column as it is, "" for none: what is within a function or
// an arithmetic expression does not count, since an index on the column knows nothing of it.
func comparison(condition, name string, varchar bool) string {
	if !strings.Contains(condition, name) {
		return ""
	}
	operand := regexp.QuoteMeta(name)
	if varchar {
		operand = `(?:` + operand + `|\(` + operand + `\)::text)`
	}
	operators := ` (=|<|>|<=|>=) `
	// PostgreSQL puts brackets around each comparison, and those of a function's arguments right behind its name.
	match := regexp.MustCompile(`(?:^|[ (])\(` + operand + operators + `|` + operators + operand + `\)`).FindStringSubmatch(condition)
	if match == nil {
		return ""
	}
	return match[1] + match[2]
}

// isSortedBy tells whether a key of a sort is a column as it is.
func isSortedBy(key, name string) bool {
	rest, begins := strings.CutPrefix(key, name)
	return begins && (rest == "" || strings.HasPrefix(rest, " DESC") || strings.HasPrefix(rest, " NULLS"))
}
