package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"basalt/auth"
	"basalt/store/managed"
)

const (
	startTimeout = 3 * time.Minute // its PostgreSQL may have to be fetched
	stopTimeout  = 30 * time.Second
	retryEvery   = 20 * time.Millisecond
)

// Own is a Basalt that was started to be measured, on its own PostgreSQL in a scratch folder.
type Own struct {
	binary  string
	scratch string
	cmd     *exec.Cmd
	exited  <-chan struct{} // nil: it does not run
}

// StartOwn starts a throw-away server: this program, as it is shipped but for a free port, and for limits that count
// per address believing the addresses that the load names.
func StartOwn(ctx context.Context, flags ...string) (*Target, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "basalt-bench-")
	if err != nil {
		return nil, err
	}
	t := &Target{own: &Own{binary: binary, scratch: scratch}}
	if err := t.start(ctx, flags...); err != nil {
		return nil, errors.Join(err, t.own.Close())
	}
	return t, nil
}

// restart runs an own server with other flags over the same data.
func (t *Target) restart(ctx context.Context, flags ...string) error {
	if err := t.own.stop(); err != nil {
		return err
	}
	return t.start(ctx, flags...)
}

func (t *Target) start(ctx context.Context, flags ...string) error {
	o := t.own
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	data := filepath.Join(o.scratch, "data")
	args := slices.Concat([]string{"serve", "--listen", "127.0.0.1:0", "--data", data, "--log-format", "json",
		"--trusted-proxies", "127.0.0.0/8"}, flags)
	o.cmd = exec.Command(o.binary, args...)
	o.cmd.Env = plainEnvironment()
	o.cmd.Dir = o.scratch
	// Ctrl-C on a terminal is sent to all of its group: the server would be told to stop twice, and not stop in order.
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.OpenFile(o.logPath(), os.O_CREATE|os.O_RDWR|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	o.cmd.Stderr = log
	if err := o.cmd.Start(); err != nil {
		return fmt.Errorf("start a server to measure: %w", err)
	}
	exited := make(chan struct{})
	o.exited = exited
	go func() {
		_ = o.cmd.Wait() // the log tells why
		close(exited)
	}()
	if t.URL, err = o.awaitReady(ctx); err != nil {
		return err
	}
	var running bool
	if t.DatabaseURL, running, err = managed.AttachURL(data); err != nil || !running {
		return fmt.Errorf("find the PostgreSQL of the server to measure: %w", err)
	}
	return t.readKeys(ctx, data)
}

func (o *Own) logPath() string { return filepath.Join(o.scratch, "log") }

// forgetLog empties the log of requests, which is written as in any installation and read by nobody.
func (o *Own) forgetLog() error { return os.Truncate(o.logPath(), 0) }

// awaitReady reads the log until it tells where the server is.
func (o *Own) awaitReady(ctx context.Context) (string, error) {
	for {
		ended := false
		select {
		case <-o.exited:
			ended = true
		default:
		}
		text, err := os.ReadFile(o.logPath())
		if err != nil {
			return "", err
		}
		last := ""
		for line := range strings.Lines(string(text)) {
			var entry struct {
				Msg    string
				APIURL string `json:"api_url"`
			}
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "ready" {
				return entry.APIURL, nil
			}
			last = strings.TrimSpace(line)
		}
		if ended {
			return "", fmt.Errorf("the server to measure did not start: %s", last)
		}
		if err := sleep(ctx, retryEvery); err != nil {
			return "", fmt.Errorf("the server to measure is not ready: %w", err)
		}
	}
}

// readKeys asks for the keys by the command that everybody has.
func (t *Target) readKeys(ctx context.Context, data string) error {
	cmd := exec.CommandContext(ctx, t.own.binary, "keys", "--env", "--data", data)
	cmd.Env = plainEnvironment()
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("read the keys of the server to measure: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch name {
		case "ANON_KEY":
			t.AnonKey = value
		case "SERVICE_ROLE_KEY":
			t.ServiceKey = value
		case "JWT_SECRET":
			t.secret = auth.Secret(value)
		}
	}
	return nil
}

// plainEnvironment leaves out all that would change the settings of the server.
func plainEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "BASALT_") || strings.HasPrefix(entry, "DATABASE_URL=") || strings.HasPrefix(entry, "JWT_SECRET=")
	})
}

// stop ends the server and its PostgreSQL.
func (o *Own) stop() error {
	if o.exited == nil {
		return nil
	}
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-o.exited:
	case <-time.After(stopTimeout):
		if err := o.cmd.Process.Kill(); err != nil {
			return err
		}
		<-o.exited
	}
	o.exited = nil
	return nil
}

// Close ends the server and removes its data.
func (o *Own) Close() error { return errors.Join(o.stop(), os.RemoveAll(o.scratch)) }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
