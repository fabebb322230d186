package steplog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"moon/events/steplog"
	"moon/internal/assault"
	"moon/secret"
)

const maxLine = 64 << 10

// model is what a Log and Lines must show, built byte by byte.
type model struct {
	lines  []steplog.Line // in the order they began
	whole  []int          // indexes of lines, in the order they ended
	open   [2]int         // index + 1 of the stream's unfinished line
	stream [2][]byte
	first  time.Duration // when the first run began
}

func (m *model) write(stream int, p []byte, at time.Duration) {
	m.stream[stream] = append(m.stream[stream], p...)
	for _, b := range p {
		if m.open[stream] == 0 {
			m.lines = append(m.lines, steplog.Line{Stderr: stream == 1, At: at})
			m.open[stream] = len(m.lines)
		}
		i := m.open[stream] - 1
		if b == '\n' {
			m.open[stream] = 0
			m.whole = append(m.whole, i)
			continue
		}
		m.lines[i].Text = append(m.lines[i].Text, b)
	}
}

// logText is the piece of a line that Log gives.
func logText(text []byte) ([]byte, bool) {
	if len(text) <= maxLine {
		return text, false
	}
	body := bytes.TrimRight(text, "\r")
	if i := bytes.LastIndexByte(body, '\r'); i >= 0 {
		text = text[i+1:]
	}
	return text[:min(len(text), maxLine)], true
}

func randomText(r *rand.Rand) []byte {
	alphabet := "ab\n"
	switch r.IntN(12) {
	case 0:
		alphabet = "\n"
	case 1:
		alphabet = "xyz\r"
	}
	n := r.IntN(40)
	switch r.IntN(400) {
	case 0:
		n = r.IntN(2 * maxLine)
	case 1, 2, 3:
		return []byte(strings.Repeat("0123456789abcdef", 1+r.IntN(2*maxLine/16)))
	}
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[r.IntN(len(alphabet))]
	}
	return text
}

func TestLogEqualsModel(t *testing.T) {
	for seed := range uint64(assault.Rounds(60, 600)) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			w := steplog.NewWriter(dir, "p", nil)
			log, lines := steplog.Open(dir, "p"), steplog.Follow(dir, "p")
			defer log.Close()
			defer lines.Close()
			var m model
			var got []steplog.Line
			stream, runAt, ran := 0, time.Duration(0), false
			start := time.Now()
			for range 1 + r.IntN(200) {
				if r.IntN(3) == 0 {
					time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
				}
				next := stream
				if r.IntN(4) == 0 {
					next = 1 - stream
				}
				text := randomText(r)
				if now := time.Since(start); len(text) > 0 && (!ran || next != stream || now-runAt > 50*time.Millisecond) {
					if !ran {
						m.first = now
					}
					runAt, ran = now, true
				}
				if len(text) > 0 {
					stream = next
					m.write(stream, text, runAt)
				}
				end := []io.Writer{w.Stdout(), w.Stderr()}[next]
				if n, err := end.Write(text); n != len(text) || err != nil {
					t.Fatal(n, err)
				}
				if r.IntN(5) == 0 {
					if _, err := log.Refresh(); err != nil {
						t.Fatal(err)
					}
					if r.IntN(3) == 0 && log.Len() > 0 {
						log.Line(r.IntN(log.Len()))
					}
				}
				if r.IntN(9) == 0 {
					got = append(got, readLines(t, lines)...)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			lines.Finish()
			got = append(got, readLines(t, lines)...)
			checkFiles(t, dir, &m)
			checkLog(t, seed, log, &m, r)
			checkLines(t, seed, got, &m)
		})
	}
}

func readLines(t *testing.T, l *steplog.Lines) []steplog.Line {
	t.Helper()
	var all []steplog.Line
	for {
		line, ok, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return all
		}
		line.Text = bytes.Clone(line.Text)
		all = append(all, line)
	}
}

