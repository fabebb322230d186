package tui

import tea "charm.land/bubbletea/v2"

// openFix edits the values of the step under the cursor.
func (m *model) openFix() tea.Cmd {
	m.say("not built yet")
	return nil
}
