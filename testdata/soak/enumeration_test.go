//go:build linux

package soak_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"basalt/store/storetest"
)

// distance is the greatest distance of two distributions (Kolmogorov and Smirnov), and same tells whether chance makes
// one as great in more than one of a hundred cases.
func distance(a, b []time.Duration) (d float64, same bool) {
	slices.Sort(a)
	slices.Sort(b)
	for i, j := 0, 0; i < len(a) && j < len(b); {
		at := min(a[i], b[j])
		for i < len(a) && a[i] <= at {
			i++
		}
		for j < len(b) && b[j] <= at {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	n, m := float64(len(a)), float64(len(b))
	return d, d < 1.63*math.Sqrt((n+m)/(n*m))
}

// Nobody learns whether an address has an account: what is answered is the same to the byte, and so is, but for
// chance, how long it takes. The times are told; on a machine with other work they prove nothing.
func TestAnswersDoNotTellWhoHasAnAccount(t *testing.T) {
	const known = "known@example.com"
	s := serving{databaseURL: storetest.NewEmpty(t).URL, flags: []string{"--autoconfirm=false", "--limits=off"}}
	p := serve(t, s)
	k := readKeys(t, s)
	anon, service := newCaller(p.url(), k.anon, ""), newCaller(p.url(), k.service, k.service)
	made, err := service.call(t.Context(), "POST", "/auth/v1/admin/users", fmt.Sprintf(`{"email":%q,"password":%q,"email_confirm":true}`, known, passphrase))
	if err != nil || made.status != http.StatusOK {
		t.Fatalf("the account: %v %+v", err, made)
	}
	unknown := func() string { return fmt.Sprintf("u%09d@example.com", rand.IntN(1e9)) }
	for _, question := range []struct{ name, path, body string }{
		{"sign-in", "/auth/v1/token?grant_type=password", `{"email":%q,"password":"not the pass phrase"}`},
		{"recovery", "/auth/v1/recover", `{"email":%q}`},
		{"recovery that leads elsewhere", "/auth/v1/recover?redirect_to=https%%3A%%2F%%2Fevil.example", `{"email":%q}`},
		{"a recovery for an app", "/auth/v1/recover", `{"email":%q,"code_challenge":"` + strings.Repeat("a", 43) + `","code_challenge_method":"s256"}`},
		{"a code for who has an account", "/auth/v1/resend", `{"type":"signup","email":%q}`},
		{"a code that is wrong", "/auth/v1/verify", `{"type":"email","token":"000000","email":%q}`},
	} {
		t.Run(question.name, func(t *testing.T) {
			var mu sync.Mutex
			took := map[bool][]time.Duration{}
			answers := map[string]bool{}
			ask := func(isKnown bool) {
				email := unknown()
				if isKnown {
					email = known
				}
				began := time.Now()
				got, err := anon.call(t.Context(), "POST", question.path, fmt.Sprintf(question.body, email))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				took[isKnown] = append(took[isKnown], time.Since(began))
				answers[fmt.Sprint(got.status, " ", string(got.body))] = true
			}
			var group sync.WaitGroup
			for range 2 {
				group.Go(func() {
					for range times(10, 1000) {
						first := rand.IntN(2) == 0
						ask(first)
						ask(!first)
					}
				})
			}
			group.Wait()
			if len(answers) != 1 {
				t.Errorf("there are %d answers: %v", len(answers), answers)
			}
			d, same := distance(took[true], took[false])
			t.Logf("%d each: median %v of the known address, %v of unknown ones; distance %.3f, by chance: %v",
				len(took[true]), quantile(took[true], 0.5), quantile(took[false], 0.5), d, same)
		})
	}
}
