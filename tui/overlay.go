package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"moon/themes"
)

// overlay is a box over the panes that has the keys until it is closed.
type overlay interface {
	press(m *model, msg tea.KeyPressMsg) tea.Cmd
	paste(m *model, msg tea.PasteMsg) tea.Cmd
	// lines are what the box shows in w by h cells, with its title and what stands in its lower edge.
	lines(m *model, w, h int) (title string, body [][]text, foot string)
}

// boxWidth is the widest a box may be.
const boxWidth = 72

// drawOverlay lays the box over a finished frame.
func (m *model) drawOverlay(frame string) string {
	rows := strings.Split(frame, "\n")
	w := min(boxWidth, m.width-2)
	if w < 8 || len(rows) < 4 {
		w = m.width
	}
	title, body, foot := m.overlay.lines(m, max(w-4, 1), max(len(rows)-4, 1))
	body = body[:min(len(body), max(len(rows)-2, 0))]
	box := m.box(w, title, body, foot)
	box = box[:min(len(box), len(rows))]
	x, y := (m.width-w)/2, max((len(rows)-len(box))/3, 0)
	if _, leaving := m.overlay.(leaveBox); leaving { // what went wrong is told above
		y = max(len(rows)-len(box)-2, 0)
	}
	m.mouse.boxed(x, y, w, len(box))
	for i, line := range box {
		rows[y+i] = m.splice(rows[y+i], x, line, w)
	}
	return strings.Join(rows, "\n")
}

func (m *model) box(w int, title string, body [][]text, foot string) []string {
	g := m.glyphs
	lines := []string{m.edge(w, g.cross[0], g.cross[1], title, inkTitle)}
	for _, spans := range body {
		b := &brush{pen: m.pen}
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
	return append(lines, m.edge(w, g.cross[2], g.cross[3], foot, themes.Dim))
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
		return append(list, text{s.ink, head(s.s, max(w-cells(dots), 0)) + dots})
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

func (m *model) edge(w int, left, right, words string, look ink) string {
	b := &brush{pen: m.pen}
	b.begin(w, onRow)
	b.put(themes.Border, left)
	b.keep(1, func() {
		if words != "" {
			b.put(look, " "+cutRight(words, max(w-5, 0), m.glyphs.dots)+" ")
		}
		b.rule(m.glyphs, w)
	})
	b.put(themes.Border, right)
	b.end()
	return string(b.buf)
}

// splice replaces w cells of a row from column x on.
func (m *model) splice(row string, x int, line string, w int) string {
	left := ansi.Truncate(row, x, "")
	left += "\x1b[m" + m.pen.back + spaces(x-ansi.StringWidth(left))
	right := ansi.TruncateLeft(row, x+w, "")
	rest := m.width - x - w
	if ansi.StringWidth(right) > rest { // half of a wide character
		right = ansi.TruncateLeft(row, x+w+1, "")
	}
	right = m.pen.back + spaces(rest-ansi.StringWidth(right)) + right
	return left + "\x1b[m" + line + right + "\x1b[m"
}

// hint is a key with what it does, for the body of a box.
func hint(key, words string) []text {
	return []text{{inkKey, spaces(max(4-len(key), 0)) + key}, {themes.Text, "  " + words}}
}
