package secret

import (
	"fmt"
	"io"
)

// Writer takes secrets out of a stream, however it is cut into pieces. It holds back only what may yet turn out to be the
// beginning of a secret. Secrets that overlap or follow each other become one Mask. What the set learns while the stream goes
// on is found from then on. It is for one goroutine.
type Writer struct {
	set *Set
	to  io.Writer

	seen    []*matcher // of the set, when scans were made
	scans   []scan
	pending []held // read, and not decided
	escaped sequence
	masked  bool // the last that was written is a Mask, which what follows may belong to
	hid     bool // a Mask was written
	out     []byte
	err     error
}

// held is a byte that is not decided.
type held struct {
	c    byte
	hide bool // it is part of a secret
	skip bool // it is part of a colour, or another sequence of the terminal, that may stand inside of a secret
}

// scan is how far a matcher is. Plain reads every byte; through goes past the sequences of the terminal that stand inside of
// what plain has read, and is of no use (-1) where there are none.
type scan struct {
	*matcher
	plain, through int32
}

// Writer makes a writer that passes on to another what is no secret.
func (s *Set) Writer(to io.Writer) *Writer { return &Writer{set: s, to: to} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.learn()
	if len(w.scans) == 0 {
		return w.pass(p)
	}
	// Nothing is held back and nothing begins: the whole piece passes through.
	if len(w.pending) == 0 && w.begin(p, 0) == len(p) {
		w.masked = w.masked && len(p) == 0
		return w.pass(p)
	}
	w.out = w.out[:0]
	for i := 0; i < len(p); i++ {
		if len(w.pending) == 0 {
			next := w.begin(p, i)
			w.masked = w.masked && next == i
			w.out = append(w.out, p[i:next]...)
			// What is passed over cannot begin a secret, so it need not be held back.
			if i = next; i == len(p) {
				break
			}
			w.escaped = sequence{} // it has not been read on the way here
		}
		w.take(p[i])
	}
	if _, err := w.pass(w.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// learn takes over what the set has learned. What is held back is looked at again.
func (w *Writer) learn() {
	if w.set == nil {
		return
	}
	list := w.set.all()
	if len(list) == len(w.seen) && (len(list) == 0 || list[len(list)-1] == w.seen[len(list)-1]) {
		return
	}
	w.seen, w.scans = list, make([]scan, len(list))
	for i, m := range list {
		w.scans[i] = scan{m, 0, -1}
	}
	// What is held back was read without the new forms.
	again := w.pending
	w.pending, w.escaped = nil, sequence{}
	for _, h := range again {
		w.read(h.c)
		w.pending[len(w.pending)-1].hide = w.pending[len(w.pending)-1].hide || h.hide
	}
}

// begin is where in p something may begin.
func (w *Writer) begin(p []byte, from int) int {
	first := len(p)
	for i := range w.scans {
		first = begin(w.scans[i].matcher, p[:first], from)
	}
	return first
}

// take reads a byte and writes what is decided.
func (w *Writer) take(c byte) {
	w.read(c)
	undecided := 0
	for i := range w.scans {
		s := &w.scans[i]
		undecided = max(undecided, int(s.depth[s.plain]))
		if s.through >= 0 {
			undecided = max(undecided, w.span(int(s.depth[s.through])))
		}
	}
	w.decide(len(w.pending) - undecided)
}

func (w *Writer) read(c byte) {
	within := w.escaped.take(c)
	w.pending = append(w.pending, held{c: c, skip: within})
	for i := range w.scans {
		s := &w.scans[i]
		before := s.plain
		if s.plain = s.step(s.plain, c); s.match[s.plain] > 0 {
			w.hide(int(s.match[s.plain]))
		}
		switch {
		case within && s.through < 0 && before != 0 && c == escape:
			// Only from inside a match: a sequence before a secret is not part of it.
			s.through = before
		case within || s.through < 0:
		default:
			if s.through = s.step(s.through, c); s.match[s.through] > 0 {
				w.hide(w.span(int(s.match[s.through])))
			}
			if n := int(s.depth[s.through]); w.span(n) == n {
				s.through = -1 // nothing of the terminal is inside of it: plain has it as well
			}
		}
	}
}

// hide marks the last n bytes.
func (w *Writer) hide(n int) {
	for i := len(w.pending) - n; i < len(w.pending); i++ {
		w.pending[i].hide = true
	}
}

// span is how many of the last bytes hold n that are none of the terminal's.
func (w *Writer) span(n int) int {
	i := len(w.pending)
	for ; i > 0 && n > 0; i-- {
		if !w.pending[i-1].skip {
			n--
		}
	}
	return len(w.pending) - i
}

// begun is how many of the last bytes may be the beginning of a secret, if those are enough to say so.
func (w *Writer) begun() (n int) {
	for i := range w.scans {
		if depth := int(w.scans[i].depth[w.scans[i].plain]); depth >= MinLength {
			n = max(n, depth)
		}
	}
	return min(n, len(w.pending))
}

// decide writes the first n bytes of what is held back.
func (w *Writer) decide(n int) {
	for _, h := range w.pending[:n] {
		switch {
		case !h.hide:
			w.out = append(w.out, h.c)
		case !w.masked:
			w.out = append(w.out, Mask...)
			w.hid = true
		}
		w.masked = h.hide
	}
	// Moved to the front, so the buffer stays as small as the longest form.
	w.pending = w.pending[:copy(w.pending, w.pending[n:])]
}

func (w *Writer) pass(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := w.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	// Kept: after a part was lost, what follows would be joined to the wrong text.
	w.err = err
	return n, err
}

// Hid reports whether anything of the stream was taken out so far.
func (w *Writer) Hid() bool { return w.hid }

// Close writes what was held back. It does not close what it writes to.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.out = w.out[:0]
	w.decide(len(w.pending))
	if _, err := w.pass(w.out); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

const escape = 0x1b

// sequence reads the sequences of the terminal that change how text looks, and not where it stands: programs that colour what
// they have found put them into the middle of words.
type sequence struct {
	state  byte // 0: outside; otherwise the byte that says what is being read
	length int
}

// maxSequence is how long a sequence may be before it is taken for text.
const maxSequence = 64

// take reports whether a byte belongs to a sequence.
func (s *sequence) take(c byte) bool {
	s.length++
	switch s.state {
	case 0:
		if c == escape {
			s.state, s.length = escape, 1
			return true
		}
		return false
	case escape:
		if c == '[' || c == '(' || c == ')' {
			s.state = c
			return true
		}
	case '[':
		// Parameters of a sequence; what is longer is not taken for one.
		if c >= 0x20 && c <= 0x3f && s.length < maxSequence {
			return true
		}
		s.state = 0
		return c >= 0x40 && c <= 0x7e
	case '(', ')':
		s.state = 0
		return true
	}
	s.state = 0
	return false
}
