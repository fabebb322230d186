package tui

import tea "charm.land/bubbletea/v2"

// toggleMouse turns the mouse on or off.
func (m *model) toggleMouse() tea.Cmd {
	m.say("not built yet")
	return nil
}
