package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"basalt/api/bench/load"
	"basalt/api/bench/report"
)

// writerSteps are the numbers of virtual users of the ramp.
var writerSteps = []int{5, 10, 20, 35, 50}

// rampTime is how long the ramps of all rounds take.
const rampTime = 2 * time.Minute

// ramp is what the rounds of writing have given.
type ramp struct {
	run       uuid.UUID
	all       []readings            // of writerSteps
	each      map[string][]readings // by operation, of writerSteps
	failed    []float64             // by round
	made      int                   // rows
	misplaced int                   // rows too many or too few at the end of a step
	left      int                   // rows in the end
}

// writes measures virtual users that make, change and delete rows of their own.
func (r *run) writes() (s report.Section, err error) {
	s = report.Section{
		Title: "CRUD writes",
		Intro: "Each virtual user makes a row, which it gets back, changes it, deletes it, and begins again. What comes back is compared with what was written.",
	}
	m := ramp{run: uuid.New(), all: make([]readings, len(writerSteps)), each: map[string][]readings{}}
	for _, operation := range operations {
		m.each[operation] = make([]readings, len(writerSteps))
	}
	defer func() { err = errors.Join(err, r.removeRows(m.run)) }()
	length := r.lasting(rampTime / time.Duration(len(writerSteps)*r.options.Rounds))
	for round := range r.options.Rounds {
		m.failed = append(m.failed, 0)
		for step, users := range writerSteps {
			r.progress.Step(fmt.Sprintf("%d virtual users, round %d of %d", users, round+1, r.options.Rounds))
			if err := r.writeStep(&m, &s, step, length); err != nil {
				return s, err
			}
		}
	}
	if m.left, err = r.countRows(m.run); err != nil {
		return s, err
	}
	m.tell(&s, length)
	s.Notes = append(s.Notes, r.durability())
	return s, nil
}

// writeStep has so many virtual users write. Then it counts the rows that they have at the moment: one more was made
// twice or not deleted, one less was lost.
func (r *run) writeStep(m *ramp, s *report.Section, step int, length time.Duration) error {
	users := writerSteps[step]
	writers := newWriters(r.target, m.run, users)
	result, err := load.Closed(r.ctx, load.Options{URL: r.target.URL, Callers: users, For: length}, func(caller, _ int, q *load.Request) {
		writers[caller].next(q)
	})
	if err != nil {
		return err
	}
	m.all[step].add(result)
	for _, operation := range operations {
		if part := result.Operations[operation]; part != nil {
			m.each[operation][step].add(part)
		}
	}
	m.failed[len(m.failed)-1] += float64(result.Errors)
	s.Notes = append(s.Notes, failures(fmt.Sprintf("%d virtual users", users), result)...)
	found, err := r.countRows(m.run)
	if err != nil {
		return err
	}
	held := 0
	for i := range writers {
		w := &writers[i]
		m.made += w.made
		if w.row.ID == 0 {
			continue
		}
		held++
		if err := r.target.ask(r.ctx, http.MethodDelete, w.path(), r.target.Token, nil, nil); err != nil {
			return err
		}
	}
	if found != held {
		m.misplaced += max(found-held, held-found)
		s.Notes = append(s.Notes, report.Note{Bad: true, Text: fmt.Sprintf("After %d virtual users there are %d of their rows instead of %d.", users, found, held)})
	}
	return nil
}

// countRows asks how many rows of a run there are.
func (r *run) countRows(id uuid.UUID) (int, error) {
	request, err := r.target.request(r.ctx, http.MethodHead, rowsOf(id), r.target.ServiceKey, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Prefer", "count=exact")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	response.Body.Close()
	_, total, found := strings.Cut(response.Header.Get("Content-Range"), "/")
	n, err := strconv.Atoi(total)
	if !found || err != nil {
		return 0, fmt.Errorf("count the rows of the run: status %d, Content-Range %q", response.StatusCode, response.Header.Get("Content-Range"))
	}
	return n, nil
}

// removeRows takes away what a run has left, also after an interrupt.
func (r *run) removeRows(id uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), closeTimeout)
	defer cancel()
	return r.target.service(ctx, http.MethodDelete, rowsOf(id), nil, nil)
}

