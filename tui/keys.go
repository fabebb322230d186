package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/keymap"
	"moon/tui/overlay"
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

// pressKey takes a key: to what is open above the panes, or as an intent.
func (m *model) pressKey(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	// A message is about the key before. The cursor, once keys are used, is kept in view again.
	m.Message = ""
	m.Cur.Free = false
	switch {
	case key == "ctrl+c": // an interrupt is never text
		return m.doIntent(keymap.RunInterrupt)
	// What lies over the panes has the keys, the uppermost first.
	case m.Overlay != nil:
		return m.doWants(m.Overlay.Press(m.Screen(), msg))
	case m.Prompt != nil:
		return m.doWants(m.Prompt.Press(m.Screen(), msg))
	case m.Sheet != nil:
		return m.doWants(m.Sheet.Press(m.Screen(), msg))
	}
	return m.takeSequence(key)
}

func (m *model) pasteText(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.Overlay != nil:
		if b, types := m.Overlay.(overlay.Typist); types {
			return m.doWants(b.Paste(m.Screen(), msg))
		}
	case m.Prompt != nil:
		return m.doWants(m.Prompt.Paste(m.Screen(), msg))
	case m.Sheet != nil:
		return m.doWants(m.Sheet.Paste(m.Screen(), msg))
	}
	return nil
}

// takeInput takes what was typed, clicked or pasted, now or when its turn comes.
func (m *model) takeInput(msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "ctrl+c" {
		m.typed.input = nil
		return m.pressKey(key)
	}
	// Behind what waits already, whatever it is: keys keep their order.
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
	// At the front: it was taken from there, and keys typed after it must not overtake it.
	m.typed.input = append([]tea.Msg{deferred{do}}, m.typed.input...)
	return true
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
