package main

import "fmt"

// scenario is work that every peer is given. Turns number its requests; a turn asks for the same rows of every peer.
type scenario struct {
	name, title string
	callers     []int
	// want are the rows of the answer; nil: the answer has none.
	want func(turn int) []row
}

// row is what is looked at of a row of an answer: which it is, and how many parts it brought.
type row struct{ id, parts int }

// Names of scenarios.
const (
	byKey  = "pk"
	list   = "list20"
	long   = "list1000"
	nested = "embed20x5"
	insert = "insert"
)

const (
	listed   = 20
	longest  = 1000
	embedded = 20
)

var scenarios = []scenario{
	{byKey, "read by primary key", []int{1, 10, 50, 200}, func(turn int) []row { return []row{{id: keyOf(turn)}} }},
	{list, "filtered and ordered list of 20 rows", []int{1, 10, 50}, func(turn int) []row {
		first := stockOf(turn)
		if first == 0 {
			first = stocks
		}
		return series(listed, first, stocks, 0)
	}},
	{long, "list of 1,000 rows", []int{1, 10}, func(turn int) []row { return series(longest, afterOf(turn)+1, 1, 0) }},
	{nested, "embed of 20 rows with 5 each", []int{1, 10}, func(turn int) []row {
		return series(embedded, parentOf(turn)+1, 1, partsOfOthers)
	}},
	{insert, "insert one row", []int{1, 10, 50}, nil},
}

// Parameters of a turn's request. Each scenario walks over the rows, so that no peer answers from one hot page.
func keyOf(turn int) int    { return turn%items + 1 }
func stockOf(turn int) int  { return turn % stocks }
func afterOf(turn int) int  { return turn % 1000 }
func parentOf(turn int) int { return richItems + turn%5000 }

// turnOf numbers the requests of all callers; 7919 is prime to every number of rows.
func turnOf(caller, n int) int { return caller*7919 + n }

func series(n, first, step, parts int) []row {
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{first + i*step, parts}
	}
	return rows
}

// compare says what is wrong with the rows of an answer.
func (s scenario) compare(turn int, got []row) error {
	want := s.want(turn)
	if len(got) != len(want) {
		return fmt.Errorf("%d rows instead of %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			return fmt.Errorf("row %d is %+v instead of %+v", i+1, got[i], want[i])
		}
	}
	return nil
}
