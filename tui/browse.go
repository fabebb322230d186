package tui

import (
	"moon/events"
	"moon/tui/keymap"
	"moon/tui/pane"
	"moon/tui/tree"
	"moon/tui/view"
)

// browsing moves the cursor, folds, filters and divides the screen. It asks nothing of the run.
type browsing struct{ *view.State }

// moveCursor moves the cursor, or scrolls the detail if it has the keys.
func (m browsing) moveCursor(do keymap.Intent) {
	page := max(m.Cur.Height, 1)
	if m.FocusedPane() == view.PaneDetail {
		page = max(m.Detail.Height, m.Detail.Output.Height, 1)
	}
	const far = 1 << 30
	by := map[keymap.Intent]int{
		keymap.CursorDown: 1, keymap.CursorUp: -1, keymap.CursorTop: -far, keymap.CursorBottom: far, keymap.CursorHalfDown: page / 2,
		keymap.CursorHalfUp: -page / 2, keymap.CursorPageDown: page - 1, keymap.CursorPageUp: 1 - page,
	}[do]
	if m.FocusedPane() == view.PaneTree {
		// A cursor that is moved by hand stays where it is put, or the run would pull it away from what is being read.
		m.Following = false
		m.Cur.Move(m.Rows, max(min(by, len(m.Rows.Rows)), -len(m.Rows.Rows)))
		return
	}
	if m.Detail.Tab != view.TabOutputs {
		m.Detail.ScrollBy(max(min(by, m.Detail.Length), -m.Detail.Length))
		return
	}
	pane.OutputPane(m).ScrollOutput(do, by)
}

func (m browsing) backToPointer() {
	m.Panes.FocusOn(view.PaneTree)
	m.ToPointer(true)
}

func (m browsing) toggleFollow() {
	if m.KeyPlace() == keymap.InOutput {
		m.Detail.Output.Follow = !m.Detail.Output.Follow
		return
	}
	m.Following = !m.Following
	if m.Following && m.Shot.Pointer >= 0 {
		m.ToPointer(false)
	}
	if m.Shot.Phase != events.Running { // else it is to be seen
		m.ShowMessage(map[bool]string{true: "the cursor will follow the run", false: "the cursor stays where it is put"}[m.Following])
	}
}

// goToAttention goes to the next step that needs attention, in the order of attention and within that in the order of the plan. From
// a step that needs none it goes to the nearest of the most urgent ones.
func (m browsing) goToAttention(direction int) {
	n := int(m.Tree.StepNode[pane.WhyNot(m).ToNeed(direction)])
	m.Following = false
	m.Rows.Reveal(n)
	m.Cur.Node = n
}

// foldRows opens and folds.
func (m browsing) foldRows(do keymap.Intent) {
	n := m.CursorNode()
	// Rows appear and vanish above the cursor as well; on the terminal it should not jump.
	m.Cur.KeepPlace(m.Rows, func() {
		switch do {
		case keymap.TreeFold:
			m.Rows.FoldAll()
		case keymap.TreeOpen:
			m.Rows.OpenAll()
		case keymap.NodeClose:
			if !m.Tree.Leaf(n) && !m.Rows.Folded[n] && n > 0 {
				m.Rows.Fold(n, true)
			} else if n > 0 {
				n = int(m.Tree.Parent[n])
			}
		case keymap.NodeOpen:
			switch {
			case m.Tree.Leaf(n):
				m.OpenDetail()
			case m.Rows.Folded[n]:
				m.Rows.Fold(n, false)
			default:
				n = m.Rows.Node(m.Rows.Row(n) + 1)
			}
		case keymap.NodeToggle:
			if m.Tree.Leaf(n) {
				m.OpenDetail()
			} else {
				m.Rows.Fold(n, !m.Rows.Folded[n])
			}
		default:
		}
	})
	if n != m.CursorNode() && do != keymap.TreeFold && do != keymap.TreeOpen {
		m.Following = false
	}
	if do != keymap.TreeFold && do != keymap.TreeOpen {
		m.Cur.Node = n
	}
}

func (m browsing) otherPane() {
	if m.Panes.Focus == view.PaneTree {
		m.Panes.FocusOn(view.PaneDetail)
		return
	}
	m.Panes.FocusOn(view.PaneTree)
}

// growPane makes the pane with the keys larger. Where it is the only one, half of the screen is no step on the way.
func (m browsing) growPane() {
	was := m.CurrentLayout()
	m.Panes.Zoom = min(m.Panes.Zoom+1, 2)
	if m.CurrentLayout() == was {
		m.Panes.Zoom = 2
	}
	if m.CurrentLayout() == was && was.Kind == view.LayoutOne {
		m.ShowMessage("it cannot be larger")
	}
}

// shrinkPane makes it smaller again.
func (m browsing) shrinkPane() {
	was := m.CurrentLayout()
	m.Panes.Zoom = max(m.Panes.Zoom-1, 0)
	if m.CurrentLayout() == was {
		m.Panes.Zoom = 0
	}
	if m.CurrentLayout() == was && was.Kind == view.LayoutOne {
		m.ShowMessage("it cannot be smaller")
	}
}

// moveDivider moves the divider, as far as both panes keep their least size.
func (m browsing) moveDivider(by int) {
	before := m.CurrentLayout()
	if before.Kind != view.LayoutWide && before.Kind != view.LayoutTall {
		m.ShowMessage("no divider: only one pane is shown")
		return
	}
	m.Panes.Divider[before.Kind] += by
	// What was not moved is not remembered: at the limit, further keys would have to be taken back one by one.
	if after := m.CurrentLayout(); after.TreeW == before.TreeW && after.TreeH == before.TreeH {
		m.Panes.Divider[before.Kind] -= by
	}
}

func (m browsing) chooseTab(t view.Tab) {
	m.Detail.OpenTab(t)
	m.TabChosen = true
	if m.CurrentLayout().Kind == view.LayoutOne {
		m.Panes.FocusOn(view.PaneDetail)
	}
}

// openLog shows the output of all steps, at its end.
func (m browsing) openLog() {
	if m.Matrix != nil { // which would cover it
		m.CloseMatrix()
	}
	m.Following = false
	m.Cur.Node = 0
	m.Detail.LookAt(0)
	m.Detail.OpenTab(view.TabOutputs)
	m.Detail.Output.Follow, m.TabChosen = true, true
	m.Panes.FocusOn(view.PaneDetail)
}

func (m browsing) toggleRange() {
	if m.Cur.Anchor >= 0 {
		m.Cur.CloseRange(m.Rows)
		return
	}
	m.Cur.Anchor = m.CursorNode()
}

// stepBack takes back one thing, the latest first. It never ends or runs anything.
func (m browsing) stepBack() {
	switch {
	// From the inside out: what lies over the detail, the detail, then what was done to the tree.
	case m.Panes.Focus == view.PaneDetail && m.Detail.Search.Text != "":
		m.Detail.Search = view.Search{Gen: m.Detail.Search.Gen + 1}
	case m.Panes.Focus == view.PaneDetail && m.Panes.Zoom == 2:
		m.Panes.Zoom = 0
	case m.Panes.Focus == view.PaneDetail:
		m.Panes.FocusOn(view.PaneTree)
		m.Panes.Zoom = 0
	case m.Cur.Anchor >= 0 || len(m.Cur.Marks) > 0:
		m.Cur.Clear()
	case m.Filter != tree.FilterAll:
		m.SetFilter(tree.FilterAll)
	case m.Find.Text != "":
		m.Find.Text = ""
	case m.Panes.Zoom > 0:
		m.Panes.Zoom = 0
	}
}
