package managed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// endpoint is where the server listens.
type endpoint struct {
	dir     string // folder of the socket
	tcpPort int    // 0: none
}

func (e endpoint) port() int {
	if e.tcpPort > 0 {
		return e.tcpPort
	}
	return socketOnlyPort
}

// chooseEndpoint puts the socket into the cluster's folder, or, where the system could not bind so long a path, into a
// private folder of the machine's temporary one that is named after the cluster. A comma would make two hosts of the
// path in a connection URL.
func chooseEndpoint(f folder, runAs account, tcpPort int) (endpoint, error) {
	e := endpoint{dir: f.cluster(), tcpPort: tcpPort}
	if fits(e.dir) {
		return e, nil
	}
	sum := sha256.Sum256([]byte(f.root))
	name := "basalt-" + hex.EncodeToString(sum[:6])
	e.dir = filepath.Join(os.TempDir(), name)
	if !fits(e.dir) {
		e.dir = filepath.Join("/tmp", name)
	}
	return e, privateFolder(e.dir, runAs)
}

func fits(dir string) bool {
	return len(filepath.Join(dir, socketName(65535))) <= maxSocketPath && !strings.Contains(dir, ",")
}

// privateFolder makes a folder for the account in a place where everybody may write, and trusts one that is there only
// if nobody else can have made it or can reach into it.
func privateFolder(dir string, runAs account) error {
	err := os.Mkdir(dir, folderMode)
	if err == nil {
		return runAs.own(dir)
	}
	if !errors.Is(err, os.ErrExist) {
		return describe(err, "cannot make the folder of the socket "+dir, filepath.Dir(dir))
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return describe(err, "cannot read the folder of the socket "+dir, filepath.Dir(dir))
	}
	owner := ownerOf(info)
	if runAs.switched && owner == os.Geteuid() && info.IsDir() {
		return runAs.own(dir) // killed between making it and giving it away
	}
	if !info.IsDir() || owner != runAs.uid || info.Mode().Perm()&groupOrWorldBit != 0 {
		return &Error{
			Problem: fmt.Sprintf("%s, needed for the socket of PostgreSQL, is somebody else's", dir),
			Remedy:  "remove it, or choose a data folder with a shorter path by --data",
		}
	}
	return nil
}

// checkPort says before the start, and in its own words, that the TCP port is taken.
func (e endpoint) checkPort() error {
	if e.tcpPort == 0 {
		return nil
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", e.tcpPort))
	if err == nil {
		return listener.Close()
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return e.portTaken(err)
	}
	return &Error{
		Problem: fmt.Sprintf("PostgreSQL cannot listen on 127.0.0.1:%d: %s", e.tcpPort, err),
		Remedy:  "choose another port, or none: the Unix socket needs no port",
		Err:     err,
	}
}

func (e endpoint) portTaken(err error) error {
	return &Error{
		Problem: fmt.Sprintf("port %d of 127.0.0.1, wanted for PostgreSQL, is taken by another program", e.tcpPort),
		Remedy:  "stop that program or choose another port",
		Err:     err,
	}
}
