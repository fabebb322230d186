//go:build !linux

package journal

// durable waits until the file is on the disk.
func (w *Writer) durable() error { return w.f.Sync() }

// hold keeps room on the disk where that is possible.
func (w *Writer) hold() {}

func (w *Writer) release() {}
