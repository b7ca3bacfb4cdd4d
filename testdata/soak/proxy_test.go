//go:build linux

package soak_test

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// proxy stands between Basalt and PostgreSQL and counts.
type proxy struct {
	url string // of the same database, through the proxy

	mu    sync.Mutex
	count map[string]*flights // by application_name
}

// flights counts how often the direction turned: a run of bytes from the client behind bytes of the server is one
// flight out, and the answer to it one flight home.
type flights struct{ out, home int }

// link is one proxied connection.
type link struct {
	proxy          *proxy
	client, server net.Conn
	name           string
	fromServer     bool // who spoke last
}

// startProxy listens for a database's clients.
func startProxy(t *testing.T, databaseURL string) *proxy {
	t.Helper()
	config, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password),
		Host: listener.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	p := &proxy{url: target.String(), count: map[string]*flights{}}
	var group sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		group.Wait()
	})
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, address)
			if err != nil {
				client.Close()
				continue
			}
			l := &link{proxy: p, client: client, server: server, fromServer: true}
			group.Go(func() { l.relay(server, client, l.sent) })
			group.Go(func() { l.relay(client, server, l.received) })
		}
	})
	return p
}

// relay passes bytes on, telling of them first, until one end closes; then it closes both.
func (l *link) relay(to, from net.Conn, tell func([]byte)) {
	defer l.client.Close()
	defer l.server.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			tell(buffer[:n])
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil { // io.EOF as a rule
			return
		}
	}
}

func (l *link) sent(data []byte) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if l.name == "" { // the startup message: parameters, each ended by a zero byte
		_, rest, _ := strings.Cut(string(data), "application_name\x00")
		l.name, _, _ = strings.Cut(rest, "\x00")
		l.name = fmt.Sprintf("%q", l.name)
	}
	if l.fromServer {
		l.counts().out++
	}
	l.fromServer = false
}

func (l *link) received([]byte) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if !l.fromServer {
		l.counts().home++
	}
	l.fromServer = true
}

func (l *link) counts() *flights {
	if l.proxy.count[l.name] == nil {
		l.proxy.count[l.name] = &flights{}
	}
	return l.proxy.count[l.name]
}

// of gives what was counted so far on connections of a name.
func (p *proxy) of(name string) flights {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.count[fmt.Sprintf("%q", name)]; found != nil {
		return *found
	}
	return flights{}
}
