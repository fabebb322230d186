package steplog

import (
	"bytes"
	"time"
)

// Lines reads an attempt's output once, in order, while the files grow: each line when it is complete. A line longer
// than 64 KiB comes in pieces, all but the last marked as Cut; nothing is dropped. It is for one goroutine.
type Lines struct {
	follow follower
	piece  span
	data   []byte // of piece, not yet looked at
	buf    []byte
	parts  [2]part
	order  int
	ended  bool
}

// part is the beginning of a line.
type part struct {
	text  []byte
	at    time.Duration
	order int
	used  bool // text was given out and must be forgotten
}

// Follow starts to read the output in dir/prefix.out and so on. The files need not exist yet.
func Follow(dir, prefix string) *Lines {
	return &Lines{follow: follower{dir: dir, prefix: prefix}}
}

// Finish says that the attempt has ended. From then on Next also gives the last lines, which have no newline.
func (l *Lines) Finish() { l.ended = true }

// Close closes the files.
func (l *Lines) Close() error { return l.follow.close() }

// Next returns the next line. Without one it returns false: call it again when more was written, or after Finish
// take it as the end. The text is valid until the next call.
func (l *Lines) Next() (Line, bool, error) {
	l.forgetGiven()
	looked := false
	for {
		if line, ok := l.split(); ok {
			return line, true, nil
		}
		piece, ok, err := l.follow.next(maxLine)
		switch {
		case err != nil:
			return Line{}, false, err
		case ok:
			if err := l.read(piece); err != nil {
				return Line{}, false, err
			}
		case looked:
			line, ok := l.rest()
			return line, ok, nil
		default:
			if err := l.follow.look(); err != nil {
				return Line{}, false, err
			}
			// Only a look after the end of the attempt is known to have seen everything.
			looked, l.follow.final = true, l.ended
		}
	}
}

// forgetGiven forgets the parts that were given out. Only now, as their text was promised until the next call.
func (l *Lines) forgetGiven() {
	for s := range l.parts {
		if p := &l.parts[s]; p.used {
			*p = part{text: p.text[:0]}
		}
	}
}

// whole gives what has been read of a stream and begins with a line, without taking it.
func (l *Lines) whole() (stream int, data []byte) {
	l.forgetGiven()
	if l.parts[l.piece.stream].order != 0 {
		return l.piece.stream, nil
	}
	return l.piece.stream, l.data
}

func (l *Lines) read(piece span) error {
	if l.buf == nil {
		l.buf = make([]byte, maxLine)
	}
	if err := l.follow.read(piece.stream, piece.off, l.buf[:piece.n]); err != nil {
		// It is read again the next time.
		l.follow.taken[piece.stream] = piece.off
		return err
	}
	l.piece, l.data = piece, l.buf[:piece.n]
	return nil
}

// split takes a line, or a piece of a long one, off the data.
func (l *Lines) split() (Line, bool) {
	if len(l.data) == 0 {
		return Line{}, false
	}
	s := l.piece.stream
	p := &l.parts[s]
	if p.order == 0 {
		// The order in which lines begin decides which comes first at the end.
		l.order++
		p.at, p.order = l.piece.at, l.order
	}
	room := maxLine - len(p.text)
	// One byte more than there is room for: a newline right after a full line ends it without a cut.
	end := bytes.IndexByte(l.data[:min(len(l.data), room+1)], '\n')
	if end < 0 && len(l.data) <= room {
		p.text = append(p.text, l.data...)
		l.data = nil
		return Line{}, false
	}
	line := Line{Stderr: s == stderr, At: p.at}
	if end >= 0 {
		line.Text = l.data[:end]
		if len(p.text) > 0 {
			p.text = append(p.text, l.data[:end]...)
			line.Text = p.text
		}
		l.data = l.data[end+1:]
		p.used = true
		return line, true
	}
	// Not an end but a cut; what is left of a character goes on in the next piece.
	full := append(p.text, l.data[:room]...)
	line.Text, line.Cut = wholeRunes(full), true
	l.data = l.data[room:]
	p.text = append(make([]byte, 0, maxLine), full[len(line.Text):]...)
	return line, true
}

// rest gives out the unfinished lines, when no more will come, the one that began first first.
func (l *Lines) rest() (Line, bool) {
	if !l.follow.final {
		return Line{}, false
	}
	first := -1
	for s := range l.parts {
		if p := &l.parts[s]; len(p.text) > 0 && (first < 0 || p.order < l.parts[first].order) {
			first = s
		}
	}
	if first < 0 {
		return Line{}, false
	}
	p := &l.parts[first]
	p.used = true
	return Line{Stderr: first == stderr, Text: p.text, At: p.at, unfinished: true}, true
}
