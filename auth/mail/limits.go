package mail

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	text "text/template"
	"text/template/parse"
)

// Limits of what a template can do: all that would end too late, or take too much memory, is an error of the template.
const (
	mostLetter = 2 << 20  // bytes of each part of a mail
	mostSteps  = 20_000   // texts, values, and turns of a range, of each part of a mail
	mostValue  = 64 << 10 // bytes that a function makes a text of
	// mostRanges is how deep ranges can be nested in one another: html/template reads the innermost one 2^n times.
	mostRanges = 5
)

// page takes what a template writes.
type page struct {
	strings.Builder
	steps int
}

func (p *page) Write(b []byte) (int, error) {
	if p.steps++; p.steps > mostSteps {
		return 0, fmt.Errorf("it takes more than %d steps", mostSteps)
	}
	if p.Len()+len(b) > mostLetter {
		return 0, fmt.Errorf("it writes more than %d bytes", mostLetter)
	}
	return p.Builder.Write(b)
}

// limit has a template that is not executed yet write an empty text at the beginning of each list of its nodes: so none
// runs on without a step that its page counts. It refuses ranges that are nested too deeply.
func limit(tree *parse.Tree) error {
	if tree == nil {
		return nil
	}
	return limitList(tree, tree.Root, 0)
}

func limitList(tree *parse.Tree, list *parse.ListNode, ranges int) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		var branch *parse.BranchNode
		within := ranges
		switch node := node.(type) {
		case *parse.IfNode:
			branch = &node.BranchNode
		case *parse.WithNode:
			branch = &node.BranchNode
		case *parse.RangeNode:
			branch, within = &node.BranchNode, ranges+1
		default:
			continue
		}
		if within > mostRanges {
			location, _ := tree.ErrorContext(node)
			return fmt.Errorf("template: %s: more than %d ranges are nested in one another", location, mostRanges)
		}
		if err := errors.Join(limitList(tree, branch.List, within), limitList(tree, branch.ElseList, ranges)); err != nil {
			return err
		}
	}
	list.Nodes = append([]parse.Node{&parse.TextNode{NodeType: parse.NodeText, Pos: list.Pos}}, list.Nodes...)
	return nil
}

// functions take the places of those of text/template that can make a long text of a short one, again and again.
func functions() text.FuncMap {
	return text.FuncMap{
		"print":    measured(fmt.Sprint),
		"println":  measured(fmt.Sprintln),
		"html":     measured(text.HTMLEscaper),
		"js":       measured(text.JSEscaper),
		"urlquery": measured(text.URLQueryEscaper),
		"printf":   printf,
	}
}

func measured(write func(...any) string) func(...any) (string, error) {
	return func(values ...any) (string, error) {
		if err := measure(values...); err != nil {
			return "", err
		}
		return write(values...), nil
	}
}

func measure(values ...any) error {
	size := 0
	for _, value := range values {
		if size += len(fmt.Sprint(value)); size > mostValue {
			return fmt.Errorf("its values are longer than %d bytes", mostValue)
		}
	}
	return nil
}

// longFormat finds what makes a long text of a short value: a width of four digits, one that is a value, and a value that
// is named by its number, as it can be named often.
var longFormat = regexp.MustCompile(`%[-+# 0]*(?:\d*\.?\d{4}|[\d.]*[*\[])`)

func printf(format string, values ...any) (string, error) {
	if longFormat.MatchString(strings.ReplaceAll(format, "%%", "")) {
		return "", errors.New("its format has a width of four digits, a * or a [")
	}
	if err := measure(append([]any{format}, values...)...); err != nil {
		return "", err
	}
	return fmt.Sprintf(format, values...), nil
}
