package outgoing

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// target is a server on an address of the loopback network that counts its connections.
type target struct {
	*httptest.Server
	connections atomic.Int64
}

func listen(t *testing.T, address string, encrypted bool, handler http.HandlerFunc) *target {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("no address %s on this machine: %v", address, err)
	}
	out := &target{Server: httptest.NewUnstartedServer(handler)}
	out.Listener.Close()
	out.Listener = listener
	out.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			out.connections.Add(1)
		}
	}
	if encrypted {
		out.StartTLS()
	} else {
		out.Start()
	}
	t.Cleanup(out.Close)
	return out
}

func (s *target) certificates() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return pool
}

func (s *target) port() string {
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return port
}

func greet(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func loopback() Guard { return Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}} }

func get(t *testing.T, client *http.Client, address string) (*http.Response, string, error) {
	t.Helper()
	response, err := client.Get(address)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	return response, string(body), err
}

func TestSpellingsOfDeniedAddressesReachNothing(t *testing.T) {
	plain := listen(t, "127.0.0.1:0", false, greet)
	encrypted := listen(t, "127.0.0.1:0", true, greet)
	client := New(Options{RootCAs: encrypted.certificates(), Timeout: 2 * time.Second})
	// Names that only some resolvers take for addresses are answered as the most helpful one would.
	names := &resolver{answers: func(string) string { return "127.0.0.1" }}
	names.use(t, client, Guard{})
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.000.000.001",
		"0.0.0.0", "0", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
		"localhost", "localhost.", "LOCALHOST", "localtest.example", "127.0.0.1.nip.example", "①②⑦.⓪.⓪.①",
	} {
		for scheme, server := range map[string]*target{"http": plain, "https": encrypted} {
			_, _, err := get(t, client, scheme+"://"+host+":"+server.port()+"/")
			if err == nil {
				t.Errorf("%s by %s was answered", host, scheme)
			}
		}
	}
	if n := plain.connections.Load() + encrypted.connections.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestSchemes(t *testing.T) {
	client := New(Options{Guard: loopback()})
	for _, address := range []string{"file:///etc/passwd", "gopher://127.0.0.1/_x", "ftp://127.0.0.1/", "data:text/plain,x", "//127.0.0.1/", "unix:///var/run/docker.sock"} {
		if _, _, err := get(t, client, address); !errors.Is(err, ErrScheme) {
			t.Errorf("%s: %v", address, err)
		}
		if _, err := ParseURL(address); !errors.Is(err, ErrScheme) {
			t.Errorf("ParseURL(%q): %v", address, err)
		}
	}
	for _, address := range []string{"https://", "https://user:pass@example.com/", "https://example.com/#x", "https://exa mple.com", "https://%zz/", ""} {
		if _, err := ParseURL(address); err == nil {
			t.Errorf("ParseURL(%q) is no error", address)
		}
	}
	if u, err := ParseURL("https://example.com:8443/hook?x=1"); err != nil || u.Host != "example.com:8443" {
		t.Errorf("ParseURL of a good URL: %v %v", u, err)
	}
}

func TestOwnNetworksAreReached(t *testing.T) {
	plain := listen(t, "127.0.0.1:0", false, greet)
	encrypted := listen(t, "127.0.0.1:0", true, greet)
	client := New(Options{Guard: loopback(), RootCAs: encrypted.certificates()})
	for _, server := range []*target{plain, encrypted} {
		if _, body, err := get(t, client, server.URL); err != nil || body != "hello" {
			t.Errorf("%s: %q %v", server.URL, body, err)
		}
	}
	stranger := New(Options{Guard: loopback()})
	if _, _, err := get(t, stranger, encrypted.URL); err == nil {
		t.Error("a certificate of nobody was believed")
	}
}

func TestPlainHTTPReachesOwnNetworksOnly(t *testing.T) {
	client := New(Options{Guard: loopback(), Timeout: 2 * time.Second})
	var denied *DeniedError
	if _, _, err := get(t, client, "http://93.184.216.34/"); !errors.As(err, &denied) || !denied.Plain {
		t.Errorf("%v", err)
	}
}

