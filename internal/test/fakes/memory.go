package fakes

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// PeakMemory is the most memory, in KiB, that a process has taken by the time it ends.
func PeakMemory(t *testing.T, pid int) (peak int) {
	t.Helper()
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, after, there := strings.Cut(string(status), "VmHWM:")
		if err != nil || !there { // it has ended
			return peak
		}
		if _, err := fmt.Sscan(after, &peak); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
