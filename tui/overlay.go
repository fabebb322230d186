package tui

import (
	"strings"

	"moon/tui/draw"
)

// boxWidth is the widest a box may be.
const boxWidth = 72

// drawOverlay lays the box over a finished frame.
func (m frame) drawOverlay(frame string) string {
	rows := strings.Split(frame, "\n")
	w := min(boxWidth, m.Width-2)
	if w < 8 || len(rows) < 4 {
		w = m.Width
	}
	title, body, foot := m.Overlay.DrawLines(m.State, max(w-4, 1), max(len(rows)-4, 1))
	body = body[:min(len(body), max(len(rows)-2, 0))]
	c := draw.Canvas{Pen: m.Pen, Glyphs: m.Glyphs}
	box := c.Box(w, title, body, foot)
	box = box[:min(len(box), len(rows))]
	x, y := (m.Width-w)/2, max((len(rows)-len(box))/3, 0)
	if _, leaving := m.Overlay.(leaveBox); leaving { // what went wrong is told above
		y = max(len(rows)-len(box)-2, 0)
	}
	m.Mouse.NoteBox(x, y, w, len(box))
	for i, line := range box {
		rows[y+i] = c.Splice(rows[y+i], m.Width, x, line, w)
	}
	return strings.Join(rows, "\n")
}
