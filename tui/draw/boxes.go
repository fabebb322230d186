package draw

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// Canvas is what boxes are drawn with.
type Canvas struct {
	Pen    *Pen
	Glyphs *Glyphs
}

// Box draws a frame of w cells around a text, with words in its upper and lower edge.
func (c Canvas) Box(w int, title string, body [][]Text, foot string) []string {
	g := c.Glyphs
	lines := []string{c.edge(w, g.Cross[0], g.Cross[1], title, InkTitle)}
	for _, spans := range body {
		b := &Brush{Pen: c.Pen}
		b.Begin(w, OnRow)
		b.Put(themes.Border, g.Down)
		b.Put(themes.Text, " ")
		// Two cells stay for the right edge.
		b.Keep(2, func() {
			for _, s := range Fitted(spans, b.Left, g.Dots) {
				b.Put(s.Ink, s.S)
			}
		})
		b.At(w - 2)
		b.Put(themes.Text, " ")
		b.Put(themes.Border, g.Down)
		b.End()
		lines = append(lines, string(b.Buf))
	}
	return append(lines, c.edge(w, g.Cross[2], g.Cross[3], foot, themes.Dim))
}

// Fitted are spans in so many cells. What is cut off leaves dots.
func Fitted(spans []Text, w int, dots string) []Text {
	// A raw text has colours in it, which Put cuts.
	if WidthOf(spans) <= w || slices.ContainsFunc(spans, func(s Text) bool { return s.Ink == InkRaw }) {
		return spans
	}
	var list []Text
	for _, s := range spans {
		if n := Cells(s.S); n <= w-Cells(dots) {
			list, w = append(list, s), w-n
			continue
		}
		return append(list, Inked(s.Ink, Head(s.S, max(w-Cells(dots), 0))+dots))
	}
	return list
}

// Keep lets f write, but not into the last n cells of the stretch.
func (b *Brush) Keep(n int, f func()) {
	n = min(n, b.Left)
	b.Left -= n
	f()
	b.Left += n
}

func (c Canvas) edge(w int, left, right, words string, look Ink) string {
	b := &Brush{Pen: c.Pen}
	b.Begin(w, OnRow)
	b.Put(themes.Border, left)
	b.Keep(1, func() {
		if words != "" {
			b.Put(look, " "+CutRight(words, max(w-5, 0), c.Glyphs.Dots)+" ")
		}
		b.Rule(c.Glyphs, w)
	})
	b.Put(themes.Border, right)
	b.End()
	return string(b.Buf)
}

// Splice replaces w cells of a row, of wide cells, from column x on.
func (c Canvas) Splice(row string, wide, x int, line string, w int) string {
	left := ansi.Truncate(row, x, "")
	// The colours of the row may still be in effect.
	left += "\x1b[m" + c.Pen.back + Spaces(x-ansi.StringWidth(left))
	right := ansi.TruncateLeft(row, x+w, "")
	rest := wide - x - w
	if ansi.StringWidth(right) > rest { // half of a wide character
		right = ansi.TruncateLeft(row, x+w+1, "")
	}
	right = c.Pen.back + Spaces(rest-ansi.StringWidth(right)) + right
	return left + "\x1b[m" + line + right + "\x1b[m"
}

// Hint is a key with what it does, for the body of a box.
func Hint(key, words string) []Text {
	return []Text{Inked(InkKey, Spaces(max(4-len(key), 0))+key), Inked(themes.Text, "  "+words)}
}
