package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	readyTimeout = time.Minute
	stopTimeout  = 30 * time.Second
	retryEvery   = 20 * time.Millisecond
)

// process is the server of a peer.
type process struct {
	cmd    *exec.Cmd
	log    string // file
	exited chan struct{}
	err    error // once exited is closed
}

// run starts a program whose output goes to a log file in its own folder. It ends with stop, not with the context.
func run(folder string, env []string, program string, args ...string) (*process, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{cmd: exec.Command(program, args...), log: log.Name(), exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = folder, log, log
	p.cmd.Env = append(plainEnvironment(), env...)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// plainEnvironment leaves out what would change the settings of a server.
func plainEnvironment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name != "DATABASE_URL" && name != "JWT_SECRET" && !strings.HasPrefix(name, "BASALT_") &&
			!strings.HasPrefix(name, "PGRST_") && !strings.HasPrefix(name, "SMOOTHDB_") && !strings.HasPrefix(name, "PG") {
			kept = append(kept, entry)
		}
	}
	return kept
}

// ready waits until a URL is answered with a status below 500.
func (p *process) ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			response.Body.Close()
			if response.StatusCode < 500 {
				return nil
			}
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended: %w: %s", errors.Join(p.err, errors.New("exit")), p.tail())
		case <-ctx.Done():
			return fmt.Errorf("it is not ready after %v: %s", readyTimeout, p.tail())
		case <-time.After(retryEvery):
		}
	}
}

// tail is the end of what the server has logged.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(text[max(0, len(text)-600):]))
}

// stop asks the server to end, and ends it when it does not.
func (p *process) stop() error {
	if p == nil {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopTimeout):
		err := p.cmd.Process.Kill()
		<-p.exited
		return err
	}
}

// resident is the memory of a process in MiB.
func resident(pid int) (float64, error) {
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
		for line := range strings.Lines(string(status)) {
			if value, found := strings.CutPrefix(line, "VmRSS:"); found {
				return kib(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			}
		}
	}
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	return kib(strings.TrimSpace(string(out)))
}

func kib(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	return n / 1024, err
}

// freeAddress is an address of the loopback that nobody listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// ask sends one request outside of all measuring, with a body of JSON, and gives the body of a 2xx answer.
func ask(ctx context.Context, method, url, token string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: status %d: %.300s", method, request.URL.Path, response.StatusCode, text)
	}
	return text, err
}
