//go:build linux

package soak_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"basalt/store/storetest"
)

func TestTwoProcessesOverOneDatabaseAreOne(t *testing.T) {
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL}
	first, second := serve(t, s), serve(t, s)
	same(t, first.anonKey, second.anonKey)
	k := readKeys(t, s)
	on := func(p *process, token string) *caller { return newCaller(p.url(), k.anon, token) }

	user, made := on(first, "").signUp(t, "one@example.com")
	var signedIn, refreshed session
	elsewhere := on(second, made.AccessToken)
	elsewhere.must(t, http.StatusOK, "GET", "/auth/v1/user", "")
	elsewhere.must(t, http.StatusOK, "POST", "/auth/v1/token?grant_type=password",
		`{"email":"one@example.com","password":"`+passphrase+`"}`).json(t, &signedIn)
	elsewhere.must(t, http.StatusOK, "POST", "/auth/v1/token?grant_type=refresh_token",
		`{"refresh_token":"`+made.RefreshToken+`"}`).json(t, &refreshed)
	if signedIn.User.ID != made.User.ID || refreshed.User.ID != made.User.ID {
		t.Errorf("three users instead of one: %s, %s, %s", made.User.ID, signedIn.User.ID, refreshed.User.ID)
	}

	// A change of the schema reaches both, whoever makes it.
	services := []*caller{newCaller(first.url(), k.service, ""), newCaller(second.url(), k.service, "")}
	for round := range 3 {
		table := fmt.Sprintf("round_%d", round)
		database.Exec(t, fmt.Sprintf(`create table %s (id int primary key)`, table))
		changed := time.Now()
		for _, service := range services {
			awaitTable(t, service, table)
		}
		noticed(t, "a new table", time.Since(changed))
		database.Exec(t, fmt.Sprintf(`alter table %s add note text`, table))
		changed = time.Now()
		for i, service := range services {
			eventually(t, "the new column is seen", func() bool {
				got, err := service.call(t.Context(), "POST", "/rest/v1/"+table, fmt.Sprintf(`{"id":%d,"note":"new"}`, i))
				return err == nil && got.status == http.StatusCreated
			})
		}
		noticed(t, "a new column", time.Since(changed))
	}

	// A sign-out on one ends the session on the other at once.
	user.must(t, http.StatusNoContent, "POST", "/auth/v1/logout?scope=global", "")
	if got := elsewhere.must(t, http.StatusForbidden, "GET", "/auth/v1/user", ""); !strings.Contains(got.body, "session_not_found") {
		t.Errorf("after the sign-out: %s", got.body)
	}
	if got, err := elsewhere.call(t.Context(), "POST", "/auth/v1/token?grant_type=refresh_token",
		`{"refresh_token":"`+refreshed.RefreshToken+`"}`); err != nil || got.status != http.StatusBadRequest {
		t.Errorf("refresh after the sign-out: %v %v", got, err)
	}
	for _, p := range []*process{first, second} {
		if code := p.terminate(t); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.tail(20))
		}
	}
}

// noticed judges how long a change of the schema took to be seen by both.
func noticed(t *testing.T, what string, took time.Duration) {
	t.Helper()
	inTime(t, what+" is seen by both", took, time.Second)
	if !raced && took > 2*time.Second {
		t.Errorf("%s was seen after %s only", what, took)
	}
}

func TestTenProcessesMayStartAtOnceOverAnEmptyDatabase(t *testing.T) {
	for range times(1, 5) {
		s := serving{databaseURL: storetest.NewEmpty(t).URL, flags: []string{"--pool-size", "2"}}
		var all []*process
		for range 10 {
			all = append(all, launch(t, s))
		}
		var slowest time.Duration
		for _, p := range all {
			p.awaitReady(t)
			same(t, all[0].anonKey, p.anonKey)
			slowest = max(slowest, p.startTook())
		}
		t.Logf("the last of ten is ready after %s", slowest.Round(time.Millisecond))
		k := readKeys(t, s)
		same(t, all[0].anonKey, k.anon)
		// Each knows what the first has made.
		_, made := newCaller(all[0].url(), k.anon, "").signUp(t, "ten@example.com")
		for _, p := range all {
			newCaller(p.url(), k.anon, made.AccessToken).must(t, http.StatusOK, "GET", "/auth/v1/user", "")
		}
		var group sync.WaitGroup
		for _, p := range all {
			group.Go(func() {
				if code := p.terminate(t); code != 0 {
					t.Errorf("exit code %d\n%s", code, p.tail(20))
				}
			})
		}
		group.Wait()
	}
}
