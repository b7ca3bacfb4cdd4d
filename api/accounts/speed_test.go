package accounts_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/api/bench/floor"
	"basalt/auth/password"
)

// signedIn are accounts of a server with the headers that act as them.
type signedIn struct {
	ids, headers []string
}

func signInMany(b *testing.B, s *apitest.Server, n int) signedIn {
	var users signedIn
	for i := range n {
		header, id := s.SignUp(b, fmt.Sprintf("speed-%d@example.com", i))
		users.ids = append(users.ids, id)
		users.headers = append(users.headers, strings.TrimPrefix(header, "Authorization: "))
	}
	s.Database.Exec(b, `analyze auth.users, auth.identities, auth.sessions, auth.mfa_factors`)
	return users
}

// answered sends a request whose answer is to be 200, and reads it to the end.
func answered(client *http.Client, request *http.Request) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", request.URL.Path, response.StatusCode, text)
	}
	return nil
}

// BenchmarkGetUser compares how many users 50 callers read in a second, session and ban checked, with bare handlers
// that read one row, of which one verifies the token. All are measured turn by turn, so that the machine's moods hit
// them alike.
func BenchmarkGetUser(b *testing.B) {
	const callers, accounts, each = 50, 50, 500
	s := apitest.Start(b, "", nil)
	users := signInMany(b, s, accounts)
	pool, err := pgxpool.New(b.Context(), s.Database.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	e := echo.New()
	e.GET("/user", floor.User(pool))
	e.GET("/verified", floor.Verifying(s.Keys.Secret, floor.User(pool)))
	bare := httptest.NewServer(e)
	b.Cleanup(bare.Close)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * callers}}
	b.Cleanup(client.CloseIdleConnections)
	var failed sync.Once
	get := func(url, key, authorization string) {
		request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
		request.RequestURI = ""
		request.Header.Set("Apikey", key)
		request.Header.Set("Authorization", authorization)
		request.Header.Set("Accept-Encoding", "identity")
		if err := answered(client, request); err != nil {
			failed.Do(func() { b.Error(err) })
		}
	}
	ways := []func(i int){
		func(i int) { get(bare.URL+"/user?id="+users.ids[i], s.Keys.AnonKey, users.headers[i]) },
		func(i int) { get(bare.URL+"/verified", s.Keys.AnonKey, users.headers[i]) },
		func(i int) { get(s.URL+"/auth/v1/user", s.Keys.AnonKey, users.headers[i]) },
	}
	round := func(way func(int)) float64 { return perSecond(callers, each, func(i int) { way(i % accounts) }) }
	for _, way := range ways {
		round(way)
	}
	var rates [3][]float64
	b.ResetTimer()
	for i := range b.N {
		for j := range ways {
			at := (i + j) % len(ways)
			rates[at] = append(rates[at], round(ways[at]))
		}
	}
	b.StopTimer()
	unverified, verified, basalt := median(rates[0]), median(rates[1]), median(rates[2])
	b.ReportMetric(unverified, "bare/s")
	b.ReportMetric(verified, "verifying/s")
	b.ReportMetric(basalt, "basalt/s")
	b.ReportMetric(basalt/unverified, "basalt/bare")
	b.ReportMetric(basalt/verified, "basalt/verifying")
}

// perSecond shares so many turns out among callers who never wait, and gives their rate.
func perSecond(callers, turns int, way func(turn int)) float64 {
	start := time.Now()
	var next atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for turn := next.Add(1); turn <= int64(turns); turn = next.Add(1) {
				way(int(turn))
			}
		})
	}
	group.Wait()
	return float64(turns) / time.Since(start).Seconds()
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// BenchmarkSignIn compares a sign-in, with its limits counted, with the hash that it has to make, one at a time.
func BenchmarkSignIn(b *testing.B) {
	s := apitest.Start(b, "", func(settings *api.Settings) { settings.Limits = "on" })
	s.SignUp(b, "speed@example.com")
	costs := password.Recommended()
	stored, err := costs.Hash("correct horse battery")
	if err != nil {
		b.Fatal(err)
	}
	hash := func() {
		if ok, err := password.Verify(stored, "correct horse battery"); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
	signIn := func() {
		answer := s.Do(b, "POST", "/auth/v1/token?grant_type=password", `{"email":"speed@example.com","password":"correct horse battery"}`)
		if answer.Status != http.StatusOK {
			b.Fatalf("%d %s", answer.Status, answer.Body)
		}
	}
	var took [2][]float64
	for range 3 {
		hash()
		signIn()
	}
	b.ResetTimer()
	for i := range b.N {
		for j := range 2 {
			at := (i + j) % 2
			s.Database.Exec(b, `delete from basalt.rate_limits`)
			start := time.Now()
			[]func(){hash, signIn}[at]()
			took[at] = append(took[at], time.Since(start).Seconds()*1000)
		}
	}
	b.StopTimer()
	bare, whole := median(took[0]), median(took[1])
	b.ReportMetric(bare, "hash-p50-ms")
	b.ReportMetric(whole, "signin-p50-ms")
	b.ReportMetric((whole-1)/bare, "(signin-1ms)/hash")
}

// BenchmarkSignInRate compares how many sign-ins are made in a second, when there is always one that waits, with the rate
// of the bare hash on all processors. The process that a server starts for hashes is left out: package worker compares it.
func BenchmarkSignInRate(b *testing.B) {
	processors := runtime.GOMAXPROCS(0)
	s := apitest.Start(b, "", nil)
	accounts := 4 * processors
	for i := range accounts {
		s.SignUp(b, fmt.Sprintf("rate-%d@example.com", i))
	}
	stored := password.Recommended().Dummy()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: accounts}}
	b.Cleanup(client.CloseIdleConnections)
	var failed sync.Once
	hash := func(int) {
		if _, err := password.Verify(stored, "correct horse battery"); err != nil {
			failed.Do(func() { b.Error(err) })
		}
	}
	signIn := func(turn int) {
		body := fmt.Sprintf(`{"email":"rate-%d@example.com","password":"correct horse battery"}`, turn%accounts)
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.URL+"/auth/v1/token?grant_type=password", strings.NewReader(body))
		if err != nil {
			failed.Do(func() { b.Error(err) })
			return
		}
		request.Header.Set("Apikey", s.Keys.AnonKey)
		request.Header.Set("Content-Type", "application/json")
		if err := answered(client, request); err != nil {
			failed.Do(func() { b.Error(err) })
		}
	}
	const each = 24
	ways := []func() float64{
		func() float64 { return perSecond(processors, each, hash) },
		func() float64 { return perSecond(accounts, each, signIn) },
	}
	for _, way := range ways {
		way()
	}
	var rates [2][]float64
	b.ResetTimer()
	for i := range b.N {
		for j := range ways {
			at := (i + j) % len(ways)
			rates[at] = append(rates[at], ways[at]())
		}
	}
	b.StopTimer()
	bare, whole := median(rates[0]), median(rates[1])
	b.ReportMetric(bare, "hashes/s")
	b.ReportMetric(whole, "signins/s")
	b.ReportMetric(whole/bare, "signins/hashes")
}
