package fsys

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unnoticed opens a file to read it without a new access time.
const unnoticed = unix.O_NOATIME

// How directories are opened to pass through, and entries to be changed: without any right to read them.
const (
	passing  = unix.O_PATH
	changing = unix.O_PATH
)

func chownFD(fd, uid, gid int) error { return unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH) }

func chmodFD(fd int, mode uint32) error {
	err := unix.Fchmodat(fd, "", mode, unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) { // before Linux 6.6
		return unix.Chmod(selfFD(fd), mode)
	}
	return err
}

// touchFD sets the times of an open file; one that is zero stays.
func touchFD(fd int, access, mod time.Time) error { return os.Chtimes(selfFD(fd), access, mod) }

// AccessTime is when a file was read last, as far as the file system notes it.
func AccessTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Atim.Unix()) }

func selfFD(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// NothingRuns reports whether the file system of a directory lets no program be executed.
func NothingRuns(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Flags&unix.ST_NOEXEC != 0
}
