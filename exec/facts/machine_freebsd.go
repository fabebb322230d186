package facts

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// readDistribution names the system by its release: 14.1-RELEASE-p3 is version 14.1.
func readDistribution() release {
	r := release{id: "freebsd", family: "freebsd"}
	if text, err := unix.Sysctl("kern.osrelease"); err == nil {
		r.version, _, _ = strings.Cut(text, "-")
	}
	return r
}

// memoryTotal is in MiB.
func memoryTotal() int {
	bytes, err := unix.SysctlUint64("hw.physmem")
	if err != nil {
		return 0
	}
	return int(bytes >> 20)
}

// memoryFree is in MiB: what is not used, and what can be had without swapping.
func memoryFree() int {
	pages := 0
	for _, name := range []string{"vm.stats.vm.v_free_count", "vm.stats.vm.v_inactive_count"} {
		n, err := unix.SysctlUint32(name)
		if err != nil {
			return 0
		}
		pages += int(n)
	}
	return pages * os.Getpagesize() >> 20
}

func firstProcess() string { return "init" }
