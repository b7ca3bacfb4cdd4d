//go:build unix

package store

import (
	"net"
	"testing"
	"time"
)

func TestSocketProbe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	probe := newSocketProbe(client)
	becomes := func(want bool) bool {
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if probe.isQuiet() == want {
				return true
			}
		}
		return false
	}

	if !probe.isQuiet() {
		t.Error("a new connection is not quiet")
	}
	read := make(chan error, 1)
	go func() {
		_, err := client.Read(make([]byte, 1))
		read <- err
	}()
	time.Sleep(time.Millisecond)
	if !probe.isQuiet() {
		t.Error("a connection that somebody reads from is not quiet")
	}
	if _, err := server.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	if !becomes(false) {
		t.Error("a connection with unread data is quiet")
	}
	if _, err := client.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if !becomes(true) {
		t.Error("a connection whose data was read is not quiet")
	}
	server.Close()
	if !becomes(false) {
		t.Error("a connection that the server has closed is quiet")
	}
	if allocations := testing.AllocsPerRun(100, func() { probe.isQuiet() }); allocations > 0 {
		t.Errorf("%v allocations, want none", allocations)
	}
}
