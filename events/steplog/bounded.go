package steplog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"moon/internal/termtext"
)

// Bounded reads an attempt's output as Lines does, for those who pass it on: a line has at most 64 KiB, and what is not
// text is counted instead of given out, so that what is made of it is never much larger than the output itself. What it
// gives depends on the bytes alone, not on when they are read. It is for one goroutine.
type Bounded struct {
	lines *Lines
	open  [2]*excerpt // of the streams, the line whose first piece has come and whose end has not
	runs  [2]Excerpt  // of the streams, lines that are not text and that nothing has followed yet
	ready []Excerpt
	given int // of those
	read  int // bytes since something was given out last
}

// Excerpt is what is passed on of a line.
type Excerpt struct {
	Line
	Dropped int64 // bytes that are not in Text
	Binary  bool  // all of it was dropped, since it is not text; several such lines are one excerpt
	More    int   // lines after the first that Text has, each after a newline: only NextBlock gives such
	// Nothing says that there is no line yet although much was read: the caller may look after other things, and call
	// again at once.
	Nothing bool
}

// excerpt is a line that is longer than one piece.
type excerpt struct {
	Excerpt
	returned bool // the last piece ended in a carriage return
}

// maxSilent is how much is read without giving the caller a turn.
const maxSilent = 1 << 20

// FollowBounded starts to read the output in dir/prefix.out and so on. The files need not exist yet.
func FollowBounded(dir, prefix string) *Bounded { return &Bounded{lines: Follow(dir, prefix)} }

// Finish says that the attempt has ended.
func (b *Bounded) Finish() { b.lines.Finish() }

// Close closes the files.
func (b *Bounded) Close() error { return b.lines.Close() }

// Next returns the next excerpt. Without one it returns false, as Lines.Next does. The text is valid until the next call.
func (b *Bounded) Next() (Excerpt, bool, error) {
	if b.given == len(b.ready) {
		b.given, b.ready = 0, b.ready[:0]
	}
	for len(b.ready) == 0 {
		// Much output that shows nothing still gives the caller a turn.
		if b.read >= maxSilent {
			b.read = 0
			return Excerpt{Nothing: true}, true, nil
		}
		line, ok, err := b.lines.Next()
		switch {
		case err != nil:
			return Excerpt{}, false, err
		case ok:
			b.read += len(line.Text) + 1
			b.take(line)
		case !b.lines.follow.final || !b.flush():
			return Excerpt{}, false, nil
		}
	}
	e := b.ready[b.given]
	b.given++
	b.read = 0
	return e, true, nil
}

// NextBlock is Next for those who take many lines at once: what follows each other in one stream, and is passed on as it is, comes together.
func (b *Bounded) NextBlock() (Excerpt, bool, error) {
	s, data := b.lines.whole()
	if b.given < len(b.ready) || b.runs[s].Binary {
		return b.Next()
	}
	size, count := textLines(data)
	if count == 0 {
		return b.Next() // which reads on
	}
	b.lines.data = data[size:]
	b.read = 0
	return Excerpt{Line: Line{Stderr: s == stderr, At: b.lines.piece.at, Text: data[:size-1]}, More: count - 1}, true, nil
}

// textLines is how many bytes at the beginning are whole lines of text, and how many lines those are.
func textLines(data []byte) (size, count int) {
	for size < len(data) {
		end := bytes.IndexByte(data[size:], '\n')
		if end < 0 || isBinary(data[size:size+end], false) {
			break
		}
		size += end + 1
		count++
	}
	return size, count
}

// take adds a piece to its line, and judges the line when it is complete.
func (b *Bounded) take(piece Line) {
	s := stdout
	if piece.Stderr {
		s = stderr
	}
	open := b.open[s]
	switch {
	case open != nil:
		open.extend(piece.Text)
	case !piece.Cut:
		b.judge(s, Excerpt{Line: piece})
		return
	default:
		open = &excerpt{Excerpt: Excerpt{Line: piece}, returned: bytes.HasSuffix(piece.Text, []byte{'\r'})}
		// The text belongs to the reader's buffer.
		open.Text = bytes.Clone(piece.Text)
		b.open[s] = open
	}
	if !piece.Cut {
		open.Cut, open.unfinished = open.Dropped > 0, piece.unfinished
		b.open[s] = nil
		b.judge(s, open.Excerpt)
	}
}

// extend drops a further piece. If the line rewrites itself with carriage returns it is the text before that is dropped,
// because of such a line only the last writing can be seen.
func (e *excerpt) extend(piece []byte) {
	visible := bytes.TrimRight(piece, "\r")
	from := bytes.LastIndexByte(visible, '\r') + 1
	if from > 0 || e.returned && len(visible) > 0 {
		e.Dropped += int64(len(e.Text) + from)
		e.Text = append(e.Text[:0], piece[from:]...)
	} else {
		e.Dropped += int64(len(piece))
	}
	e.returned = len(visible) < len(piece)
}

// judge gives a complete line out, or counts it if it is not text.
func (b *Bounded) judge(s int, e Excerpt) {
	run := &b.runs[s]
	if isBinary(e.Text, run.Binary) {
		if !run.Binary {
			*run = Excerpt{Line: Line{Stderr: e.Stderr, At: e.At, Cut: true}, Binary: true}
		}
		run.Dropped += int64(len(e.Text)) + e.Dropped
		if !e.unfinished {
			run.Dropped++ // the newline
		}
		return
	}
	if run.Binary {
		b.ready = append(b.ready, *run)
		*run = Excerpt{}
	}
	b.ready = append(b.ready, e)
}

// flush gives out what is counted so far, because nothing more will come: what began first first.
func (b *Bounded) flush() bool {
	first, second := b.runs[stdout], b.runs[stderr]
	if second.At < first.At {
		first, second = second, first
	}
	b.runs = [2]Excerpt{}
	for _, run := range []Excerpt{first, second} {
		if run.Binary {
			b.ready = append(b.ready, run)
		}
	}
	return len(b.ready) > 0
}

const (
	// A line is not text if more than one byte in textShare is none, and there are at least fewBytes of them: Latin-1, names
	// that end in NUL and a stray control character are shown as well as they can be. Of random bytes more than half are none.
	textShare = 4
	fewBytes  = 8
)

// isBinary reports whether a line is not text. After one that is not, a short one is judged by its share alone, and an empty
// one is taken along.
func isBinary(line []byte, after bool) bool {
	if after && len(line) == 0 {
		return true
	}
	bad := countNonText(line)
	return bad*textShare > len(line) && (after || bad >= fewBytes)
}

// countNonText counts the bytes that are neither UTF-8 nor what programs print to a terminal.
func countNonText(line []byte) (bad int) {
	for i := 0; i < len(line); {
		if i+8 <= len(line) && termtext.Printable8(binary.LittleEndian.Uint64(line[i:])) {
			i += 8
			continue
		}
		c := line[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && (c < '\a' || c > '\r') && c != '\x1b' || c == 0x7f {
				bad++
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		i += n
	}
	return bad
}

// Marked is a line, as an event has it, with a word on what was dropped of it.
func Marked(line string, dropped int64, binary bool) string {
	switch {
	case binary:
		return fmt.Sprintf("(%d bytes that are not text)", dropped)
	case dropped > 0:
		return fmt.Sprintf("%s … (%d more bytes)", line, dropped)
	}
	return line
}
