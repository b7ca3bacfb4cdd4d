//go:build !race

package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"basalt/api"
	"basalt/api/apitest"
	"basalt/auth"
	"basalt/auth/token"
	"basalt/store/storetest"
)

// TestAReadByKeyAllocatesLittleFromSocketToSocket holds the whole of a server to the budget of the hot path, with the
// token, the middleware and the log. What net/http and echo take for the same request and an answer of the same bytes
// is counted apart. (The race detector makes sync.Pool forget, so this is not run with it.)
func TestAReadByKeyAllocatesLittleFromSocketToSocket(t *testing.T) {
	database := storetest.New(t)
	database.Exec(t, `
		create table item (id bigint primary key, name text not null, price numeric, extra jsonb, created_at timestamptz not null, owner uuid not null);
		insert into item values (1, 'one', 1.5, '{"a": 1}', now(), '`+speedOwner+`');
		alter table item enable row level security;
		create policy own on item using (owner = (select auth.uid()));
		grant select on item to authenticated;`)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	settings := apitest.Settings(t, database.URL)
	settings.PoolSize = 1
	server, err := api.Start(ctx, settings, api.Build{Version: "test", Commit: "test"}, zerolog.New(io.Discard).Level(zerolog.InfoLevel), io.Discard)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := server.Wait(); err != nil {
			t.Error(err)
		}
	})
	keys, err := auth.LoadKeys(ctx, database.Pool, settings.JWTSecret)
	if err != nil {
		t.Fatal(err)
	}
	bearer, err := token.Sign(fmt.Appendf(nil, `{"sub":%q,"role":"authenticated","aud":"authenticated","exp":%d}`, speedOwner, time.Now().Add(time.Hour).Unix()),
		keys.Secret.Reveal(), keys.KeyID)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/rest/v1/item?id=eq.1&select=id,name,price,extra,created_at"
	request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: localhost\r\nApikey: %s\r\nAuthorization: Bearer %s\r\nAccept: application/json\r\nUser-Agent: test\r\n\r\n",
		path, keys.AnonKey, bearer)

	ours := newAsker(t, server.URL)
	answer := bytes.Clone(ours.ask(t, request))
	bare := echo.New()
	bare.GET("/rest/v1/*", func(c echo.Context) error {
		return c.Blob(http.StatusOK, "application/json; charset=utf-8", answer)
	})
	floor := httptest.NewServer(bare)
	t.Cleanup(floor.Close)
	theirs := newAsker(t, floor.URL)
	if got := theirs.ask(t, request); !bytes.Equal(got, answer) || len(answer) < 50 {
		t.Fatalf("%s, but %s", got, answer)
	}

	// What the server does beside, such as looking for newer keys, may fall into a round, but not into each.
	allocations, size := ours.least(t, request)
	floorAllocations, floorSize := theirs.least(t, request)
	t.Logf("a read: %d allocations of %d bytes, of which net/http and echo make %d of %d", allocations, size, floorAllocations, floorSize)
	if own := allocations - floorAllocations; own > 40 {
		t.Errorf("a read allocates %d times beside net/http and echo, 40 are the most", own)
	}
	if own := size - floorSize; own > 6<<10 {
		t.Errorf("a read allocates %d bytes beside net/http and echo, 6 KiB are the most", own)
	}
}

// asker is a client that allocates nothing.
type asker struct {
	conn   net.Conn
	buffer [4096]byte
}

func newAsker(t *testing.T, address string) *asker {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &asker{conn: conn}
}

// ask sends a request and gives the body of its answer, a JSON array with its length told, valid until the next.
func (a *asker) ask(t *testing.T, request []byte) []byte {
	t.Helper()
	if _, err := a.conn.Write(request); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; {
		read, err := a.conn.Read(a.buffer[n:])
		if err != nil {
			t.Fatalf("%v after %s", err, a.buffer[:n])
		}
		n += read
		head, body, found := bytes.Cut(a.buffer[:n], []byte("\r\n\r\n"))
		if !found {
			continue
		}
		if !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) || !bytes.Contains(head, []byte("\r\nContent-Length: ")) {
			t.Fatalf("%s", a.buffer[:n])
		}
		if bytes.HasSuffix(body, []byte("}]")) {
			return body
		}
	}
}

// least counts the allocations of the process and their bytes in each request, in the round with the fewest.
func (a *asker) least(t *testing.T, request []byte) (allocations, size int64) {
	t.Helper()
	const rounds, each = 5, 200
	for round := range rounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range each {
			a.ask(t, request)
		}
		runtime.ReadMemStats(&after)
		n, bytes := int64(after.Mallocs-before.Mallocs)/each, int64(after.TotalAlloc-before.TotalAlloc)/each
		if round == 0 || n < allocations {
			allocations, size = n, bytes
		}
	}
	return allocations, size
}
