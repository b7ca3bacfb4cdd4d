// Package mailtest runs a mail server in the process of a test.
package mailtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"basalt/auth/mail"
)

// The account that the server knows.
const (
	User     = "basalt"
	Password = "a password for the mail server"
)

// Options say what kind of server it is.
type Options struct {
	// ImplicitTLS encrypts from the first byte on.
	ImplicitTLS bool
	// Plain knows no TLS.
	Plain bool
	// Address to listen on; empty picks a free port on the loopback.
	Address string
	// SMTPUTF8 takes addresses beyond ASCII.
	SMTPUTF8 bool
	// Judge is asked before a message is taken, unless nil. An *smtp.SMTPError is answered as it is.
	Judge func(Received) error
	// Sender is asked about who sends, unless nil.
	Sender func(from string) error
	// Recipient is asked about each recipient, unless nil.
	Recipient func(to string) error
}

// Server is a mail server that keeps what it takes.
type Server struct {
	// Address is host and port.
	Address string
	// RootCAs believe its certificate.
	RootCAs *x509.CertPool

	options  Options
	server   *smtp.Server
	listener net.Listener
	done     chan struct{}

	mu          sync.Mutex
	received    []Received
	connections map[string]bool // by the address of the other side
}

// Received is a message as it has arrived.
type Received struct {
	From string
	To   []string
	// Raw is the message with its headers.
	Raw []byte
	// Authenticated is set when the sender has given the password.
	Authenticated bool
	// Encrypted is set when the connection was.
	Encrypted bool
}

// Start runs a server until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{options: o, done: make(chan struct{}), RootCAs: x509.NewCertPool(), connections: map[string]bool{}}
	certificate := selfSigned(t)
	s.RootCAs.AddCert(certificate.Leaf)
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	s.server = smtp.NewServer(smtp.BackendFunc(s.session))
	s.server.Domain = "mail.example"
	s.server.ErrorLog = silent{}
	s.server.EnableSMTPUTF8 = o.SMTPUTF8
	address := o.Address
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	s.Address = listener.Addr().String()
	switch {
	case o.ImplicitTLS:
		listener = tls.NewListener(listener, config)
	case !o.Plain:
		s.server.TLSConfig = config
	}
	s.listener = listener
	go func() {
		defer close(s.done)
		_ = s.server.Serve(listener) // it gives an error when it is closed
	}()
	t.Cleanup(s.Stop)
	return s
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// Stop ends the server and its connections. It can be called more than once.
func (s *Server) Stop() {
	// The second call has nothing to close, and a server that has not begun to serve does not know its listener yet.
	_, _ = s.server.Close(), s.listener.Close()
	<-s.done
}

// Mail gives the server as a client knows it.
func (s *Server) Mail(t testing.TB) mail.Server {
	t.Helper()
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	m := mail.Server{Host: host, Port: number, Security: mail.STARTTLS, User: User, Password: Password, RootCAs: s.RootCAs}
	switch {
	case s.options.ImplicitTLS:
		m.Security = mail.ImplicitTLS
	case s.options.Plain:
		m.Security, m.User, m.Password = mail.NoTLS, "", ""
	}
	return m
}

// URL is the one of the setting for a server that knows no TLS.
func (s *Server) URL() string { return "smtp://" + s.Address + "?tls=none" }

// Received gives the messages that have been taken so far.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.received...)
}

// Connections counts the connections so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connections)
}

// Wait waits until so many messages have been taken, at most a minute, and gives them.
func (s *Server) Wait(t testing.TB, count int) []Received {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if received := s.Received(); len(received) >= count {
			return received
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages have arrived within a minute", len(s.Received()), count)
		}
	}
}

func (s *Server) session(c *smtp.Conn) (smtp.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections[c.Conn().RemoteAddr().String()] = true
	return &session{server: s, conn: c}, nil
}

type session struct {
	server        *Server
	conn          *smtp.Conn
	authenticated bool
	message       Received
}

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements smtp.AuthSession.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != User || password != Password {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "not " + user + " with " + password + " as in " +
				base64.StdEncoding.EncodeToString([]byte("\x00"+user+"\x00"+password))}
		}
		s.authenticated = true
		return nil
	}), nil
}

func (s *session) Reset()        { s.message = Received{} }
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.options.Sender != nil {
		if err := s.server.options.Sender(from); err != nil {
			return err
		}
	}
	_, encrypted := s.conn.TLSConnectionState()
	s.message = Received{From: from, Authenticated: s.authenticated, Encrypted: encrypted}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.server.options.Recipient != nil {
		if err := s.server.options.Recipient(to); err != nil {
			return err
		}
	}
	s.message.To = append(s.message.To, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	var err error
	if s.message.Raw, err = io.ReadAll(r); err != nil {
		return err
	}
	if s.server.options.Judge != nil {
		if err := s.server.options.Judge(s.message); err != nil {
			return err
		}
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.received = append(s.server.received, s.message)
	return nil
}

// Header gives a header's value as it is read by people, "" when it is not there.
func (r *Received) Header(t testing.TB, name string) string {
	t.Helper()
	parsed := r.parse(t)
	value, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get(name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}

// Headers gives all headers as they stand.
func (r *Received) Headers(t testing.TB) netmail.Header {
	t.Helper()
	return r.parse(t).Header
}

func (r *Received) parse(t testing.TB) *netmail.Message {
	t.Helper()
	parsed, err := netmail.ReadMessage(bytes.NewReader(r.Raw))
	if err != nil {
		t.Fatalf("the message is none: %v", err)
	}
	return parsed
}

// Body gives the part of a type, such as text/plain; "" when there is none.
func (r *Received) Body(t testing.TB, contentType string) string {
	t.Helper()
	message := r.parse(t)
	kind, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Fatalf("content type: %v", err)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		if kind != contentType {
			return ""
		}
		return decoded(t, message.Header.Get("Content-Transfer-Encoding"), message.Body)
	}
	for parts := multipart.NewReader(message.Body, parameters["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return ""
		}
		if err != nil {
			t.Fatalf("parts: %v", err)
		}
		if kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type")); kind == contentType {
			return decoded(t, part.Header.Get("Content-Transfer-Encoding"), part)
		}
	}
}

func decoded(t testing.TB, encoding string, r io.Reader) string {
	t.Helper()
	if strings.EqualFold(encoding, "quoted-printable") {
		r = quotedprintable.NewReader(r)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("body: %v", err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// selfSigned makes a certificate for the loopback.
func selfSigned(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}
