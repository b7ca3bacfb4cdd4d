package rest

import (
	"strconv"
	"strings"
	"testing"

	"basalt/query/sql"
)

func TestPlannerForgetsStatementsBeyondItsBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name              string
		text, made, least int
	}{
		{"many small ones", 100, 2 * maxCompiled, maxCompiled * 7 / 8},
		{"a few large ones", 1 << 20, 200, 28},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := NewPlanner(nil)
			text := strings.Repeat("x", test.text)
			for i := range test.made {
				key := strconv.Itoa(i)
				statement := &compiled{Statement: &sql.Statement{SQL: text, Count: &sql.Statement{SQL: text}}}
				if p.remember(key, statement) != statement || p.find([]byte(key)) != statement {
					t.Fatalf("statement %d was not kept", i)
				}
				if len(p.compiled) > maxCompiled || p.bytes > maxCompiledBytes {
					t.Fatalf("%d statements with %d bytes after %d", len(p.compiled), p.bytes, i+1)
				}
			}
			kept := 0
			for key, statement := range p.compiled {
				kept += len(key) + statement.bytes()
			}
			if kept != p.bytes || len(p.compiled) < test.least {
				t.Errorf("%d statements of %d bytes are kept, %d are counted", len(p.compiled), kept, p.bytes)
			}
		})
	}
}

func TestPlannerSharesAStatementThatWasCompiledTwice(t *testing.T) {
	t.Parallel()
	p := NewPlanner(nil)
	first := &compiled{Statement: &sql.Statement{SQL: "select 1"}}
	p.remember("a", first)
	before := p.bytes
	if p.remember("a", &compiled{Statement: &sql.Statement{SQL: "select 1"}}) != first || p.bytes != before {
		t.Error("the second one took the place of the first")
	}
}
