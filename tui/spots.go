package tui

import "slices"

// spots are the places of a frame that a click means something at, noted by what draws them.
type spots struct{ list []spot }

// spot is a stretch of a row that means something. It is noted by what draws it, so that there is no second layout.
type spot struct {
	y, from, to int // cells from one to before another
	kind        spotKind
	n           int // the node, tab or intent
}

type spotKind uint8

const (
	spotNone  spotKind = iota
	spotTree           // a row
	spotBreak          // its place for a breakpoint
	spotFold           // its sign of folding
	spotDetail
	spotDivider
	spotTab
	spotKey
)

// forget begins a new frame.
func (l *spots) forget() { l.list = l.list[:0] }

// at is what stands at a cell. What was noted later lies above.
func (l *spots) at(x, y int) spot {
	for _, s := range slices.Backward(l.list) {
		if s.y == y && x >= s.from && x < s.to {
			return s
		}
	}
	return spot{}
}

// spot notes what the brush has drawn from a column on.
func (b *brush) spot(from int, kind spotKind, n int) {
	b.note(from, b.x, kind, n)
}

// note notes some cells of the row.
func (b *brush) note(from, to int, kind spotKind, n int) {
	if b.spots != nil && to > from {
		b.spots.list = append(b.spots.list, spot{y: b.y, from: from, to: to, kind: kind, n: n})
	}
}

// noted reports whether anybody asks what is drawn where.
func (b *brush) noted() bool { return b.spots != nil }
