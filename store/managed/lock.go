package managed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// handoverTimeout is how long the lock of a dead owner is waited for.
const handoverTimeout = 2 * time.Second

// InUseError says that another process owns the data folder.
type InUseError struct {
	Dir string
	PID int // 0 when the owner has not written it yet
}

func (e *InUseError) Error() string {
	owner := "another process"
	if e.PID > 0 {
		owner = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("data folder %s is in use by %s; stop that one or choose another folder with --data", e.Dir, owner)
}

// Lock is the ownership of a data folder; the kernel gives it back when the process dies.
type Lock struct{ file *os.File }

// LockDataDir makes the data folder if needed, checks that it is private to this user, and takes it for this process.
func LockDataDir(dir string) (*Lock, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := prepareFolder(root); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(root, lockName), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, secretMode)
	if err != nil {
		return nil, describe(err, "cannot lock data folder "+root, root)
	}
	if err := takeLock(file, root); err != nil {
		file.Close()
		return nil, err
	}
	// A fixed width overwrites an earlier owner in one write: a reader never sees half of each.
	if _, err := file.WriteAt(fmt.Appendf(nil, "%-10d\n", os.Getpid()), 0); err != nil {
		file.Close()
		return nil, describe(err, "cannot lock data folder "+root, root)
	}
	return &Lock{file: file}, nil
}

// takeLock refuses at once when the owner lives. The lock of one that was killed may outlast it by an instant, in a
// child that it had forked and that has not yet begun its own program; that is waited for.
func takeLock(file *os.File, root string) error {
	ctx, cancel := context.WithTimeout(context.Background(), handoverTimeout)
	defer cancel()
	owner := 0
	err := poll(ctx, func() (bool, error) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err == nil, err
		}
		owner = ownerPID(file)
		if owner > 0 && alive(owner) {
			return false, &InUseError{Dir: root, PID: owner}
		}
		return false, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return &InUseError{Dir: root, PID: owner}
	}
	var inUse *InUseError
	if err != nil && !errors.As(err, &inUse) {
		return fmt.Errorf("lock data folder %s: %w", root, err)
	}
	return err
}

// Release gives the folder back. The file stays: removing it would let two processes lock two different files.
func (l *Lock) Release() error {
	// Closing alone would leave the lock with a child that is just being forked.
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}

func ownerPID(file *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// prepareFolder makes the folder, or checks the one that is there. An empty folder (a mounted volume, a mkdir by hand)
// is made private; one with content is the user's own and is only judged.
func prepareFolder(root string) error {
	err := os.Mkdir(root, folderMode)
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(root), 0o755); err == nil {
			err = os.Mkdir(root, folderMode)
		}
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return describe(err, "cannot make data folder "+root, root)
	}
	info, err := os.Stat(root)
	if err != nil {
		return describe(err, "cannot read data folder "+root, root)
	}
	if !info.IsDir() {
		return &Error{Problem: root + " is not a folder", Remedy: "choose another one with --data"}
	}
	owner, self := ownerOf(info), os.Geteuid()
	if self != 0 && owner != self {
		return wrongOwner("data folder "+root, owner, root)
	}
	private := owner == self && info.Mode().Perm()&groupOrWorldBit == 0
	if private {
		return nil
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return describe(err, "cannot read data folder "+root, root)
	}
	if len(entries) > 0 && owner != self {
		return wrongOwner("data folder "+root, owner, root)
	}
	if len(entries) > 0 {
		return &Error{
			Problem: fmt.Sprintf("data folder %s is open to other users (mode %04o)", root, info.Mode().Perm()),
			Remedy:  "run: chmod 700 " + shellQuote(root),
		}
	}
	if err := os.Chown(root, self, os.Getegid()); err != nil {
		return describe(err, "cannot take data folder "+root, root)
	}
	if err := os.Chmod(root, folderMode); err != nil {
		return describe(err, "cannot make data folder "+root+" private", root)
	}
	return nil
}

func ownerOf(info os.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

func wrongOwner(what string, owner int, path string) error {
	theirs, ours := userName(owner), userName(os.Geteuid())
	return &Error{
		Problem: fmt.Sprintf("%s belongs to user %s, not to %s", what, theirs, ours),
		Remedy: fmt.Sprintf("run Basalt as %s, or choose another folder with --data (to take this one over: sudo chown -R %s %s)",
			theirs, ours, shellQuote(path)),
	}
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// describe turns an error of the operating system into a line that says what to do.
func describe(err error, problem, path string) error {
	remedy := "check the folder, or choose another one with --data"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return diskFull(problem, path, err)
	case errors.Is(err, syscall.EROFS):
		remedy = "the file system is read-only: choose another folder with --data"
	case errors.Is(err, os.ErrPermission):
		remedy = fmt.Sprintf("user %s may not write there: choose another folder with --data, or change its owner", userName(os.Geteuid()))
	}
	return &Error{Problem: problem + ": " + plainCause(err), Remedy: remedy, Err: err}
}

func diskFull(problem, path string, err error) error {
	return &Error{
		Problem: problem + ": no space left on the disk",
		Remedy:  "free space on the file system of " + path + " and start again: nothing was lost",
		Err:     err,
	}
}

// plainCause is the system's own words without the path that the problem names already.
func plainCause(err error) string {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// shellQuote makes a path safe to paste into a shell.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@:,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return quoteAlways(s)
}

func quoteAlways(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
