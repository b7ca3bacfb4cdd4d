package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"basalt/api/bench/load"
	"basalt/api/bench/report"
	"basalt/auth/password"
)

// signers are the users that sign in. They have one password, and one hash of it.
type signers struct {
	password, hash string
	bodies         [][]byte // of each user's sign-in
	turns          []int    // sign-ins of each user so far
}

// places is from how many networks each user signs in, turn by turn. A server that believes the addresses counts 150
// sign-ins of one network in five minutes, and refuses new networks after 50 sign-ins of one account.
const places = 40

// makeSigners makes one user for each caller of the largest load.
func (r *run) makeSigners() (*signers, error) {
	s := &signers{password: rand.Text(), turns: make([]int, floodCallers)}
	var err error
	if s.hash, err = password.Recommended().Hash(s.password); err != nil {
		return nil, err
	}
	for i := range floodCallers {
		email := fmt.Sprintf("bench-user-%02d@example.com", i)
		if _, err := r.target.makeUser(r.ctx, email, "password_hash", s.hash); err != nil {
			return nil, err
		}
		s.bodies = append(s.bodies, fmt.Appendf(nil, `{"email": %q, "password": %q}`, email, s.password))
	}
	return s, nil
}

// prepare makes the sign-ins of a load. Each user is one caller's, who has them sign in turn by turn.
func (s *signers) prepare(t *Target, callers int) load.Prepare {
	header := anonymous(t)
	return func(caller, n int, q *load.Request) {
		own := (len(s.bodies)-caller-1)/callers + 1
		user := caller + n%own*callers
		from := address(user, s.turns[user]%places)
		s.turns[user]++
		q.Method, q.Path, q.Header, q.Body, q.Check = http.MethodPost, "/auth/v1/token?grant_type=password", header+from, s.bodies[user], isSession
	}
}

// anonymous are the lines of a request with JSON of somebody who has not signed in.
func anonymous(t *Target) string {
	return "Apikey: " + t.AnonKey + "\r\nContent-Type: application/json\r\n"
}

// address is a line that tells a server behind a proxy where the caller is: in networks for documentation (RFC 3849), of
// which each /64 is one customer's.
func address(group, place int) string {
	return fmt.Sprintf("X-Forwarded-For: 2001:db8:%x:%x::1\r\n", group, place)
}

func isSession(body []byte) error {
	if !bytes.Contains(body, []byte(`"access_token":"`)) {
		return fmt.Errorf("no session: %.100s", body)
	}
	return nil
}

// apart tells sign-ins that have failed from those that were refused: by the limits of one address, where the server
// does not believe the addresses of the load, or because too many waited for their hash.
func apart(result *load.Result) (failed, refused int) {
	refused = result.Statuses[http.StatusTooManyRequests]
	return result.Errors - refused, refused
}

// refusalNote tells of refused sign-ins.
func (r *run) refusalNote(refused, asked int, why error) report.Note {
	if r.target.own != nil {
		return report.Note{Text: fmt.Sprintf("The server refused %d of %d sign-ins, to come again later, as others waited: the machine had too little time for them (%v).", refused, asked, why)}
	}
	return report.Note{Text: fmt.Sprintf("The server refused %d of %d sign-ins with status 429, as it does not believe X-Forwarded-For from here and has limits for one address. The times are those of the others; the refused are no failures (%v).", refused, asked, why)}
}

// signInTiers are the callers that sign in.
var signInTiers = []int{1, 5, 20}

const (
	signInTime      = 1500 * time.Millisecond
	leastSignInTime = 500 * time.Millisecond // in which some are done, also where other things are
)

// signInReadings are what the rounds of sign-ins have given.
type signInReadings struct {
	bare, single   readings   // the hash and the sign-in by one caller, one after the other
	tiers          []readings // of signInTiers
	allCores       []float64  // bare hashes a second
	failed         []float64
	refused, asked int
	why            error // of a refusal
}

