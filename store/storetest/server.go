package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"basalt/store/managed"
)

// server is the PostgreSQL on which a test makes its database.
type server struct {
	url *url.URL
}

// useServer gives the server that EnvURL names or else the one of this process,
// which stops when the last test that uses it ends.
func useServer(t testing.TB) server {
	t.Helper()
	if text := os.Getenv(EnvURL); text != "" {
		return parseServer(t, text)
	}
	text, err := own.acquire()
	if err != nil {
		t.Fatalf("start a PostgreSQL for the tests (or name one in %s): %v", EnvURL, err)
	}
	t.Cleanup(func() {
		if err := own.release(); err != nil {
			t.Errorf("stop the PostgreSQL of the tests: %v", err)
		}
	})
	return parseServer(t, text)
}

// NewServer starts a PostgreSQL that only this test uses, without any database or
// role of Basalt's in it, and returns the URL of its superuser.
func NewServer(t testing.TB) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s, err := managed.Start(ctx, managed.Options{DataDir: filepath.Join(t.TempDir(), "data"), Log: zerolog.Nop()})
	if err != nil {
		t.Fatalf("start a PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop the PostgreSQL of this test: %v", err)
		}
	})
	return s.URL()
}

const (
	// startTimeout leaves time to fetch PostgreSQL on a machine that has none.
	startTimeout = 5 * time.Minute
	stopTimeout  = time.Minute
	// slots is how many test processes may run a server at the same time.
	slots = 64
)

func parseServer(t testing.TB, text string) server {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		t.Fatalf("%s must be a URL such as postgres://postgres@127.0.0.1:5432/postgres", EnvURL)
	}
	return server{url: u}
}

// database returns the URL of another database on the server.
func (s server) database(name string) string {
	changed := *s.url
	changed.Path = "/" + name
	return changed.String()
}

// own is the server of this process. The testing package knows no state that spans
// the tests of a process, so this is the one variable of its kind.
var own ownServer

type ownServer struct {
	mu    sync.Mutex
	users int
	s     *managed.Server
}

func (o *ownServer) acquire() (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.s == nil {
		s, err := startInFreeSlot()
		if err != nil {
			return "", err
		}
		o.s = s
	}
	o.users++
	return o.s.URL(), nil
}

func (o *ownServer) release() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.users--; o.users > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := o.s.Stop(ctx)
	o.s = nil
	return err
}

// startInFreeSlot starts a server in the first data folder that no other test
// process holds. The folders stay between runs, for their clusters and templates.
func startInFreeSlot() (*managed.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for slot := range slots {
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("basalt-storetest-%d-%d", os.Getuid(), slot))
		s, err := managed.Start(ctx, managed.Options{DataDir: dir, Log: zerolog.Nop()})
		var held *managed.InUseError
		if errors.As(err, &held) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return nil, fmt.Errorf("%d other test processes run a server already", slots)
}
