package bench

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"basalt/api/bench/floor"
	"basalt/api/bench/load"
	"basalt/api/bench/report"
)

// auth measures accounts under load.
func (r *run) auth() (report.Section, error) {
	s := report.Section{
		Title: "Auth under load",
		Intro: "Callers ask who they are and sign in; a sign-in is hardly more than the hash of its password, which is made slow to compute on purpose.",
	}
	r.progress.Step("make users")
	who, err := r.makeSigners()
	if err != nil {
		return s, err
	}
	for _, measure := range []func(*report.Section, *signers) error{r.whoAmI, r.signIns, r.signUps, r.flood} {
		if err := measure(&s, who); err != nil {
			return s, err
		}
	}
	return s, nil
}

// userTiers are the callers of GET /user.
var userTiers = []int{10, 50, 200}

// userBeside are the callers of GET /user that are measured beside a handler by hand.
const userBeside = 50

// whoAmI measures GET /user, all callers with one token.
func (r *run) whoAmI(s *report.Section, _ *signers) error {
	length := r.lasting(time.Second)
	measured := make([]readings, len(userTiers))
	failed := make([][]float64, len(userTiers))
	var hand readings
	byHand, err := r.userByHand()
	if err != nil {
		return err
	}
	if byHand != nil {
		defer byHand.stop()
	}
	ask := func(url, path string, callers int) (*load.Result, error) {
		return load.Closed(r.ctx, load.Options{URL: url, Callers: callers, Warm: length / 4, For: length}, r.prepareUser(path))
	}
	for round := range r.options.Rounds {
		for i, callers := range userTiers {
			r.progress.Step(fmt.Sprintf("GET /user, %d callers, round %d of %d", callers, round+1, r.options.Rounds))
			result, err := ask(r.target.URL, "/auth/v1/user", callers)
			if err != nil {
				return err
			}
			measured[i].add(result)
			failed[i] = append(failed[i], float64(result.Errors))
			s.Notes = append(s.Notes, failures(fmt.Sprintf("GET /user, %d callers", callers), result)...)
			if callers != userBeside || byHand == nil {
				continue
			}
			if result, err = ask(byHand.URL, floor.PathUser, callers); err != nil {
				return err
			}
			hand.add(result)
			s.Notes = append(s.Notes, failures("GET /user by hand", result)...)
		}
	}
	table := report.Table{
		Title: "Who am I: GET /auth/v1/user", Head: "callers", Columns: append(readColumns[:len(readColumns):len(readColumns)], "failed"),
		Method: fmt.Sprintf("All callers have the same token; median of %d rounds of %v, the callers' numbers taken in turn; failed requests of the worst round.", r.options.Rounds, length),
	}
	var beside readings
	for i, callers := range userTiers {
		key := fmt.Sprint("auth.user.", callers)
		table.Rows = append(table.Rows, report.Row{Name: strconv.Itoa(callers),
			Cells: append(measured[i].cells(key), worstOf(key+".failed", failed[i]))})
		if callers == userBeside {
			beside = measured[i]
		}
	}
	s.Tables = append(s.Tables, table)
	if byHand == nil {
		return nil
	}
	kept := report.NewFigure("auth.user.kept", "×", report.Higher, ratios(beside.rate, hand.rate)...).WithBar(0.85)
	s.Tables = append(s.Tables, report.Table{
		Title: "Who am I beside a handler by hand", Head: fmt.Sprint(userBeside, " callers"), Columns: readColumns,
		Method: "The handler verifies the token's HS256 signature in every request and reads the user's row; that the session has not ended and the user is not banned it does not check, as Basalt does. Rounds by turns with those above.",
		Rows:   []report.Row{{Name: "handler by hand", Cells: hand.cells("auth.user.hand")}},
	}, report.Table{
		Title: "What the checks of a session cost", Head: fmt.Sprint(userBeside, " callers"), Columns: []string{"figure"},
		Method: "Throughput of Basalt by that of the handler by hand, round by round.",
		Rows:   []report.Row{{Name: "Basalt / handler by hand", Cells: []report.Cell{{Figure: kept}}}},
	})
	return nil
}

// userByHand starts the server by hand where the secret and the database are known to it; else nil.
func (r *run) userByHand() (*floorProcess, error) {
	if r.target.secret == "" || r.target.DatabaseURL == "" {
		return nil, nil
	}
	return r.target.startFloor(r.ctx)
}

func (r *run) prepareUser(path string) load.Prepare {
	header, mine := r.target.headers(), []byte(r.target.OwnerID)
	check := func(body []byte) error {
		if !bytes.Contains(body, mine) {
			return fmt.Errorf("another user's: %.100s", body)
		}
		return nil
	}
	return func(_, _ int, q *load.Request) {
		q.Method, q.Path, q.Header, q.Check = http.MethodGet, path, header, check
	}
}

