package managed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"
)

const (
	connectAttempt = 5 * time.Second
	// answerTimeout is how long a server that calls itself ready may refuse connections.
	answerTimeout = 30 * time.Second
	// patience is after how long a start that still goes on, as crash recovery may, is mentioned in the log.
	patience        = 5 * time.Second
	invalidPassword = "28P01"
)

// launcher knows all that a start of the postmaster needs, the first time and after each crash.
type launcher struct {
	folder   folder
	binaries Binaries
	runAs    account
	endpoint endpoint
	password string
	log      zerolog.Logger
}

// postmaster is one running server process, a child of this one.
type postmaster struct {
	cmd     *exec.Cmd
	started time.Time
	exited  chan struct{}
	err     error // how it ended; valid once exited is closed
}

func (l launcher) url() string {
	return connectionURL(l.password, l.endpoint.dir, l.endpoint.port())
}

// launch ends what is left of an earlier server, starts a new one and returns when it answers.
//
// A first try that fails over the files of an unlogged table is followed by a second. Killed between the abort of the
// transaction that made the table and the flush of that abort, PostgreSQL finds the table's main fork but no init fork
// when its recovery begins, hence keeps the main fork; the log brings the init fork back, whose copy at the end of the
// recovery then stumbles over the main fork. The next recovery begins with both and removes the main fork first
// (PostgreSQL's reinit.c, ResetUnloggedRelations).
func (l launcher) launch(ctx context.Context) (*postmaster, error) {
	p, err := l.launchOnce(ctx)
	if errors.Is(err, errForkLeft) {
		l.log.Warn().Err(err).Msg("the recovery of PostgreSQL is tried again")
		return l.launchOnce(ctx)
	}
	return p, err
}

func (l launcher) launchOnce(ctx context.Context) (*postmaster, error) {
	cluster := l.folder.cluster()
	if err := evict(ctx, cluster); err != nil {
		return nil, err
	}
	if err := dropMisleadingLocks(cluster, l.endpoint.dir, l.endpoint.port()); err != nil {
		return nil, describe(err, "cannot clear old locks in "+cluster, l.folder.root)
	}
	if err := writeConfig(l.folder, l.binaries, l.runAs, l.endpoint.tcpPort); err != nil {
		return nil, err
	}
	if err := l.endpoint.checkPort(); err != nil {
		return nil, err
	}
	logFile, offset, err := openLog(l.folder)
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	p, err := l.spawn(logFile)
	if err != nil {
		return nil, err
	}
	if err := l.await(ctx, p); err != nil {
		p.kill()
		return nil, l.explain(err, logSince(l.folder, offset))
	}
	return p, nil
}

func (l launcher) spawn(logFile *os.File) (*postmaster, error) {
	cmd, handle, err := l.runAs.command(l.binaries.program("postgres"), l.folder.cluster(), func(dir string) []string {
		socketDir := l.endpoint.dir
		if socketDir == l.folder.cluster() {
			socketDir = dir
		}
		return []string{
			"-D", dir,
			"-c", "config_file=" + filepath.Join(dir, basaltConfig),
			// Basalt connects by these two: no file may change them.
			"-c", fmt.Sprintf("port=%d", l.endpoint.port()),
			"-c", "unix_socket_directories=" + quoteListItem(socketDir),
		}
	})
	if err != nil {
		return nil, err
	}
	defer handle.Close()
	cmd.Stdout, cmd.Stderr = logFile, logFile
	if err := cmd.Start(); err != nil {
		return nil, startError(cmd, err)
	}
	p := &postmaster{cmd: cmd, started: time.Now(), exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// quoteListItem writes a path as one item of a setting that is a list.
func quoteListItem(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

var (
	errExited   = errors.New("PostgreSQL ended during its start")
	errForkLeft = fmt.Errorf("%w over a file that an aborted transaction left", errExited)
)

// leftFork is PostgreSQL's complaint about a main fork that should not be there, as `could not create file
// "base/5/17203": File exists`, or below pg_tblspc; a failed copy in another place names a fork or a segment.
var leftFork = regexp.MustCompile(`could not create file "[^"]*/\d+": File exists`)

// await returns when the server has said that it is ready and has answered a connection.
func (l launcher) await(ctx context.Context, p *postmaster) error {
	mentioned := false
	var readySince time.Time
	return poll(ctx, func() (bool, error) {
		select {
		case <-p.exited:
			return false, errExited
		default:
		}
		if !mentioned && time.Since(p.started) > patience {
			mentioned = true
			l.log.Info().Str("log", l.folder.log()).Msg("PostgreSQL is still starting, perhaps recovering from a crash")
		}
		// Its own note first: a connection attempt before that only fills its log.
		state, err := readPIDFile(l.folder.cluster())
		if err != nil || state.pid != p.cmd.Process.Pid || !state.ready() {
			return false, nil
		}
		if readySince.IsZero() {
			readySince = time.Now()
		}
		err = l.connect(ctx)
		var refused *pgconn.PgError
		wrongPassword := errors.As(err, &refused) && refused.Code == invalidPassword
		if wrongPassword || err != nil && time.Since(readySince) > answerTimeout {
			return false, err
		}
		return err == nil, nil
	})
}

func (l launcher) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectAttempt)
	defer cancel()
	conn, err := pgx.Connect(ctx, l.url())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// explain turns a failed start into one line, from what the server wrote into its log.
func (l launcher) explain(err error, log string) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return &Error{
			Problem: fmt.Sprintf("the password in %s is not the one of this cluster", l.folder.password()),
			Remedy:  "put the right file back, or delete it: a new password is set at the next start",
			Err:     err,
		}
	}
	if !errors.Is(err, errExited) {
		return fmt.Errorf("PostgreSQL did not become ready: %w", err)
	}
	complaint := strings.ReplaceAll(lastComplaint(log, "it left no message"), handedFolder, l.folder.cluster())
	switch {
	case strings.Contains(log, "No space left on device"):
		return diskFull("PostgreSQL cannot start", l.folder.root, err)
	case strings.Contains(log, "Address already in use") && l.endpoint.tcpPort > 0:
		return l.endpoint.portTaken(err)
	case leftFork.MatchString(complaint):
		err = errForkLeft
	}
	return &Error{
		Problem: "PostgreSQL cannot start: " + complaint,
		Remedy:  "its log is " + l.folder.log(),
		Err:     err,
	}
}

// shutdown ends the server: fast, which writes a checkpoint, and when the context ends at once, which the next start
// makes good by recovery.
func (p *postmaster) shutdown(ctx context.Context) {
	if p.signal(syscall.SIGINT) {
		select {
		case <-p.exited:
			return
		case <-ctx.Done():
		}
	}
	p.kill()
}

// kill ends the server immediately.
func (p *postmaster) kill() {
	if p.signal(syscall.SIGQUIT) {
		select {
		case <-p.exited:
			return
		case <-time.After(quitTimeout):
		}
	}
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// signal says whether the process was still there to get it.
func (p *postmaster) signal(s syscall.Signal) bool { return p.cmd.Process.Signal(s) == nil }