func checkFiles(t *testing.T, dir string, m *model) {
	t.Helper()
	for s, suffix := range []string{".out", ".err"} {
		got, err := os.ReadFile(filepath.Join(dir, "p"+suffix))
		if len(m.stream[s]) == 0 {
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("silent stream %s: err = %v", suffix, err)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, m.stream[s]) {
			t.Errorf("%s differs (err %v)", suffix, err)
		}
	}
}

func checkLog(t *testing.T, seed uint64, log *steplog.Log, m *model, r *rand.Rand) {
	t.Helper()
	for {
		changed, err := log.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		if !changed {
			break
		}
	}
	if log.Len() != len(m.lines) {
		t.Fatalf("seed %d: %d lines, want %d", seed, log.Len(), len(m.lines))
	}
	var each []steplog.Line
	for from := 0; from < len(m.lines); { // from several places
		to := min(from+1+r.IntN(len(m.lines)), len(m.lines))
		log.Each(from, to, func(_ int, l steplog.Line) { each = append(each, l) })
		from = to
	}
	for _, i := range r.Perm(len(m.lines)) {
		got, want := log.Line(i), m.lines[i]
		if !reflect.DeepEqual(each[i], got) {
			t.Fatalf("line %d: Each gives %+v, Line %+v", i, each[i], got)
		}
		text, cut := logText(want.Text)
		if got.Stderr != want.Stderr || got.Cut != cut || !bytes.Equal(got.Text, text) {
			t.Fatalf("seed %d: line %d = %v %v %.40q (%d), want %v %v %.40q (%d)", seed, i,
				got.Stderr, got.Cut, got.Text, len(got.Text), want.Stderr, cut, text, len(text))
		}
		if got.At != want.At && (want.At != m.first || m.first >= 100*time.Millisecond) { // see lateFirst
			t.Fatalf("seed %d: line %d at %v, want %v", seed, i, got.At, want.At)
		}
	}
}

func checkLines(t *testing.T, seed uint64, got []steplog.Line, m *model) {
	t.Helper()
	want := m.whole
	for i := range m.lines {
		if m.open[0] == i+1 || m.open[1] == i+1 {
			want = append(want, i)
		}
	}
	var joined []steplog.Line
	var parts [2][]byte
	for _, l := range got {
		s := 0
		if l.Stderr {
			s = 1
		}
		if len(l.Text) > maxLine {
			t.Fatalf("seed %d: a piece of %d bytes", seed, len(l.Text))
		}
		parts[s] = append(parts[s], l.Text...)
		if !l.Cut {
			l.Text, parts[s] = parts[s], nil
			joined = append(joined, l)
		}
	}
	if len(joined) != len(want) {
		t.Fatalf("seed %d: Lines gave %d lines, want %d", seed, len(joined), len(want))
	}
	for i, l := range joined {
		w := m.lines[want[i]]
		if l.Stderr != w.Stderr || !bytes.Equal(l.Text, w.Text) {
			t.Fatalf("seed %d: Lines %d = %v %.40q, want %v %.40q", seed, i, l.Stderr, l.Text, w.Stderr, w.Text)
		}
	}
}

func TestSilentAndSingle(t *testing.T) {
	dir := t.TempDir()
	if err := steplog.NewWriter(dir, "silent", nil).Close(); err != nil {
		t.Fatal(err)
	}
	w := steplog.NewWriter(dir, "one", nil)
	io.WriteString(w.Stderr(), "x")
	io.WriteString(w.Stderr(), "y\n")
	w.Close()
	names := ls(t, dir)
	if fmt.Sprint(names) != "[one.err]" {
		t.Errorf("files %v, want one.err only", names)
	}
	log := steplog.Open(dir, "one")
	defer log.Close()
	log.Refresh()
	if l := log.Line(0); log.Len() != 1 || !l.Stderr || string(l.Text) != "xy" {
		t.Errorf("%d lines, first %+v", log.Len(), l)
	}
	if l := log.Line(1); l.Text != nil {
		t.Errorf("beyond the end: %+v", l)
	}
}

