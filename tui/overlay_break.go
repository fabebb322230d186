package tui

import tea "charm.land/bubbletea/v2"

// openBreakSheet asks for the condition, count or message of a breakpoint.
func (m *model) openBreakSheet() tea.Cmd {
	m.say("not built yet")
	return nil
}
