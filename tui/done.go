package tui

import "moon/tui/overlay"

// openDone asks about the node under the cursor, or the marks.
func (m deciding) openDone() {
	ranges, single := m.DecisionTargets()
	m.Overlay = overlay.NewDone(m.Screen(), m.Tree.Title(m.CursorNode()), ranges, single)
}