// signIns measures sign-ins beside the bare hash.
func (r *run) signIns(s *report.Section, who *signers) error {
	m := signInReadings{tiers: make([]readings, len(signInTiers))}
	length := max(r.lasting(signInTime), leastSignInTime)
	// The first sign-in of a server starts what hashes, and may hash anew what it holds to be outdated.
	most := signInTiers[len(signInTiers)-1]
	if _, err := load.Closed(r.ctx, load.Options{URL: r.target.URL, Callers: most, For: time.Minute, Count: 1}, who.prepare(r.target, most)); err != nil {
		return err
	}
	for round := range r.options.Rounds {
		step := func(what string) {
			r.progress.Step(fmt.Sprintf("%s, round %d of %d", what, round+1, r.options.Rounds))
		}
		step("sign-ins and hashes in turn")
		if err := r.signInBesideHash(&m, s, who); err != nil {
			return err
		}
		step("hashes on all cores")
		before, err := hashRate(r.ctx, who, length/2)
		if err != nil {
			return err
		}
		for i, callers := range signInTiers {
			step(fmt.Sprintf("sign-ins, %d callers", callers))
			result, err := load.Closed(r.ctx, load.Options{URL: r.target.URL, Callers: callers, Warm: length / 4, For: length}, who.prepare(r.target, callers))
			if err != nil {
				return err
			}
			m.add(s, fmt.Sprintf("sign-in, %d callers", callers), result)
			m.tiers[i].add(result)
		}
		step("hashes on all cores")
		after, err := hashRate(r.ctx, who, length/2)
		if err != nil {
			return err
		}
		m.allCores = append(m.allCores, (before+after)/2)
	}
	r.tellSignIns(s, &m, length)
	return nil
}

// add counts what failed and what was refused.
func (m *signInReadings) add(s *report.Section, what string, result *load.Result) {
	bad, refused := apart(result)
	m.failed = append(m.failed, float64(bad))
	m.refused += refused
	m.asked += result.Requests
	if refused > 0 && m.why == nil {
		m.why = result.FirstError
	}
	if bad > 0 {
		s.Notes = append(s.Notes, failures(what, result)...)
	}
}

// signInBesideHash has one caller hash and sign in, one after the other: what else the machine does slows both alike.
func (r *run) signInBesideHash(m *signInReadings, s *report.Section, who *signers) error {
	var hashes []time.Duration
	signIn := who.prepare(r.target, 1)
	wrong := false
	result, err := load.Closed(r.ctx, load.Options{URL: r.target.URL, Callers: 1, For: time.Minute, Count: r.turns(40)}, func(caller, n int, q *load.Request) {
		begin := time.Now()
		fits, err := password.Verify(who.hash, who.password)
		hashes = append(hashes, time.Since(begin))
		wrong = wrong || !fits || err != nil
		signIn(caller, n, q)
	})
	if err != nil {
		return err
	}
	if wrong {
		return errors.New("the password does not fit its own hash")
	}
	slices.Sort(hashes)
	at := func(share float64) float64 { return milliseconds(hashes[int(share*float64(len(hashes)-1))]) }
	m.bare.p50, m.bare.p95 = append(m.bare.p50, at(0.50)), append(m.bare.p95, at(0.95))
	m.single.add(result)
	m.add(s, "sign-in, 1 caller", result)
	return nil
}

// hashRate is how many passwords a second are compared in this process on all cores.
func hashRate(ctx context.Context, who *signers, length time.Duration) (float64, error) {
	var group sync.WaitGroup
	begin := time.Now()
	end := begin.Add(length)
	done := make([]int, runtime.GOMAXPROCS(0))
	for i := range done {
		group.Go(func() {
			for done[i] == 0 || ctx.Err() == nil && time.Now().Before(end) {
				_, _ = password.Verify(who.hash, who.password) // it has been shown to fit
				done[i]++
			}
		})
	}
	group.Wait()
	total := 0
	for _, n := range done {
		total += n
	}
	return float64(total) / time.Since(begin).Seconds(), ctx.Err()
}

