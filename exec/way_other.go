//go:build !linux

package exec

import (
	"time"

	"golang.org/x/sys/unix"
)

// How directories are opened to pass through, and entries to be changed.
const (
	passing  = unix.O_RDONLY
	changing = unix.O_RDONLY | unix.O_SYMLINK
)

func chownFD(fd, uid, gid int) error { return unix.Fchown(fd, uid, gid) }

func chmodFD(fd int, mode uint32) error { return unix.Fchmod(fd, mode) }

func touchFD(fd int, now time.Time) error {
	tv := unix.NsecToTimeval(now.UnixNano())
	return unix.Futimes(fd, []unix.Timeval{tv, tv})
}