func rowsOf(id uuid.UUID) string { return "/rest/v1/bench_entry?run=eq." + id.String() }

// tell makes the tables and charts.
func (m *ramp) tell(s *report.Section, length time.Duration) {
	method := fmt.Sprintf("Each step is the median of %d ramps from %d to %d virtual users, %v a step, without a pause between requests; bands are the least and most of the ramps. Load and server share the machine.",
		len(m.failed), writerSteps[0], writerSteps[len(writerSteps)-1], length)
	times := report.Chart{Title: "Time within which writes are answered", Method: method, XLabel: "virtual users", YLabel: "ms"}
	rates := report.Chart{Title: "Writes answered in a second", Method: method, XLabel: "virtual users", YLabel: "writes/s"}
	times.Lines = []report.Line{{Name: "p50"}, {Name: "p95"}, {Name: "p99"}}
	rates.Lines = []report.Line{{Name: "all"}}
	table := report.Table{Title: "All writes", Method: method, Head: "virtual users", Columns: readColumns}
	for i, users := range writerSteps {
		row := report.Row{Name: strconv.Itoa(users), Cells: m.all[i].cells(fmt.Sprint("writes.all.", users))}
		table.Rows = append(table.Rows, row)
		for line := range times.Lines {
			times.Lines[line].Points = append(times.Lines[line].Points, row.Cells[line].Figure.At(float64(users)))
		}
		rates.Lines[0].Points = append(rates.Lines[0].Points, row.Cells[3].Figure.At(float64(users)))
	}
	s.Charts, s.Tables = []report.Chart{times, rates}, []report.Table{table}
	for _, operation := range operations {
		table := report.Table{Title: "Only " + operation, Method: method, Head: "virtual users", Columns: readColumns}
		for i, users := range writerSteps {
			table.Rows = append(table.Rows, report.Row{Name: strconv.Itoa(users), Cells: m.each[operation][i].cells(fmt.Sprint("writes.", operation, ".", users))})
		}
		s.Tables = append(s.Tables, table)
	}
	none := func(key string, n int) []report.Cell { return []report.Cell{worstOf(key, []float64{float64(n)})} }
	s.Tables = append(s.Tables, report.Table{
		Title: "Nothing lost, nothing doubled", Head: "rows and requests", Columns: []string{"number"},
		Method: "Each answer is compared with what was written; after each step the rows of the run are counted by the server and compared with those that virtual users have at the moment.",
		Rows: []report.Row{
			{Name: "rows made", Cells: []report.Cell{{Figure: report.NewFigure("writes.made", "", report.Higher, float64(m.made))}}},
			{Name: "failed or wrong answers", Cells: []report.Cell{worstOf("writes.failed", m.failed)}},
			{Name: "rows lost or doubled", Cells: none("writes.misplaced", m.misplaced)},
			{Name: "rows left in the end", Cells: none("writes.left", m.left)},
		},
	})
}

// durability says what of a write has reached the disk when it is answered.
func (r *run) durability() report.Note {
	if r.target.DatabaseURL == "" {
		return report.Note{Text: "How durable a write is when it is answered is not known: without --database-url PostgreSQL's settings are not read."}
	}
	var commit, fsync string
	err := r.target.connected(r.ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(r.ctx, `select current_setting('synchronous_commit'), current_setting('fsync')`).Scan(&commit, &fsync)
	})
	if err != nil {
		return report.Note{Text: fmt.Sprintf("PostgreSQL's settings could not be read: %v", err)}
	}
	note := report.Note{Text: fmt.Sprintf("PostgreSQL has synchronous_commit = %s and fsync = %s", commit, fsync)}
	if commit == "off" || fsync == "off" {
		note.Bad = true
		note.Text += ": a write that was answered may be lost with the power. It ships with both on."
	} else {
		note.Text += ", as it ships: a write is on the disk when it is answered."
	}
	return note
}
