//go:build linux

package soak_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"basalt/store/storetest"
)

// expectJourney signs up two users; each sees its own rows only.
func expectJourney(t *testing.T, p *process, k keys) {
	t.Helper()
	anon := newCaller(p.url(), k.anon, "")
	awaitTable(t, newCaller(p.url(), k.service, ""), "notes")
	ada, _ := anon.signUp(t, "ada@example.com")
	bob, _ := anon.signUp(t, "bob@example.com")
	ada.must(t, http.StatusCreated, "POST", "/rest/v1/notes", `{"id":1,"body":"of ada"}`)
	bob.must(t, http.StatusCreated, "POST", "/rest/v1/notes", `{"id":2,"body":"of bob"}`)
	for want, c := range map[string]*caller{`[{"body":"of ada"}]`: ada, `[{"body":"of bob"}]`: bob, `[]`: anon} {
		if got := c.must(t, http.StatusOK, "GET", "/rest/v1/notes?select=body", ""); got.body != want {
			t.Errorf("%s instead of %s", got.body, want)
		}
	}
	ada.must(t, http.StatusOK, "GET", "/auth/v1/user", "")
	ada.must(t, http.StatusNoContent, "POST", "/auth/v1/logout", "")
}

func TestItRunsOnADatabaseOfASuperuser(t *testing.T) {
	database := storetest.NewEmpty(t)
	s := serving{databaseURL: database.URL}
	p := serve(t, s)
	database.Exec(t, notesSchema)
	expectJourney(t, p, readKeys(t, s))
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.tail(20))
	}
}

func TestItRunsOnADatabaseOfAPlainOwner(t *testing.T) {
	var pg *postgres
	for _, c := range []struct {
		what, owner, powers string
		alone               bool // on a server that knows no roles of Basalt's yet
		refused             bool // until the owner of the server has helped
	}{
		{"who may make roles", "builder", "createrole", true, false},
		{"who may not, before anybody has made the roles", "landlord", "nocreaterole", true, true},
		{"who may not, where the roles are already", "neighbour", "nocreaterole", false, true},
	} {
		if c.alone {
			pg = startPostgres(t)
		}
		t.Run(c.what, func(t *testing.T) {
			execute(t, pg.url, `create role `+c.owner+` login nosuperuser nobypassrls `+c.powers+` password 'secret'`)
			execute(t, pg.url, `create database `+c.owner+` owner `+c.owner)
			s := serving{databaseURL: withUser(t, pg.url, c.owner, c.owner)}
			p := launch(t, s)
			if c.refused {
				if code := p.exitCode(t); code != 1 || !p.said("let an owner run the SQL") {
					t.Fatalf("exit code %d\n%s", code, p.log())
				}
				for _, sql := range wishes(t, p, "error") {
					t.Logf("the owner runs: %s", sql)
					execute(t, withUser(t, pg.url, "", c.owner), sql)
				}
				p = launch(t, s)
			}
			p.awaitReady(t)
			if left := wishes(t, p, "error"); len(left) > 0 {
				t.Errorf("it serves, but asks for: %v", left)
			}
			execute(t, s.databaseURL, notesSchema)
			expectJourney(t, p, readKeys(t, s))

			// What remains is granted as well, some of it when the rest is there, and then nothing is asked for.
			for round := 1; ; round++ {
				left := wishes(t, p, "warn")
				if len(left) == 0 {
					break
				}
				if round > 3 {
					t.Fatalf("the owner has done all, but this is still asked for: %v", left)
				}
				for _, sql := range left {
					t.Logf("the owner runs: %s", sql)
					execute(t, withUser(t, pg.url, "", c.owner), sql)
				}
				if code := p.terminate(t); code != 0 {
					t.Errorf("exit code %d\n%s", code, p.tail(20))
				}
				p = serve(t, s)
			}
			newCaller(p.url(), readKeys(t, s).service, "").must(t, http.StatusOK, "GET", "/rest/v1/notes", "")
			if code := p.terminate(t); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.tail(20))
			}
		})
	}
}

// wishes is the SQL that the log asks an owner to run, at one level.
func wishes(t *testing.T, p *process, level string) (sql []string) {
	t.Helper()
	for line := range strings.Lines(p.log()) {
		var wish struct{ Level, SQL string }
		if err := json.Unmarshal([]byte(line), &wish); err == nil && wish.Level == level && wish.SQL != "" {
			sql = append(sql, wish.SQL)
		}
	}
	return sql
}

// withUser is the URL of another database of a server, for another user.
func withUser(t *testing.T, databaseURL, name, database string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		u.User = url.UserPassword(name, "secret")
	}
	u.Path = "/" + database
	return u.String()
}

func TestItRunsAsRootAndAsAnyOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become others")
	}
	for _, c := range []struct{ user string }{{"root"}, {"nobody"}} {
		t.Run(c.user, func(t *testing.T) {
			account, err := user.Lookup(c.user)
			if err != nil {
				t.Skip(err)
			}
			uid, err := strconv.Atoi(account.Uid)
			if err != nil {
				t.Fatal(err)
			}
			s := serving{data: dataFolder(t)}
			home := filepath.Dir(s.data)
			if uid != 0 {
				s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
				if err := os.Chown(home, uid, uid); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				p := serve(t, s)
				pid, err := postmaster(s.data)
				if err != nil {
					t.Fatal(err)
				}
				if owner := ownerOf(t, fmt.Sprintf("/proc/%d", pid)); owner == 0 || uid != 0 && owner != uid {
					t.Errorf("PostgreSQL runs as user %d", owner)
				}
				if owner := ownerOf(t, s.data); owner != uid {
					t.Errorf("the data folder belongs to user %d", owner)
				}
				k := readKeys(t, s)
				newCaller(p.url(), k.anon, "").call(t.Context(), "GET", "/health/ready", "")
				if code := p.terminate(t); code != 0 {
					t.Errorf("exit code %d\n%s", code, p.tail(20))
				}
			}
		})
	}
}

func ownerOf(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Sys().(*syscall.Stat_t).Uid)
}
