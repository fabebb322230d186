package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"moon/exec/process"
)

// maxLine is the longest message, in bytes, that a plugin may say. It bounds the memory that a broken one can take.
const maxLine = 16 << 20

var errTooLong = fmt.Errorf("it answered more than %d MB on one line", maxLine>>20)

// lastLine keeps the last line of a text, which is an answer, and passes on the lines before it.
type lastLine struct {
	to   io.Writer // nil: nowhere
	held []byte    // the line that may be the last
	over bool      // it was longer than can be kept
}

// Write implements io.Writer. What cannot be passed on is not the plugin's fault.
func (l *lastLine) Write(p []byte) (int, error) {
	for seg := range bytes.Lines(p) {
		if bytes.HasSuffix(l.held, []byte("\n")) {
			if len(bytes.TrimSpace(seg)) == 0 {
				continue // an empty line is no answer
			}
			l.passOn()
		}
		if len(l.held)+len(seg) > maxLine {
			l.over = true
			// The rest of such a line is dropped, but for its end.
			if seg[len(seg)-1] == '\n' {
				l.held = append(l.held, '\n')
			}
			continue
		}
		l.held = append(l.held, seg...)
	}
	return len(p), nil
}

// passOn passes the held line on: it was none.
func (l *lastLine) passOn() {
	if l.to != nil && len(l.held) > 0 {
		_, _ = l.to.Write(l.held) // the writer remembers its error
	}
	l.held, l.over = l.held[:0], false
}

// endLine returns the last line.
func (l *lastLine) endLine() []byte { return bytes.TrimSpace(l.held) }

// wrapError adds the end of what was said to an error.
func wrapError(t *process.Tail, words string) error {
	if text := t.String(); text != "" {
		words += "\n" + text
	}
	return errors.New(words)
}

// byLine calls take for each line that is written to it.
type byLine struct {
	take func(line []byte)
	part []byte
	over bool
}

// Write implements io.Writer. A line that is too long is given as far as it is kept, once.
func (b *byLine) Write(p []byte) (int, error) {
	for seg := range bytes.Lines(p) {
		whole := seg[len(seg)-1] == '\n'
		if !b.over && len(b.part)+len(seg) > maxLine {
			b.over = true
			b.take(b.part)
		}
		if !b.over {
			b.part = append(b.part, seg...)
		}
		if !whole {
			continue
		}
		if text := bytes.TrimSpace(b.part); !b.over && len(text) > 0 {
			b.take(text)
		}
		b.part, b.over = b.part[:0], false
	}
	return len(p), nil
}

// bounded keeps the beginning of a text.
type bounded struct {
	text []byte
	over bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), maxLine-len(b.text))
	b.text = append(b.text, p[:n]...)
	b.over = b.over || n < len(p)
	return len(p), nil
}
