package tui

import (
	"slices"

	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// canvas is what boxes are drawn with.
type canvas struct {
	pen    *pen
	glyphs *glyphs
}

// box draws a frame of w cells around a text, with words in its upper and lower edge.
func (c canvas) box(w int, title string, body [][]text, foot string) []string {
	g := c.glyphs
	lines := []string{c.edge(w, g.cross[0], g.cross[1], title, inkTitle)}
	for _, spans := range body {
		b := &brush{pen: c.pen}
		b.begin(w, onRow)
		b.put(themes.Border, g.down)
		b.put(themes.Text, " ")
		b.keep(2, func() {
			for _, s := range fitted(spans, b.left, g.dots) {
				b.put(s.ink, s.s)
			}
		})
		b.at(w - 2)
		b.put(themes.Text, " ")
		b.put(themes.Border, g.down)
		b.end()
		lines = append(lines, string(b.buf))
	}
	return append(lines, c.edge(w, g.cross[2], g.cross[3], foot, themes.Dim))
}

// fitted are spans in so many cells. What is cut off leaves dots.
func fitted(spans []text, w int, dots string) []text {
	if widthOf(spans) <= w || slices.ContainsFunc(spans, func(s text) bool { return s.ink == inkRaw }) {
		return spans
	}
	var list []text
	for _, s := range spans {
		if n := cells(s.s); n <= w-cells(dots) {
			list, w = append(list, s), w-n
			continue
		}
		return append(list, inked(s.ink, head(s.s, max(w-cells(dots), 0))+dots))
	}
	return list
}

// keep lets f write, but not into the last n cells of the stretch.
func (b *brush) keep(n int, f func()) {
	n = min(n, b.left)
	b.left -= n
	f()
	b.left += n
}

func (c canvas) edge(w int, left, right, words string, look ink) string {
	b := &brush{pen: c.pen}
	b.begin(w, onRow)
	b.put(themes.Border, left)
	b.keep(1, func() {
		if words != "" {
			b.put(look, " "+cutRight(words, max(w-5, 0), c.glyphs.dots)+" ")
		}
		b.rule(c.glyphs, w)
	})
	b.put(themes.Border, right)
	b.end()
	return string(b.buf)
}

// splice replaces w cells of a row, of wide cells, from column x on.
func (c canvas) splice(row string, wide, x int, line string, w int) string {
	left := ansi.Truncate(row, x, "")
	left += "\x1b[m" + c.pen.back + spaces(x-ansi.StringWidth(left))
	right := ansi.TruncateLeft(row, x+w, "")
	rest := wide - x - w
	if ansi.StringWidth(right) > rest { // half of a wide character
		right = ansi.TruncateLeft(row, x+w+1, "")
	}
	right = c.pen.back + spaces(rest-ansi.StringWidth(right)) + right
	return left + "\x1b[m" + line + right + "\x1b[m"
}

// hint is a key with what it does, for the body of a box.
func hint(key, words string) []text {
	return []text{inked(inkKey, spaces(max(4-len(key), 0))+key), inked(themes.Text, "  "+words)}
}
