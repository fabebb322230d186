package tui

import (
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/themes"
	"moon/tui/draw"
	"moon/tui/status"
	"moon/tui/tree"
)

// treeRows draws the rows of the tree that are on the screen. It holds a copy of their steps, taken at one moment, so
// that drawing does not keep the store's lock.
//
//	●❯+ ✗ │ │ ├   run alembic upgrade head        rc 1  2:13
//	gutter  guides  name                          right column
type treeRows struct {
	m       *view
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
	top := m.cur.Window(m.rows, h)
	t := &treeRows{
		m: m.view, w: w, first: top, nodes: m.rows.Rows[top:min(top+h, len(m.rows.Rows))], pointer: -1,
		cursor: m.rows.Row(m.cur.Node), narrow: w < narrowTree, review: m.Shot.Phase == events.Review, now: m.ClockNow(),
	}
	if p := m.Shot.Pointer; p >= 0 && p < len(m.Plan.Steps) && (m.Shot.Phase == events.Running || m.Shot.Phase == events.Paused) {
		n := int(m.Tree.StepNode[p])
		row := m.rows.Row(n)
		if on := m.rows.Node(row); n < on+int(m.Tree.Size[on]) { // not hidden by a filter
			t.pointer = row
		}
	}
	m.shown = t.nodes
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

func (t *treeRows) drawRow(b *draw.Brush, i int) {
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
	if mode == draw.OnCursor && t.m.focusedPane() != paneTree {
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
	m, g := t.m, t.m.glyphs
	left := b.Left - gutterWidth
	if stop, ok := m.breakOn(n); ok {
		sign := breakSign(stop.Set, g)
		b.Put(sign.Ink, sign.S)
	} else {
		b.Put(themes.Text, " ")
	}
	if t.first+i == t.pointer {
		b.Put(themes.Accent, g.Pointer)
	} else {
		b.Put(themes.Text, " ")
	}
	if m.cur.Marked(n) {
		b.Put(themes.Selection, g.Mark)
	} else {
		b.Put(themes.Text, " ")
	}
	look, spins := m.signOf(n)
	glyph := g.Signs[look]
	if spins {
		glyph = g.Spin[m.spin%len(g.Spin)]
	}
	b.Put(draw.SignLooks[look].Role, glyph)
	if b.Left > left {
		b.Use(themes.Text)
		b.Blank(b.Left - max(left, 0))
	}
	b.Left = max(left, 0)
	b.Wide = b.Left // what follows counts its columns from here
}

// signOf is the sign of a node, and whether it moves.
func (m *view) signOf(n int) (look draw.Sign, spins bool) {
	folded := !m.Tree.Leaf(n) && m.rows.Folded[n]
	at := m.Shot.PausedAt
	if i := m.Tree.Step(n); i >= 0 {
		f := m.Tree.Faces[i]
		switch {
		case f == status.Unreachable:
			return draw.SignUnreachable, false
		case m.Position().Failed(i):
			return draw.SignFailed, false
		case f == status.Running:
			return draw.SignRunning, true
		case f == status.Waiting && m.Shot.Phase == events.Paused && i == at:
			return draw.SignPaused, false
		case f == status.Waiting && m.Shot.Phase == events.Review:
			return draw.SignApproved, false
		}
		return tree.FaceSigns[f], false
	}
	t := m.Tree.Tally(n)
	look = tree.Sign(&t, folded, m.Shot.Phase == events.Review)
	if folded && look != draw.SignFailed && look != draw.SignUnreachable && m.Shot.Phase == events.Paused && at >= 0 &&
		m.Tree.Steps(n).Has(at) &&
		m.Tree.Faces[at] == status.Waiting {
		return draw.SignPaused, false
	}
	return look, folded && t[status.Running] > 0 // open, the step itself moves
}

// drawLabel writes guides, name and right column.
func (t *treeRows) drawLabel(b *draw.Brush, n, i int) {
	guides := t.guideText(n, max(b.Left-22, 2))
	b.Put(themes.Border, guides)
	switch {
	case t.m.Tree.Leaf(n) && t.m.Tree.Step(n) >= 0:
		b.Put(themes.Text, "  ")
	case t.m.Tree.Leaf(n) || t.m.rows.Folded[n]:
		b.Put(themes.Dim, t.m.glyphs.Closed+" ")
	default:
		b.Put(themes.Dim, t.m.glyphs.Open+" ")
	}
	right := t.rightColumn(n, i)
	w := 0
	for _, s := range right {
		w += draw.Cells(s.S)
	}
	room := b.Left - w - 2
	for room < leastName && len(right) > 0 { // the name is worth more than what is said of it
		last := len(right) - 1
		if strings.HasPrefix(right[0].S, "when ") { // which the detail says in full
			last = 0
		}
		w -= draw.Cells(right[last].S)
		right = slices.Delete(right, last, last+1)
		room = b.Left - w - 2
	}
	if len(right) == 0 {
		room, w = b.Left, 0
		if t.w < t.m.width {
			room-- // a cell of air before the divider, as behind the right column
		}
	}
	name := t.m.Tree.Short(n, room, t.narrow, t.m.glyphs.Dots)
	look := t.nameInk(n)
	if f := t.m.find.Text; f != "" && strings.Contains(strings.ToLower(name), f) {
		for _, s := range highlightMatch(name, f) {
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

// guideDepth is from where on a level takes one cell instead of two.
const guideDepth = 8

// leastName is how many cells a name keeps before anything stands behind it.
const leastName = 20

// guideText are the lines that lead to a node, at most w cells of them.
func (t *treeRows) guideText(n, w int) string {
	g, tree := t.m.glyphs, t.m.Tree
	if n == 0 {
		return ""
	}
	piece := g.Branch
	if t.m.rows.Last(n) {
		piece = g.Corner
	}
	used := draw.Cells(piece)
	parts := []string{piece}
	for p := int(tree.Parent[n]); p > 0; p = int(tree.Parent[p]) {
		piece := g.Trunk
		if t.m.rows.Last(p) {
			piece = g.Gap
		}
		if tree.Depth[p] > guideDepth {
			piece = draw.Head(piece, 1)
		}
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
