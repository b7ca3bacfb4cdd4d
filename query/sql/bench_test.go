package sql_test

import (
	"testing"

	"basalt/query"
	"basalt/query/plan"
	"basalt/query/sql"
)

const (
	fourFilters = "select=id,status,total,placed&status=eq.open&total=gt.10&id=in.(1,2,3)&paid=is.true&order=placed.desc"
	twoEmbeds   = "select=id,total,customers(name,countries(name)),items(product,quantity)&items.quantity=gt.1&order=id"
)

func BenchmarkParsePlanAndCompile(b *testing.B) {
	s := newSample(b)
	for name, raw := range map[string]string{"four filters": fourFilters, "two embeds": twoEmbeds} {
		b.Run(name, func(b *testing.B) {
			r := query.Request{Action: query.Read, Schema: "public", Target: "orders", Query: &query.Query{}, Limit: 20}
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Query.Parse(raw, query.ParseOptions{}); err != nil {
					b.Fatal(err)
				}
				planned, err := plan.NewRead(s.catalog, &r)
				if err != nil {
					b.Fatal(err)
				}
				sql.CompileRead(planned)
			}
		})
	}
}

func BenchmarkBind(b *testing.B) {
	s := newSample(b)
	request, statement, err := s.compile("GET /orders?" + fourFilters)
	if err != nil {
		b.Fatal(err)
	}
	room := make([][]byte, 0, len(statement.Params))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := statement.Bind(room, request); err != nil {
			b.Fatal(err)
		}
	}
}
