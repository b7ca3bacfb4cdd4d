package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"basalt/api/bench/report"
)

// Machine describes the one that measures, as far as it tells.
func Machine() report.Machine {
	m := report.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}
	if name, ok := field("/etc/os-release", "PRETTY_NAME", "="); ok {
		m.System = strings.Trim(name, `"`)
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += ", kernel " + strings.TrimSpace(string(release))
	}
	m.CPU, _ = field("/proc/cpuinfo", "model name", ":")
	if total, ok := field("/proc/meminfo", "MemTotal", ":"); ok {
		if kib, err := strconv.ParseInt(strings.TrimSuffix(total, " kB"), 10, 64); err == nil {
			m.Memory = kib << 10
		}
	}
	return m
}

// field finds the first line of a file that begins with a name, and what stands behind the sign.
func field(path, name, sign string) (string, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(line, sign)
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// LoadAverage is the mean number of runnable processes in the last minute, 0 where the system does not tell.
func LoadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, _ := strconv.ParseFloat(first, 64)
	return load
}
