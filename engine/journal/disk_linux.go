package journal

import "golang.org/x/sys/unix"

// durable waits until the file's data, and what is needed to find it, is on the disk.
func (w *Writer) durable() error { return unix.Fdatasync(int(w.f.Fd())) }

// hold keeps room on the disk beyond what is about to be written. Not every file system can; then there is none.
func (w *Writer) hold() {
	if need := w.size + int64(w.buf.Len()) + reserve; need > w.held {
		w.held = need + reserve
		_ = unix.Fallocate(int(w.f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, w.held)
	}
}
