package tui

import (
	"strings"

	"moon/themes"
)

// draw writes the whole screen: exactly height rows of width cells.
func (m *model) draw() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	if m.closed {
		return strings.Repeat("\n", m.height-1)
	}
	b := &brush{pen: m.pen, buf: make([]byte, 0, 2*len(m.frame)+m.width*m.height)}
	m.mouse.forget()
	if m.mouse.on {
		b.spots = &m.mouse.spots
	}
	if m.matrixShown() {
		m.drawMatrix(b)
	} else {
		m.drawPanes(b, m.layout())
	}
	frame := strings.TrimSuffix(string(b.buf), "\n")
	if m.overlay != nil {
		frame = m.drawOverlay(frame)
	}
	return frame
}

func (m *model) drawPanes(b *brush, l layout) {
	switch l.kind {
	case layoutCard:
		m.drawCard(b)
	case layoutWide:
		m.drawWide(b, l)
	case layoutTall:
		m.drawTall(b, l)
	case layoutOne:
		m.drawOne(b, l)
	case layoutBare:
		m.drawBare(b, l)
	}
}

// body draws the rows of a pane, one at a time, into a stretch that is open.
type body interface{ row(b *brush, i int) }

// drawWide draws the tree left and the detail right, with one divider.
func (m *model) drawWide(b *brush, l layout) {
	detail := m.detailBody(l.detailW-2, l.detailH) // first: the rule above says how long it is
	m.header(b)
	b.begin(l.treeW, onRow)
	m.treeRule(b)
	b.end()
	b.begin(1, onRow)
	b.put(themes.Border, m.glyphs.teeDown)
	b.end()
	b.begin(l.detailW, onRow)
	m.tabRule(b)
	b.end()
	b.newline()

	tree := m.treeBody(l.treeW, l.treeH)
	for i := range l.treeH {
		tree.row(b, i)
		b.begin(l.detailW+1, onRow)
		b.put(themes.Border, m.glyphs.down)
		b.spot(b.x-1, spotDivider, 0)
		from := b.x
		b.put(themes.Text, " ")
		detail.row(b, i)
		b.end()
		b.spot(from, spotDetail, 0)
		b.newline()
	}
	b.begin(l.wide, onRow)
	m.stateRule(b, l.treeW)
	b.end()
	b.newline()
	m.footer(b)
}

// drawTall draws the tree above the detail.
func (m *model) drawTall(b *brush, l layout) {
	detail := m.detailBody(l.detailW-1, l.detailH)
	m.header(b)
	m.drawTree(b, l)
	b.begin(l.wide, onRow)
	b.note(0, l.wide, spotDivider, 0) // but for the tabs in it
	m.tabRule(b)
	b.end()
	b.newline()
	m.drawDetail(b, l, detail)
	m.bottom(b, l)
}

// drawOne draws the pane that has the keys.
func (m *model) drawOne(b *brush, l layout) {
	m.header(b)
	if l.treeH == 0 {
		detail := m.detailBody(l.detailW-1, l.detailH)
		b.begin(l.wide, onRow)
		m.titleRule(b)
		b.end()
		b.newline()
		m.drawDetail(b, l, detail)
		m.bottom(b, l)
		return
	}
	m.drawTree(b, l)
	m.drawPeek(b, l)
	m.bottom(b, l)
}

// drawTree draws the tree with its rule, over the whole width.
func (m *model) drawTree(b *brush, l layout) {
	b.begin(l.wide, onRow)
	m.treeRule(b)
	b.end()
	b.newline()
	tree := m.treeBody(l.treeW, l.treeH)
	for i := range l.treeH {
		tree.row(b, i)
		b.newline()
	}
}

func (m *model) drawDetail(b *brush, l layout, detail body) {
	for i := range l.detailH {
		b.begin(l.detailW, onRow)
		b.put(themes.Text, " ")
		detail.row(b, i)
		b.end()
		b.spot(0, spotDetail, 0)
		b.newline()
	}
}

func (m *model) bottom(b *brush, l layout) {
	b.begin(l.wide, onRow)
	m.stateRule(b, -1)
	b.end()
	b.newline()
	m.footer(b)
}

// docBody is a doc, scrolled.
type docBody struct {
	doc *doc
	top int
	h   int
}

func (d docBody) row(b *brush, i int) { d.doc.draw(b, d.top+i) }

func (m *model) detailBody(w, h int) body {
	w = max(w-1, 1) // a cell of air at the right edge
	if m.fix != nil {
		return docBody{m.fixDoc(w, h), 0, h}
	}
	if m.detail.tab == tabOutputs {
		return m.withTime(w, h, func(h int) *doc { return m.outputDoc(outputWidth(m.layout()), h) })
	}
	return docBody{m.detailDoc(w, h), m.detail.scroll, h}
}

// drawPeek shows below the tree what the pane beside it would: what the step does, or the last it printed.
func (m *model) drawPeek(b *brush, l layout) {
	switch l.peekH {
	case 0:
		return
	case 1:
		b.begin(l.wide, onRow)
		m.peekStep(b)
		b.end()
		b.newline()
		return
	}
	b.begin(l.wide, onRow)
	b.rule(m.glyphs, 2)
	if p := m.run.pointer; p >= 0 && p < len(m.plan.Steps) {
		b.put(themes.Dim, " "+cutMiddle(plain(m.stepTitle(p)), max(l.wide-8, 1), m.glyphs.dots)+" ")
	}
	b.rule(m.glyphs, l.wide)
	b.end()
	b.newline()
	lines := m.peekLines(l.peekH - 1)
	for i := range l.peekH - 1 {
		b.begin(l.wide, onRow)
		if i < len(lines) {
			b.put(themes.Text, " ")
			look := themes.Text
			if strings.IndexByte(lines[i].text, '\x1b') >= 0 {
				look = inkRaw
			}
			b.put(look, lines[i].text)
		}
		b.end()
		b.newline()
	}
}

// peekLines are the last lines of output of what runs that say something.
func (m *model) peekLines(n int) []textLine {
	var lines []textLine
	for _, l := range m.peek.ends {
		if strings.TrimSpace(l.text) != "" {
			lines = append(lines, l)
		}
	}
	return lines[max(len(lines)-n, 0):]
}

// peekStep says on one line what the step under the cursor does, and where it comes from.
func (m *model) peekStep(b *brush) {
	n := m.at()
	t := m.tree.tally(n)
	what, words := "", count(t.total(), "step")
	if i := m.tree.step(n); i >= 0 {
		what, words = m.plan.Steps[i].Action, m.stepNow(i).Summary
	}
	place := ""
	if o, ok := m.originOf(n); ok {
		place = plain(o.String())
	}
	if cells(place) > m.width/2 {
		place = cutLeft(place, m.width/2, m.glyphs.dots)
	}
	b.put(themes.Dim, " ")
	if what != "" {
		b.put(themes.Dim, plain(what)+" ")
	}
	b.put(themes.Text, cutRight(plain(words), max(b.left-cells(place)-3, 0), m.glyphs.dots))
	b.at(m.width - cells(place) - 1)
	b.put(themes.Dim, place)
}