func TestModes(t *testing.T) {
	for _, mask := range []int{0, 0o77} {
		dir := t.TempDir()
		old := syscall.Umask(mask)
		w := steplog.NewWriter(dir, "p", nil)
		io.WriteString(w.Stdout(), "x")
		io.WriteString(w.Stderr(), "x")
		w.Close()
		syscall.Umask(old)
		for _, name := range ls(t, dir) {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("umask %o: %s has mode %v (%v)", mask, name, info.Mode(), err)
			}
		}
	}
}

func ls(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestTailAndCount(t *testing.T) {
	w := steplog.NewWriter(t.TempDir(), "p", nil)
	defer w.Close()
	io.WriteString(w.Stdout(), "out\n")
	if got := w.Tail(); got != "out" {
		t.Errorf("Tail() = %q, want the end of stdout", got)
	}
	for i := range 1000 {
		fmt.Fprintf(w.Stderr(), "line %d\n", i)
	}
	tail := w.Tail()
	if !strings.HasSuffix(tail, "\nline 999") || !strings.HasPrefix(tail, "line ") || len(tail) > 2048 {
		t.Errorf("Tail() = %q", tail)
	}
	if o, e := w.Bytes(); o != 4 || e != 8890 {
		t.Errorf("Bytes() = %d, %d", o, e)
	}
}

// TestKept prints in pieces of all sizes, with secrets in some, and checks that what is kept in memory and what the file has make the
// whole, whatever the limit.
func TestKept(t *testing.T) {
	const limit = 40_000
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		known := secret.NewSet()
		known.Add("", "hunter2hunter2")
		dir := t.TempDir()
		w := steplog.NewWriter(dir, "p", nil)
		w.Redact(known)
		w.Keep(limit)
		var printed []byte
		hides := round%3 == 0
		for range random.IntN(30) {
			piece := bytes.Repeat([]byte("some text that hunts hun"), random.IntN(random.IntN(400)+1))
			if hides && random.IntN(4) == 0 {
				piece = append(piece, "hunter2hunter2"...)
			}
			if cut := random.IntN(20); cut < len(piece) {
				piece = piece[cut:]
			}
			printed = append(printed, piece...)
			if _, err := w.Stdout().Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		kept, none, err := w.Kept()
		if err != nil || none.Size > 0 || kept.Size != int64(len(printed)) {
			t.Fatalf("round %d: %v, %d bytes of %d", round, err, kept.Size, len(printed))
		}
		hidden := bytes.Contains(printed, []byte("hunter2hunter2"))
		if kept.InFile == hidden || kept.Over != (hidden && len(printed) > limit) {
			t.Fatalf("round %d: in the file %v, over %v, of %d bytes", round, kept.InFile, kept.Over, len(printed))
		}
		if kept.InFile {
			if stored, _, err := steplog.Read(dir, "p"); err != nil || !bytes.Equal(stored, printed) {
				t.Fatalf("round %d: the file has something else: %v", round, err)
			}
		}
		if inMemory := kept.Text != nil; inMemory && !bytes.Equal(kept.Text, printed) || !inMemory && !kept.InFile && !kept.Over && len(printed) > 0 {
			t.Fatalf("round %d: %d bytes of %d are kept, or others", round, len(kept.Text), len(printed))
		}
	}
}

func TestDiscard(t *testing.T) {
	w := steplog.NewDiscard()
	w.Keep(10)
	io.WriteString(w.Stdout(), "secret")
	io.WriteString(w.Stderr(), "longer than that")
	out, errs, err := w.Kept()
	if o, _ := w.Bytes(); o != 6 || string(out.Text) != "secret" || out.Over || out.InFile || err != nil || w.Tail() != "" || w.Close() != nil {
		t.Errorf("bytes %d, kept %+v, tail %q", o, out, w.Tail())
	}
	if !errs.Over || errs.Text != nil || errs.Size != 16 {
		t.Errorf("beyond the limit: %+v", errs)
	}
}

func TestWriteErrorStays(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "p.out")); err != nil {
		t.Fatal(err)
	}
	w := steplog.NewWriter(dir, "p", func() { t.Error("grown called without data") })
	for range 2 {
		if _, err := io.WriteString(w.Stdout(), "x"); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Write: %v, want ENOSPC", err)
		}
	}
	if _, err := io.WriteString(w.Stderr(), "x"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("other stream: %v, want ENOSPC", err)
	}
	if !errors.Is(w.Err(), syscall.ENOSPC) || !errors.Is(w.Close(), syscall.ENOSPC) {
		t.Errorf("Err() = %v, want ENOSPC", w.Err())
	}
	if _, err := io.WriteString(w.Stdout(), "x"); err == nil {
		t.Error("write after Close went well")
	}
}

