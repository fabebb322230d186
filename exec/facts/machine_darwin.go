package facts

import (
	"os"

	"golang.org/x/sys/unix"

	"moon/internal/pattern"
)

var productVersion = pattern.New(`<key>ProductVersion</key>\s*<string>([^<]*)</string>`)

func readDistribution() release {
	r := release{id: "macos", family: "darwin"}
	if text, err := os.ReadFile("/System/Library/CoreServices/SystemVersion.plist"); err == nil {
		if m := productVersion.FindSubmatch(text); m != nil {
			r.version = string(m[1])
		}
	}
	return r
}

// memoryTotal is in MiB.
func memoryTotal() int {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int(bytes >> 20)
}

// memoryFree is in MiB.
func memoryFree() int {
	pages, err := unix.SysctlUint32("vm.page_free_count")
	if err != nil {
		return 0
	}
	return int(pages) * os.Getpagesize() >> 20
}

func firstProcess() string { return "launchd" }
