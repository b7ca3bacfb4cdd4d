//go:build linux

package soak_test

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestAStartThatCannotBeSaysWhyAndLeavesNothingRunning(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for _, c := range []struct {
		what  string
		flags []string
		code  int
		says  string
	}{
		{"a port that is taken", []string{"--listen", fmt.Sprintf("127.0.0.1:%d", port)}, 1, "choose another address with --listen"},
		{"a port of PostgreSQL that is taken", []string{"--postgres-port", fmt.Sprint(port)}, 1, "stop that program or choose another port"},
		{"a setting that is found wrong when PostgreSQL runs already", []string{"--jwt-role-claim", "$["}, 2, "--jwt-role-claim"},
		{"a flag that is unknown", []string{"--nonsense"}, 2, "nonsense"},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := serving{data: dataFolder(t), flags: c.flags}
			p := launch(t, s)
			if code := p.exitCode(t); code != c.code {
				t.Errorf("exit code %d instead of %d", code, c.code)
			}
			last := p.tail(1)
			if !strings.HasPrefix(last, "basalt: ") || !strings.Contains(last, c.says) || p.said("panic") {
				t.Errorf("the log ends with %q\n%s", last, p.log())
			}
			if left := processesIn(t, s.data); len(left) > 0 {
				t.Errorf("PostgreSQL runs on: %v", left)
			}
		})
	}
}

func TestASecondProcessOnADataFolderIsRefusedAndHarmsNothing(t *testing.T) {
	s := serving{data: dataFolder(t)}
	first := serve(t, s)
	second := launch(t, s)
	if code := second.exitCode(t); code != 1 || !second.said(fmt.Sprintf("in use by process %d", first.cmd.Process.Pid)) {
		t.Errorf("exit code %d\n%s", code, second.log())
	}
	newCaller(first.url(), first.anonKey, "").signUp(t, "unharmed@example.com")
	if code := first.terminate(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, first.tail(20))
	}
}

func TestSIGTERMDuringAFirstStartEndsIt(t *testing.T) {
	r := random(t)
	for range times(3, 20) {
		s := serving{data: dataFolder(t)}
		p := launch(t, s)
		stages := stages(p, s.data)
		stage := stages[r.IntN(len(stages))]
		eventually(t, stage.name, func() bool { return stage.reached() || p.said(`"msg":"ready"`) || !p.running() })
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond) // the moment is random
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		code := p.exitCode(t)
		t.Logf("SIGTERM after %s: exit code %d", stage.name, code)
		// Before anything is set up the signal has its default.
		if code != 0 && !(code == -1 && p.log() == "") {
			t.Errorf("exit code %d\n%s", code, p.log())
		}
		if left := processesIn(t, s.data); len(left) > 0 {
			t.Errorf("PostgreSQL runs on: %v", left)
		}
		p = serve(t, s)
		if code := p.terminate(t); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.tail(20))
		}
	}
}
