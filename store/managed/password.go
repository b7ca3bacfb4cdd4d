package managed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
)

// readPassword gives the superuser's password of a data folder.
func readPassword(f folder) (string, error) {
	info, err := os.Stat(f.password())
	if errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err != nil {
		return "", describe(err, "cannot read "+f.password(), f.root)
	}
	if info.Mode().Perm()&groupOrWorldBit != 0 {
		return "", &Error{
			Problem: fmt.Sprintf("%s can be read by other users (mode %04o)", f.password(), info.Mode().Perm()),
			Remedy:  "run: chmod 600 " + shellQuote(f.password()),
		}
	}
	text, err := os.ReadFile(f.password())
	if err != nil {
		return "", describe(err, "cannot read "+f.password(), f.root)
	}
	password := strings.TrimSpace(string(text))
	if password == "" {
		return "", &Error{
			Problem: f.password() + " is empty",
			Remedy:  "delete it: a new password is made at the next start",
		}
	}
	return password, nil
}

// ensurePassword gives the password of a cluster that is there. Where the file was lost a new password is set in the
// cluster first and written down then: killed in between, the file is still missing and the next start does it again.
func ensurePassword(ctx context.Context, f folder, b Binaries, runAs account) (string, error) {
	password, err := readPassword(f)
	if !errors.Is(err, os.ErrNotExist) {
		return password, err
	}
	if err := evict(ctx, f.cluster()); err != nil {
		return "", err
	}
	password = rand.Text()
	if err := resetPassword(ctx, f, b, runAs, password); err != nil {
		return "", err
	}
	return password, writePassword(f, password)
}

// initialPassword gives the password for a cluster that is about to be made.
func initialPassword(f folder) (string, error) {
	password, err := readPassword(f)
	if !errors.Is(err, os.ErrNotExist) {
		return password, err
	}
	password = rand.Text()
	return password, writePassword(f, password)
}

func writePassword(f folder, password string) error {
	if err := (account{}).writeFile(f.password(), []byte(password+"\n")); err != nil {
		return describe(err, "cannot write "+f.password(), f.root)
	}
	return nil
}

// resetPassword gives the superuser a new password in single-user mode.
func resetPassword(ctx context.Context, f folder, b Binaries, runAs account, password string) error {
	cmd, handle, err := runAs.command(b.program("postgres"), f.cluster(), func(dir string) []string {
		return []string{"--single", "-D", dir, "-c", "exit_on_error=on", "-c", "password_encryption=scram-sha-256", database}
	})
	if err != nil {
		return err
	}
	defer handle.Close()
	cmd.Stdin = strings.NewReader(fmt.Sprintf("alter role %s password '%s'\n", superuser, password))
	if out, err := runToEnd(ctx, cmd); err != nil {
		return &Error{
			Problem: fmt.Sprintf("%s is missing and a new password could not be set: %s", f.password(), lastComplaint(out, err.Error())),
			Remedy:  "put the file back from a backup",
			Err:     err,
		}
	}
	return nil
}
