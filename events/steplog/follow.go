package steplog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// follower walks the runs of an attempt's output, in order, as the files grow.
type follower struct {
	dir, prefix string
	files       [2]*os.File
	index       *os.File

	size  [2]int64 // of the files, when last looked at
	taken [2]int64 // of it, given out by next

	unread  []byte // records of the index that were read and not yet begun
	offset  int64  // in the index, of the byte after unread
	broken  bool   // the index ends in nonsense
	current run
	began   bool // there is a current run
	guessed bool // it is not from the index
	final   bool // nothing was written after the last look
}

// span is a piece of one stream that belongs to one run.
type span struct {
	stream int
	off, n int64
	at     time.Duration
}

// look finds out what is there. The order matters: see the package comment.
func (f *follower) look() error {
	for s, suffix := range suffixes {
		if err := f.open(&f.files[s], suffix); err != nil {
			return err
		}
		if f.files[s] == nil {
			continue
		}
		// The open file is asked, as all that is read comes from that.
		info, err := f.files[s].Stat()
		if err != nil {
			return fmt.Errorf("read output: %w", err)
		}
		f.size[s] = info.Size()
	}
	if err := f.open(&f.index, indexSuffix); err != nil {
		return err
	}
	return f.readIndex()
}

func (f *follower) open(file **os.File, suffix string) error {
	if *file != nil {
		return nil
	}
	opened, err := os.Open(filepath.Join(f.dir, f.prefix+suffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read output: %w", err)
	}
	*file = opened
	return nil
}

// readIndex tops up unread. It reads only so many records at a time, since a long run of another process's output
// may have millions.
func (f *follower) readIndex() error {
	const batch = 2048 * runSize
	if f.index == nil || f.broken || len(f.unread) >= runSize {
		return nil
	}
	buf := make([]byte, batch)
	n, err := f.index.ReadAt(buf, f.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read output index: %w", err)
	}
	n -= n % runSize // the rest is being written
	f.unread = buf[:n]
	f.offset += int64(n)
	return nil
}

// upcoming is the run after the current one, if the index has it.
func (f *follower) upcoming() (run, bool, error) {
	if err := f.readIndex(); err != nil || f.broken || len(f.unread) < runSize {
		return run{}, false, err
	}
	prev := f.current
	if f.guessed {
		prev = run{} // the first record describes the run that was guessed
	}
	r, ok := decodeRun(f.unread, prev)
	if !ok {
		// After nonsense no record can be trusted; what the streams hold is still given out.
		f.broken, f.unread = true, nil
	}
	return r, ok, nil
}

func (f *follower) begin(r run, guessed bool) { f.current, f.began, f.guessed = r, true, guessed }

// next gives out the next piece, of at most limit bytes, of what the last look found.
func (f *follower) next(limit int64) (span, bool, error) {
	for {
		r, ok, err := f.upcoming()
		if err != nil {
			return span{}, false, err
		}
		switch {
		case ok && (!f.began || f.guessed):
			f.unread = f.unread[runSize:]
			f.begin(r, false)
			continue
		case !f.began && f.size == [2]int64{}:
			return span{}, false, nil
		case !f.began:
			// Without an index, as after a crash, the larger stream is taken to come first.
			f.begin(run{stream: f.larger()}, true)
			continue
		}
		s := f.current.stream
		end := f.size[s]
		if ok {
			// Up to where the next run begins: what follows belongs to a later one.
			end = min(end, r.start[s])
		}
		if n := min(end-f.taken[s], limit); n > 0 {
			piece := span{s, f.taken[s], n, f.current.at}
			f.taken[s] += n
			return piece, true, nil
		}
		switch {
		case ok && (f.taken == r.start || f.final):
			// A run begins only when all before it was given out, or the order of the two streams would be lost.
			f.unread = f.unread[runSize:]
			f.begin(r, false)
		case !ok && f.size[1-s] > f.taken[1-s]:
			// No run says where these bytes belong: the index was lost in a crash.
			f.begin(run{1 - s, f.current.at, f.taken}, false)
		default:
			return span{}, false, nil
		}
	}
}

// larger is the stream that a single run without an index was written to.
func (f *follower) larger() int {
	if f.size[stderr] > f.size[stdout] {
		return stderr
	}
	return stdout
}

// read fills buf from a stream's file. A file that is shorter than it was is an error.
func (f *follower) read(stream int, off int64, buf []byte) error {
	// It may have been closed meanwhile: the files of very many attempts cannot all be open.
	if err := f.open(&f.files[stream], suffixes[stream]); err != nil {
		return err
	}
	if f.files[stream] == nil {
		return fmt.Errorf("read output: %w", fs.ErrNotExist)
	}
	if _, err := f.files[stream].ReadAt(buf, off); err != nil {
		return fmt.Errorf("read output: %w", err)
	}
	return nil
}

func (f *follower) close() error {
	var errs []error
	for _, file := range []**os.File{&f.files[stdout], &f.files[stderr], &f.index} {
		if *file != nil {
			errs = append(errs, (*file).Close())
			*file = nil
		}
	}
	return errors.Join(errs...)
}
