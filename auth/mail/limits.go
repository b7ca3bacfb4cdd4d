package mail

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	text "text/template"
	"text/template/parse"
)

// Limits of what a template can do: all that would end too late, or take too much memory, is an error of the template.
const (
	mostLetter = 2 << 20 // bytes of each part of a mail
	mostSteps  = 5000    // of each part of a mail: texts, values, turns of a range
	mostValue  = 4 << 10 // bytes that a function makes a text of
	bytesAStep = 100     // of an expression: a longer one takes another step for as many
	mostNodes  = 20_000  // that html/template may come to read, each of them 2^n times below n ranges and n templates
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

// limit has templates that know one another, and are not executed yet, write empty texts: one at the beginning of each list
// of their nodes, and more before long expressions. So nothing runs on without a step that its page counts. It refuses what
// html/template would read for ever.
func limit(trees []*parse.Tree) error {
	l := limiter{map[string]*parse.Tree{}, map[string]int{}}
	for _, tree := range trees {
		if tree != nil {
			l.trees[tree.Name] = tree
		}
	}
	for name := range l.trees {
		if _, err := l.template(name); err != nil {
			return err
		}
	}
	return nil
}

type limiter struct {
	trees map[string]*parse.Tree
	nodes map[string]int // that are read of a template, by its name; unread while it is being looked through
}

const unread = -1

// template gives how many nodes are read of a template. One that is not there is for its caller to find.
func (l *limiter) template(name string) (int, error) {
	tree, nodes := l.trees[name], l.nodes[name]
	if tree == nil || nodes > 0 {
		return nodes, nil
	}
	l.nodes[name] = unread
	nodes, err := l.list(tree, tree.Root)
	l.nodes[name] = nodes + 1
	return nodes + 1, err
}

func (l *limiter) list(tree *parse.Tree, list *parse.ListNode) (nodes int, err error) {
	if list == nil {
		return 0, nil
	}
	step := &parse.TextNode{NodeType: parse.NodeText, Pos: list.Pos}
	stepped := []parse.Node{step}
	for _, node := range list.Nodes {
		wrong := func(format string, values ...any) error {
			location, _ := tree.ErrorContext(node)
			return &TemplateError{tree.ParseName, fmt.Errorf("template: "+location+": "+format, values...)}
		}
		var pipe *parse.PipeNode
		var branch *parse.BranchNode
		within, times := 0, 1
		switch node := node.(type) {
		case *parse.TextNode:
			nodes += len(node.Text) / bytesAStep
		case *parse.ActionNode:
			pipe = node.Pipe
		case *parse.TemplateNode:
			if l.nodes[node.Name] == unread {
				return 0, wrong("the template %q takes itself in", node.Name)
			}
			pipe, times = node.Pipe, 2
			within, err = l.template(node.Name)
		case *parse.IfNode:
			branch = &node.BranchNode
		case *parse.WithNode:
			branch = &node.BranchNode
		case *parse.RangeNode:
			branch, times = &node.BranchNode, 2
		}
		if branch != nil {
			pipe = branch.Pipe
			if within, err = l.list(tree, branch.List); err == nil {
				var other int
				other, err = l.list(tree, branch.ElseList)
				within += other
			}
		}
		if err != nil {
			return 0, err
		}
		if pipe != nil {
			steps := len(pipe.String()) / bytesAStep
			nodes += steps
			stepped = append(stepped, slices.Repeat([]parse.Node{step}, steps)...)
		}
		stepped = append(stepped, node)
		if nodes += 1 + times*within; nodes > mostNodes {
			return 0, wrong("there is too much in it, or too many ranges and templates in one another")
		}
	}
	list.Nodes = stepped
	return nodes, nil
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
