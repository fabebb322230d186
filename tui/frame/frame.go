package frame

import (
	"strings"

	"moon/themes"
	"moon/tui/draw"
	"moon/tui/feed"
	"moon/tui/pane"
	"moon/tui/view"
)

// picture puts the parts of the screen together.
type picture struct{ *view.State }

// peekPane shows below the tree what the pane beside it would.
type peekPane struct{ *view.State }

// Draw draws header, panes or matrix, rules and footer: exactly as many rows and cells as there are. What lies over them is laid
// over the finished frame.
func Draw(state *view.State, b *draw.Brush) {
	m := picture{state}
	if m.MatrixShown() {
		m.drawMatrix(b)
	} else {
		m.drawPanes(b, m.CurrentLayout())
	}
}

func (m picture) drawPanes(b *draw.Brush, l view.Layout) {
	switch l.Kind {
	case view.LayoutCard:
		cardScreen(m).drawCard(b)
	case view.LayoutWide:
		m.drawWide(b, l)
	case view.LayoutTall:
		m.drawTall(b, l)
	case view.LayoutOne:
		m.drawOne(b, l)
	case view.LayoutBare:
		m.drawBare(b, l)
	}
}

// drawWide draws the tree left and the detail right, with one divider.
func (m picture) drawWide(b *draw.Brush, l view.Layout) {
	detail := pane.DetailPane(m).DetailBody(l.DetailW-2, l.DetailH) // first: the rule above says how long it is
	headerBar(m).drawHeader(b)
	b.Begin(l.TreeW, draw.OnRow)
	Rules(m).treeRule(b)
	b.End()
	b.Begin(1, draw.OnRow)
	b.Put(themes.Border, m.Glyphs.TeeDown)
	b.End()
	b.Begin(l.DetailW, draw.OnRow)
	Rules(m).tabRule(b)
	b.End()
	b.Newline()

	tree := rowWords(m).treeBody(l.TreeW, l.TreeH)
	for i := range l.TreeH {
		tree.DrawRow(b, i)
		b.Begin(l.DetailW+1, draw.OnRow)
		b.Put(themes.Border, m.Glyphs.Down)
		// The mouse is given one cell to drag by; all that is right of it belongs to the detail.
		b.Spot(b.X-1, draw.SpotDivider, 0)
		from := b.X
		b.Put(themes.Text, " ")
		detail.DrawRow(b, i)
		b.End()
		b.Spot(from, draw.SpotDetail, 0)
		b.Newline()
	}
	b.Begin(l.Wide, draw.OnRow)
	Rules(m).stateRule(b, l.TreeW)
	b.End()
	b.Newline()
	Footer(m).drawFooter(b)
}

// drawTall draws the tree above the detail.
func (m picture) drawTall(b *draw.Brush, l view.Layout) {
	detail := pane.DetailPane(m).DetailBody(l.DetailW-1, l.DetailH)
	headerBar(m).drawHeader(b)
	m.drawTree(b, l)
	b.Begin(l.Wide, draw.OnRow)
	b.Note(0, l.Wide, draw.SpotDivider, 0) // but for the tabs in it
	Rules(m).tabRule(b)
	b.End()
	b.Newline()
	peekPane(m).drawDetail(b, l, detail)
	m.drawBottom(b, l)
}

// drawOne draws the pane that has the keys.
func (m picture) drawOne(b *draw.Brush, l view.Layout) {
	headerBar(m).drawHeader(b)
	// One pane at a time: if the tree has no rows, the detail has the keys and the tree's rule gives way to a title, or nothing would
	// say what the detail is about.
	if l.TreeH == 0 {
		detail := pane.DetailPane(m).DetailBody(l.DetailW-1, l.DetailH)
		b.Begin(l.Wide, draw.OnRow)
		Rules(m).titleRule(b)
		b.End()
		b.Newline()
		peekPane(m).drawDetail(b, l, detail)
		m.drawBottom(b, l)
		return
	}
	m.drawTree(b, l)
	peekPane(m).drawPeek(b, l)
	m.drawBottom(b, l)
}

