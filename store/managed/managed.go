// Package managed finds or fetches, initialises, runs, guards and stops the PostgreSQL server that lives in Basalt's own data folder.
package managed

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
)

const (
	superuser       = "postgres"
	database        = "postgres"
	socketOnlyPort  = 5432 // names the socket file when there is no TCP port
	oldestMajor     = 14
	clusterName     = "postgres"
	stagingName     = "postgres.new"
	passwordName    = "postgres-password"
	logName         = "postgres.log"
	lockName        = "basalt.lock"
	maxSocketPath   = 103 // sun_path holds 108 bytes on Linux, 104 on macOS and the BSDs, the last one a NUL
	folderMode      = 0o700
	secretMode      = 0o600
	groupOrWorldBit = 0o077
)

// Options say where the data lives and what to start.
type Options struct {
	// DataDir is Basalt's data folder (mode 0700); the cluster is DataDir/postgres.
	DataDir string
	// CacheDir is where fetched binaries are kept; empty: basalt/postgres in the user's cache folder, or in /var/cache
	// when Basalt is root and the account that PostgreSQL runs as cannot enter root's.
	CacheDir string
	// TCPPort, when above 0, is listened on at 127.0.0.1; at 0 there is only the Unix socket.
	TCPPort int
	// BinDir forces the binaries of this folder; empty: they are searched for, then fetched.
	BinDir string
	// NoSystem passes over what is installed on the machine and goes straight to fetched binaries.
	NoSystem bool
	// NoFetch forbids downloads; binaries that were fetched earlier are still used.
	NoFetch bool
	// Lock is the lock of DataDir when the caller holds it already; nil: Start takes it and Stop gives it back.
	Lock *Lock
	// Log receives the life-cycle of the server; its own log is DataDir/postgres.log.
	Log zerolog.Logger
	// Progress shows a download as a bar when it is a terminal; nil: log lines only.
	Progress io.Writer
}

// Error is a refusal that a person can act on: one line with the problem and the remedy.
type Error struct {
	Problem string
	Remedy  string
	Err     error // cause, may be nil; its text is part of Problem where it helps
}

func (e *Error) Error() string { return e.Problem + "; " + e.Remedy }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// folder knows where things are in a data folder.
type folder struct{ root string }

func newFolder(dir string) (folder, error) {
	root, err := filepath.Abs(dir)
	return folder{root}, err
}

func (f folder) cluster() string  { return filepath.Join(f.root, clusterName) }
func (f folder) staging() string  { return filepath.Join(f.root, stagingName) }
func (f folder) password() string { return filepath.Join(f.root, passwordName) }
func (f folder) log() string      { return filepath.Join(f.root, logName) }

// connectionURL names the server behind a socket folder.
func connectionURL(password, socketDir string, port int) string {
	u := url.URL{
		Scheme: "postgres",
		User:   url.UserPassword(superuser, password),
		Path:   "/" + database,
		// libpq and pgx know %20 only, not the form's plus sign.
		RawQuery: "host=" + strings.ReplaceAll(url.QueryEscape(socketDir), "+", "%20") + "&port=" + strconv.Itoa(port),
	}
	return u.String()
}

// IsSocketFolder tells whether a host is the folder of the socket of dataDir's server.
func IsSocketFolder(dataDir, host string) bool {
	f, err := newFolder(dataDir)
	return err == nil && host == f.cluster()
}

// Exists tells whether a data folder holds the data of a server, for commands that start one for their own use.
func Exists(dataDir string) (bool, error) {
	f, err := newFolder(dataDir)
	if err != nil {
		return false, err
	}
	return clusterExists(f)
}

// AttachURL gives the URL of the server that already runs in a data folder, for commands that work beside `serve`.
// Without a running server the URL is empty and running is false.
func AttachURL(dataDir string) (url string, running bool, err error) {
	f, err := newFolder(dataDir)
	if err != nil {
		return "", false, err
	}
	state, err := readPIDFile(f.cluster())
	if os.IsNotExist(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, describe(err, "cannot read data folder "+f.root, f.root)
	}
	if !state.ready() || !isServerIn(f.cluster(), state.pid) {
		return "", false, nil
	}
	password, err := readPassword(f)
	if err != nil {
		return "", false, err
	}
	dir := state.socketDir
	if dir == handedFolder {
		dir = f.cluster()
	}
	return connectionURL(password, dir, state.port), true, nil
}
