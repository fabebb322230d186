package exec

import (
	"os"
	"strconv"
	"strings"
)

func distribution() release {
	for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		if text, err := os.ReadFile(path); err == nil {
			return parseRelease(string(text))
		}
	}
	return release{}
}

// memoryTotal is in MiB.
func memoryTotal() int {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "MemTotal:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	return kb / 1024
}

func firstProcess() string {
	name, err := os.ReadFile("/proc/1/comm")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
