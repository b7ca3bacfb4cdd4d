package rest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"basalt/query"
)

// reference leads to a value in the answer to an earlier operation of a batch: $/0/body/0/id.
type reference struct {
	text  string
	from  int      // the operation
	steps []string // into its body
}

// parseReference reads a reference of the operation at index.
func parseReference(text string, index int) (reference, error) {
	r := reference{text: text}
	pointer, ok := strings.CutPrefix(text, "$")
	if !ok {
		return r, fmt.Errorf("%q is not a reference such as $/0/body/0/id", clip(text))
	}
	steps, err := parsePointer(pointer)
	if err != nil {
		return r, err
	}
	if len(steps) < 2 || steps[1] != "body" {
		return r, fmt.Errorf("the reference %q does not lead into the body of an answer ($/0/body/…)", clip(text))
	}
	if r.from, err = strconv.Atoi(steps[0]); err != nil || r.from < 0 || strconv.Itoa(r.from) != steps[0] {
		return r, fmt.Errorf("the reference %q does not name an operation by its index", clip(text))
	}
	if r.from >= index {
		return r, fmt.Errorf("the reference %q does not lead to an earlier operation", clip(text))
	}
	r.steps = steps[2:]
	return r, nil
}

// mark stands in a query string for a reference while the query is parsed. It holds only what means nothing in the
// dialect, and nobody can guess it.
type mark struct {
	text string
	reference
}

// markReferences puts marks in the place of the references {$/…} of a query string. Only braces that are not
// percent-encoded make a reference: a client that encodes its values sends none by accident.
func markReferences(raw string, index int) (marked string, marks []mark, err error) {
	const opening = "{$/"
	var b strings.Builder
	for {
		start := strings.Index(raw, opening)
		if start < 0 {
			b.WriteString(raw)
			return b.String(), marks, nil
		}
		length := strings.IndexByte(raw[start:], '}')
		if length < 0 {
			return "", nil, fmt.Errorf("a reference has no end: %s", clip(raw[start:]))
		}
		text, err := url.PathUnescape(raw[start+1 : start+length])
		if err != nil {
			return "", nil, fmt.Errorf("a reference is not percent-encoded as it should be: %s", clip(raw[start:start+length+1]))
		}
		r, err := parseReference(text, index)
		if err != nil {
			return "", nil, err
		}
		m := mark{"ref" + strings.ToLower(rand.Text()), r}
		marks = append(marks, m)
		b.WriteString(raw[:start])
		b.WriteString(m.text)
		raw = raw[start+length+1:]
	}
}

// setMarks puts values in the place of the marks in a parsed query, where they are values whatever they hold. Without
// values, which are looked up by the text of a reference, it only sees whether that could be done.
func setMarks(q *query.Query, marks []mark, values map[string]json.RawMessage) error {
	s := markSetter{query: q, marks: marks, values: values}
	for i := range q.Where {
		if err := s.condition(&q.Where[i]); err != nil {
			return err
		}
	}
	for i := range q.Arguments {
		for _, ref := range q.Arguments[i].Values {
			if err := s.whole(ref); err != nil {
				return err
			}
		}
	}
	if s.set < len(marks) {
		return misplaced(fmt.Errorf("a reference in a path may only stand for a whole value: column=eq.{$/…}, column=in.({$/…}) or an argument"))
	}
	return nil
}

type markSetter struct {
	query  *query.Query
	marks  []mark
	values map[string]json.RawMessage
	set    int
}

func (s *markSetter) condition(c *query.Condition) error {
	for i := range c.Children {
		if err := s.condition(&c.Children[i]); err != nil {
			return err
		}
	}
	switch {
	case c.Logic != query.Compare || c.Value == query.None || c.Operator == nil || c.Quantifier != query.NoQuantifier:
		return nil
	case c.Operator.Kind == query.InList:
		return s.elements(c.Value)
	}
	return s.whole(c.Value)
}

// whole sets a value that is a mark.
func (s *markSetter) whole(ref query.Ref) error {
	for i := range s.marks {
		if s.query.Values[ref] != s.marks[i].text {
			continue
		}
		s.set++
		if s.values == nil {
			return nil
		}
		text, err := s.text(&s.marks[i])
		s.query.Values[ref] = text
		return err
	}
	return nil
}

// elements sets the elements of a list that are marks. The list becomes an array in PostgreSQL's own spelling, where it
// cannot be mistaken what is an element.
func (s *markSetter) elements(ref query.Ref) error {
	if !s.hasMark(s.query.Values[ref]) {
		return nil
	}
	array := query.AppendArrayLiteral(nil, s.query.Values[ref])
	dst := []byte{'{'}
	for rest := string(array[1:]); rest != ""; {
		end := elementEnd(rest)
		element := rest[:end]
		value, err := s.element(element)
		if err != nil {
			return err
		}
		dst = append(append(dst, value...), rest[end]) // the comma, or the brace at the end
		rest = rest[end+1:]
	}
	s.query.Values[ref] = string(dst)
	return nil
}

// elementEnd finds the end of the first element of an array without its opening brace.
func elementEnd(array string) int {
	quoted := false
	for i := 0; i < len(array); i++ {
		switch c := array[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '}'):
			return i
		}
	}
	return len(array) - 1
}

// element gives what stands for an element of an array.
func (s *markSetter) element(element string) (string, error) {
	for i := range s.marks {
		m := &s.marks[i]
		if element != m.text && element != `"`+m.text+`"` {
			continue
		}
		s.set++
		if s.values == nil {
			return element, nil
		}
		text, err := s.text(m)
		return string(query.AppendElement(nil, text)), err
	}
	if s.hasMark(element) {
		return "", misplaced(fmt.Errorf("a reference must be the whole of an element"))
	}
	return element, nil
}

func (s *markSetter) hasMark(text string) bool {
	return slices.ContainsFunc(s.marks, func(m mark) bool { return strings.Contains(text, m.text) })
}

// text gives the value that a mark stands for as a literal.
func (s *markSetter) text(m *mark) (string, error) {
	value := s.values[m.reference.text]
	switch {
	case len(value) == 0:
		return "", absent(m.reference.text)
	case value[0] == '"':
		var text string
		err := json.Unmarshal(value, &text)
		return text, err
	case value[0] == '{' || value[0] == '[' || value[0] == 'n':
		return "", misplaced(fmt.Errorf("the reference %q leads to what is no text, number or boolean", m.reference.text))
	}
	return string(value), nil
}

// unmark gives an error's text with the references in the place of their marks.
func unmark(e *Error, marks []mark) {
	if len(marks) == 0 {
		return
	}
	pairs := make([]string, 0, 2*len(marks))
	for _, m := range marks {
		pairs = append(pairs, m.text, "{"+m.reference.text+"}")
	}
	replacer := strings.NewReplacer(pairs...)
	e.Message = replacer.Replace(e.Message)
	for _, part := range []**string{&e.Details, &e.Hint} {
		if *part != nil {
			*part = text(replacer.Replace(**part))
		}
	}
}

// misplaced is the refusal of a reference.
func misplaced(err error) *Error {
	e := failure(http.StatusBadRequest, codeReference, "A reference cannot be used")
	e.Details = text(err.Error())
	return e
}

// absent is the refusal of a reference to a value that is not there.
func absent(reference string) *Error {
	e := misplaced(fmt.Errorf("the reference %q leads to nothing", clip(reference)))
	e.Hint = text("Let the operation that it leads to return its rows: prefer return=representation, and select the column")
	return e
}

// nullJSON stands for a value that is not known yet.
func nullJSON(string) json.RawMessage { return json.RawMessage("null") }
