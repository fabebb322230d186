package tui

import (
	"moon/events"
	"moon/tui/overlay"
)

// openDone asks about the node under the cursor, or the marks.
func (m deciding) openDone() {
	ranges, single := m.DecisionTargets()
	title := m.Tree.Title(m.CursorNode())
	if m.Shot.Phase == events.Done {
		m.Overlay = overlay.NewRepeat(m.Screen(), title, ranges, single)
		return
	}
	m.Overlay = overlay.NewDone(m.Screen(), title, ranges, single)
}
