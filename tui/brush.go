package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// brush writes a frame, row by row, into one buffer. A row is made of stretches, each with a given number of cells:
// what is put into a stretch is cut at its end, and what is missing is filled, so a row always has its width.
type brush struct {
	pen  *pen
	buf  []byte
	mode int // onRow or onCursor
	ink  ink
	left int // cells left in the stretch
	wide int // cells of the stretch
	set  bool

	x, y  int    // where it is on the screen
	spots *spots // is told what is drawn where; nil: nobody asks
}

// begin starts a stretch of w cells.
func (b *brush) begin(w, mode int) {
	b.left, b.wide, b.mode, b.set = max(w, 0), max(w, 0), mode, false
}

// end fills the stretch and resets the ink.
func (b *brush) end() {
	if b.left > 0 {
		b.use(themes.Text)
		b.blank(b.left)
	}
	b.buf = append(b.buf, "\x1b[m"...)
	b.set = false
}

// stop ends the stretch where it is.
func (b *brush) stop() {
	b.left = 0
	b.end()
}

// newline ends a row.
func (b *brush) newline() {
	b.buf = append(b.buf, '\n')
	b.x, b.y = 0, b.y+1
}

func (b *brush) use(i ink) {
	if b.set && b.ink == i {
		return
	}
	b.ink, b.set = i, true
	b.buf = append(b.buf, b.pen.on[b.mode][i]...)
}

func (b *brush) blank(n int) {
	for n > 0 {
		s := spaces(min(n, 100))
		b.buf = append(b.buf, s...)
		b.left -= len(s)
		b.x += len(s)
		n -= len(s)
	}
}

// put writes a settled text.
func (b *brush) put(i ink, s string) {
	if b.left <= 0 || s == "" {
		return
	}
	if i == inkRaw {
		b.raw(s)
		return
	}
	n := cells(s)
	if n > b.left {
		s = head(s, b.left)
		n = cells(s)
	}
	b.use(i)
	b.buf = append(b.buf, s...)
	b.left -= n
	b.x += n
}

// raw writes a text with colours of its own.
func (b *brush) raw(s string) {
	s = ansi.Truncate(s, b.left, "")
	b.use(themes.Text)
	if b.pen.back != "\x1b[m" {
		s = strings.ReplaceAll(s, "\x1b[0m", b.pen.back)
		s = strings.ReplaceAll(s, "\x1b[m", b.pen.back)
	}
	b.buf = append(b.buf, s...)
	w := ansi.StringWidth(s)
	b.left -= w
	b.x += w
	b.set = false
}

// at moves to a column of the stretch, if it is not past it.
func (b *brush) at(column int) {
	if n := b.left - (b.wide - column); n > 0 {
		b.use(themes.Text)
		b.blank(min(n, b.left))
	}
}

// column is where the stretch is.
func (b *brush) column() int { return b.wide - b.left }

// rule draws n cells of a line.
func (b *brush) rule(g *glyphs, n int) {
	for range min(n, b.left) {
		b.put(themes.Border, g.across)
	}
}
