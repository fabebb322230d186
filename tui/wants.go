package tui

import (
	"moon/tui/view"

	tea "charm.land/bubbletea/v2"
)

// doWanted does what was asked for. Doing it may ask for more.
func (m *model) doWanted() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.Wanted) > 0 {
		next := m.Wanted[0]
		m.Wanted = m.Wanted[1:]
		cmds = append(cmds, m.doWant(next))
	}
	return tea.Batch(cmds...)
}

func (m *model) doWant(what any) tea.Cmd {
	switch w := what.(type) {
	case view.DoIntent:
		return m.doIntent(w.Do)
	case view.ClickIntent:
		return m.doClicked(w.Do)
	case view.TypedCommand:
		return m.runCommand(w.Name, w.Arg)
	case view.StopRun:
		m.stopRun(w.How, false)
	case view.EditFile:
		return m.editAt(w.File, w.Line)
	case view.LendTo:
		return m.lendUnwatched(lendTerminal(w.Program, w.Then))
	case view.Copied:
		return m.copyText(w)
	}
	return nil
}
