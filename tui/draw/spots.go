package draw

import "slices"

// Spots are the places of a frame that a click means something at, noted by what draws them.
type Spots struct{ List []Spot }

// Spot is a stretch of a row that means something. It is noted by what draws it, so that there is no second layout.
type Spot struct {
	Y, From, To int // cells from one to before another
	Kind        spotKind
	N           int // the node, tab or intent
}

type spotKind uint8

// The kinds of places that react to the mouse.
const (
	SpotNone  spotKind = iota
	SpotTree           // a row
	SpotBreak          // its place for a breakpoint
	SpotFold           // its sign of folding
	SpotDetail
	SpotDivider
	SpotTab
	SpotKey
)

// Forget begins a new frame.
func (l *Spots) Forget() { l.List = l.List[:0] }

// At is what stands at a cell. What was noted later lies above.
func (l *Spots) At(x, y int) Spot {
	for _, s := range slices.Backward(l.List) {
		if s.Y == y && x >= s.From && x < s.To {
			return s
		}
	}
	return Spot{}
}

// Spot notes what the brush has drawn from a column on.
func (b *Brush) Spot(from int, kind spotKind, n int) {
	b.Note(from, b.X, kind, n)
}

// Note notes some cells of the row.
func (b *Brush) Note(from, to int, kind spotKind, n int) {
	if b.Spots != nil && to > from {
		b.Spots.List = append(b.Spots.List, Spot{Y: b.y, From: from, To: to, Kind: kind, N: n})
	}
}

// Noted reports whether anybody asks what is drawn where.
func (b *Brush) Noted() bool { return b.Spots != nil }
