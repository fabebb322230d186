//go:build !linux

package fsys

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncAll asks for all that was written to go onto the disk; there is nothing finer for many files.
func SyncAll(*os.Root) error {
	return unix.Sync()
}
