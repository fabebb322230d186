package view

import "moon/events"

// Pane is one of the two halves of the screen.
type Pane uint8

// The panes.
const (
	PaneTree Pane = iota
	PaneDetail
)

// Panes is how the screen is divided, as far as a person decides it.
type Panes struct {
	Focus   Pane
	Lent    bool   // the detail has the focus only until the run goes on
	Zoom    int    // of the pane with the focus: 0 normal, 1 half, 2 full
	Divider [2]int // cells the divider was moved to the right, and rows down
}

// NewPanes gives the keys to the tree, and the panes their normal size.
func NewPanes() Panes { return Panes{} }

// FocusOn moves the keys to a pane, because a person wants it.
func (p *Panes) FocusOn(to Pane) { p.Focus, p.Lent = to, false }

// GiveBack returns what was lent.
func (p *Panes) GiveBack() {
	if p.Lent {
		p.Focus, p.Lent = PaneTree, false
	}
}

// LayoutKind is what fits on a screen of a size.
type LayoutKind uint8

// The layouts, from the one that needs most room on.
const (
	LayoutWide LayoutKind = iota // tree left, detail right
	LayoutTall                   // tree on top, detail below
	LayoutOne                    // one of them
	LayoutCard                   // neither: a status card
	LayoutBare                   // the text of the detail and one line below it, to be read and copied
)

// Layout is a screen divided. A pane that does not show has no cells.
type Layout struct {
	Kind       LayoutKind
	TreeW      int
	TreeH      int
	DetailW    int
	DetailH    int
	PeekH      int // rows below the tree for what runs
	Wide, high int
}

// The smallest sizes of the layouts.
const (
	wideW, wideH = 100, 16
	tallW, tallH = 60, 30
	oneW, oneH   = 40, 10
)

// widestTree is how wide the tree becomes by itself. Its rows have a name at the left and little at the right: on a very wide screen there
// would be a hole between them, while output is longer than the detail is wide.
const widestTree = 86

// VeryWide is from how many columns on that matters.
const VeryWide = widestTree * 100 / 54

// FrameRows is what header, rules and footer take.
const FrameRows = 4

// LayoutFor divides a screen of w by h cells.
func (p *Panes) LayoutFor(w, h int) Layout {
	l := Layout{Wide: w, high: h}
	switch {
	case w < oneW || h < oneH:
		l.Kind = LayoutCard
		return l
	case p.Zoom == 2 && p.Focus == PaneDetail:
		l.Kind = LayoutBare
		l.DetailW, l.DetailH = w, h-1
	case w >= wideW && h >= wideH && p.Zoom < 2:
		l.Kind = LayoutWide
		l.TreeH, l.DetailH = h-FrameRows, h-FrameRows
		// Bounded here and not where the divider is moved, as the screen may become smaller afterwards.
		l.TreeW = min(max(p.shareOf(w, LayoutWide), 24), w-25)
		l.DetailW = w - l.TreeW - 1
	case w >= tallW && h >= tallH && w < wideW && p.Zoom < 2:
		l.Kind = LayoutTall
		rows := h - FrameRows - 1
		l.TreeW, l.DetailW = w, w
		l.TreeH = min(max(p.shareOf(rows, LayoutTall), 5), rows-5)
		l.DetailH = rows - l.TreeH
	default:
		l.Kind = LayoutOne
		if p.Focus == PaneTree {
			l.TreeW, l.TreeH = w, h-FrameRows
		} else {
			l.DetailW, l.DetailH = w, h-FrameRows
		}
	}
	return l
}

// shareOf is the tree's part of so many cells, or rows.
func (p *Panes) shareOf(n int, in LayoutKind) int {
	part := n * 54 / 100
	if in == LayoutWide {
		part = min(part, widestTree)
	}
	switch {
	case p.Zoom == 1 && p.Focus == PaneTree:
		part = n * 70 / 100
	case p.Zoom == 1:
		part = n * 30 / 100
	}
	return part + p.Divider[in]
}

// CurrentLayout divides the screen as it is now: values that are edited take the place of the detail, and get the keys.
func (m *State) CurrentLayout() Layout {
	// A copy: when the sheet closes, focus and zoom are what they were.
	panes := m.Panes
	if m.Sheet != nil {
		panes.Focus, panes.Zoom = PaneDetail, 0
	}
	l := panes.LayoutFor(m.Width, m.Height)
	if l.Kind == LayoutOne && l.TreeH > 0 {
		if l.PeekH = m.peekRows(); l.TreeH-l.PeekH < 5 {
			l.PeekH = 0
		}
		l.TreeH -= l.PeekH
	}
	return l
}

// FocusedPane is the pane that has the keys. A card has none but the tree.
func (m *State) FocusedPane() Pane {
	if m.Width < oneW || m.Height < oneH {
		return PaneTree
	}
	switch {
	case m.Sheet != nil:
		// Values that are edited get the keys wherever the focus was, and it is back there afterwards.
		return PaneDetail
	case m.MatrixShown():
		return PaneTree
	}
	return m.Panes.Focus
}

// peekRows is how many rows below the tree show what the other pane would.
func (m *State) peekRows() int {
	switch m.Shot.Phase {
	case events.Review, events.Paused:
		return 1
	case events.Running:
		return 3
	case events.Ended, events.Done:
	}
	return 0
}

// LendDetail shows the detail where there is room for one pane only, until the run goes on.
func (m *State) LendDetail() {
	if m.Matrix == nil && m.CurrentLayout().Kind == LayoutOne && m.Panes.Focus == PaneTree {
		m.Panes.Focus, m.Panes.Lent = PaneDetail, true
	}
}

// AutoTab shows a tab, unless a person chose another.
func (m *State) AutoTab(t Tab) {
	if !m.TabChosen && !m.IsTyping() {
		m.Detail.OpenTab(t)
	}
}

// OpenDetail moves the keys to the detail pane.
func (m *State) OpenDetail() { m.Panes.FocusOn(PaneDetail) }
