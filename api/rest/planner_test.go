package rest

import (
	"strconv"
	"strings"
	"testing"

	"basalt/query"
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
			p := &planner{compiled: map[string]*compiled{}}
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
	p := &planner{compiled: map[string]*compiled{}}
	first := &compiled{Statement: &sql.Statement{SQL: "select 1"}}
	p.remember("a", first)
	before := p.bytes
	if p.remember("a", &compiled{Statement: &sql.Statement{SQL: "select 1"}}) != first || p.bytes != before {
		t.Error("the second one took the place of the first")
	}
}

// fourFilters is parsed, found and bound as each request of its shape is.
const fourFilters = "select=id,status,total,placed&status=eq.open&total=gt.10&id=in.(1,2,3)&paid=is.true&order=placed.desc"

// cachedPlan gives what a request of a known shape costs before its statement is sent.
func cachedPlan(tb testing.TB) func() {
	h, p := &Handler{}, &planner{compiled: map[string]*compiled{}}
	request := &query.Request{Action: query.Read, Schema: "public", Target: "orders", Query: &query.Query{}, Limit: 20}
	if err := request.Query.Parse(fourFilters, query.ParseOptions{}); err != nil {
		tb.Fatal(err)
	}
	statement := &sql.Statement{Params: []sql.Param{
		{Source: sql.Value, Index: 0}, {Source: sql.Value, Index: 1}, {Source: sql.Value, Index: 2}, {Source: sql.Limit},
	}}
	p.remember(string(request.AppendShape(nil)), &compiled{Statement: statement})
	room := make([][]byte, 0, len(statement.Params))
	return func() {
		if err := request.Query.Parse(fourFilters, query.ParseOptions{}); err != nil {
			tb.Fatal(err)
		}
		found, err := h.compile(p, request)
		if err != nil || found.Statement != statement {
			tb.Fatalf("%v %v", found, err)
		}
		if _, err := found.Bind(room, request); err != nil {
			tb.Fatal(err)
		}
	}
}

func TestACachedPlanAllocatesLittle(t *testing.T) {
	if allocations := testing.AllocsPerRun(100, cachedPlan(t)); allocations > 20 {
		t.Errorf("%v allocations, at most 20 are wanted", allocations)
	}
}

func BenchmarkCachedPlan(b *testing.B) {
	run := cachedPlan(b)
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}
