package tui

import tea "charm.land/bubbletea/v2"

// openWatch asks for an expression to watch.
func (m *model) openWatch() tea.Cmd {
	m.say("not built yet")
	return nil
}
