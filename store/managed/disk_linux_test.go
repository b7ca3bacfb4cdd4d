package managed

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAFullDiskIsNamedAndStartsAgainWhenThereIsSpace(t *testing.T) {
	t.Parallel()
	needPostgres(t)
	dir := dataDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m,mode=700"); err != nil {
		t.Skipf("no file system of a given size can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	mustRefuse(t, options(dir), "no space left on the disk", "free space on the file system of "+dir)

	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=120m"); err != nil {
		t.Fatal(err)
	}
	mustStop(t, mustStart(t, options(dir)))
	fill := filepath.Join(dir, "fill")
	writeUntilFull(t, fill)
	mustRefuse(t, options(dir), "no space left on the disk")
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	mustStart(t, options(dir))
}

func writeUntilFull(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
