// Package smstest answers as Twilio's HTTP API does in the process of a test.
package smstest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// The account that the server knows.
const (
	Account = "AC1"
	Token   = "a-token-of-the-messenger"
)

// Twilio is a server that keeps what it is asked.
type Twilio struct {
	// URL is the base of the API.
	URL string

	mu    sync.Mutex
	asked []url.Values
}

// Start runs a server until the test ends. All messages get one answer.
func Start(t testing.TB, status int, body string) *Twilio {
	t.Helper()
	s := &Twilio{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if r.Method != http.MethodPost || r.URL.Path != "/base/2010-04-01/Accounts/"+Account+"/Messages.json" || user != Account || password != Token {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"code":20003,"message":%q}`, "not "+user+" with "+password+" as in "+r.Header.Get("Authorization"))
			return
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.asked = append(s.asked, r.PostForm)
		s.mu.Unlock()
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL + "/base/"
	return s
}

// Asked are the messages that were asked for so far.
func (s *Twilio) Asked() []url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]url.Values(nil), s.asked...)
}

// Wait waits until so many messages were asked for, at most a minute, and gives them.
func (s *Twilio) Wait(t testing.TB, count int) []url.Values {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if asked := s.Asked(); len(asked) >= count {
			return asked
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages were asked for within a minute", len(s.Asked()), count)
		}
	}
}
