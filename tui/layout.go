package tui

// pane is one of the two halves of the screen.
type pane uint8

const (
	paneTree pane = iota
	paneDetail
)

// panes is how the screen is divided, as far as a person decides it.
type panes struct {
	focus   pane
	lent    bool   // the detail has the focus only until the run goes on
	zoom    int    // of the pane with the focus: 0 normal, 1 half, 2 full
	divider [2]int // cells the divider was moved to the right, and rows down
}

func newPanes() panes { return panes{} }

// focusOn moves the keys to a pane, because a person wants it.
func (p *panes) focusOn(to pane) { p.focus, p.lent = to, false }

// giveBack returns what was lent.
func (p *panes) giveBack() {
	if p.lent {
		p.focus, p.lent = paneTree, false
	}
}

// layoutKind is what fits on a screen of a size.
type layoutKind uint8

const (
	layoutWide layoutKind = iota // tree left, detail right
	layoutTall                   // tree on top, detail below
	layoutOne                    // one of them
	layoutCard                   // neither: a status card
	layoutBare                   // the text of the detail and one line below it, to be read and copied
)

// layout is a screen divided. A pane that does not show has no cells.
type layout struct {
	kind       layoutKind
	treeW      int
	treeH      int
	detailW    int
	detailH    int
	peekH      int // rows below the tree for what runs
	wide, high int
}

// The smallest sizes of the layouts.
const (
	wideW, wideH = 100, 16
	tallW, tallH = 60, 30
	oneW, oneH   = 40, 10
)

// frameRows is what header, rules and footer take.
const frameRows = 4

func (p *panes) layoutFor(w, h int) layout {
	l := layout{wide: w, high: h}
	switch {
	case w < oneW || h < oneH:
		l.kind = layoutCard
		return l
	case p.zoom == 2 && p.focus == paneDetail:
		l.kind = layoutBare
		l.detailW, l.detailH = w, h-1
	case w >= wideW && h >= wideH && p.zoom < 2:
		l.kind = layoutWide
		l.treeH, l.detailH = h-frameRows, h-frameRows
		l.treeW = min(max(p.shareOf(w, layoutWide), 24), w-25)
		l.detailW = w - l.treeW - 1
	case w >= tallW && h >= tallH && w < wideW && p.zoom < 2:
		l.kind = layoutTall
		rows := h - frameRows - 1
		l.treeW, l.detailW = w, w
		l.treeH = min(max(p.shareOf(rows, layoutTall), 5), rows-5)
		l.detailH = rows - l.treeH
	default:
		l.kind = layoutOne
		if p.focus == paneTree {
			l.treeW, l.treeH = w, h-frameRows
		} else {
			l.detailW, l.detailH = w, h-frameRows
		}
	}
	return l
}

// shareOf is the tree's part of so many cells, or rows.
func (p *panes) shareOf(n int, in layoutKind) int {
	part := n * 54 / 100
	switch {
	case p.zoom == 1 && p.focus == paneTree:
		part = n * 70 / 100
	case p.zoom == 1:
		part = n * 30 / 100
	}
	return part + p.divider[in]
}

func (m *view) currentLayout() layout {
	panes := m.panes
	if m.fix != nil {
		panes.focus, panes.zoom = paneDetail, 0
	}
	l := panes.layoutFor(m.width, m.height)
	if l.kind == layoutOne && l.treeH > 0 {
		if l.peekH = (cardScreen{m}).peekRows(); l.treeH-l.peekH < 5 {
			l.peekH = 0
		}
		l.treeH -= l.peekH
	}
	return l
}

// focusedPane is the pane that has the keys. A card has none but the tree.
func (m *view) focusedPane() pane {
	if m.width < oneW || m.height < oneH {
		return paneTree
	}
	switch {
	case m.fix != nil:
		return paneDetail
	case m.matrixShown():
		return paneTree
	}
	return m.panes.focus
}
