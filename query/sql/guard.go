package sql

import (
	"errors"
	"strconv"
	"strings"

	"basalt/query/plan"
)

// miscountName begins the name of a setting that nobody can have: asking for it ends the statement with an error that
// tells how many rows were written. The transaction is rolled back then without a word from us, in the same flight.
const miscountName = "basalt: rows written "

// guard writes the condition. It speaks of no row of its query, so that PostgreSQL evaluates it once, before the first
// row, and also when there is none.
func (b *builder) guard(g plan.Guard) {
	b.write("(\nselect case when ")
	if g.One {
		b.write("c.n = 1")
	}
	if g.MaxAffected {
		if g.One {
			b.write(" and ")
		}
		b.write("c.n <= ")
		b.parameter(Param{Source: MaxAffected}, "::bigint")
	}
	b.write(" then true else pg_catalog.current_setting(pg_catalog.concat('", miscountName, "', c.n)) is null end",
		"\nfrom (\nselect pg_catalog.count(*) as n\nfrom ", written, "\n) c\n)")
}

// changeThenCount writes a guarded command that shows nothing of what it writes.
func (b *builder) changeThenCount(w *plan.Write, target *scope) (hidden []Hidden) {
	b.write("with ", written, " as (\n")
	b.change(w, target)
	shown := "select *"
	if hidden = b.returnHidden(w, target); len(hidden) == 0 {
		b.write(listSeparator(0), "1")
		shown = "select"
	}
	b.write("\n)\n", shown, "\nfrom ", written, "\nwhere ")
	b.guard(w.Guard)
	return hidden
}

// undefinedObject is the SQLSTATE of a setting that does not exist.
const undefinedObject = "42704"

// Miscounted reads how many rows a guarded statement wrote, out of the error that it ended itself with.
func Miscounted(err error) (rows int64, ok bool) {
	var database interface {
		error
		SQLState() string
	}
	if !errors.As(err, &database) || database.SQLState() != undefinedObject {
		return 0, false
	}
	_, rest, _ := strings.Cut(database.Error(), miscountName)
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	rows, err = strconv.ParseInt(digits, 10, 64)
	return rows, err == nil
}
