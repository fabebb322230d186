package steplog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"moon/secret"
)

const tailSize = 2 << 10

// Writer stores the output of one attempt. Its two streams may be written from two goroutines at once. It must be
// closed; a Writer that was never written to has no files.
type Writer struct {
	dir, prefix string
	grown       func()
	discard     bool
	secrets     *secret.Set
	relay       func(stderr bool, p []byte) error // instead of files; may be nil
	began       time.Time

	mu      sync.Mutex
	streams [2]stream
	index   *os.File
	runs    int   // begun so far
	current run   // the last one begun
	first   *run  // the first one, as long as there is no index
	limit   int64 // of the copies in memory; 0: none
	err     error
	closed  bool
}

type stream struct {
	clean *secret.Writer // nil before the first write
	file  *os.File
	size  int64
	tail  []byte

	// What Keep keeps: the bytes from base on, of which the file has at least base as they were printed.
	raw  int64 // bytes that were printed
	kept []byte
	base int64
	over bool // there are more than the limit, and none is kept
}

// NewWriter makes a writer of dir/prefix.out and so on. The directory must exist, and the prefix must be new: files
// that are there are overwritten. Grown, which may be nil, is called after each write, perhaps from two goroutines
// at once; it must not block.
func NewWriter(dir, prefix string, grown func()) *Writer {
	return &Writer{dir: dir, prefix: prefix, grown: grown, began: time.Now()}
}

// NewDiscard makes a writer for a step whose output must not be stored: it counts, keeps a copy in memory if Keep
// asks for one, and has no tail.
func NewDiscard() *Writer { return &Writer{discard: true, began: time.Now()} }

// Redact makes the writer take secrets out of what it stores; what Keep collects has them. It must be called before the first
// write.
func (w *Writer) Redact(s *secret.Set) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.secrets = s
}

// NewRelay makes a writer that passes on what is written to it, in the order in which it was, and stores nothing. The
// first error of pass ends it.
func NewRelay(pass func(stderr bool, p []byte) error) *Writer {
	return &Writer{discard: true, relay: pass, began: time.Now()}
}

// inMemory is how much of a stream Keep holds in memory, in bytes, although the file has it too.
const inMemory = 8 << 10

// Keep makes the writer hold what of each stream is not in the files as it was printed: of what a Redact took secrets from, of
// what is not stored, and of what is short. Of more than limit bytes it holds nothing. It must be called before the first write.
func (w *Writer) Keep(limit int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = limit
}

// Kept is what a writer has of one stream, of which Keep was asked for.
type Kept struct {
	Size int64  // that was printed, in bytes
	Text []byte // all of it; nil if Over, or if only InFile
	// InFile says that the file has what was printed.
	InFile bool
	// Over says that there is more than the limit, and not in the file as it was printed.
	Over bool
}

// Kept returns what Keep asked for. The writer must be closed.
func (w *Writer) Kept() (out, err Kept, failed error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	out, failed = w.keptOf(stdout)
	err, failed2 := w.keptOf(stderr)
	return out, err, errors.Join(failed, failed2)
}

func (w *Writer) keptOf(stream int) (Kept, error) {
	s := &w.streams[stream]
	k := Kept{Size: s.raw, InFile: !w.discard && (s.clean == nil || !s.clean.Hid())}
	k.Over = s.over || !k.InFile && s.raw > w.limit
	switch {
	case k.Over:
	case s.base == 0:
		k.Text = s.kept
	case !k.InFile:
		// Up to base the file has what was printed; from there on secrets are masked in it.
		k.Text = make([]byte, s.base, s.base+int64(len(s.kept)))
		f, err := os.Open(filepath.Join(w.dir, w.prefix+suffixes[stream]))
		if err != nil {
			return k, fmt.Errorf("read output: %w", err)
		}
		_, err = io.ReadFull(f, k.Text)
		if err = errors.Join(err, f.Close()); err != nil {
			return k, fmt.Errorf("read output: %w", err)
		}
		k.Text = append(k.Text, s.kept...)
	}
	return k, nil
}

// Stdout is where the attempt's standard output goes.
func (w *Writer) Stdout() io.Writer { return end{w, stdout} }

// Stderr is where its standard error goes.
func (w *Writer) Stderr() io.Writer { return end{w, stderr} }

// end is one stream's side of a Writer.
type end struct {
	w      *Writer
	stream int
}

func (e end) Write(p []byte) (int, error) { return e.w.write(e.stream, p) }

// Bytes is how much is stored of each stream.
func (w *Writer) Bytes() (out, err int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.streams[stdout].size, w.streams[stderr].size
}

