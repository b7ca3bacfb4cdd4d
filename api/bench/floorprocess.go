package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// floorProcess is the server by hand that Basalt is measured beside, in a process of its own as Basalt is.
type floorProcess struct {
	URL string
	cmd *exec.Cmd
}

// startFloor runs this program as the server by hand over the target's database.
func (t *Target) startFloor(ctx context.Context) (*floorProcess, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "bench", "floor")
	cmd.Env = append(plainEnvironment(), "DATABASE_URL="+t.DatabaseURL, "BASALT_BENCH_CLAIMS="+t.claims(), "BASALT_BENCH_SECRET="+t.secret.Reveal())
	cmd.Stderr = os.Stderr
	// Ctrl-C on a terminal is sent to all of its group: this process would be gone while it is still measured.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server by hand: %w", err)
	}
	p := &floorProcess{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.stop()
		if ctx.Err() != nil { // which has killed it
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("start the server by hand: %w", err)
	}
	p.URL = strings.TrimSpace(line)
	return p, nil
}

func (p *floorProcess) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = p.cmd.Wait()                          // how it ended is of no interest any more
}
