package storetest

import (
	"context"
	"net/url"
	"os"
	"testing"
	"time"
)

const (
	// startTimeout leaves time to fetch PostgreSQL on a machine that has none.
	startTimeout = 5 * time.Minute
	stopTimeout  = time.Minute
	// linger is how long the shared server outlives its last user: go test may still be building the next package.
	linger = 10 * time.Second
)

// server is the PostgreSQL on which a test makes its database.
type server struct {
	url *url.URL
}

// useServer gives the server that EnvURL names or else the one that all test processes of this user share.
func useServer(t testing.TB) server {
	t.Helper()
	if text := os.Getenv(EnvURL); text != "" {
		return parseServer(t, text)
	}
	text, err := shared()
	if err != nil {
		t.Fatalf("start a PostgreSQL for the tests (or name one in %s): %v", EnvURL, err)
	}
	return parseServer(t, text)
}

// NewServer starts a PostgreSQL that only this test uses, without any database or role of Basalt's in it, and returns
// the URL of its superuser.
func NewServer(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(scratch(), "basalt-storetest-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	stay, err := room{dir: dir}.enter(ctx)
	if err != nil {
		t.Fatalf("start a PostgreSQL: %v", err)
	}
	t.Cleanup(func() {
		if err := stay.leave(); err != nil {
			t.Errorf("stop the PostgreSQL of this test: %v", err)
		}
	})
	return stay.url
}

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
