package catalog

import "strconv"

// The depth of brackets in a view's rule, which reads ({QUERY … :targetList ({TARGETENTRY …} …) …}).
const (
	queryDepth = 2
	listDepth  = 3
	entryDepth = 4
)

// ViewColumns reads which columns of which relations a view's columns show, from the text of its rule
// (pg_rewrite.ev_action), and gives each to the function. PostgreSQL has already looked through joins, subqueries
// and common table expressions when it wrote resorigtbl and resorigcol; it stops at other views.
//
// The text is a tree of nodes {NAME :field value …} and lists (…), as nodes/outfuncs.c writes them; a backslash
// protects the character behind it. Only the target list of the outermost query is read.
func ViewColumns(view OID, rule string, yield func(RawViewColumn)) {
	var (
		depth  int
		inList bool
		field  string
		entry  RawViewColumn
	)
	for tokens := (nodeTokens{text: rule}); ; {
		token := tokens.next()
		switch token {
		case "":
			return
		case "(", "{":
			depth++
			if depth == listDepth && field == ":targetList" {
				inList = true
			}
			if depth == entryDepth {
				entry = RawViewColumn{View: view}
			}
			field = ""
			continue
		case ")", "}":
			depth--
			if inList && depth == queryDepth {
				return
			}
			if inList && depth == listDepth && entry.Base != 0 && entry.Number > 0 && entry.BaseNumber > 0 {
				yield(entry)
			}
			field = ""
			continue
		}
		if token[0] == ':' {
			field = ""
			if depth == queryDepth || inList && depth == entryDepth {
				field = token
			}
			continue
		}
		if inList && depth == entryDepth {
			entry.set(field, token)
		}
		field = ""
	}
}

// set takes one field of a TARGETENTRY. What is no number of the field's size leaves it zero, and the entry unused.
func (c *RawViewColumn) set(field, value string) {
	switch field {
	case ":resno":
		c.Number = columnNumber(value)
	case ":resorigcol":
		c.BaseNumber = columnNumber(value)
	case ":resorigtbl":
		oid, err := strconv.ParseUint(value, 10, 32)
		if err == nil {
			c.Base = OID(oid)
		}
	}
}

func columnNumber(text string) int16 {
	n, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return 0
	}
	return int16(n)
}

// nodeTokens splits the text of a node tree as PostgreSQL's pg_strtok does.
type nodeTokens struct {
	text string
	at   int
}

// next gives the next token, "" at the end.
func (t *nodeTokens) next() string {
	for t.at < len(t.text) && isNodeSpace(t.text[t.at]) {
		t.at++
	}
	start := t.at
	if start == len(t.text) {
		return ""
	}
	if isNodeBracket(t.text[start]) {
		t.at++
		return t.text[start:t.at]
	}
	for t.at < len(t.text) && !isNodeSpace(t.text[t.at]) && !isNodeBracket(t.text[t.at]) {
		if t.text[t.at] == '\\' && t.at+1 < len(t.text) {
			t.at++
		}
		t.at++
	}
	return t.text[start:t.at]
}

func isNodeSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func isNodeBracket(c byte) bool { return c == '(' || c == ')' || c == '{' || c == '}' }
