package tui

import tea "charm.land/bubbletea/v2"

// openShell opens a shell where the step under the cursor runs.
func (m *model) openShell() tea.Cmd {
	m.say("not built yet")
	return nil
}
