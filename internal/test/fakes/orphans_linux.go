package fakes

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// FindSleepers are the processes that sleep for so long: those of one test.
func FindSleepers(t *testing.T, seconds string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Equal(line, []byte("sleep\x00"+seconds+"\x00")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// AwaitSleepers waits until so many processes sleep for so long.
func AwaitSleepers(t *testing.T, seconds string, n int) {
	t.Helper()
	for end := time.Now().Add(Patience); len(FindSleepers(t, seconds)) != n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d processes sleep, want %d", len(FindSleepers(t, seconds)), n)
		}
	}
}