// tellSignIns makes the tables.
func (r *run) tellSignIns(s *report.Section, m *signInReadings, length time.Duration) {
	rounds := len(m.allCores)
	held := m.refused > 0 && r.target.own == nil // by the limits: what was reached says nothing of the server
	limited := report.Cell{Text: "refused by the limits"}
	signIns := report.Table{
		Title: "Sign-ins: POST /auth/v1/token", Head: "callers", Columns: []string{"p50", "p95", "throughput"},
		Method: fmt.Sprintf("Each caller signs in again as soon as it has a session; median of %d rounds of %v, the callers' numbers and the bare hash taken in turn.", rounds, length),
	}
	for i, callers := range signInTiers {
		cells := m.tiers[i].cells(fmt.Sprint("auth.signin.", callers))
		cells = []report.Cell{cells[0], cells[1], cells[3]}
		if held {
			cells[2] = limited
		}
		signIns.Rows = append(signIns.Rows, report.Row{Name: strconv.Itoa(callers), Cells: cells})
	}
	bareRate := report.Cell{Figure: report.NewFigure("auth.hash.rate", "/s", report.Higher, m.allCores...)}
	bareP50 := report.NewFigure("auth.hash.p50", "ms", report.Lower, m.bare.p50...)
	bareP95 := report.NewFigure("auth.hash.p95", "ms", report.Lower, m.bare.p95...)
	signIns.Rows = append(signIns.Rows, report.Row{Name: "the bare hash, on all cores", Cells: []report.Cell{{Text: "–"}, {Text: "–"}, bareRate}})

	p50 := report.NewFigure("auth.signin.p50", "ms", report.Lower, m.single.p50...)
	p95 := report.NewFigure("auth.signin.p95", "ms", report.Lower, m.single.p95...)
	// The bar is 1.1 × the hash + 1 ms.
	cost := report.NewFigure("auth.signin.byhash", "×", report.Lower, ratios(m.single.p50, m.bare.p50)...)
	if bareP50.Value > 0 {
		cost.WithBar(1.1 + 1/bareP50.Value).WithHeadline("sign-in / the bare hash of its password")
	}
	kept := report.Cell{Figure: report.NewFigure("auth.signin.kept", "×", report.Higher, ratios(m.tiers[len(m.tiers)-1].rate, m.allCores)...).WithBar(0.9)}
	if held {
		kept = limited
	}
	if m.refused > 0 {
		s.Notes = append(s.Notes, r.refusalNote(m.refused, m.asked, m.why))
	}
	s.Tables = append(s.Tables, signIns, report.Table{
		Title: "A sign-in beside the bare hash", Head: "one after the other", Columns: []string{"p50", "p95"},
		Method: fmt.Sprintf("One caller signs in and compares a password in its own process (Argon2id, 19 MiB, two passes, one lane) by turns, %d rounds.", rounds),
		Rows: []report.Row{
			{Name: "the bare hash", Cells: []report.Cell{{Figure: bareP50}, {Figure: bareP95}}},
			{Name: "a sign-in", Cells: []report.Cell{{Figure: p50}, {Figure: p95}}},
		},
	}, report.Table{
		Title: "What a sign-in adds to its hash", Head: "ratio", Columns: []string{"figure"},
		Method: "p50 of the same round by that of the hash, to be at most 1.1 × the hash + 1 ms; sign-ins a second at 20 callers by bare hashes a second on all cores, before and after in the same round.",
		Rows: []report.Row{
			{Name: "p50 of a sign-in / of the hash", Cells: []report.Cell{{Figure: cost}}},
			{Name: "sign-ins / hashes on all cores", Cells: []report.Cell{kept}},
			{Name: "failed sign-ins", Cells: []report.Cell{worstOf("auth.signin.failed", m.failed)}},
		},
	})
}

const (
	// signUps are asked for at once; as many as signUpLimit are to be accepted in an hour.
	signUpsAsked = 30
	signUpLimit  = 10
)

