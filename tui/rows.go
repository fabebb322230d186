package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"moon/events"
	"moon/plan"
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
	t.gutter(b, n, i)
	if mode == onCursor && t.m.focus() != paneTree {
		// The keys go elsewhere: only the gutter shows where the cursor is.
		left := b.left
		b.stop()
		b.begin(left, onRow)
	}
	t.label(b, n, i)
	b.end()
}

func (t *treeRows) gutter(b *brush, n, i int) {
	m, g := t.m, t.m.glyphs
	left := b.left - gutterWidth
	if m.breakAt(n) {
		b.put(themes.Failed, g.brk)
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

// breakAt reports whether a breakpoint shows at a node: its own, or one that is folded into it.
func (m *model) breakAt(n int) bool {
	if len(m.breaks) == 0 {
		return false
	}
	if i := m.tree.step(n); i >= 0 {
		return m.breaks[i]
	}
	if m.rows.folded[n] {
		r := m.tree.steps(n)
		for i := range m.breaks {
			if r.Has(i) {
				return true
			}
		}
	}
	return false
}

// signOf is the sign of a node, and whether it moves.
func (m *model) signOf(n int) (look sign, spins bool) {
	folded := !m.tree.leaf(n) && m.rows.folded[n]
	at := m.run.pausedAt
	if i := m.tree.step(n); i >= 0 {
		f := m.tree.faces[i]
		switch {
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
	if folded && look != signFailed && m.run.phase == events.Paused && at >= 0 && m.tree.steps(n).Has(at) &&
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
	for room < 20 && len(right) > 1 && b.left < 20+w+2 { // the name is worth more than the first of several notes
		w -= cells(right[0].s)
		right = right[1:]
		room = b.left - w - 2
	}
	if room < 8 {
		right, room, w = nil, b.left, 0
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
	case faceFailed, faceRunning:
		return inkTitle
	default:
		return themes.Text
	}
}

// guideDepth is from where on a level takes one cell instead of two.
const guideDepth = 8

// guides are the lines that lead to a node, at most w cells of them.
func (t *treeRows) guides(n, w int) string {
	g, tree := t.m.glyphs, t.m.tree
	if n == 0 {
		return ""
	}
	piece := g.branch
	if tree.lastChild(n) {
		piece = g.corner
	}
	used := cells(piece)
	parts := []string{piece}
	for p := int(tree.parent[n]); p > 0; p = int(tree.parent[p]) {
		piece := g.trunk
		if tree.lastChild(p) {
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

// right is the right column: why it waits, how much, how long, where. It ends one cell before the edge.
func (t *treeRows) right(n, i int) []text {
	var fields []text
	if step := t.m.tree.step(n); step >= 0 {
		fields = t.stepFields(step, &t.steps[i])
	} else {
		fields = t.scopeFields(n)
	}
	var spans []text
	for _, f := range fields {
		if f.s == "" {
			continue
		}
		if len(spans) > 0 {
			f.s = "  " + f.s
		}
		spans = append(spans, f)
	}
	return spans
}

func (t *treeRows) stepFields(step int, of *events.Step) []text {
	p, f := &t.m.plan.Steps[step], t.m.tree.faces[step]
	note := text{themes.Dim, t.m.note(step, p, of, f)}
	if t.m.broken(step) {
		note.ink = themes.Failed
	}
	if f.pending() || f == faceExcluded && of.State != events.Settled {
		line := ""
		if p.Origin.Line > 0 {
			line = fmt.Sprintf(":%d", p.Origin.Line)
		}
		return []text{note, {themes.Dim, line}}
	}
	spent := ""
	if of.Attempt > 0 {
		spent = took(t.m.duration(of))
	}
	return []text{note, {themes.Dim, spent}}
}

// note is the one thing to say of a step in its row.
func (m *model) note(step int, p *plan.Step, of *events.Step, f face) string {
	switch f {
	case faceWaiting, faceUndecided, faceConfirm:
		switch {
		case m.run.phase == events.Paused && step == m.run.pausedAt:
			return "before"
		case p.Prediction == plan.WillSkip:
			return "will skip"
		case p.Prediction == plan.MaySkip:
			return "may skip"
		}
	case faceAsking:
		return "asks you"
	case faceExcluded:
		if p.Excluded {
			return "left out"
		}
		return "excluded"
	case faceRunning:
		switch {
		case of.State == events.Backoff:
			return "again in " + exact(max(of.Due.Sub(m.clockNow()), 0))
		case of.Attempt > 1:
			return fmt.Sprintf("attempt %d", of.Attempt)
		}
	case faceFailed:
		switch {
		case of.Outcome == events.Timeout:
			return "timeout"
		case of.Outcome == events.Rejected:
			return "rejected"
		case of.Outcome == events.Lost:
			return "lost"
		case of.HasRC:
			return fmt.Sprintf("rc %d", of.RC)
		}
		return "failed"
	case faceSkipped:
		reason, _, _ := strings.Cut(of.Reason, ":")
		if reason == string(events.SkipUser) {
			return "skipped by you"
		}
		return plain(reason)
	case faceKept: // its sign says it
	case faceIgnored, faceRescued, faceCancelled:
		if m.broken(step) {
			return fmt.Sprintf("rc %d", of.RC)
		}
		word, _, _ := strings.Cut(signLooks[faceSigns[f]].word, " (")
		if f == faceIgnored {
			word = "ignored"
		}
		return word
	case faceOmitted:
		return "not run"
	case faceOK, faceChanged:
		if of.Attempt > 1 {
			return fmt.Sprintf("%s %d", m.glyphs.retried, of.Attempt)
		}
	}
	return ""
}

func (t *treeRows) scopeFields(n int) []text {
	m := t.m
	c := m.tree.tally(n)
	total, done := c.total(), c.done()
	note := text{themes.Dim, t.scopeNote(n, &c)}
	if c[faceFailed] > 0 && m.rows.folded[n] {
		note.ink = themes.Failed
	}
	amount := fmt.Sprint(total)
	switch waiting := c.sum(faceWaiting); {
	case total == 0:
		amount = ""
	case done > 0 || c[faceRunning] > 0:
		amount = fmt.Sprintf("%d/%d", done, total)
	case t.review && (waiting > 0 || n == 0) && waiting < total:
		amount = fmt.Sprintf("%d/%d", waiting, total)
	}
	spent := ""
	if n == 0 && (done > 0 || c[faceRunning] > 0) {
		spent = m.elapsed()
	} else if s := m.tree.spans[m.tree.scopeOf(n)]; s.from != 0 {
		to := s.to
		if c[faceRunning] > 0 || to == 0 {
			to = t.now.UnixNano()
		}
		if spent = clock(time.Duration(to - s.from)); spent == "00:00" {
			spent = ""
		}
	}
	return []text{note, {themes.Dim, amount}, {themes.Dim, spent}}
}

// scopeNote says what is hidden in a folded scope, or what a scope is like.
func (t *treeRows) scopeNote(n int, c *tally) string {
	s := t.m.tree.scope(n)
	switch {
	case s == nil:
		return ""
	case s.Skipped != "":
		return "skipped"
	case t.m.rows.folded[n] && c[faceFailed] > 0:
		return fmt.Sprintf("%d failed", c[faceFailed])
	case t.m.rows.folded[n] && c[faceConfirm] > 0:
		return fmt.Sprintf("%d to confirm", c[faceConfirm])
	case t.m.rows.folded[n] && c[faceUndecided] > 0 && c[faceUndecided] < int32(c.total()): //nolint:gosec // a count of steps
		return fmt.Sprintf("%d undecided", c[faceUndecided])
	case c.total() == 0 && c[faceExcluded] > 0:
		return "excluded"
	case s.Kind == plan.ScopeLoop && c.done() == 0 && c[faceRunning] == 0:
		return fmt.Sprintf("%s %d", t.m.glyphs.times, s.Items)
	case s.Kind == plan.ScopeBranch && s.Branch == "rescue" && c.done() == 0:
		return "if it fails"
	case s.When != "" && c.done() == 0 && n > 0 && !t.narrow:
		return cutRight("when "+plain(s.When), t.w/3, t.m.glyphs.dots)
	}
	return ""
}
