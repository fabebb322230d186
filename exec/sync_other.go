//go:build !linux

package exec

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncAll asks for all that was written to go onto the disk; there is nothing finer for many files.
func syncAll(*os.Root) error {
	return unix.Sync()
}
