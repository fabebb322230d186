package overlay

import (
	"strings"

	"moon/tui/draw"
)

// boxWidth is the widest a box may be.
const boxWidth = 72

// Place is where a box was drawn.
type Place struct{ X, Y, W, H int }

// Has reports whether a cell is in it.
func (p Place) Has(x, y int) bool { return x >= p.X && x < p.X+p.W && y >= p.Y && y < p.Y+p.H }

// Lay lays a box over a finished frame of so many cells in width.
func Lay(c draw.Canvas, s Screen, b Box, frame string, width int) (laid string, at Place) {
	rows := strings.Split(frame, "\n")
	w := min(boxWidth, width-2)
	if w < 8 || len(rows) < 4 {
		w = width
	}
	title, body, foot := b.Draw(s, max(w-4, 1), max(len(rows)-4, 1))
	body = body[:min(len(body), max(len(rows)-2, 0))]
	box := c.Box(w, title, body, foot)
	// Whatever a box draws, the frame keeps its height.
	box = box[:min(len(box), len(rows))]
	x, y := (width-w)/2, max((len(rows)-len(box))/3, 0)
	if _, leaving := b.(Leave); leaving { // what went wrong stands above
		y = max(len(rows)-len(box)-2, 0)
	}
	for i, line := range box {
		rows[y+i] = c.Splice(rows[y+i], width, x, line, w)
	}
	return strings.Join(rows, "\n"), Place{x, y, w, len(box)}
}
