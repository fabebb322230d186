package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/keymap"
)

// typeahead keeps what is typed while the run has not answered the last command yet. A key that depends on the run is judged by what the
// earlier commands have made of it, never by what the screen happens to show: `A c` typed at once runs what `A` approves. What is typed
// after such a key waits behind it, so that keys keep their order. An interrupt waits for nothing and discards them, as in a terminal.
type typeahead struct{ input []tea.Msg }

// deferred is a key that was read already, as what it means.
type deferred struct{ do keymap.Intent }

// takeInput takes what was typed, clicked or pasted, now or when its turn comes.
func (m *model) takeInput(msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "ctrl+c" {
		m.typed.input = nil
		return m.pressKey(key)
	}
	if len(m.typed.input) > 0 || m.Shot.Awaits && m.Overlay != nil { // boxes offer what the run allowed when they were drawn
		m.typed.input = append(m.typed.input, msg)
		return nil
	}
	return m.inputNow(msg)
}

// inputNow takes one input, and does what it wants before the next is looked at.
func (m *model) inputNow(msg tea.Msg) (cmd tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		cmd = m.pressKey(msg)
	case tea.PasteMsg:
		cmd = m.pasteText(msg)
	case tea.MouseMsg:
		cmd = m.mouseMsg(msg)
	case deferred:
		cmd = m.doIntent(msg.do)
	}
	return cmd
}

// defersIntent reports whether an intent has to wait for the answer to a command, and keeps it until then.
func (m *model) defersIntent(do keymap.Intent) bool {
	if !m.Shot.Awaits || !dependsOnRun(do) {
		return false
	}
	m.typed.input = append([]tea.Msg{deferred{do}}, m.typed.input...)
	return true
}

// dependsOnRun reports whether an intent does something else, or nothing, after a command has changed the run.
func dependsOnRun(do keymap.Intent) bool {
	switch do {
	case keymap.CursorPointer, keymap.NeedNext, keymap.NeedPrev, keymap.RunLeave:
		return true
	default:
		return keymap.AsksTheRun(do)
	}
}

// catchUp takes what was typed ahead, until a command has to be answered again.
func (m *model) catchUp() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.typed.input) > 0 && (!m.Shot.Awaits || m.Overlay == nil && !m.startsDeferred()) {
		next := m.typed.input[0]
		m.typed.input = m.typed.input[1:]
		cmds = append(cmds, m.inputNow(next))
	}
	return tea.Batch(cmds...)
}

// startsDeferred reports whether the first of what was typed ahead has been found to wait for an answer.
func (m *model) startsDeferred() bool {
	_, is := m.typed.input[0].(deferred)
	return is
}
