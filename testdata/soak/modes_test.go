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
	}{
		{"who may make roles", "builder", "createrole", true},
		{"who may not, before anybody has made the roles", "landlord", "nocreaterole", true},
		{"who may not, where the roles are already", "neighbour", "nocreaterole", false},
	} {
		if c.alone {
			pg = startPostgres(t)
		}
		t.Run(c.what, func(t *testing.T) {
			execute(t, pg.url, `create role `+c.owner+` login nosuperuser nobypassrls `+c.powers+` password 'secret'`)
			execute(t, pg.url, `create database `+c.owner+` owner `+c.owner)
			s := serving{databaseURL: withUser(t, pg.url, c.owner, c.owner)}
			p := serve(t, s)
			k := readKeys(t, s)
			// Accounts need no roles; rows do.
			_, made := newCaller(p.url(), k.anon, "").signUp(t, "early@example.com")
			early := newCaller(p.url(), k.anon, made.AccessToken)
			early.must(t, http.StatusOK, "GET", "/auth/v1/user", "")
			got, err := early.call(t.Context(), "GET", "/rest/v1/notes?limit=1", "")
			if err != nil || got.status >= 500 {
				t.Errorf("a read before the owner has helped: %v %v", got, err)
			}
			t.Logf("a read before the owner has helped: %d %s", got.status, got.body)

			wishes := missing(t, p)
			superuser := withUser(t, pg.url, "", c.owner)
			for _, sql := range wishes {
				t.Logf("the owner runs: %s", sql)
				execute(t, superuser, sql)
			}
			if code := p.terminate(t); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.tail(20))
			}
			p = serve(t, s)
			if left := missing(t, p); len(left) > 0 {
				t.Errorf("after the owner has helped, this is still asked for: %v", left)
			}
			execute(t, s.databaseURL, notesSchema) // now that the roles are there, they are granted it
			expectJourney(t, p, k)
			if code := p.terminate(t); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.tail(20))
			}
		})
	}
}

// missing is the SQL that the log asks an owner to run before requests can be served.
func missing(t *testing.T, p *process) (sql []string) {
	t.Helper()
	for line := range strings.Lines(p.log()) {
		var wish struct{ Level, SQL string }
		if err := json.Unmarshal([]byte(line), &wish); err == nil && wish.Level == "warn" && wish.SQL != "" {
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
