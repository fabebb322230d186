package journal

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Room is how much space a run needs to begin, in bytes: without it what its steps do could not be recorded to the end.
const Room = 2 * reserve

// RoomError says that there is not enough space for a run.
type RoomError struct {
	Dir  string
	Free int64 // bytes; -1: not known
	Err  error // of what did not fit; nil: nothing was tried
}

func (e *RoomError) Error() string {
	free := ""
	if e.Free >= 0 {
		free = fmt.Sprintf(": %.1f MiB", math.Floor(float64(e.Free)/(1<<20)*10)/10)
	}
	return fmt.Sprintf("not enough space for a run on the disk of %s%s free, at least %d MiB are needed", e.Dir, free, Room>>20)
}

func (e *RoomError) Unwrap() error { return e.Err }

// OutOfRoom turns the error of a full disk, or of a quota, into one that says so of a directory. It leaves others alone.
func OutOfRoom(dir string, err error) error {
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	free, known := freeOn(dir)
	if !known {
		free = -1
	}
	return &RoomError{Dir: dir, Free: free, Err: err}
}

// Reserve keeps Room behind the end of the journal, before anything is done that is to be recorded. If the file system can reserve
// nothing, it must have that much free. An error names dir.
func (w *Writer) Reserve(dir string) error {
	if w.hold(); w.low != nil {
		return OutOfRoom(dir, w.low)
	}
	if w.held != 0 && w.held != math.MaxInt64 {
		return nil
	}
	if free, known := freeOn(dir); known && free < Room {
		return &RoomError{Dir: dir, Free: free}
	}
	return nil
}

// freeOn is how much space the user has on the disk of a directory, or of the one it will be in. It is not known of a file system that
// has no size.
func freeOn(dir string) (int64, bool) {
	var st unix.Statfs_t
	for unix.Statfs(dir, &st) != nil {
		if dir == filepath.Dir(dir) {
			return 0, false
		}
		dir = filepath.Dir(dir)
	}
	// What is left for users without root's reserve.
	blocks := uint64(st.Bavail) //nolint:unconvert // not the same type on every system
	if os.Geteuid() == 0 {
		blocks = st.Bfree
	}
	return int64(blocks) * int64(st.Bsize), st.Blocks > 0 //nolint:unconvert // not the same type on every system
}
