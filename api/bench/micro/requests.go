package micro

import (
	"errors"
	"fmt"
	"time"

	"basalt/api/rest"
	"basalt/query"
)

// Query strings of one, two, four and eight conditions, of the usual kinds.
var conditions = []struct {
	number int
	raw    string
}{
	{1, "id=eq.5"},
	{2, "id=eq.5&active=is.true"},
	{4, "id=gt.5&active=is.true&name=like.*smith*&note=is.null"},
	{8, "id=gt.5&active=is.true&name=like.*smith*&note=is.null&price=gte.10&price=lt.100&stock=in.(1,2,3)&extra=cs.{\"k\":1}"},
}

const (
	fourConditions = "select=id,name,price,created_at&stock=eq.7&price=gt.10&id=in.(1,2,3)&active=is.true&order=created_at.desc"
	twoEmbeds      = "select=id,name,bench_part(id,name,bench_item(name))&bench_part.amount=gt.1&order=id"
)

func requests() []Benchmark {
	var all []Benchmark
	for _, c := range conditions {
		name := fmt.Sprintf("Parse %d conditions", c.number)
		if c.number == 1 {
			name = "Parse one condition"
		}
		all = append(all, Benchmark{Key: fmt.Sprintf("parse.%d", c.number), Name: name, New: func() (func() error, error) {
			var q query.Query
			return func() error { return q.Parse(c.raw, query.ParseOptions{}) }, nil
		}})
	}
	return append(all,
		Benchmark{Key: "compile.cold", Name: "Parse, plan, compile and bind four conditions", New: compiling(fourConditions), Bars: Bars{Time: 15 * time.Microsecond}},
		Benchmark{Key: "compile.embeds", Name: "Parse, plan, compile and bind two embeds", New: compiling(twoEmbeds)},
		Benchmark{Key: "compile.cached", Name: "Parse, find and bind four conditions of a known shape", New: finding(fourConditions),
			Bars: Bars{Time: 2 * time.Microsecond, Allocations: 20}},
	)
}

// read is a request for items, whose query string is parsed anew for each operation as a server does.
type read struct {
	raw     string
	request query.Request
	room    [][]byte
}

func newRead(raw string) *read {
	return &read{raw: raw, room: make([][]byte, 0, 16), request: query.Request{
		Action: query.Read, Schema: "public", Target: "bench_item", Query: &query.Query{}, Limit: 1000,
	}}
}

// bind makes the request ready to be sent, and tells whether the planner remembered its statement.
func (r *read) bind(p *rest.Planner) (remembered bool, err error) {
	if err := r.request.Query.Parse(r.raw, query.ParseOptions{}); err != nil {
		return false, err
	}
	statement, remembered, err := p.Statement(&r.request)
	if err != nil {
		return false, err
	}
	_, err = statement.Bind(r.room, &r.request)
	return remembered, err
}

func compiling(raw string) func() (func() error, error) {
	return func() (func() error, error) {
		c, err := newCatalog()
		if err != nil {
			return nil, err
		}
		r := newRead(raw)
		return func() error {
			_, err := r.bind(rest.NewPlanner(c))
			return err
		}, nil
	}
}

func finding(raw string) func() (func() error, error) {
	return func() (func() error, error) {
		c, err := newCatalog()
		if err != nil {
			return nil, err
		}
		r, p := newRead(raw), rest.NewPlanner(c)
		if _, err := r.bind(p); err != nil {
			return nil, err
		}
		return func() error {
			if remembered, err := r.bind(p); err != nil || !remembered {
				return errors.Join(err, errors.New("the statement was not remembered"))
			}
			return nil
		}, nil
	}
}
