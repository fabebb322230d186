package output

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"moon/secret"
)

// KeepLimit is how much of each stream Keep keeps when it is not told, in bytes.
const KeepLimit = 16 << 20

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
	runs    int  // begun so far
	current run  // the last one begun
	first   *run // the first one, as long as there is no index
	limit   int  // of the copies in memory; 0: none
	err     error
	closed  bool
}

type stream struct {
	clean     *secret.Writer // nil before the first write
	file      *os.File
	size      int64
	tail      []byte
	kept      []byte
	truncated bool
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

// Keep makes the writer hold a copy of each stream in memory, up to limit bytes; 0 means KeepLimit. It must be
// called before the first write.
func (w *Writer) Keep(limit int) {
	if limit <= 0 {
		limit = KeepLimit
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = limit
}

// Collected returns the copies that Keep asked for, and whether the limit cut one of them.
func (w *Writer) Collected() (out, err []byte, truncated bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o, e := &w.streams[stdout], &w.streams[stderr]
	return o.kept, e.kept, o.truncated || e.truncated
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
	if w.limit > 0 {
		s.keep(p, w.limit)
	}
	if w.discard {
		s.size += int64(len(p))
		return len(p), nil
	}
	if s.clean == nil {
		s.clean = w.secrets.Writer(file{w, to})
	}
	n, err := s.clean.Write(p)
	w.fail(err)
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

func (s *stream) keep(p []byte, limit int) {
	if room := limit - len(s.kept); len(p) > room {
		p, s.truncated = p[:room], true
	}
	s.kept = append(s.kept, p...)
}
