package managed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

const (
	// firstUserOID is PostgreSQL's FirstNormalObjectId: initdb makes nothing from here on.
	firstUserOID = 16384
	utf8Ctype    = "C.UTF-8"
)

// clusterSettings are the choices of initdb that cannot be changed later.
//
// Texts are compared by code point (collation C): the order is the same on every machine, and no update of the
// operating system's locale data can silently corrupt an index, which is what happens to en_US and its like. A query
// that wants a language's order says so by collate. Upper and lower case follow Unicode where the system has C.UTF-8.
func clusterSettings(ctype string) []string {
	return []string{
		"-U", superuser,
		"-E", "UTF8",
		"--locale=C",
		"--lc-ctype=" + ctype,
		"--data-checksums",
	}
}

// clusterExists judges what lies at the cluster's place. The folder gets its name only when it is whole, so anything
// else under that name is the user's and stays untouched.
func clusterExists(f folder) (bool, error) {
	entries, err := os.ReadDir(f.cluster())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, describe(err, "cannot read "+f.cluster(), f.root)
	}
	if len(entries) == 0 {
		return false, os.Remove(f.cluster())
	}
	for _, name := range []string{"PG_VERSION", "global/pg_control"} {
		if _, err := os.Stat(filepath.Join(f.cluster(), name)); err != nil {
			return false, &Error{
				Problem: fmt.Sprintf("%s is not a whole PostgreSQL cluster (%s is missing)", f.cluster(), name),
				Remedy:  fmt.Sprintf("restore it from a backup, or move it aside to begin anew: mv %s %s", shellQuote(f.cluster()), shellQuote(f.cluster()+".broken")),
				Err:     err,
			}
		}
	}
	return true, nil
}

// clearStaging removes what a first start that was killed left half-made. Nothing is ever stored there; should it
// hold a user's objects all the same, it is refused, not removed.
func clearStaging(ctx context.Context, f folder) error {
	cluster := filepath.Join(f.staging(), clusterName)
	if _, err := os.Lstat(f.staging()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := evict(ctx, cluster); err != nil {
		return err
	}
	found, err := userObject(f.staging())
	if err != nil {
		return describe(err, "cannot read "+f.staging(), f.root)
	}
	if found != "" {
		return &Error{
			Problem: fmt.Sprintf("%s should be a half-made cluster but holds data (%s)", f.staging(), found),
			Remedy:  fmt.Sprintf("move it to a safe place: mv %s %s", shellQuote(f.staging()), shellQuote(f.staging()+".found")),
		}
	}
	if err := os.RemoveAll(f.staging()); err != nil {
		return describe(err, "cannot remove the half-made "+f.staging(), f.root)
	}
	return nil
}

// userObject finds a database or a relation in a tree of PostgreSQL files that initdb did not make.
func userObject(tree string) (found string, err error) {
	err = filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		// base/DATABASE/RELATION, with _fsm, _vm or .SEGMENT behind
		if !strings.Contains(path, "/base/") {
			return nil
		}
		digits := entry.Name()
		if end := strings.IndexAny(digits, "_."); end >= 0 {
			digits = digits[:end]
		}
		if oid, err := strconv.ParseUint(digits, 10, 32); err == nil && oid >= firstUserOID {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}

// initCluster makes the cluster aside and renames it into place when all of it is on the disk: killed at any point, the
// next start finds either no cluster or a whole one.
func initCluster(ctx context.Context, f folder, b Binaries, runAs account) error {
	password, err := initialPassword(f)
	if err != nil {
		return err
	}
	problem := "cannot make the PostgreSQL cluster in " + f.root
	if err := os.Mkdir(f.staging(), folderMode); err != nil {
		return describe(err, problem, f.root)
	}
	if err := runAs.own(f.staging()); err != nil {
		return err
	}
	if err := runAs.writeFile(filepath.Join(f.staging(), passwordName), []byte(password+"\n")); err != nil {
		return describe(err, problem, f.root)
	}
	if err := runInitdb(ctx, f, b, runAs); err != nil {
		return err
	}
	made := filepath.Join(f.staging(), clusterName)
	if err := syncFolder(f.staging()); err != nil {
		return describe(err, problem, f.root)
	}
	if err := os.Rename(made, f.cluster()); err != nil {
		return describe(err, problem, f.root)
	}
	if err := syncFolder(f.root); err != nil {
		return describe(err, problem, f.root)
	}
	if err := os.RemoveAll(f.staging()); err != nil {
		return describe(err, problem, f.root)
	}
	return nil
}

// runInitdb makes the cluster with Unicode's upper and lower case, or without where the system lacks that locale.
func runInitdb(ctx context.Context, f folder, b Binaries, runAs account) error {
	out, err := initdb(ctx, f, b, runAs, utf8Ctype)
	if err != nil && ctx.Err() == nil && strings.Contains(out, "locale") {
		out, err = initdb(ctx, f, b, runAs, "C")
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var refused *Error
	if errors.As(err, &refused) {
		return err
	}
	problem := "initdb failed in " + f.root
	if strings.Contains(out, "No space left on device") {
		return diskFull(problem, f.root, err)
	}
	return &Error{
		Problem: problem + ": " + strings.ReplaceAll(initdbComplaint(out, err), handedFolder, f.staging()),
		Remedy:  "mend that and start again",
		Err:     err,
	}
}

func initdb(ctx context.Context, f folder, b Binaries, runAs account, ctype string) (string, error) {
	cmd, handle, err := runAs.command(b.program("initdb"), f.staging(), func(dir string) []string {
		args := append(clusterSettings(ctype),
			"-D", filepath.Join(dir, clusterName),
			"--pwfile="+filepath.Join(dir, passwordName),
			"--auth=scram-sha-256",
			"--no-instructions",
		)
		if b.Major >= 17 { // the server's own Unicode tables instead of the operating system's
			args = append(args, "--locale-provider=builtin", "--builtin-locale="+utf8Ctype)
		}
		return args
	})
	if err != nil {
		return "", err
	}
	defer handle.Close()
	return runToEnd(ctx, cmd)
}

// runToEnd runs a program and returns what it printed; the end of the context, or of Basalt, kills it.
func runToEnd(ctx context.Context, cmd *exec.Cmd) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	endWithParent(cmd)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return "", startError(cmd, err)
	}
	stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	defer stop()
	err := cmd.Wait()
	return out.String(), err
}

func startError(cmd *exec.Cmd, err error) error {
	if errors.Is(err, os.ErrPermission) && cmd.SysProcAttr.Credential != nil {
		return &Error{
			Problem: fmt.Sprintf("root may not start %s as user %d here: %s", cmd.Path, cmd.SysProcAttr.Credential.Uid, plainCause(err)),
			Remedy:  "run Basalt as an ordinary user",
			Err:     err,
		}
	}
	return &Error{
		Problem: fmt.Sprintf("cannot start %s: %s", cmd.Path, plainCause(err)),
		Remedy:  "check that PostgreSQL is installed completely",
		Err:     err,
	}
}

// initdbComplaint is the line of initdb's output that says why; its first error comes before the consequences.
func initdbComplaint(out string, err error) string {
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if _, what, found := strings.Cut(line, "error: "); found {
			return what
		}
		if _, what, found := strings.Cut(line, "FATAL:  "); found {
			return what
		}
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return err.Error()
}
