package tui

import (
	tea "charm.land/bubbletea/v2"

	"moon/tui/fix"
	"moon/tui/overlay"
	"moon/tui/terminal"
)

// editSource opens the source of the node under the cursor.
func (m *model) editSource() tea.Cmd {
	node := m.CursorNode()
	o, _ := m.OriginOf(node)
	if i := m.Tree.Step(node); i >= 0 && m.Plan.OrphanOf(&m.Plan.Steps[i]) != nil {
		o = m.Plan.WrittenAt(&m.Plan.Steps[i])
	}
	return m.editAt(o.File, o.Line)
}

func (m *model) editAt(file string, line int) tea.Cmd {
	program := m.Tools.Editor(absolutePath(m.Plan, file), line)
	return m.looks.Unwatched(terminal.Lend(program, func(err error) tea.Msg { return edited{err} }))
}

// editText opens a value in the person's editor.
func (m *model) editText(w overlay.EditText) tea.Cmd {
	e := &fix.Editor{Text: w.Text, Open: func(file string) fix.Program { return m.Tools.Editor(file, 1) }}
	return m.looks.Unwatched(terminal.Lend(e, func(err error) tea.Msg {
		return sheetNews{w.Sheet, func() []overlay.Want { return w.Sheet.TakeText(w.Row, e.Text, err) }}
	}))
}

func (m *model) shellFound(f shellFound) tea.Cmd {
	if f.err != nil {
		m.ShowMessage("shell: " + f.err.Error())
		return nil
	}
	return m.looks.Unwatched(terminal.Lend(f.shell, func(err error) tea.Msg { return shellLeft{err} }))
}
