package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/keymap"
)

// takeSequence takes a key as an intent, or as a part of a sequence.
func (m *model) takeSequence(key string) tea.Cmd {
	before := m.Sequence
	if before != "" && key == "esc" {
		m.Sequence = ""
		return nil
	}
	do, rest := m.Keys.Lookup(before, key, m.KeyPlace())
	m.Sequence = rest
	if do == keymap.IntentNone {
		if before != "" && rest == "" {
			m.ShowMessage(before + " " + key + " means nothing")
		}
		return nil
	}
	return m.doIntent(do)
}
