package tui

import (
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/themes"
)

// treeRows draws the rows of the tree that are on the screen. It holds a copy of their steps, taken at one moment, so
// that drawing does not keep the store's lock.
//
//	●❯+ ✗ │ │ ├   run alembic upgrade head        rc 1  2:13
//	gutter  guides  name                          right column
type treeRows struct {
	m       *model
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

func (m *model) treeBody(w, h int) *treeRows {
	top := m.cur.window(m.rows, h)
	t := &treeRows{
		m: m, w: w, first: top, nodes: m.rows.rows[top:min(top+h, len(m.rows.rows))], pointer: -1,
		cursor: m.rows.row(m.cur.node), narrow: w < narrowTree, review: m.run.phase == events.Review, now: m.clockNow(),
	}
	if p := m.run.pointer; p >= 0 && p < len(m.plan.Steps) && (m.run.phase == events.Running || m.run.phase == events.Paused) {
		n := int(m.tree.stepNode[p])
		row := m.rows.row(n)
		if on := m.rows.node(row); n < on+int(m.tree.size[on]) { // not hidden by a filter
			t.pointer = row
		}
	}
	m.waiting.rows = t.nodes
	t.steps = make([]events.Step, len(t.nodes))
	m.store.read(func(run *events.Run) {
		for i, n := range t.nodes {
			if s := m.tree.step(int(n)); s >= 0 && s < len(run.Steps) {
				t.steps[i] = run.Steps[s]
			}
		}
	})
	return t
}

func (t *treeRows) row(b *brush, i int) {
	if i >= len(t.nodes) {
		b.begin(t.w, onRow)
		b.end()
		return
	}
	n, mode := int(t.nodes[i]), onRow
	if t.first+i == t.cursor {
		mode = onCursor
	}
	b.begin(t.w, mode)
	from := b.x
	t.gutter(b, n, i)
	if mode == onCursor && t.m.focus() != paneTree {
		// The keys go elsewhere: only the gutter shows where the cursor is.
		left := b.left
		b.stop()
		b.begin(left, onRow)
	}
	t.label(b, n, i)
	b.end()
	t.spots(b, n, from)
}

func (t *treeRows) gutter(b *brush, n, i int) {
	m, g := t.m, t.m.glyphs
	left := b.left - gutterWidth
	if stop, ok := m.breakOn(n); ok {
		sign := stop.sign(g)
		b.put(sign.ink, sign.s)
	} else {
		b.put(themes.Text, " ")
	}
	if t.first+i == t.pointer {
		b.put(themes.Accent, g.pointer)
	} else {
		b.put(themes.Text, " ")
	}
	if m.cur.marked(n) {
		b.put(themes.Selection, g.mark)
	} else {
		b.put(themes.Text, " ")
	}
	look, spins := m.signOf(n)
	glyph := g.signs[look]
	if spins {
		glyph = g.spin[m.spin%len(g.spin)]
	}
	b.put(signLooks[look].role, glyph)
	if b.left > left {
		b.use(themes.Text)
		b.blank(b.left - max(left, 0))
	}
	b.left = max(left, 0)
	b.wide = b.left // what follows counts its columns from here
}

// signOf is the sign of a node, and whether it moves.
func (m *model) signOf(n int) (look sign, spins bool) {
	folded := !m.tree.leaf(n) && m.rows.folded[n]
	at := m.run.pausedAt
	if i := m.tree.step(n); i >= 0 {
		f := m.tree.faces[i]
		switch {
		case f == faceUnreachable:
			return signUnreachable, false
		case m.broken(i):
			return signFailed, false
		case f == faceRunning:
			return signRunning, true
		case f == faceWaiting && m.run.phase == events.Paused && i == at:
			return signPaused, false
		case f == faceWaiting && m.run.phase == events.Review:
			return signApproved, false
		}
		return faceSigns[f], false
	}
	t := m.tree.tally(n)
	look = t.sign(folded, m.run.phase == events.Review)
	if folded && look != signFailed && look != signUnreachable && m.run.phase == events.Paused && at >= 0 && m.tree.steps(n).Has(at) &&
		m.tree.faces[at] == faceWaiting {
		return signPaused, false
	}
	return look, folded && t[faceRunning] > 0 // open, the step itself moves
}

// label writes guides, name and right column.
func (t *treeRows) label(b *brush, n, i int) {
	guides := t.guides(n, max(b.left-22, 2))
	b.put(themes.Border, guides)
	switch {
	case t.m.tree.leaf(n) && t.m.tree.step(n) >= 0:
		b.put(themes.Text, "  ")
	case t.m.tree.leaf(n) || t.m.rows.folded[n]:
		b.put(themes.Dim, t.m.glyphs.closed+" ")
	default:
		b.put(themes.Dim, t.m.glyphs.open+" ")
	}
	right := t.right(n, i)
	w := 0
	for _, s := range right {
		w += cells(s.s)
	}
	room := b.left - w - 2
	for room < leastName && len(right) > 0 { // the name is worth more than what is said of it
		last := len(right) - 1
		if strings.HasPrefix(right[0].s, "when ") { // which the detail says in full
			last = 0
		}
		w -= cells(right[last].s)
		right = slices.Delete(right, last, last+1)
		room = b.left - w - 2
	}
	if len(right) == 0 {
		room, w = b.left, 0
		if t.w < t.m.width {
			room-- // a cell of air before the divider, as behind the right column
		}
	}
	name := t.m.tree.short(n, room, t.narrow, t.m.glyphs.dots)
	look := t.nameInk(n)
	if f := t.m.find.text; f != "" && strings.Contains(strings.ToLower(name), f) {
		for _, s := range highlight(name, f) {
			b.put(map[bool]ink{true: themes.Match, false: look}[s.ink == themes.Match], s.s)
		}
	} else {
		b.put(look, name)
	}
	if w == 0 {
		return
	}
	b.at(b.wide - w - 1)
	for _, s := range right {
		b.put(s.ink, s.s)
	}
}

func (t *treeRows) nameInk(n int) ink {
	i := t.m.tree.step(n)
	if i < 0 {
		if n == 0 {
			return inkTitle
		}
		if s := t.m.tree.scope(n); s.Skipped != "" {
			return themes.Dim
		}
		return themes.Text
	}
	switch t.m.tree.faces[i] {
	case faceExcluded, faceSkipped, faceOmitted:
		return themes.Dim
	case faceFailed, faceUnreachable, faceRunning:
		return inkTitle
	default:
		return themes.Text
	}
}

// guideDepth is from where on a level takes one cell instead of two.
const guideDepth = 8

// leastName is how many cells a name keeps before anything stands behind it.
const leastName = 20

// guides are the lines that lead to a node, at most w cells of them.
func (t *treeRows) guides(n, w int) string {
	g, tree := t.m.glyphs, t.m.tree
	if n == 0 {
		return ""
	}
	piece := g.branch
	if t.m.rows.last(n) {
		piece = g.corner
	}
	used := cells(piece)
	parts := []string{piece}
	for p := int(tree.parent[n]); p > 0; p = int(tree.parent[p]) {
		piece := g.trunk
		if t.m.rows.last(p) {
			piece = g.gap
		}
		if tree.depth[p] > guideDepth {
			piece = head(piece, 1)
		}
		if used += cells(piece); used > w {
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
