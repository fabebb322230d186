package fsys

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unnoticed would open a file to read it without a new access time, which is not to be had here.
const unnoticed = 0

// What FreeBSD has since 13.1, and golang.org/x/sys does not name.
const (
	pathOnly  = 0x00400000 // O_PATH
	emptyPath = 0x4000     // AT_EMPTY_PATH
)

// How directories are opened to pass through, and entries to be changed: without any right to read them.
const (
	passing  = pathOnly
	changing = pathOnly
)

func chownFD(fd, uid, gid int) error { return unix.Fchownat(fd, "", uid, gid, emptyPath) }

func chmodFD(fd int, mode uint32) error { return unix.Fchmodat(fd, "", mode, emptyPath) }

// touchFD sets the times of an open file; one that is zero stays.
func touchFD(fd int, access, mod time.Time) error {
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return err
	}
	times := []unix.Timespec{is.Atim, is.Mtim}
	for i, t := range []time.Time{access, mod} {
		if !t.IsZero() {
			times[i] = unix.NsecToTimespec(t.UnixNano())
		}
	}
	return unix.UtimesNanoAt(fd, "", times, emptyPath)
}

// AccessTime is when a file was read last, as far as the file system notes it.
func AccessTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Atimespec.Unix()) }

// NothingRuns reports whether the file system of a directory lets no program be executed.
func NothingRuns(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Flags&unix.MNT_NOEXEC != 0
}