// Err is the first error of writing the files, such as a full disk. Nothing is written after it.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Tail is the end of standard error, or of standard output if nothing went to standard error: at most 2 KiB, whole
// lines where it can, without the last newline. It is for error messages.
func (w *Writer) Tail() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.streams[stderr]
	if len(s.tail) == 0 {
		s = &w.streams[stdout]
	}
	return tidyTail(s.tail, s.size == int64(len(s.tail)))
}

// tidyTail leaves out the line that begins before the tail does, and the last newline.
func tidyTail(tail []byte, whole bool) string {
	text := strings.ToValidUTF8(string(tail), "\uFFFD")
	if !whole {
		if _, lines, ok := strings.Cut(text, "\n"); ok && strings.TrimSpace(lines) != "" {
			text = lines
		}
	}
	return strings.TrimRight(text, "\r\n")
}

// Close closes the files and returns the first error of the writer's life. Writing afterwards is an error.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.err
	}
	w.closed = true
	for i := range w.streams {
		// What the mask still holds back comes out now.
		if clean := w.streams[i].clean; clean != nil && w.err == nil {
			w.fail(clean.Close())
		}
	}
	for _, f := range []**os.File{&w.streams[stdout].file, &w.streams[stderr].file, &w.index} {
		if *f == nil {
			continue
		}
		w.fail((*f).Close())
		*f = nil
	}
	return w.err
}

func (w *Writer) fail(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("keep output: %w", err)
	}
}

func (w *Writer) write(to int, p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := w.store(to, p)
	if n > 0 && w.grown != nil {
		w.grown()
	}
	return n, err
}

func (w *Writer) store(to int, p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, fmt.Errorf("keep output: %w", os.ErrClosed)
	}
	if w.err != nil {
		return 0, w.err
	}
	if w.relay != nil {
		w.fail(w.relay(to == stderr, p))
	}
	s := &w.streams[to]
	s.raw += int64(len(p))
	if w.discard {
		s.size += int64(len(p))
		s.keep(p, w.limit, 0)
		return len(p), nil
	}
	if s.clean == nil {
		s.clean = w.secrets.Writer(file{w, to})
	}
	n, err := s.clean.Write(p)
	w.fail(err)
	whole := s.size // that much of what was printed is in the file
	if s.clean.Hid() {
		whole = s.base
	}
	s.keep(p, w.limit, whole)
	return n, w.err
}

// file is what a stream is stored in.
type file struct {
	w      *Writer
	stream int
}

// Write appends to the file. The writer is locked.
func (f file) Write(p []byte) (int, error) {
	if err := f.w.begin(f.stream); err != nil {
		return 0, err
	}
	s := &f.w.streams[f.stream]
	n, err := s.file.Write(p)
	s.size += int64(n)
	s.remember(p[:n])
	return n, err
}

// begin opens what the next bytes need, and starts a run if they do not belong to the current one.
func (w *Writer) begin(to int) error {
	s := &w.streams[to]
	if s.file == nil {
		f, err := w.create(suffixes[to])
		if err != nil {
			return err
		}
		s.file = f
	}
	at := time.Since(w.began)
	if w.runs > 0 && w.current.stream == to && at-w.current.at <= sameRun {
		return nil
	}
	next := run{to, at, [2]int64{w.streams[stdout].size, w.streams[stderr].size}}
	w.runs++
	w.current = next
	// Most attempts are one run, which needs no index.
	if w.runs == 1 && at < lateFirst {
		w.first = &next
		return nil
	}
	var records []byte
	if w.index == nil {
		f, err := w.create(indexSuffix)
		if err != nil {
			return err
		}
		w.index = f
		if w.first != nil {
			records = w.first.append(records)
			w.first = nil
		}
	}
	_, err := w.index.Write(next.append(records))
	return err
}

func (w *Writer) create(suffix string) (*os.File, error) {
	return os.OpenFile(filepath.Join(w.dir, w.prefix+suffix), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
}

func (s *stream) remember(p []byte) {
	if len(p) >= tailSize {
		s.tail = append(s.tail[:0], p[len(p)-tailSize:]...)
		return
	}
	if over := len(s.tail) + len(p) - tailSize; over > 0 {
		s.tail = s.tail[:copy(s.tail, s.tail[over:])]
	}
	s.tail = append(s.tail, p...)
}

// keep adds to what is held in memory, and lets go of what the file has: as many bytes of the stream as whole says.
func (s *stream) keep(p []byte, limit, whole int64) {
	switch {
	case limit <= 0 || s.over:
		return
	case s.raw > inMemory && whole == s.raw: // the usual case: nothing was held back
		s.kept, s.base = s.kept[:0], whole
		return
	}
	s.kept = append(s.kept, p...)
	if s.raw > inMemory && whole > s.base {
		s.kept = s.kept[:copy(s.kept, s.kept[whole-s.base:])]
		s.base = whole
	}
	if whole == s.base && s.raw > limit && len(s.kept) > inMemory {
		s.kept, s.over = nil, true
	}
}
