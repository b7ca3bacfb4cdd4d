//go:build !linux

package managed

import "golang.org/x/sys/unix"

// machineMemory is the memory of the machine, or a modest guess where the system does not tell.
func machineMemory() uint64 {
	for _, name := range []string{"hw.memsize", "hw.physmem64", "hw.physmem"} {
		if n, err := unix.SysctlUint64(name); err == nil {
			return n
		}
	}
	return gib
}