// worstOf is the cell of a number of failures that is to be 0 in every round.
func worstOf(key string, rounds []float64) report.Cell {
	worst := 0.0
	for _, n := range rounds {
		worst = max(worst, n)
	}
	return report.Cell{Figure: report.NewFigure(key, "", report.Lower, worst).WithBar(0)}
}

// failures says in a bad note that requests have failed.
func failures(what string, result *load.Result) []report.Note {
	if result.Errors == 0 {
		return nil
	}
	return []report.Note{{Bad: true, Text: fmt.Sprintf("%s: %d of %d failed: %v", what, result.Errors, result.Requests, result.FirstError)}}
}

const (
	floodCallers  = 50
	calmCallers   = 10 // who read in the flood
	floodAhead    = 500 * time.Millisecond
	leastAhead    = 300 * time.Millisecond // in which each caller of the flood is in the queue
	floodReadTime = 1500 * time.Millisecond
)

// flood measures reads while many sign in.
func (r *run) flood(s *report.Section, who *signers) error {
	length, ahead := r.lasting(floodReadTime), max(r.lasting(floodAhead), leastAhead)
	pk := readKinds[0]
	var calm, flooded readings
	var rate, failed []float64
	refused, asked := 0, 0
	var why error
	read := func() (*load.Result, error) {
		return load.Closed(r.ctx, load.Options{URL: r.target.URL, Callers: calmCallers, Warm: length / 4, For: length}, pk.prepare(r.target.headers()))
	}
	for round := range r.options.Rounds {
		r.progress.Step(fmt.Sprintf("reads beside nothing and beside sign-ins, round %d of %d", round+1, r.options.Rounds))
		alone, err := read()
		if err != nil {
			return err
		}
		var signedIn atomic.Int64
		signIn := who.prepare(r.target, floodCallers)
		type outcome struct {
			result *load.Result
			err    error
		}
		ended := make(chan outcome, 1)
		go func() {
			o := load.Options{URL: r.target.URL, Callers: floodCallers, For: ahead + length + length/4}
			result, err := load.Closed(r.ctx, o, func(caller, n int, q *load.Request) {
				signIn(caller, n, q)
				q.Check = func(body []byte) error {
					signedIn.Add(1)
					return isSession(body)
				}
			})
			ended <- outcome{result, err}
		}()
		err = sleep(r.ctx, ahead)
		var beside *load.Result
		begin, before := time.Now(), signedIn.Load()
		if err == nil {
			beside, err = read()
		}
		done, took := signedIn.Load()-before, time.Since(begin)
		flood := <-ended
		if err = errors.Join(err, flood.err); err != nil {
			return err
		}
		calm.add(alone)
		flooded.add(beside)
		rate = append(rate, float64(done)/took.Seconds())
		bad, turnedAway := apart(flood.result)
		refused, asked = refused+turnedAway, asked+flood.result.Requests
		if turnedAway > 0 {
			why = flood.result.FirstError
		}
		failed = append(failed, float64(alone.Errors+beside.Errors+bad))
		s.Notes = append(s.Notes, failures("reads without sign-ins", alone)...)
		s.Notes = append(s.Notes, failures("reads in the flood of sign-ins", beside)...)
		if bad > 0 {
			s.Notes = append(s.Notes, failures("sign-ins of the flood", flood.result)...)
		}
	}
	if refused > 0 {
		s.Notes = append(s.Notes, r.refusalNote(refused, asked, why))
	}
	slower := report.NewFigure("auth.flood.slower", "×", report.Lower, ratios(flooded.p95, calm.p95)...)
	columns := append(readColumns[:len(readColumns):len(readColumns)], "sign-ins")
	s.Tables = append(s.Tables, report.Table{
		Title: "Reads during a flood of sign-ins", Head: "reads by primary key, 10 callers", Columns: columns,
		Method: fmt.Sprintf("Median of %d rounds of %v each without and with %d callers who sign in one time after the other.", r.options.Rounds, length, floodCallers),
		Rows: []report.Row{
			{Name: "nobody signs in", Cells: append(calm.cells("auth.calm"), report.Cell{})},
			{Name: "50 sign in", Cells: append(flooded.cells("auth.flood"), report.Cell{Figure: report.NewFigure("auth.flood.signins", "/s", report.Higher, rate...)})},
		},
	}, report.Table{
		Title: "What the flood does to reads", Head: "reads by primary key, 10 callers", Columns: []string{"figure"},
		Method: "p95 in the flood by p95 without, round by round; failed reads and sign-ins of the worst round.",
		Rows: []report.Row{
			{Name: "p95 in the flood / without", Cells: []report.Cell{{Figure: slower}}},
			{Name: "failed", Cells: []report.Cell{worstOf("auth.flood.failed", failed)}},
		},
	})
	return nil
}
