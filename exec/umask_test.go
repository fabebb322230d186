package exec_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

func setUmask(mask int) int { return syscall.Umask(mask) }

// pipe makes a named pipe, which a careless open would wait on for ever.
func pipe(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "p"), 0o644); err != nil {
		t.Fatal(err)
	}
}
