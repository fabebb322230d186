package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"moon/tui/keymap"
	"moon/tui/pane"
	"moon/tui/view"
)

// pointing is what the mouse does to the screen alone.
type pointing struct{ *view.State }

// doubleClick is how soon a second click makes one of two.
const doubleClick = 400 * time.Millisecond

// wheelRows is how far one notch of the wheel goes.
const wheelRows = 3

// toggleMouse turns the mouse on or off. While it is on, the terminal's own selecting needs shift.
func (m pointing) toggleMouse() tea.Cmd {
	m.Mouse.On = !m.Mouse.On
	m.Mouse.Dragging = false
	if m.Mouse.On {
		m.ShowMessage("mouse on: shift selects text; " + m.Keys.Label(keymap.AppMouse) + " turns it off")
	} else {
		m.ShowMessage("mouse off")
	}
	return nil
}

// mouseMode is what the terminal shall tell of the mouse.
func (m pointing) mouseMode() tea.MouseMode {
	if m.Mouse.On {
		return tea.MouseModeCellMotion
	}
	return tea.MouseModeNone
}

// dragDivider moves the divider after the mouse.
func (m pointing) dragDivider(at tea.Mouse) {
	if !m.Mouse.Dragging {
		return
	}
	for {
		l := m.CurrentLayout()
		by := at.X - l.TreeW
		if l.Kind == view.LayoutTall {
			by = at.Y - 2 - l.TreeH // header and rule
		}
		if by == 0 {
			return
		}
		browsing(m).moveDivider(max(min(by, 1), -1))
		// Step by step until nothing moves: the divider stops at the least size of a pane, wherever the mouse goes.
		if m.CurrentLayout() == l {
			return
		}
	}
}

func (m pointing) wheelDetail(by, sideways int) {
	v := &m.Detail.Output
	switch {
	case m.Detail.Tab != view.TabOutputs:
		m.Detail.ScrollBy(by)
	case sideways != 0 && !v.Wrap:
		v.X, v.Aim = max(v.X+sideways, 0), -1
	default:
		pane.OutputPane(m).WheelOutput(by)
	}
}
