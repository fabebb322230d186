package frame

import (
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/view"
)

// treeRows draws the rows of the tree that are on the screen. It holds a copy of their steps, taken at one moment, so
// that drawing does not keep the store's lock.
//
//	●❯+ ✗ │ │ ├   run alembic upgrade head        rc 1  2:13
//	gutter  guides  name                          right column
type treeRows struct {
	m       *view.State
	w       int
	first   int
	nodes   []int32
	steps   []events.Step // by row; zero for scopes
	pointer int           // the row of the engine's pointer, or -1
	cursor  int           // the cursor's row
	narrow  bool
	review  bool
	now     time.Time
}

// gutterWidth is breakpoint, pointer, mark, sign and a blank.
const gutterWidth = 5

// narrowTree is the width below which kinds that the tree shows anyway are left out.
const narrowTree = 62

func (m rowWords) treeBody(w, h int) *treeRows {
	top := m.Cur.Window(m.Rows, h)
	t := &treeRows{
		m: m.State, w: w, first: top, nodes: m.Rows.Rows[top:min(top+h, len(m.Rows.Rows))], pointer: -1,
		cursor: m.Rows.Row(m.Cur.Node), narrow: w < narrowTree, review: m.Shot.Phase == events.Review, now: m.ClockNow(),
	}
	if p := m.Shot.Pointer; p >= 0 && p < len(m.Plan.Steps) && (m.Shot.Phase == events.Running || m.Shot.Phase == events.Paused) {
		n := int(m.Tree.StepNode[p])
		row := m.Rows.Row(n)
		if on := m.Rows.Node(row); n < on+int(m.Tree.Size[on]) { // not hidden by a filter
			t.pointer = row
		}
	}
	m.Shown = t.nodes
	// Copied under one lock and only for the rows that are drawn: a plan may have many thousand steps, and the engine waits for this
	// lock.
	t.steps = make([]events.Step, len(t.nodes))
	m.Store.Read(func(run *events.Run) {
		for i, n := range t.nodes {
			if s := m.Tree.Step(int(n)); s >= 0 && s < len(run.Steps) {
				t.steps[i] = run.Steps[s]
			}
		}
	})
	return t
}

func (t *treeRows) DrawRow(b *draw.Brush, i int) {
	if i >= len(t.nodes) {
		b.Begin(t.w, draw.OnRow)
		b.End()
		return
	}
	n, mode := int(t.nodes[i]), draw.OnRow
	if t.first+i == t.cursor {
		mode = draw.OnCursor
	}
	b.Begin(t.w, mode)
	from := b.X
	t.drawGutter(b, n, i)
	if mode == draw.OnCursor && t.m.FocusedPane() != view.PaneTree {
		// The keys go elsewhere: only the gutter shows where the cursor is.
		left := b.Left
		b.Stop()
		b.Begin(left, draw.OnRow)
	}
	t.drawLabel(b, n, i)
	b.End()
	t.noteSpots(b, n, from)
}

func (t *treeRows) drawGutter(b *draw.Brush, n, i int) {
	m, g := t.m, t.m.Glyphs
	left := b.Left - gutterWidth
	if stop, ok := m.BreakOn(n); ok {
		sign := view.BreakSign(stop.Set, g)
		b.Put(sign.Ink, sign.S)
	} else {
		b.Put(themes.Text, " ")
	}
	if t.first+i == t.pointer {
		b.Put(themes.Accent, g.Pointer)
	} else {
		b.Put(themes.Text, " ")
	}
	if m.Cur.Marked(n) {
		b.Put(themes.Selection, g.Mark)
	} else {
		b.Put(themes.Text, " ")
	}
	look, spins := m.SignOf(n)
	glyph := g.Signs[look]
	if spins {
		glyph = g.Spin[m.Spin%len(g.Spin)]
	}
	b.Put(draw.SignLooks[look].Role, glyph)
	// A sign may be narrower than its place, and what follows must begin at the same column in each row.
	if b.Left > left {
		b.Use(themes.Text)
		b.Blank(b.Left - max(left, 0))
	}
	b.Left = max(left, 0)
	b.Wide = b.Left // what follows counts its columns from here
}

