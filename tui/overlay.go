package tui

import (
	"strings"

	"moon/tui/draw"

	tea "charm.land/bubbletea/v2"
)

// overlay is a box over the panes that has the keys until it is closed.
type overlay interface {
	pressKey(m *model, msg tea.KeyPressMsg) tea.Cmd
	pasteText(m *model, msg tea.PasteMsg) tea.Cmd
	// drawLines are what the box shows in w by h cells, with its title and what stands in its lower edge.
	drawLines(m *view, w, h int) (title string, body [][]draw.Text, foot string)
}

// boxWidth is the widest a box may be.
const boxWidth = 72

// drawOverlay lays the box over a finished frame.
func (m frame) drawOverlay(frame string) string {
	rows := strings.Split(frame, "\n")
	w := min(boxWidth, m.width-2)
	if w < 8 || len(rows) < 4 {
		w = m.width
	}
	title, body, foot := m.overlay.drawLines(m.view, max(w-4, 1), max(len(rows)-4, 1))
	body = body[:min(len(body), max(len(rows)-2, 0))]
	c := draw.Canvas{Pen: m.pen, Glyphs: m.glyphs}
	box := c.Box(w, title, body, foot)
	box = box[:min(len(box), len(rows))]
	x, y := (m.width-w)/2, max((len(rows)-len(box))/3, 0)
	if _, leaving := m.overlay.(leaveBox); leaving { // what went wrong is told above
		y = max(len(rows)-len(box)-2, 0)
	}
	m.mouse.noteBox(x, y, w, len(box))
	for i, line := range box {
		rows[y+i] = c.Splice(rows[y+i], m.width, x, line, w)
	}
	return strings.Join(rows, "\n")
}
