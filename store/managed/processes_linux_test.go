package managed

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func TestAPostmasterThatHasNotReachedItsFolderYetIsFoundAndEnded(t *testing.T) {
	dir := dataDir(t)
	if err := os.MkdirAll(at(dir).cluster(), 0o700); err != nil {
		t.Fatal(err)
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	postgres := filepath.Join(t.TempDir(), "postgres") // processes are called after their programs
	if err := os.WriteFile(postgres, program, 0o700); err != nil {
		t.Fatal(err)
	}
	start := func(log *os.File) *exec.Cmd {
		cmd := exec.Command(postgres, "600")
		cmd.Dir, cmd.Stderr = "/", log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill() // it may have been ended
			_ = cmd.Wait()
		})
		return cmd
	}
	log, err := os.Create(at(dir).log())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ours, stranger := start(log), start(nil)

	pids, err := serverProcesses(at(dir).cluster())
	if err != nil || !slices.Equal(pids, []int{ours.Process.Pid}) {
		t.Fatalf("found %v instead of %d alone, %v", pids, ours.Process.Pid, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- ours.Wait() }()
	if err := evict(context.Background(), at(dir).cluster()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("it ended by itself")
	}
	if !alive(stranger.Process.Pid) {
		t.Error("a stranger's process was ended, too")
	}
}
