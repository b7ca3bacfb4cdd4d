//go:build unix

package store

import (
	"crypto/tls"
	"net"
	"syscall"
)

// socketProbe looks whether the server has said anything on an idle connection without reading it: a server that was
// stopped has closed its end, and the next flight would fail for nothing.
type socketProbe struct {
	raw   syscall.RawConn
	check func(fd uintptr)
	quiet *bool
}

func newSocketProbe(conn net.Conn) socketProbe {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	holder, ok := conn.(syscall.Conn)
	if !ok {
		return socketProbe{}
	}
	raw, err := holder.SyscallConn()
	if err != nil {
		return socketProbe{}
	}
	quiet := new(bool)
	buffer := make([]byte, 1)
	return socketProbe{raw: raw, quiet: quiet, check: func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), buffer, syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		*quiet = err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
	}}
}

// isQuiet is true when there is nothing to read and the server holds its end open, or when it cannot be known.
func (p socketProbe) isQuiet() bool {
	if p.raw == nil {
		return true
	}
	// Control and not Read, which would wait for a reader that pgconn may have left in the background.
	return p.raw.Control(p.check) == nil && *p.quiet
}
