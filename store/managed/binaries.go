package managed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// versionTimeout bounds the call of a program that only prints its version.
const versionTimeout = 10 * time.Second

// Binaries are the programs of one PostgreSQL version.
type Binaries struct {
	BinDir  string // holds postgres, initdb and pg_ctl
	Major   int
	Minor   int
	Version string // as the release is named: 15.14
	Fetched bool   // downloaded by Basalt, not the machine's own
}

func (b Binaries) program(name string) string { return filepath.Join(b.BinDir, name) }

func (b Binaries) newerThan(c Binaries) bool {
	if b.Major != c.Major {
		return b.Major > c.Major
	}
	return b.Minor > c.Minor
}

// installedPatterns are the places of the packages of Debian, Red Hat, Arch and SUSE, Alpine, a build from source,
// Homebrew, MacPorts, Postgres.app and the EDB installer.
func installedPatterns() []string {
	return []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/usr/lib/postgresql*/bin",
		"/usr/libexec/postgresql*",
		"/usr/local/pgsql*/bin",
		"/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/opt/local/lib/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
		"/Library/PostgreSQL/*/bin",
	}
}

// FindBinaries gives the PostgreSQL to run a data folder with. An existing cluster decides the major version; a new one
// takes the newest that is installed. What is not installed is taken from the cache or fetched.
func FindBinaries(ctx context.Context, o Options) (Binaries, error) {
	f, err := newFolder(o.DataDir)
	if err != nil {
		return Binaries{}, err
	}
	cluster := f.cluster()
	runAs, err := chooseAccount(cluster)
	if err != nil {
		return Binaries{}, err
	}
	major, err := clusterMajor(cluster)
	if err != nil {
		return Binaries{}, err
	}
	return findBinaries(ctx, o, runAs, cluster, major)
}

// findBinaries looks for a major version, or for the newest when major is 0.
func findBinaries(ctx context.Context, o Options, runAs account, cluster string, major int) (Binaries, error) {
	if o.BinDir != "" {
		return forcedBinaries(ctx, o.BinDir, runAs, cluster, major)
	}
	var installed []Binaries
	if !o.NoSystem {
		installed = installedBinaries(ctx, runAs)
	}
	if b, ok := newest(installed, major); ok {
		return b, nil
	}
	if major > 0 && major < oldestMajor {
		return Binaries{}, otherMajor(cluster, major, installed, runAs, nil)
	}
	fetched, err := fetchedBinaries(ctx, o, runAs, major)
	switch {
	case err == nil:
		return fetched, nil
	case major > 0:
		return Binaries{}, otherMajor(cluster, major, installed, runAs, err)
	default:
		return Binaries{}, &Error{
			Problem: fmt.Sprintf("no PostgreSQL %d or newer is installed and none could be downloaded (%s)", oldestMajor, err),
			Remedy:  "install PostgreSQL (apt install postgresql, dnf install postgresql-server, brew install postgresql), or name a server with --database-url",
			Err:     err,
		}
	}
}

func forcedBinaries(ctx context.Context, dir string, runAs account, cluster string, major int) (Binaries, error) {
	b, ok := inspect(ctx, dir, runAs)
	if !ok {
		return Binaries{}, &Error{
			Problem: dir + " does not hold a working PostgreSQL (postgres, initdb, pg_ctl)",
			Remedy:  fmt.Sprintf("name the bin folder of PostgreSQL %d or newer", oldestMajor),
		}
	}
	if b.Major < oldestMajor {
		return Binaries{}, &Error{
			Problem: fmt.Sprintf("%s holds PostgreSQL %s", dir, b.Version),
			Remedy:  fmt.Sprintf("name the bin folder of PostgreSQL %d or newer", oldestMajor),
		}
	}
	if major > 0 && major != b.Major {
		return Binaries{}, otherMajor(cluster, major, []Binaries{b}, runAs, nil)
	}
	return b, nil
}

// newest picks from a list: of one major version, or of all that Basalt supports when major is 0.
func newest(list []Binaries, major int) (best Binaries, ok bool) {
	for _, b := range list {
		if b.Major < oldestMajor || major > 0 && b.Major != major {
			continue
		}
		if !ok || b.newerThan(best) {
			best, ok = b, true
		}
	}
	return best, ok
}

// installedBinaries are all complete installations of the machine that the account can run.
func installedBinaries(ctx context.Context, runAs account) []Binaries {
	var found []Binaries
	seen := map[string]bool{}
	for _, dir := range candidateFolders(ctx) {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil {
			continue
		}
		// A link in /usr/bin leads to the folder that has initdb beside it.
		home := filepath.Dir(real)
		if seen[home] {
			continue
		}
		seen[home] = true
		if b, ok := inspect(ctx, home, runAs); ok {
			found = append(found, b)
		}
	}
	return found
}

func candidateFolders(ctx context.Context) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		dirs = append(dirs, dir)
		if config := filepath.Join(dir, "pg_config"); isProgram(config) {
			if out, err := output(ctx, config, "--bindir"); err == nil {
				dirs = append(dirs, strings.TrimSpace(out))
			}
		}
	}
	for _, pattern := range installedPatterns() {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		dirs = append(dirs, matches...)
	}
	return dirs
}

// inspect reads the version of a folder of programs; ok is false when it is incomplete, unreleased or out of reach.
func inspect(ctx context.Context, dir string, runAs account) (b Binaries, ok bool) {
	for _, name := range []string{"postgres", "initdb", "pg_ctl"} {
		if !isProgram(filepath.Join(dir, name)) {
			return Binaries{}, false
		}
	}
	if !runAs.reaches(dir) {
		return Binaries{}, false
	}
	text, err := output(ctx, filepath.Join(dir, "postgres"), "--version")
	if err != nil {
		return Binaries{}, false
	}
	major, minor, ok := parseVersion(text)
	if !ok {
		return Binaries{}, false
	}
	return Binaries{BinDir: dir, Major: major, Minor: minor, Version: fmt.Sprintf("%d.%d", major, minor)}, true
}

// parseVersion reads `postgres (PostgreSQL) 15.14 (Debian 15.14-1)`. Betas and release candidates (19beta1) are not
// releases: their on-disk format may still change.
func parseVersion(text string) (major, minor int, ok bool) {
	match := regexp.MustCompile(`\(PostgreSQL\) (\d+)\.(\d+)(?:\D|$)`).FindStringSubmatch(text)
	if match == nil {
		return 0, 0, false
	}
	major, majorErr := strconv.Atoi(match[1])
	minor, minorErr := strconv.Atoi(match[2])
	return major, minor, majorErr == nil && minorErr == nil
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func output(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = serverEnvironment()
	cmd.Dir = "/"
	out, err := cmd.Output()
	return string(out), err
}

// clusterMajor is the major version that a cluster was made with, 0 when there is none.
func clusterMajor(cluster string) (int, error) {
	text, err := os.ReadFile(filepath.Join(cluster, "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, describe(err, "cannot read "+cluster, cluster)
	}
	// Before 10 the major version had two parts (9.6); the first one is enough to refuse it.
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), ".")
	major, err := strconv.Atoi(first)
	if err != nil || major <= 0 {
		return 0, &Error{
			Problem: cluster + "/PG_VERSION does not name a PostgreSQL version",
			Remedy:  "restore the folder from a backup, or choose another one with --data",
		}
	}
	return major, nil
}
