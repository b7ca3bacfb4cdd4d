//go:build unix

package store

import (
	"net"
	"testing"
	"time"
)

func TestSocketIsLookedAtWhileSomebodyReadsFromIt(t *testing.T) {
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
	peer, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	// The reader takes one byte and then surely waits for the next.
	took := make(chan struct{})
	go func() {
		buffer := make([]byte, 1)
		if _, err := conn.Read(buffer); err == nil {
			close(took)
			_, _ = conn.Read(buffer)
		}
	}()
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	<-took
	quiet := make(chan bool, 1)
	go func() { quiet <- newSocketProbe(conn).isQuiet() }()
	select {
	case got := <-quiet:
		if !got {
			t.Error("there is something to read")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the look waits for the reader")
	}
}