func TestRebindingIsSeenWhenConnecting(t *testing.T) {
	good := listen(t, "127.0.0.2:0", false, greet)
	bad := listen(t, "127.0.0.1:"+good.port(), false, greet)
	guard := Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}}
	client := New(Options{Guard: guard})
	var rebound atomic.Bool
	names := &resolver{answers: func(string) string {
		if rebound.Load() {
			return "127.0.0.1"
		}
		return "127.0.0.2"
	}}
	names.use(t, client, guard)
	address := "http://rebinding.example.:" + good.port()
	if _, body, err := get(t, client, address); err != nil || body != "hello" {
		t.Fatalf("before: %q %v", body, err)
	}
	rebound.Store(true)
	client.CloseIdleConnections()
	var denied *DeniedError
	if _, _, err := get(t, client, address); !errors.As(err, &denied) || denied.Address.String() != "127.0.0.1" {
		t.Errorf("after: %v", err)
	}
	if n := bad.connections.Load(); n != 0 {
		t.Errorf("%d connections to the denied address", n)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	bad := listen(t, "127.0.0.1:0", false, greet)
	good := listen(t, "127.0.0.1:0", false, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, bad.URL, http.StatusTemporaryRedirect)
	})
	client := New(Options{Guard: loopback()})
	response, _, err := get(t, client, good.URL)
	if err != nil || response.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("%v %v", response, err)
	}
	if n := bad.connections.Load(); n != 0 {
		t.Error("the redirect was followed")
	}
}

func TestLargeAnswersAreRefused(t *testing.T) {
	const most = 1000
	server := listen(t, "127.0.0.1:0", false, func(w http.ResponseWriter, r *http.Request) {
		text := strings.Repeat("x", most)
		switch r.URL.Path {
		case "/larger":
			_, _ = io.WriteString(w, text+"x")
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			_, _ = io.WriteString(packed, strings.Repeat(text, 1000))
			packed.Close()
		case "/header":
			w.Header().Set("X-Large", strings.Repeat("x", 128<<10))
		default:
			_, _ = io.WriteString(w, text)
		}
	})
	client := New(Options{Guard: loopback(), MaxAnswer: most})
	if response, body, err := get(t, client, server.URL+"/just"); err != nil || len(body) != most || response.ContentLength != most {
		t.Errorf("just small enough: %d %v", len(body), err)
	}
	for _, path := range []string{"/larger", "/bomb"} {
		if _, _, err := get(t, client, server.URL+path); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, _, err := get(t, client, server.URL+"/header"); err == nil {
		t.Error("a header of 128 KiB was taken")
	}
}

func TestCallsAreBounded(t *testing.T) {
	const most = 2
	release := make(chan struct{})
	var running, highest atomic.Int64
	server := listen(t, "127.0.0.1:0", false, func(w http.ResponseWriter, r *http.Request) {
		n := running.Add(1)
		defer running.Add(-1)
		for seen := highest.Load(); n > seen && !highest.CompareAndSwap(seen, n); seen = highest.Load() {
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	client := New(Options{Guard: loopback(), MaxCalls: most, Timeout: time.Minute})
	const callers = 100
	failures := make(chan error, callers)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			response, err := client.Get(server.URL)
			if err == nil {
				response.Body.Close()
			}
			failures <- err
		})
	}
	const admitted = most * (1 + waitersPerCall)
	for range callers - admitted {
		if err := <-failures; !errors.Is(err, ErrBusy) {
			t.Errorf("a caller too many: %v", err)
		}
	}
	close(release)
	all.Wait()
	for range admitted {
		if err := <-failures; err != nil {
			t.Errorf("a caller who waited: %v", err)
		}
	}
	if highest.Load() > most {
		t.Errorf("%d calls at once", highest.Load())
	}
}

func TestWaitingEndsWithTheTimeout(t *testing.T) {
	release := make(chan struct{})
	server := listen(t, "127.0.0.1:0", false, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	client := New(Options{Guard: loopback(), MaxCalls: 1, Timeout: 100 * time.Millisecond})
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := client.Get(server.URL)
			var failure *url.Error
			if !errors.As(err, &failure) || !failure.Timeout() {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
}

// resolver is a name server in this process: the addresses of all names are what answers says.
type resolver struct {
	answers func(name string) string
}

// use makes the connections of a client ask it.
func (r *resolver) use(t *testing.T, client *http.Client, guard Guard) {
	t.Helper()
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() { r.serve(socket) })
	t.Cleanup(func() { socket.Close(); served.Wait() })
	own := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", socket.LocalAddr().String())
	}}
	g := client.Transport.(*guarded)
	for way, check := range map[*http.Transport]func(netip.Addr) error{g.encrypted: guard.Check, g.plain: guard.CheckPlain} {
		d := dialer(check)
		d.Resolver = own
		way.DialContext = d.DialContext
	}
}

func (r *resolver) serve(socket net.PacketConn) {
	packet := make([]byte, 512)
	for {
		n, from, err := socket.ReadFrom(packet)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(packet[:n]) != nil || len(query.Questions) != 1 {
			continue
		}
		question := query.Questions[0]
		answer := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: query.ID, Response: true, Authoritative: true},
			Questions: query.Questions,
		}
		if question.Type == dnsmessage.TypeA {
			answer.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(r.answers(question.Name.String())).As4()},
			}}
		}
		if packed, err := answer.Pack(); err == nil {
			_, _ = socket.WriteTo(packed, from)
		}
	}
}
