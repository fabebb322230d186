package fsys

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncAll brings onto the disk all that was written to the file system of a directory. For many small files that is
// a hundred times faster than one after the other.
func SyncAll(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}
