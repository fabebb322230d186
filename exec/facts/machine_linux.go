package facts

import (
	"os"
	"strconv"
	"strings"
)

func readDistribution() release { return readRelease("/etc/os-release", "/usr/lib/os-release") }

// readRelease takes the first of the files that can be read. A container may have none.
func readRelease(paths ...string) release {
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			return parseRelease(string(text))
		}
	}
	return release{}
}

// memoryTotal is in MiB.
func memoryTotal() int { return parseMeminfo("MemTotal:") }

// memoryFree is what new work could have without swapping, in MiB.
func memoryFree() int { return parseMeminfo("MemAvailable:") }

func parseMeminfo(line string) int {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), line)
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	// The kernel writes kB and means KiB.
	return kb / 1024
}

func firstProcess() string {
	name, err := os.ReadFile("/proc/1/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