// drawTree draws the tree with its rule, over the whole width.
func (m picture) drawTree(b *draw.Brush, l view.Layout) {
	b.Begin(l.Wide, draw.OnRow)
	Rules(m).treeRule(b)
	b.End()
	b.Newline()
	tree := rowWords(m).treeBody(l.TreeW, l.TreeH)
	for i := range l.TreeH {
		tree.DrawRow(b, i)
		b.Newline()
	}
}

func (m peekPane) drawDetail(b *draw.Brush, l view.Layout, detail pane.Body) {
	for i := range l.DetailH {
		b.Begin(l.DetailW, draw.OnRow)
		b.Put(themes.Text, " ")
		detail.DrawRow(b, i)
		b.End()
		b.Spot(0, draw.SpotDetail, 0)
		b.Newline()
	}
}

func (m picture) drawBottom(b *draw.Brush, l view.Layout) {
	b.Begin(l.Wide, draw.OnRow)
	Rules(m).stateRule(b, -1)
	b.End()
	b.Newline()
	Footer(m).drawFooter(b)
}

// drawPeek shows below the tree what the pane beside it would: what the step does, or the last it printed.
func (m peekPane) drawPeek(b *draw.Brush, l view.Layout) {
	switch l.PeekH {
	case 0:
		return
	case 1:
		b.Begin(l.Wide, draw.OnRow)
		m.peekStep(b)
		b.End()
		b.Newline()
		return
	}
	b.Begin(l.Wide, draw.OnRow)
	b.Rule(m.Glyphs, 2)
	// The output is that of the step that runs and not of the one under the cursor, so its name must be there.
	if p := m.Shot.Pointer; p >= 0 && p < len(m.Plan.Steps) {
		b.Put(themes.Dim, " "+draw.CutMiddle(draw.Plain(m.StepTitle(p)), max(l.Wide-8, 1), m.Glyphs.Dots)+" ")
	}
	b.Rule(m.Glyphs, l.Wide)
	b.End()
	b.Newline()
	lines := m.peekLines(l.PeekH - 1)
	for i := range l.PeekH - 1 {
		b.Begin(l.Wide, draw.OnRow)
		if i < len(lines) {
			b.Put(themes.Text, " ")
			look := themes.Text
			// What has colours of its own is drawn as it comes: a style around it would end at its first reset.
			if strings.IndexByte(lines[i].Text, '\x1b') >= 0 {
				look = draw.InkRaw
			}
			b.Put(look, lines[i].Text)
		}
		b.End()
		b.Newline()
	}
}

// peekLines are the last lines of output of what runs that say something.
func (m peekPane) peekLines(n int) []feed.TextLine {
	var lines []feed.TextLine
	for _, l := range m.Peek.Ends {
		if strings.TrimSpace(l.Text) != "" {
			lines = append(lines, l)
		}
	}
	return lines[max(len(lines)-n, 0):]
}

// peekStep says on one line what the step under the cursor does, and where it comes from.
func (m peekPane) peekStep(b *draw.Brush) {
	n := m.CursorNode()
	t := m.Tree.Tally(n)
	what, words := "", draw.Count(t.Total(), "step")
	if i := m.Tree.Step(n); i >= 0 {
		what, words = m.Plan.Steps[i].Action, m.StepNow(i).Summary
	}
	place := ""
	if o, ok := m.OriginOf(n); ok {
		place = draw.Plain(o.String())
	}
	// The end of a place is its file and line, which is what people open.
	if draw.Cells(place) > m.Width/2 {
		place = draw.CutLeft(place, m.Width/2, m.Glyphs.Dots)
	}
	b.Put(themes.Dim, " ")
	if what != "" {
		b.Put(themes.Dim, draw.Plain(what)+" ")
	}
	b.Put(themes.Text, draw.CutRight(draw.Plain(words), max(b.Left-draw.Cells(place)-3, 0), m.Glyphs.Dots))
	b.At(m.Width - draw.Cells(place) - 1)
	b.Put(themes.Dim, place)
}
