package storetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func newRoom(t *testing.T) room {
	t.Helper()
	dir, err := os.MkdirTemp(scratch(), "basalt-storetest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return room{dir: dir}
}

func mustEnter(t *testing.T, r room) *stay {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	s, err := r.enter(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustLeave(t *testing.T, s *stay) {
	t.Helper()
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

// setting asks the server of a room, and is empty when it does not answer.
func setting(t *testing.T, url, name string) (value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		return ""
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), `select current_setting($1)`, name).Scan(&value); err != nil {
		t.Error(err)
	}
	return value
}

func TestTheUsersOfARoomShareItsServerAndTheLastOneEndsIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	first := mustEnter(t, r)
	second := mustEnter(t, r)
	if first.url != second.url || first.keeper == nil || second.keeper != nil {
		t.Errorf("two servers: %v, %v", first.keeper, second.keeper)
	}
	if got := setting(t, first.url, "fsync"); got != "off" {
		t.Errorf("fsync is %q", got)
	}
	// The one who started the server goes first.
	if err := first.user.Close(); err != nil {
		t.Fatal(err)
	}
	if setting(t, second.url, "port") == "" {
		t.Error("the server is gone before its last user")
	}
	mustLeave(t, second)
	if err := first.keeper.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there (%v)", err)
	}
}

func TestAKeeperThatWasKilledIsReplacedAndItsServerEnded(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	first := mustEnter(t, r)
	defer first.user.Close()
	before := setting(t, first.url, "data_directory")
	old, err := pgx.Connect(t.Context(), first.url)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close(t.Context())
	if err := first.keeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.keeper.Wait()
	second := mustEnter(t, r)
	if _, err := old.Exec(t.Context(), `select 1`); err == nil {
		t.Error("the server that nobody keeps still runs")
	}
	if setting(t, second.url, "data_directory") == "" || before == "" {
		t.Error("there is no new server")
	}
	_ = first.user.Close()
	mustLeave(t, second)
}

func TestLeftoversDoNotBlockAStart(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(r room) error{
		"a URL without a server": func(r room) error {
			return os.WriteFile(r.url(), []byte("postgres://postgres@127.0.0.1:1/postgres"), 0o600)
		},
		"a cluster of another version with a stale pid": func(r room) error {
			cluster := filepath.Join(r.data(), "postgres")
			return errors.Join(
				os.MkdirAll(filepath.Join(cluster, "global"), 0o700),
				os.WriteFile(filepath.Join(cluster, "global", "pg_control"), nil, 0o600),
				os.WriteFile(filepath.Join(cluster, "PG_VERSION"), []byte("9\n"), 0o600),
				os.WriteFile(filepath.Join(cluster, "postmaster.pid"), []byte("1\n"), 0o600))
		},
		"a cluster that was half removed": func(r room) error {
			cluster := filepath.Join(r.data(), "postgres")
			return errors.Join(os.MkdirAll(cluster, 0o700), os.WriteFile(filepath.Join(cluster, "PG_VERSION"), []byte("15\n"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t)
			if err := leave(r); err != nil {
				t.Fatal(err)
			}
			s := mustEnter(t, r)
			if setting(t, s.url, "port") == "" {
				t.Error("no server answers")
			}
			mustLeave(t, s)
		})
	}
}

func TestASharedRoomKeepsItsLocksAndStartsAgain(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.shared = true
	for range 2 {
		s := mustEnter(t, r)
		if setting(t, s.url, "port") == "" {
			t.Error("no server answers")
		}
		pid := keeperOf(t, r)
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ended, err := waitLock(ctx, r.keeper(), syscall.LOCK_EX)
		if err != nil {
			t.Fatal(err)
		}
		ended.Close()
		mustLeave(t, s)
		if _, err := os.Stat(r.data()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the data are still there (%v)", err)
		}
	}
}

// keeperOf reads the owner of the data folder.
func keeperOf(t *testing.T, r room) (pid int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.data(), "basalt.lock"))
	if err == nil {
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if err != nil || pid < 2 {
		t.Fatalf("keeper %d: %v", pid, err)
	}
	return pid
}

func TestARoomThatCannotBeHadIsAnErrorWithItsReason(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	if err := os.WriteFile(r.data(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.dir = filepath.Join(r.data(), "below")
	if _, err := r.enter(t.Context()); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("got %v", err)
	}
}
