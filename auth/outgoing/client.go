// Package outgoing makes the HTTP calls of the server to addresses that others have a say in: hooks, identity
// providers, messengers.
package outgoing

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Bounds of a client whose options name none.
const (
	DefaultTimeout   = 10 * time.Second
	DefaultMaxAnswer = 1 << 20
	DefaultMaxCalls  = 64

	connectTimeout = 5 * time.Second
	// waitersPerCall is how many callers may wait for each one that is served.
	waitersPerCall = 16
)

// Options are the bounds of a client. Each use has a client of its own, so that one that hangs takes no room from
// the others.
type Options struct {
	Guard Guard
	// Timeout is for a whole call, from waiting for its turn to the last byte of the answer; 0 is DefaultTimeout.
	Timeout time.Duration
	// MaxAnswer is the most bytes of an answer's body, decompressed; 0 is DefaultMaxAnswer.
	MaxAnswer int64
	// MaxCalls is how many calls run at once; 0 is DefaultMaxCalls.
	MaxCalls int
	// RootCAs are whose certificates are believed; nil are the system's.
	RootCAs *x509.CertPool
}

var (
	// ErrBusy is a call too many: all that may run do, and all that may wait do.
	ErrBusy = errors.New("too many outgoing calls at once")
	// ErrTooLarge is an answer with more bytes than the client takes.
	ErrTooLarge = errors.New("the answer is too large")
	// ErrScheme is a URL that is neither https nor http.
	ErrScheme = errors.New("the URL is neither https nor http")
)

// New makes a client that reaches public addresses by https, and the guard's own networks by http too. It follows no
// redirects, keeps no cookies, and passes by the proxies of the environment, which would connect where they like.
// Answers are read whole before they are given: nothing is held by who forgets to close them.
func New(o Options) *http.Client {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = DefaultMaxAnswer
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = DefaultMaxCalls
	}
	encrypted, plain := transport(o), transport(o)
	encrypted.DialContext = dialer(o.Guard.Check).DialContext
	plain.DialContext = dialer(o.Guard.CheckPlain).DialContext
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &guarded{
			encrypted: encrypted,
			plain:     plain,
			maxAnswer: o.MaxAnswer,
			running:   make(chan struct{}, o.MaxCalls),
			admitted:  make(chan struct{}, o.MaxCalls*(1+waitersPerCall)),
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func transport(o Options) *http.Transport {
	return &http.Transport{
		TLSClientConfig:        &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           o.MaxCalls,
		MaxIdleConnsPerHost:    8,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    connectTimeout,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// ParseURL reads a URL that the server may call: absolute, https or http, without user and fragment.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		// The error of url.Parse repeats the text, which may hold a secret.
		return nil, errors.New("the URL is not well-formed")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, ErrScheme
	case u.Hostname() == "":
		return nil, errors.New("the URL has no host")
	case u.User != nil:
		return nil, errors.New("the URL must not hold a user or password")
	case u.Fragment != "":
		return nil, errors.New("the URL must not have a fragment")
	}
	return u, nil
}

// guarded is the round tripper of a client.
type guarded struct {
	encrypted, plain *http.Transport
	maxAnswer        int64
	running          chan struct{}
	admitted         chan struct{}
}

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(request *http.Request) (*http.Response, error) {
	var way *http.Transport
	switch request.URL.Scheme {
	case "https":
		way = g.encrypted
	case "http":
		way = g.plain
	default:
		return nil, refused(request, ErrScheme)
	}
	leave, err := g.enter(request.Context())
	if err != nil {
		return nil, refused(request, err)
	}
	defer leave()
	response, err := way.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, g.maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case int64(len(body)) > g.maxAnswer:
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, g.maxAnswer)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	return response, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the connections.
func (g *guarded) CloseIdleConnections() {
	g.encrypted.CloseIdleConnections()
	g.plain.CloseIdleConnections()
}

// enter waits until a call may run, and gives what ends it.
func (g *guarded) enter(ctx context.Context) (leave func(), err error) {
	select {
	case g.admitted <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	select {
	case g.running <- struct{}{}:
		return func() { <-g.running; <-g.admitted }, nil
	case <-ctx.Done():
		<-g.admitted
		return nil, ctx.Err()
	}
}

// refused closes the body of a request that is not sent, as http.RoundTripper demands.
func refused(request *http.Request, err error) error {
	if request.Body != nil {
		request.Body.Close()
	}
	return err
}
