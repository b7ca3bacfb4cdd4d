//go:build unix

package store

import (
	"net"
	"runtime"
	"testing"
	"time"
)

func TestAnIdleConnectionIsLookedAtWithoutWaitingForItsReader(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()

	read := make(chan error)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		read <- err
	}()
	probe := newSocketProbe(conn)
	looked := make(chan bool)
	go func() {
		quiet := true
		for range 1000 { // the reader gets to its read meanwhile
			quiet = probe.isQuiet() && quiet
			runtime.Gosched()
		}
		looked <- quiet
	}()
	select {
	case quiet := <-looked:
		if !quiet {
			t.Error("the connection is said to have something to read")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("looking waits for the reader")
	}
	if _, err := server.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	server.Close()
	if conn.SetReadDeadline(time.Now().Add(30*time.Second)) != nil {
		t.Fatal("no deadline")
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Fatal("the server's end is closed, but something was read")
	}
	if probe.isQuiet() {
		t.Error("a connection whose server has left is said to be quiet")
	}
}
