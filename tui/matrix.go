package tui

import (
	"moon/tui/keymap"
	"moon/tui/view"
)

// crossing moves in the matrix of hosts and tasks: what keys mean there.
type crossing struct{ *view.State }

// openMatrix shows the hosts by their tasks, or closes that.
func (m crossing) openMatrix() {
	if m.Matrix != nil {
		m.CloseMatrix()
		return
	}
	m.Panes.FocusOn(view.PaneTree)
	m.Panes.Zoom = 0
	m.Matrix = view.NewMatrix(m.Tree)
}

// inMatrix does what an intent means in the matrix. Those that it leaves mean what they mean elsewhere, about the node of the cell.
func (m crossing) inMatrix(do keymap.Intent) (done bool) {
	if !m.MatrixShown() {
		return false
	}
	x := m.Matrix
	m.FollowMatrix()
	const far = 1 << 30
	switch do {
	case keymap.CursorDown:
		m.moveMatrix(+1, 0)
	case keymap.CursorUp:
		m.moveMatrix(-1, 0)
	case keymap.NodeClose, keymap.ScrollLeft:
		m.moveMatrix(0, -1)
	case keymap.NodeOpen, keymap.ScrollRight:
		m.moveMatrix(0, +1)
	case keymap.CursorTop:
		m.moveMatrix(-far, 0)
	case keymap.CursorBottom:
		m.moveMatrix(far, 0)
	case keymap.CursorHalfDown:
		m.moveMatrix(x.Height/2, 0)
	case keymap.CursorHalfUp:
		m.moveMatrix(-x.Height/2, 0)
	case keymap.CursorPageDown:
		m.moveMatrix(0, max(x.Across-1, 1))
	case keymap.CursorPageUp:
		m.moveMatrix(0, -max(x.Across-1, 1))
	case keymap.NodeToggle:
		m.CloseMatrix()
	// What can be taken back within the matrix is taken back first, in the order that the key has elsewhere.
	case keymap.GoBack:
		if m.Cur.Anchor >= 0 || len(m.Cur.Marks) > 0 || m.Find.Text != "" {
			return false
		}
		m.CloseMatrix()
	case keymap.PaneOther, keymap.PaneGrow, keymap.PaneShrink, keymap.TabStep, keymap.TabOutput, keymap.TabDiff, keymap.TabVars,
		keymap.TabEvents:
		// These are about panes, which the matrix covers: it makes room, and they do what they do elsewhere.
		m.CloseMatrix()
		return false
	case keymap.DividerLeft, keymap.DividerRight, keymap.TreeFold, keymap.TreeOpen:
	case keymap.MarkToggle:
		m.Cur.Mark(m.Cur.Node)
		m.moveMatrix(+1, 0)
	default:
		return false
	}
	return true
}

// moveMatrix moves the cursor. Over a cell with nothing in it the tree's stays on the task.
func (m crossing) moveMatrix(down, right int) {
	x := m.Matrix
	m.Following = false
	x.Row = max(min(x.Row+down, len(x.Hosts)-1), 0)
	x.Col = max(min(x.Col+right, len(x.Columns)-1), 0)
	n := x.NodeAt(x.Row, x.Col)
	if n < 0 {
		n = x.Columns[x.Col].Node
	}
	m.Cur.Node, x.Node = n, n
	m.Rows.Reveal(n)
}
