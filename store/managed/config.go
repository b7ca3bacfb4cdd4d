package managed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	basaltConfig = "basalt.conf"
	customConfig = "custom.conf"

	mib = 1 << 20
	gib = 1 << 30
)

// memory is how PostgreSQL may use the machine.
type memory struct {
	sharedBuffers, effectiveCache, workMem, maintenanceWorkMem uint64
	maxConnections                                             int
}

// memoryFor shares a machine that also runs Basalt and perhaps more: an eighth for the server's own cache up to 1 GiB
// (the rest of the machine's memory caches files for it anyway), sorts small enough for many connections at once.
func memoryFor(total uint64, cpus int) memory {
	return memory{
		sharedBuffers:      min(max(total/8, 32*mib), gib),
		effectiveCache:     max(total/2, 128*mib),
		workMem:            min(max(total/512, 4*mib), 32*mib),
		maintenanceWorkMem: min(max(total/32, 16*mib), 256*mib),
		// Two Basalt processes with their default pools (four a core) and some room for psql and backups.
		maxConnections: max(100, 8*cpus+40),
	}
}

const configHead = `# Written by Basalt at every start: changes here are lost.
# Put your own settings into custom.conf beside this file; they win.

include 'postgresql.conf'
`

const configTail = `
include_if_exists 'custom.conf'
`

const customHead = `# Your own settings of this PostgreSQL, read last and never changed by Basalt.
# They take effect at the next start.
`

// serverConfig is the text of basalt.conf.
func serverConfig(m memory, listen string, preload bool) string {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s = '%s'\n", name, value) }
	megabytes := func(n uint64) string { return fmt.Sprintf("%dMB", n/mib) }

	b.WriteString(configHead)
	b.WriteString("\n# Only the Unix socket, and 127.0.0.1 when asked for.\n")
	set("listen_addresses", listen)
	set("unix_socket_permissions", "0700")
	set("password_encryption", "scram-sha-256")

	b.WriteString("\n# Nothing that was acknowledged is lost with the power.\n")
	set("fsync", "on")
	set("full_page_writes", "on")
	set("synchronous_commit", "on")

	b.WriteString("\n# Realtime reads changes from the log; a slot that nobody reads must not fill the disk.\n")
	set("wal_level", "logical")
	set("max_slot_wal_keep_size", "2GB")

	b.WriteString("\n# From this machine's memory and cores.\n")
	set("shared_buffers", megabytes(m.sharedBuffers))
	set("effective_cache_size", megabytes(m.effectiveCache))
	set("work_mem", megabytes(m.workMem))
	set("maintenance_work_mem", megabytes(m.maintenanceWorkMem))
	set("max_connections", fmt.Sprint(m.maxConnections))

	b.WriteString("\n# Short statements on solid-state disks.\n")
	set("random_page_cost", "1.1")
	set("jit", "off")
	if runtime.GOOS == "linux" {
		// A statement whose client has died ends, though it sends nothing.
		set("client_connection_check_interval", "1s")
	}

	b.WriteString("\n# The same answers on every machine.\n")
	set("timezone", "UTC")
	set("log_timezone", "UTC")
	set("lc_messages", "C")

	b.WriteString("\n# Errors of statements go to the client; the log is for the server itself and holds no values.\n")
	set("log_min_messages", "log")
	set("log_min_error_statement", "panic")
	set("log_line_prefix", "%m [%p] ")
	set("logging_collector", "off")
	set("log_destination", "stderr")

	if preload {
		b.WriteString("\n# Statistics of statements, without utility statements: those may carry passwords.\n")
		set("shared_preload_libraries", "pg_stat_statements")
		set("pg_stat_statements.track_utility", "off")
	}
	b.WriteString(configTail)
	return b.String()
}

// writeConfig renews basalt.conf and makes an empty custom.conf where there is none.
func writeConfig(f folder, b Binaries, runAs account, tcpPort int) error {
	listen := ""
	if tcpPort > 0 {
		listen = "127.0.0.1"
	}
	m := memoryFor(machineMemory(), runtime.NumCPU())
	text := serverConfig(m, listen, hasStatStatements(b))
	if err := runAs.writeFile(filepath.Join(f.cluster(), basaltConfig), []byte(text)); err != nil {
		return describe(err, "cannot write the settings of PostgreSQL", f.root)
	}
	custom := filepath.Join(f.cluster(), customConfig)
	if _, err := os.Lstat(custom); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := runAs.writeFile(custom, []byte(customHead)); err != nil {
		return describe(err, "cannot write the settings of PostgreSQL", f.root)
	}
	return nil
}

// hasStatStatements looks for the library where the builds keep it: lib or lib/postgresql beside bin, lib64 on Red Hat.
func hasStatStatements(b Binaries) bool {
	home := filepath.Dir(b.BinDir)
	for _, lib := range []string{"lib", "lib64", "lib/postgresql", "lib64/pgsql", "lib64/postgresql"} {
		for _, suffix := range []string{".so", ".dylib"} {
			if _, err := os.Stat(filepath.Join(home, lib, "pg_stat_statements"+suffix)); err == nil {
				return true
			}
		}
	}
	return false
}
