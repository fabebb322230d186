package journal

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// durable waits until the file's data, and what is needed to find it, is on the disk.
func (w *Writer) durable() error {
	return Uninterrupted(func() error { return unix.Fdatasync(int(w.f.Fd())) })
}

// hold keeps room on the disk beyond what is about to be written. Not every file system can; then there is none.
func (w *Writer) hold() {
	need := w.size + int64(w.buf.Len()) + reserve
	// Twice the reserve is asked for at a time, so that not every record costs a call.
	if need <= w.held {
		return
	}
	err := Uninterrupted(func() error {
		return unix.Fallocate(int(w.f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, need+reserve)
	})
	switch {
	case err == nil:
		w.held, w.low = need+reserve, nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		w.low = fmt.Errorf("journal: %w", err)
	default:
		// A file system that cannot reserve is not asked again.
		w.held = math.MaxInt64
	}
}

// release gives back what is reserved behind the end: setting the size a file has frees what lies beyond.
func (w *Writer) release() {
	if info, err := w.f.Stat(); err == nil {
		_ = w.f.Truncate(info.Size()) // what stays reserved goes when the run is removed
	}
}
