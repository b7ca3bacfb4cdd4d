package managed

import (
	"fmt"
	"path/filepath"
	"strings"
)

// otherMajor refuses a cluster for which there are no programs, with the command that upgrades it to what there is.
// fetchErr says why the cluster's own version could not be had; nil when it was not tried.
func otherMajor(cluster string, major int, installed []Binaries, runAs account, fetchErr error) error {
	data := filepath.Dir(cluster)
	problem := fmt.Sprintf("data folder %s holds PostgreSQL %d", data, major)
	if fetchErr != nil {
		problem += fmt.Sprintf(", whose programs could not be had (%s)", fetchErr)
	}
	target, ok := newest(installed, 0)
	switch {
	case ok && major > target.Major:
		return &Error{
			Problem: fmt.Sprintf("%s, newer than the %s found here", problem, target.Version),
			Remedy:  fmt.Sprintf("install PostgreSQL %d", major),
			Err:     fetchErr,
		}
	case ok:
		problem += fmt.Sprintf(", but %s is what was found here", target.Version)
	case major >= oldestMajor:
		return &Error{Problem: problem, Remedy: fmt.Sprintf("install PostgreSQL %d", major), Err: fetchErr}
	default:
		problem += fmt.Sprintf("; Basalt needs %d or newer", oldestMajor)
		target = Binaries{Major: newestFetchable, BinDir: debianBinDir(newestFetchable)}
	}
	old := Binaries{Major: major, BinDir: debianBinDir(major)}
	for _, b := range installed {
		if b.Major == major {
			old = b
		}
	}
	return &Error{
		Problem: problem,
		Remedy:  fmt.Sprintf("with PostgreSQL %d and %d installed, upgrade it with: %s", major, target.Major, upgradeCommand(data, old, target, runAs)),
		Err:     fetchErr,
	}
}

func debianBinDir(major int) string { return fmt.Sprintf("/usr/lib/postgresql/%d/bin", major) }

// upgradeCommand is one line for a shell: a new cluster with the same settings, pg_upgrade into it, and the swap. The
// old cluster stays beside as postgres.MAJOR. As root all that touches a cluster runs as the account that owns it.
func upgradeCommand(data string, old, target Binaries, runAs account) string {
	q := shellQuote
	cluster := filepath.Join(data, clusterName)
	room := filepath.Join(data, "upgrade")
	fresh := filepath.Join(room, clusterName)
	inside := strings.Join([]string{
		"cd " + q(room),
		fmt.Sprintf("%s -D %s %s --auth=trust", q(target.program("initdb")), q(fresh), strings.Join(clusterSettings(utf8Ctype), " ")),
		fmt.Sprintf("%s -U %s -b %s -B %s -d %s -D %s", q(target.program("pg_upgrade")), superuser, q(old.BinDir), q(target.BinDir), q(cluster), q(fresh)),
		fmt.Sprintf("cp %s %s %s", q(filepath.Join(cluster, "pg_hba.conf")), q(filepath.Join(cluster, customConfig)), q(fresh)),
	}, " && ")
	password := fmt.Sprintf("PGPASSWORD=\"$(cat %s)\" ", q(filepath.Join(data, passwordName)))
	swap := []string{
		fmt.Sprintf("mv %s %s", q(cluster), q(fmt.Sprintf("%s.%d", cluster, old.Major))),
		fmt.Sprintf("mv %s %s", q(fresh), q(cluster)),
	}
	steps := []string{"mkdir -m 700 " + q(room), password + "sh -c " + quoteAlways(inside)}
	if runAs.switched {
		// The account must pass through the data folder for as long as the upgrade takes.
		steps = []string{
			fmt.Sprintf("chmod 711 %s", q(data)),
			fmt.Sprintf("install -d -m 700 -o %s %s", runAs.name, q(room)),
			password + fmt.Sprintf("su -s /bin/sh %s -c %s", runAs.name, quoteAlways(inside)),
		}
		swap = append(swap, fmt.Sprintf("chmod 700 %s", q(data)))
	}
	return strings.Join(append(steps, swap...), " && ")
}
