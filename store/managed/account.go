package managed

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// handedFolder is how a process under another account names the folder that it was handed as its first extra file.
const handedFolder = "/proc/self/fd/3"

// account is the operating system's user that PostgreSQL runs as.
//
// PostgreSQL refuses to run as root. When Basalt is root, the server runs as the owner of an existing cluster, else as
// `postgres` where that user exists, else as `nobody`; only the cluster's folder belongs to it. The data folder stays
// root's with mode 0700, so its parents (often /root itself) need not be opened to anybody: on Linux the process gets
// the cluster as an open folder and reaches it through /proc/self/fd, which needs no right on any parent.
type account struct {
	name     string
	uid, gid int
	switched bool // differs from the user of this process
}

// chooseAccount gives the user for a cluster that is there or is about to be made.
func chooseAccount(cluster string) (account, error) {
	if self := os.Geteuid(); self != 0 {
		return account{name: userName(self), uid: self, gid: os.Getegid()}, nil
	}
	info, err := os.Stat(cluster)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return account{}, describe(err, "cannot read "+cluster, cluster)
	}
	if err != nil || ownerOf(info) == 0 {
		return unprivileged()
	}
	stat := info.Sys().(*syscall.Stat_t)
	return account{name: userName(int(stat.Uid)), uid: int(stat.Uid), gid: int(stat.Gid), switched: true}, nil
}

// checkCluster refuses a cluster that is not the account's, or not its alone: PostgreSQL would, with less to say.
func (a account) checkCluster(cluster string) error {
	info, err := os.Stat(cluster)
	if err != nil {
		return describe(err, "cannot read "+cluster, cluster)
	}
	owner := ownerOf(info)
	switch {
	case owner == a.uid && info.Mode().Perm()&0o027 == 0: // PostgreSQL lets a group read
		return nil
	case owner == a.uid:
		return &Error{
			Problem: fmt.Sprintf("%s is open to other users (mode %04o)", cluster, info.Mode().Perm()),
			Remedy:  "run: chmod 700 " + shellQuote(cluster),
		}
	case a.switched:
		return &Error{
			Problem: fmt.Sprintf("%s belongs to %s, as whom PostgreSQL refuses to run", cluster, userName(owner)),
			Remedy:  fmt.Sprintf("run: chown -R %s %s", a.name, shellQuote(cluster)),
		}
	default:
		return wrongOwner(cluster, owner, filepath.Dir(cluster))
	}
}

func unprivileged() (account, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil && uid > 0 {
			return account{name: name, uid: uid, gid: gid, switched: true}, nil
		}
	}
	return account{}, &Error{
		Problem: "PostgreSQL refuses to run as root and this machine has neither a user postgres nor a user nobody",
		Remedy:  "run Basalt as an ordinary user, or add one: useradd --system postgres",
	}
}

// own gives a file or folder of ours to the account.
func (a account) own(path string) error {
	if !a.switched {
		return nil
	}
	if err := os.Lchown(path, a.uid, a.gid); err != nil {
		return &Error{
			Problem: fmt.Sprintf("cannot give %s to user %s: %s", path, a.name, plainCause(err)),
			Remedy:  "run Basalt as an ordinary user",
			Err:     err,
		}
	}
	return nil
}

// command prepares one of PostgreSQL's programs as this account over a folder. args gets the folder's name as the
// program will know it. The caller closes the returned folder handle (nil is fine) after the start.
func (a account) command(program, dir string, args func(dir string) []string) (*exec.Cmd, *os.File, error) {
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.Env = serverEnvironment()
	// A session of its own: Ctrl-C on Basalt's terminal must not reach PostgreSQL before Basalt has drained.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if !a.switched {
		cmd.Args = append(cmd.Args, args(dir)...)
		return cmd, nil, nil
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	if runtime.GOOS != "linux" {
		if !a.reaches(dir) {
			return nil, nil, &Error{
				Problem: fmt.Sprintf("user %s, as whom PostgreSQL runs when Basalt is root, cannot reach %s", a.name, dir),
				Remedy:  "run Basalt as an ordinary user",
			}
		}
		cmd.Args = append(cmd.Args, args(dir)...)
		return cmd, nil, nil
	}
	handle, err := os.Open(dir)
	if err != nil {
		return nil, nil, describe(err, "cannot open "+dir, dir)
	}
	cmd.ExtraFiles = []*os.File{handle}
	cmd.Args = append(cmd.Args, args(handedFolder)...)
	return cmd, handle, nil
}

// serverEnvironment passes on what a program needs to run and nothing else: Basalt's environment holds secrets, and
// PG* variables would redirect the server.
func serverEnvironment() []string {
	env := []string{"LC_ALL=C", "LANG=C"}
	for _, name := range []string{"PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// reaches says whether the account may enter every folder on the way to path, and path itself.
func (a account) reaches(path string) bool {
	if !a.switched {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	current := "/"
	for _, part := range strings.Split(strings.Trim(real, "/"), "/") {
		if !a.mayEnter(current) {
			return false
		}
		current = filepath.Join(current, part)
	}
	return a.mayEnter(current)
}

// reachesOnceMade is reaches for a folder that may not be there yet: its nearest parent that exists decides.
func (a account) reachesOnceMade(path string) bool {
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return a.reaches(path)
		}
		path = filepath.Dir(path)
	}
}

func (a account) mayEnter(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, mode := info.Sys().(*syscall.Stat_t), info.Mode().Perm()
	switch {
	case int(stat.Uid) == a.uid:
		return mode&0o100 != 0
	case int(stat.Gid) == a.gid:
		return mode&0o010 != 0
	default:
		return mode&0o001 != 0
	}
}
