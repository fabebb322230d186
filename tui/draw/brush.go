package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// Brush writes a frame, row by row, into one buffer. A row is made of stretches, each with a given number of cells:
// what is put into a stretch is cut at its end, and what is missing is filled, so a row always has its width.
type Brush struct {
	Pen  *Pen
	Buf  []byte
	mode int // onRow or onCursor
	ink  Ink
	Left int // cells left in the stretch
	Wide int // cells of the stretch
	set  bool

	X, y  int    // where it is on the screen
	Spots *Spots // notes what is drawn where; nil: no one asks
}

// Begin starts a stretch of w cells.
func (b *Brush) Begin(w, mode int) {
	// The ink is set again even if it is the same: in another mode it has another background.
	b.Left, b.Wide, b.mode, b.set = max(w, 0), max(w, 0), mode, false
}

// End fills the stretch and resets the ink.
func (b *Brush) End() {
	if b.Left > 0 {
		b.Use(themes.Text)
		b.Blank(b.Left)
	}
	b.Buf = append(b.Buf, "\x1b[m"...)
	b.set = false
}

// Stop ends the stretch where it is.
func (b *Brush) Stop() {
	b.Left = 0
	b.End()
}

// Newline ends a row.
func (b *Brush) Newline() {
	b.Buf = append(b.Buf, '\n')
	b.X, b.y = 0, b.y+1
}

// Use paints what follows with an ink.
func (b *Brush) Use(i Ink) {
	if b.set && b.ink == i { // as for most texts in a row: a sequence before each would be most of the frame
		return
	}
	b.ink, b.set = i, true
	b.Buf = append(b.Buf, b.Pen.On[b.mode][i]...)
}

// Blank paints n spaces.
func (b *Brush) Blank(n int) {
	for n > 0 {
		s := Spaces(min(n, 100)) // up to here they are part of a constant, and nothing is allocated
		b.Buf = append(b.Buf, s...)
		b.Left -= len(s)
		b.X += len(s)
		n -= len(s)
	}
}

// Put writes a settled text.
func (b *Brush) Put(i Ink, s string) {
	if b.Left <= 0 || s == "" {
		return
	}
	if i == InkRaw {
		b.raw(s)
		return
	}
	n := Cells(s)
	if n > b.Left {
		// A wide character that only half fits is dropped, so the width is counted again.
		s = Head(s, b.Left)
		n = Cells(s)
	}
	b.Use(i)
	b.Buf = append(b.Buf, s...)
	b.Left -= n
	b.X += n
}

// raw writes a text with colours of its own.
func (b *Brush) raw(s string) {
	s = ansi.Truncate(s, b.Left, "")
	b.Use(themes.Text)
	// A reset in the text would end the background of the row.
	if b.Pen.back != "\x1b[m" {
		s = strings.ReplaceAll(s, "\x1b[0m", b.Pen.back)
		s = strings.ReplaceAll(s, "\x1b[m", b.Pen.back)
	}
	b.Buf = append(b.Buf, s...)
	w := ansi.StringWidth(s)
	b.Left -= w
	b.X += w
	// It may leave any colour behind.
	b.set = false
}

// At moves to a column of the stretch, if it is not past it.
func (b *Brush) At(column int) {
	if n := b.Left - (b.Wide - column); n > 0 {
		b.Use(themes.Text)
		b.Blank(min(n, b.Left))
	}
}

// Column is where the stretch is.
func (b *Brush) Column() int { return b.Wide - b.Left }

// Rule draws n cells of a line.
func (b *Brush) Rule(g *Glyphs, n int) {
	for range min(n, b.Left) {
		b.Put(themes.Border, g.Across)
	}
}