func TestTwoStreamsAtOnce(t *testing.T) {
	dir := t.TempDir()
	var grown atomic.Int64
	w := steplog.NewWriter(dir, "p", func() { grown.Add(1) })
	log := steplog.Open(dir, "p")
	defer log.Close()
	const n = 2000
	var wg sync.WaitGroup
	for i, end := range []io.Writer{w.Stdout(), w.Stderr()} {
		wg.Go(func() {
			for j := range n {
				fmt.Fprintf(end, "%d %d\n", i, j)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if _, err := log.Refresh(); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	next := [2]int{}
	for i := range log.Len() {
		l := log.Line(i)
		s := 0
		if l.Stderr {
			s = 1
		}
		if want := fmt.Sprintf("%d %d", s, next[s]); string(l.Text) != want {
			t.Fatalf("line %d = %q, want %q", i, l.Text, want)
		}
		next[s]++
	}
	if next != [2]int{n, n} || grown.Load() != 2*n {
		t.Errorf("lines %v, grown %d", next, grown.Load())
	}
}

func TestLostIndex(t *testing.T) {
	dir := t.TempDir()
	w := steplog.NewWriter(dir, "p", nil)
	for range 3 {
		io.WriteString(w.Stdout(), "out\n")
		io.WriteString(w.Stderr(), "err\n")
	}
	w.Close()
	index := filepath.Join(dir, "p.idx")
	good, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(good) {
		for name, bad := range map[string][]byte{
			"cut":    good[:cut],
			"zeroed": append(bytes.Clone(good[:cut]), make([]byte, len(good)-cut)...),
		} {
			os.WriteFile(index, bad, 0o600)
			log, lines := steplog.Open(dir, "p"), steplog.Follow(dir, "p")
			lines.Finish()
			log.Refresh()
			if n := log.Len(); n != 6 {
				t.Errorf("%s at %d: Log has %d lines", name, cut, n)
			}
			if n := len(readLines(t, lines)); n != 6 {
				t.Errorf("%s at %d: Lines has %d lines", name, cut, n)
			}
			log.Close()
			lines.Close()
		}
	}
}

func TestLongLine(t *testing.T) {
	dir := t.TempDir()
	w := steplog.NewWriter(dir, "p", nil)
	text := bytes.Repeat([]byte("0123456789abcdé"), 1<<20) // 16 MiB
	w.Stdout().Write(text)
	io.WriteString(w.Stdout(), "\nnext\n")
	w.Close()
	log := steplog.Open(dir, "p")
	defer log.Close()
	refreshes := 0
	for {
		changed, err := log.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		if !changed {
			break
		}
		refreshes++
	}
	if refreshes < 4 {
		t.Errorf("16 MiB in %d refreshes, want at most 4 MiB in each", refreshes)
	}
	long, next := log.Line(0), log.Line(1)
	if !long.Cut || len(long.Text) != maxLine || string(next.Text) != "next" || log.Len() != 2 {
		t.Errorf("Cut %v, %d bytes, then %q, %d lines", long.Cut, len(long.Text), next.Text, log.Len())
	}
}

func TestLogMemory(t *testing.T) {
	for _, alternate := range []bool{false, true} {
		n := 1_000_000
		dir := t.TempDir()
		w := steplog.NewWriter(dir, "p", nil)
		if alternate {
			n /= 10
			for range n / 2 {
				io.WriteString(w.Stdout(), "a\n")
				io.WriteString(w.Stderr(), "b\n")
			}
		} else {
			w.Stdout().Write(bytes.Repeat([]byte("a line of output of a usual length, more or less\n"), n))
		}
		w.Close()
		before := heap()
		log := steplog.Open(dir, "p")
		for more := true; more; more = log.More() {
			if _, err := log.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
		for i := 0; i < n; i += 997 {
			log.Line(i)
		}
		used := heap() - before
		const cache = 1 << 20
		if log.Len() != n || used > int64(n)*25+cache {
			t.Errorf("alternate %v: %d lines in %d KiB", alternate, log.Len(), used>>10)
		}
		t.Logf("alternate %v: %d KiB for %d lines", alternate, used>>10, n)
		log.Close()
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkRefresh(b *testing.B) {
	dir := b.TempDir()
	w := steplog.NewWriter(dir, "p", nil)
	text := bytes.Repeat([]byte("a line of output of a usual length, more or less\n"), 1<<20)
	w.Stdout().Write(text)
	w.Close()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		log := steplog.Open(dir, "p")
		for more := true; more; more = log.More() {
			log.Refresh()
		}
		log.Close()
	}
}

func BenchmarkLine(b *testing.B) {
	dir := b.TempDir()
	w := steplog.NewWriter(dir, "p", nil)
	w.Stdout().Write(bytes.Repeat([]byte("a line of output of a usual length, more or less\n"), 1<<20))
	w.Close()
	log := steplog.Open(dir, "p")
	defer log.Close()
	for more := true; more; more = log.More() {
		log.Refresh()
	}
	i := 0
	for b.Loop() {
		log.Line(i % log.Len())
		i++
	}
}

func BenchmarkLines(b *testing.B) {
	dir := b.TempDir()
	w := steplog.NewWriter(dir, "p", nil)
	text := bytes.Repeat([]byte("a line of output of a usual length, more or less\n"), 1<<18)
	w.Stdout().Write(text)
	w.Close()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		l := steplog.Follow(dir, "p")
		for ok := true; ok; {
			_, ok, _ = l.Next()
		}
		l.Close()
	}
}

func BenchmarkWriter(b *testing.B) {
	w := steplog.NewWriter(b.TempDir(), "p", func() {})
	defer w.Close()
	buf := make([]byte, 64<<10)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		if o, _ := w.Bytes(); o > 1<<30 {
			b.StopTimer()
			w.Close()
			w = steplog.NewWriter(b.TempDir(), "p", func() {})
			b.StartTimer()
		}
		w.Stdout().Write(buf)
	}
}

// TestReadWhatIsThere reads an attempt's files without a Log: all of them, and their end.
func TestReadWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	if tail, err := steplog.Tail(dir, "none.1"); tail != "" || err != nil {
		t.Errorf("of nothing: %q, %v", tail, err)
	}
	w := steplog.NewWriter(dir, "s.1", nil)
	long := strings.Repeat("0123456789abcde\n", 1000)
	io.WriteString(w.Stdout(), long)
	if tail, err := steplog.Tail(dir, "s.1"); err != nil || tail != w.Tail() || len(tail) > 2<<10 || !strings.HasPrefix(tail, "0123") {
		t.Errorf("the tail of standard output is %q, %v, want %q", tail, err, w.Tail())
	}
	io.WriteString(w.Stderr(), "why\x00\n")
	if tail, err := steplog.Tail(dir, "s.1"); err != nil || tail != "why\x00" || tail != w.Tail() {
		t.Errorf("the tail of standard error is %q, %v", tail, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if err := steplog.Copy(&out, &errs, dir, "s.1"); err != nil || out.String() != long || errs.String() != "why\x00\n" {
		t.Errorf("copied %d bytes and %q, %v", out.Len(), errs.String(), err)
	}
	out.Reset()
	if err := steplog.Copy(&out, nil, dir, "s.1"); err != nil || out.String() != long {
		t.Errorf("copied %d bytes, %v", out.Len(), err)
	}
}