// signUps shows that the limit of sign-ups of one address holds, by asking for more at once.
func (r *run) signUps(s *report.Section, _ *signers) error {
	r.progress.Step("sign-ups from one address")
	salt := make([]byte, 4)
	if _, err := rand.Read(salt); err != nil {
		return err
	}
	// A network in which nobody has signed up, and addresses of nobody.
	header := anonymous(r.target) + address(0x8000|int(salt[0])<<8|int(salt[1]), int(salt[2])<<8|int(salt[3]))
	series := rand.Text()[:8]
	secret := rand.Text()
	made := make([]string, signUpsAsked)
	result, err := load.Closed(r.ctx, load.Options{URL: r.target.URL, Callers: signUpsAsked, For: time.Minute, Count: 1}, func(caller, _ int, q *load.Request) {
		q.Method, q.Path, q.Header = http.MethodPost, "/auth/v1/signup", header
		q.Body = fmt.Appendf(nil, `{"email": "bench-signup-%s-%02d@example.com", "password": %q}`, series, caller, secret)
		q.Check = func(body []byte) (err error) {
			made[caller], err = signedUp(body)
			return err
		}
	})
	for _, id := range made {
		if id != "" {
			r.target.users = append(r.target.users, id)
		}
	}
	if err != nil {
		return err
	}
	accepted, refused := result.Statuses[http.StatusOK], result.Statuses[http.StatusTooManyRequests]
	others := signUpsAsked - accepted - refused
	figure := report.NewFigure("auth.signup.accepted", "", report.Lower, float64(accepted)).WithBar(signUpLimit)
	waits := report.NewFigure("auth.signup.untold", "", report.Lower, float64(refused-result.RetryAfter)).WithBar(0)
	switch {
	case accepted > signUpLimit:
		s.Notes = append(s.Notes, report.Note{Bad: true, Text: fmt.Sprintf("The limit of sign-ups does not hold, or is off: %d of %d were accepted.", accepted, signUpsAsked)})
	case accepted < signUpLimit && r.target.own != nil:
		s.Notes = append(s.Notes, report.Note{Bad: true, Text: fmt.Sprintf("Of %d sign-ups %d were accepted instead of %d: %v", signUpsAsked, accepted, signUpLimit, result.FirstError)})
	case accepted < signUpLimit:
		s.Notes = append(s.Notes, report.Note{Text: fmt.Sprintf("Fewer sign-ups than %d were accepted: the server counts those of the last hour from this machine as well, or has sign-ups closed (%v).", signUpLimit, result.FirstError)})
	}
	s.Tables = append(s.Tables, report.Table{
		Title: "Sign-ups from one address", Head: fmt.Sprintf("of %d at once", signUpsAsked), Columns: []string{"sign-ups"},
		Method: fmt.Sprintf("%d callers of one address sign up at the same moment; %d in an hour are allowed.", signUpsAsked, signUpLimit),
		Rows: []report.Row{
			{Name: "accepted", Cells: []report.Cell{{Figure: figure}}},
			{Name: "refused with 429", Cells: []report.Cell{{Figure: report.NewFigure("auth.signup.refused", "", "", float64(refused))}}},
			{Name: "of these without Retry-After", Cells: []report.Cell{{Figure: waits}}},
			{Name: "answered otherwise", Cells: []report.Cell{{Figure: report.NewFigure("auth.signup.others", "", report.Lower, float64(others)).WithBar(0)}}},
		},
	})
	return nil
}

// signedUp reads the id of the user that a sign-up has made: of the session, or of the user alone where the address has
// to be confirmed.
func signedUp(body []byte) (string, error) {
	var answer struct {
		ID   string
		User struct{ ID string }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", err
	}
	if answer.User.ID != "" {
		return answer.User.ID, nil
	}
	if answer.ID == "" {
		return "", fmt.Errorf("no user: %.100s", body)
	}
	return answer.ID, nil
}