// drawLabel writes guides, name and right column.
func (t *treeRows) drawLabel(b *draw.Brush, n, i int) {
	guides := t.guideText(n, max(b.Left-22, 2))
	b.Put(themes.Border, guides)
	switch {
	case t.m.Tree.Leaf(n) && t.m.Tree.Step(n) >= 0:
		b.Put(themes.Text, "  ")
	case t.m.Tree.Leaf(n) || t.m.Rows.Folded[n]:
		b.Put(themes.Dim, t.m.Glyphs.Closed+" ")
	default:
		b.Put(themes.Dim, t.m.Glyphs.Open+" ")
	}
	right := t.rightColumn(n, i)
	w := widthOf(right)
	room := b.Left - w - 2
	for len(right) > 0 && (room < leastName || t.crowds(right, n, room)) { // the name is worth more than what is said of it
		right = dropField(right)
		w = widthOf(right)
		room = b.Left - w - 2
	}
	if len(right) == 0 {
		room, w = b.Left, 0
		if t.w < t.m.Width {
			room-- // a cell of air before the divider, as behind the right column
		}
	}
	name := t.m.Tree.Short(n, room, t.narrow, t.m.Glyphs.Dots)
	look := t.nameInk(n)
	if f := t.m.Find.Text; f != "" && strings.Contains(strings.ToLower(name), f) {
		for _, s := range view.HighlightMatch(name, f) {
			b.Put(map[bool]draw.Ink{true: themes.Match, false: look}[s.Ink == themes.Match], s.S)
		}
	} else {
		b.Put(look, name)
	}
	if w == 0 {
		return
	}
	b.At(b.Wide - w - 1)
	for _, s := range right {
		b.Put(s.Ink, s.S)
	}
}

func (t *treeRows) nameInk(n int) draw.Ink {
	i := t.m.Tree.Step(n)
	if i < 0 {
		if n == 0 {
			return draw.InkTitle
		}
		if s := t.m.Tree.Scope(n); s.Skipped != "" {
			return themes.Dim
		}
		return themes.Text
	}
	switch t.m.Tree.Faces[i] {
	case status.Excluded, status.Skipped, status.Omitted:
		return themes.Dim
	case status.Failed, status.Unreachable, status.Running:
		return draw.InkTitle
	default:
		return themes.Text
	}
}

// wholeName is how many cells of a name are worth more than the counts behind it.
const wholeName = 40

func widthOf(column []field) (w int) {
	for _, f := range column {
		w += draw.Cells(f.S)
	}
	return w
}

// crowds reports whether counts behind a name take the room of its end.
func (t *treeRows) crowds(right []field, n, room int) bool {
	if room >= wholeName || !slices.ContainsFunc(right, func(f field) bool { return f.spare == spareContents }) {
		return false
	}
	return draw.Cells(t.m.Tree.Short(n, wholeName, t.narrow, t.m.Glyphs.Dots)) > room
}

// guideDepth is from where on a level takes one cell instead of two.
const guideDepth = 8

// leastName is how many cells a name keeps before anything stands behind it.
const leastName = 20

// guideText are the lines that lead to a node, at most w cells of them.
func (t *treeRows) guideText(n, w int) string {
	g, tree := t.m.Glyphs, t.m.Tree
	if n == 0 {
		return ""
	}
	piece := g.Branch
	if t.m.Rows.Last(n) {
		piece = g.Corner
	}
	used := draw.Cells(piece)
	parts := []string{piece}
	for p := int(tree.Parent[n]); p > 0; p = int(tree.Parent[p]) {
		piece := g.Trunk
		if t.m.Rows.Last(p) {
			piece = g.Gap
		}
		// Deep levels are drawn narrower, or the guides would take the room of the names.
		if tree.Depth[p] > guideDepth {
			piece = draw.Head(piece, 1)
		}
		// The lines nearest to the node are kept: they say what it is in, and those of the outer levels repeat on every row.
		if used += draw.Cells(piece); used > w {
			break
		}
		parts = append(parts, piece)
	}
	var b strings.Builder
	for _, piece := range slices.Backward(parts) {
		b.WriteString(piece)
	}
	return b.String()
}

// noteSpots notes what of a row of the tree can be clicked: all of it, its place for a breakpoint, its sign of folding.
func (t *treeRows) noteSpots(b *draw.Brush, n, from int) {
	b.Spot(from, draw.SpotTree, n)
	b.Note(from, from+1, draw.SpotBreak, n)
	if b.Noted() && !t.m.Tree.Leaf(n) {
		sign := from + gutterWidth + draw.Cells(t.guideText(n, max(t.w-gutterWidth-22, 2)))
		b.Note(sign, min(sign+1, from+t.w), draw.SpotFold, n)
	}
}
